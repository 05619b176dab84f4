//! The checks of every world.

use super::{Evidence, World};
use crate::swarm::check::{
    equal, frames_are_whole, order_is_kept, require, the_healed_link_delivers, what_went_back_came_back,
};
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::Bytes;
use lossylink_sim::net::Traffic;

/// Checks a run.
///
/// # Errors
/// The first thing that does not hold.
pub(crate) fn check(world: &World, evidence: &Evidence) -> Result<(), String> {
    frames_are_whole(&world.scene, &evidence.record)?;
    if world.options.ordered {
        order_is_kept(&evidence.record)?; // LG-20, LG-33
    }
    copies_are_dropped(world, evidence)?;
    what_went_back_came_back(&evidence.record)?;
    one_request_sends_once(evidence)?;
    a_line_carries_one_frame_at_a_time(world, evidence)?;
    everything_is_accounted_for(world, evidence)?;
    the_healed_link_delivers(&evidence.record)?;
    nothing_is_left(evidence)
}

/// Checks that no frame is delivered twice, unless the options permit copies: LG-20, LG-28.
fn copies_are_dropped(world: &World, evidence: &Evidence) -> Result<(), String> {
    let mut times = vec![0u32; evidence.record.offered.0 as usize];
    evidence.record.delivered.iter().for_each(|frame| times[frame.payload as usize] += 1);
    let is_single = world.options.ordered || world.options.deduplicate;
    let most = if is_single { 1 } else { u32::from(world.options.sender.copies) };
    let twice = times.iter().position(|&times| times > most);
    twice.map_or(Ok(()), |number| Err(format!("frame {number} came out {} times", times[number])))
}

/// Checks that each loss is sent again at most once, however many copies of a notification arrive:
/// LG-6, LG-46.
fn one_request_sends_once(evidence: &Evidence) -> Result<(), String> {
    let (sender, receiver) = (&evidence.counters.sender, &evidence.counters.receiver);
    require(sender.retransmitted + sender.beyond_cap <= receiver.lost, || {
        format!(
            "asked for once: {} losses, {} sent again and {} beyond the cap",
            receiver.lost, sender.retransmitted, sender.beyond_cap
        )
    })
}

/// Checks that the frames of either direction, gaps and control frames included, took their time:
/// LG-37.
fn a_line_carries_one_frame_at_a_time(world: &World, evidence: &Evidence) -> Result<(), String> {
    let time = evidence.end - Instant::ZERO;
    for (direction, traffic) in
        [("forward", &evidence.record.traffic), ("backward", &evidence.record.reverse)]
    {
        let Traffic { data_octets, header_octets, copy_octets, control_octets, .. } = *traffic;
        let octets = data_octets + header_octets + copy_octets + control_octets;
        let needed = Bytes(octets) / world.scene.rate;
        // The time of every frame is a whole number of picoseconds.
        let rounded = Duration::from_ps(traffic.frames);
        require(needed <= time + rounded, || {
            format!("{direction}: {octets} octets in {time} take {needed}")
        })?;
    }
    Ok(())
}

/// Checks that frames and octets are conserved. Each missing frame was lost, and is counted: LG-3,
/// LG-35.
fn everything_is_accounted_for(world: &World, evidence: &Evidence) -> Result<(), String> {
    let Evidence { counters, record, .. } = evidence;
    let traffic = &record.traffic;
    let sent = counters.sender.data;
    equal(
        "offered = sent + dropped by the queue",
        evidence.record.offered.0,
        sent + evidence.record.queue_drops,
    )?;
    equal("octets taken = octets sent", evidence.record.taken_octets, traffic.data_octets)?;
    equal("sent = on the wire", sent, traffic.data_frames)?;
    equal("received = sent - lost", counters.receiver.data, sent - traffic.data_lost)?;
    equal("delivered = forwarded", evidence.record.delivered.len() as u64, counters.receiver.forwarded)?;
    let mut numbers: Vec<u64> = evidence.record.delivered.iter().map(|frame| frame.payload).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let gone = sent - numbers.len() as u64;
    if world.restarts.is_empty() {
        equal("found missing = lost", counters.receiver.lost, traffic.data_lost)?;
        if world.options.ordered {
            equal("not delivered = given up", gone, counters.timeouts)?;
        }
    }
    let unrecovered = traffic.data_lost.checked_sub(counters.receiver.recovered);
    let unrecovered = unrecovered.ok_or("more frames were recovered than lost")?;
    require(unrecovered <= gone, || format!("{gone} frames are gone, {unrecovered} of them not recovered"))?;
    // A frame in a recirculation loop may be given up while it goes round.
    let patience =
        if world.scene.profile.recirculates || counters.sender.abandoned > 0 { counters.timeouts } else { 0 };
    let stale = if world.options.ordered { counters.receiver.stale } else { 0 };
    let excuses = unrecovered + counters.rx_buffer_dropped + counters.forgotten + stale + patience;
    require(gone <= excuses, || format!("{gone} frames are gone, {excuses} of them for a reason"))
}

/// Checks that no copy and no frame is kept once no event is due: LG-5, LG-6, LG-20.
fn nothing_is_left(evidence: &Evidence) -> Result<(), String> {
    let left = (evidence.copies_held, evidence.rx_bytes, evidence.record.backlog);
    require(left == (0, 0, 0), || format!("left (copies, reorder bytes, backlog): {left:?}"))
}

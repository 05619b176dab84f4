//! The checks of every world.

use super::run::PROBES;
use super::{Evidence, World};
use lossylink_sim::net::frame::GAP_OCTETS;

/// Checks a run.
///
/// # Errors
/// The first thing that does not hold.
pub(crate) fn check(world: &World, evidence: &Evidence) -> Result<(), String> {
    frames_are_whole_and_in_order(world, evidence)?;
    what_went_back_came_back(evidence)?;
    everything_is_accounted_for(evidence)?;
    nacks_are_not_repeated(world, evidence)?;
    the_buffer_keeps_its_bound(world, evidence)?;
    the_healed_link_delivers(evidence)?;
    let left = (evidence.kept, evidence.backlog);
    require(left == (0, 0), || format!("left (kept, backlog): {left:?}"))
}

fn require(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}

fn equal(what: &str, left: u64, right: u64) -> Result<(), String> {
    require(left == right, || format!("{what}: {left} != {right}"))
}

/// Checks that delivered frames are unchanged, in order, and single: LLR-5, LLR-15, LLR-18.
fn frames_are_whole_and_in_order(world: &World, evidence: &Evidence) -> Result<(), String> {
    for frame in &evidence.delivered {
        require(world.frame(frame.payload) == *frame, || {
            format!("frame {} came out with {} octets", frame.payload, frame.octets)
        })?;
    }
    for pair in evidence.delivered.windows(2) {
        let (first, second) = (pair[0].payload, pair[1].payload);
        require(first < second, || format!("frame {second} came out after frame {first}"))?;
    }
    Ok(())
}

/// Checks that the unprotected way back delivers, in order, all frames that were not lost. Control
/// sets are among the losses of that direction, so the losses of frames are counted apart.
fn what_went_back_came_back(evidence: &Evidence) -> Result<(), String> {
    let arrived = evidence.offered.1 - evidence.reverse.data_lost;
    require(evidence.returned.len() as u64 == arrived, || {
        format!("{} frames came back, {arrived} were not lost", evidence.returned.len())
    })?;
    require(evidence.returned.is_sorted_by(|a, b| a < b), || "frames came back out of order".into())
}

/// Checks that each missing frame was dropped by the queue or by an action, lost without a number,
/// or given up: LLR-9, LLR-16, LLR-17.
fn everything_is_accounted_for(evidence: &Evidence) -> Result<(), String> {
    let (sender, receiver) = (&evidence.counters.sender, &evidence.counters.receiver);
    let taken = sender.tx_ok + sender.unnumbered + sender.tx_discard;
    equal("offered = taken + dropped by the queue", evidence.offered.0, taken + evidence.queue_drops)?;
    equal("taken = on the wire", sender.tx_ok + sender.unnumbered, evidence.traffic.data_frames)?;
    let forwarded = receiver.rx_expected_seq_good + receiver.unnumbered;
    equal("delivered = forwarded", evidence.delivered.len() as u64, forwarded)?;
    let gone = sender.tx_ok.checked_sub(receiver.rx_expected_seq_good);
    let gone = gone.ok_or("more numbered frames came out than went in")?;
    require(gone <= sender.given_up, || {
        format!("numbered = delivered or given up: {gone} are gone, {} given up", sender.given_up)
    })?;
    require(receiver.unnumbered <= sender.unnumbered, || "unnumbered frames were made".into())
}

/// Checks that a further NACK follows only when the missing frame came, or the receiver began anew:
/// LLR-10.
fn nacks_are_not_repeated(world: &World, evidence: &Evidence) -> Result<(), String> {
    let receiver = &evidence.counters.receiver;
    let ends = receiver.rx_replay + receiver.rx_init + world.faults.len() as u64;
    require(receiver.tx_nack <= ends + 1, || format!("{} NACKs for {ends} reasons", receiver.tx_nack))
}

/// Checks that the replay buffer holds no more than its bound, or a single frame that exceeds it:
/// LLR-4.
fn the_buffer_keeps_its_bound(world: &World, evidence: &Evidence) -> Result<(), String> {
    let largest = u64::from(evidence.traffic.largest_octets.saturating_sub(GAP_OCTETS));
    let bound = world.options.sender.outstanding_bytes_max.0.max(largest);
    let held = evidence.counters.high_water_bytes;
    require(held <= bound, || format!("{held} B were kept, the bound is {bound}"))
}

/// Checks that all probes are delivered.
fn the_healed_link_delivers(evidence: &Evidence) -> Result<(), String> {
    let first = evidence.offered.0 - PROBES;
    let probes = evidence.delivered.iter().filter(|frame| frame.payload >= first).count() as u64;
    require(probes == PROBES, || format!("{probes} of {PROBES} frames came through the healed link"))
}

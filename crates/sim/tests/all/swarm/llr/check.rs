//! The checks of every world.

use super::{Evidence, World};
use crate::swarm::check::{
    equal, frames_are_whole, order_is_kept, require, the_healed_link_delivers, what_went_back_came_back,
};
use lossylink_sim::net::frame::GAP_OCTETS;

/// Checks a run.
///
/// # Errors
/// The first thing that does not hold.
pub(crate) fn check(world: &World, evidence: &Evidence) -> Result<(), String> {
    frames_are_whole(&world.scene, &evidence.record)?;
    order_is_kept(&evidence.record)?; // LLR-5, LLR-15, LLR-18
    what_went_back_came_back(&evidence.record)?;
    everything_is_accounted_for(evidence)?;
    nacks_are_not_repeated(world, evidence)?;
    the_buffer_keeps_its_bound(world, evidence)?;
    the_healed_link_delivers(&evidence.record)?;
    let left = (evidence.kept, evidence.record.backlog);
    require(left == (0, 0), || format!("left (kept, backlog): {left:?}"))
}

/// Checks that each missing frame was dropped by the queue or by an action, lost without a number,
/// or given up: LLR-9, LLR-16, LLR-17.
fn everything_is_accounted_for(evidence: &Evidence) -> Result<(), String> {
    let (sender, receiver) = (&evidence.counters.sender, &evidence.counters.receiver);
    let taken = sender.tx_ok + sender.unnumbered + sender.tx_discard;
    equal(
        "offered = taken + dropped by the queue",
        evidence.record.offered.0,
        taken + evidence.record.queue_drops,
    )?;
    equal("taken = on the wire", sender.tx_ok + sender.unnumbered, evidence.record.traffic.data_frames)?;
    let forwarded = receiver.rx_expected_seq_good + receiver.unnumbered;
    equal("delivered = forwarded", evidence.record.delivered.len() as u64, forwarded)?;
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
    let largest = u64::from(evidence.record.traffic.largest_octets.saturating_sub(GAP_OCTETS));
    let bound = world.options.sender.outstanding_bytes_max.0.max(largest);
    let held = evidence.counters.high_water_bytes;
    require(held <= bound, || format!("{held} B were kept, the bound is {bound}"))
}

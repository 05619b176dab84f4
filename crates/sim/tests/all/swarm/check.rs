//! The checks of every world, whatever protects its link.

use super::scene::Scene;
use super::storm::Record;

/// The number of frames on the healed link, which must all arrive.
pub(crate) const PROBES: u64 = 20;

pub(crate) fn require(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}

pub(crate) fn equal(what: &str, left: u64, right: u64) -> Result<(), String> {
    require(left == right, || format!("{what}: {left} != {right}"))
}

/// Checks that delivered frames are unchanged.
pub(crate) fn frames_are_whole(scene: &Scene, record: &Record) -> Result<(), String> {
    let changed = record.delivered.iter().find(|frame| scene.frame(frame.payload) != **frame);
    changed
        .map_or(Ok(()), |frame| Err(format!("frame {} came out with {} octets", frame.payload, frame.octets)))
}

/// Checks that delivered frames are in order, and single.
pub(crate) fn order_is_kept(record: &Record) -> Result<(), String> {
    let swapped = record.delivered.windows(2).find(|pair| pair[0].payload >= pair[1].payload);
    swapped.map_or(Ok(()), |pair| {
        Err(format!("frame {} came out after frame {}", pair[1].payload, pair[0].payload))
    })
}

/// Checks that the unprotected way back delivers, in order, all frames that were not lost. Control
/// frames are among the losses of that direction, so the losses of frames are counted apart.
pub(crate) fn what_went_back_came_back(record: &Record) -> Result<(), String> {
    let arrived = record.offered.1 - record.reverse.data_lost;
    require(record.returned.len() as u64 == arrived, || {
        format!("{} frames came back, {arrived} were not lost", record.returned.len())
    })?;
    require(record.returned.is_sorted_by(|a, b| a < b), || "frames came back out of order".into())
}

/// Checks that all probes are delivered, the first perhaps after the losses that it revealed.
pub(crate) fn the_healed_link_delivers(record: &Record) -> Result<(), String> {
    let first = record.offered.0 - PROBES;
    let probes = record.delivered.iter().filter(|frame| frame.payload >= first).count() as u64;
    require(probes == PROBES, || format!("{probes} of {PROBES} frames came through the healed link"))
}

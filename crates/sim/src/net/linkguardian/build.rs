//! The options and the link that follow from a blueprint and a user's choices.

use super::timing::{HEADER_OCTETS, Timing};
use super::{LinkGuardianLink, Options};
use crate::net::{Blueprint, Losses, Payload};
use lossylink_core::engine::linkguardian::{control_copies_under, copies_under};
use lossylink_core::protection::{LinkGuardian, Mode};
use lossylink_core::rng::Streams;
use lossylink_core::time::Duration;
use lossylink_core::units::BitRate;

impl Options {
    /// Returns the options that `chosen` gives on the link of `plan`.
    pub fn of(plan: &Blueprint, chosen: &LinkGuardian) -> Self {
        let (backpressure, deduplicate) = match chosen.mode {
            Mode::Ordered { backpressure } => (backpressure, false),
            Mode::NonBlocking { deduplicate } => (false, deduplicate),
        };
        Self {
            sender: chosen.sender(plan.law, &gaps(plan, true), plan.switch.dummy_count),
            control_copies: chosen.control_copies(plan.control_law),
            ordered: chosen.is_ordered(),
            backpressure,
            deduplicate,
        }
    }
}

/// Returns the number of copies that the rule gives on the link of `plan` for a target (LG-19).
pub fn advised_copies(plan: &Blueprint, target: f64) -> u8 {
    copies_under(&plan.law, &gaps(plan, true), target)
}

/// Returns the number of copies of control frames that the rule gives on the link of `plan` for a target (LG-46).
pub fn advised_control_copies(plan: &Blueprint, target: f64) -> u8 {
    control_copies_under(&plan.control_law, target)
}

/// Returns the gap between the frame that shows a run of losses and the first copy, in full frames on a busy line, for runs of one
/// frame, of two and so on.
///
/// The notification leaves when the frame after the run has arrived. The copy of the first loss is looked at once a round, and the
/// first look after the notification finds it. The copy then takes its way to the queue, and goes before the next frame. Several
/// copies take the multicast engine.
pub fn gaps(plan: &Blueprint, several: bool) -> [u32; RUNS] {
    let timing = Timing::new(&plan.switch, plan.rates, plan.propagation);
    let frame = timing.rate.serialisation(plan.frame_octets + HEADER_OCTETS);
    let round = plan.switch.recirculates.then(|| tx_round(plan, &timing));
    let requeue = timing.retransmit + if several { timing.multicast_extra } else { Duration::ZERO };
    std::array::from_fn(|more| {
        let run = more as u64 + 1;
        let asked_for = frame * (run + 1) + timing.data_pipeline + timing.notification_port + timing.told();
        let found = match round {
            None => asked_for,
            Some(round) => {
                let after = asked_for.saturating_sub(timing.copy_first_check);
                timing.copy_first_check + round * after.as_ps().div_ceil(round.as_ps())
            }
        };
        let frames = (found + requeue).as_ps().div_ceil(frame.as_ps());
        u32::try_from(frames - run).unwrap_or(u32::MAX)
    })
}

/// The number of run lengths with a gap of their own.
const RUNS: usize = 32;

/// Returns the time of one round of the loop on a busy line. In a loop that is no faster than
/// the line, all copies of unacknowledged frames wait, and a round takes their serialisation time. An acknowledgement waits for
/// two cycles of its packet.
fn tx_round(plan: &Blueprint, timing: &Timing) -> Duration {
    let octets = plan.frame_octets + HEADER_OCTETS;
    let empty = timing.tx_loop_fixed + timing.recirculation.serialisation(octets);
    if timing.rate.bit_rate() < BitRate::from_bps(plan.switch.recirculation_bps) {
        return empty;
    }
    let acknowledged = timing.rate.serialisation(octets)
        + timing.data_pipeline
        + timing.ack_register
        + timing.cycle * 2
        + timing.told();
    acknowledged.saturating_sub(timing.copy_first_check).max(empty)
}

impl<P: Payload> LinkGuardianLink<P> {
    /// Builds the link of `plan` under `chosen`.
    pub fn on(plan: &Blueprint, chosen: &LinkGuardian, losses: Losses, streams: &Streams) -> Self {
        let options = Options::of(plan, chosen);
        let phases = &mut streams.stream("link/0/phases");
        let link = Self::new(&plan.switch, plan.rates, plan.propagation, &options, losses, phases);
        Self {
            copies_are_chosen: chosen.copies.is_some(),
            control_copies_are_chosen: chosen.control_copies.is_some(),
            ..link
        }
    }
}

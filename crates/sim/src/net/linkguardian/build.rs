//! From a blueprint and a user's options to a link.

use super::{LinkGuardianLink, Options};
use crate::net::{Blueprint, Losses};
use lossylink_core::protection::{LinkGuardian, Mode};
use lossylink_core::rng::Streams;

impl Options {
    /// What `chosen` means on the link of `plan`.
    pub fn of(plan: &Blueprint, chosen: &LinkGuardian) -> Self {
        let (backpressure, deduplicate) = match chosen.mode {
            Mode::Ordered { backpressure } => (backpressure, false),
            Mode::NonBlocking { deduplicate } => (false, deduplicate),
        };
        Self {
            sender: chosen.sender(plan.loss_rate, plan.switch.dummy_count),
            ordered: chosen.is_ordered(),
            backpressure,
            deduplicate,
        }
    }
}

impl<P: Copy + Default> LinkGuardianLink<P> {
    /// The link of `plan` under `chosen`.
    pub fn on(plan: &Blueprint, chosen: &LinkGuardian, losses: Losses, streams: &Streams) -> Self {
        let options = Options::of(plan, chosen);
        let phases = &mut streams.stream("link/0/phases");
        let link = Self::new(&plan.switch, plan.rate, plan.propagation, &options, losses, phases);
        Self { copies_are_chosen: chosen.copies.is_some(), ..link }
    }
}

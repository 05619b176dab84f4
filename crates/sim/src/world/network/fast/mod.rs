//! The fast half of the network: the same events at the same instants, with fewer changes of place.
//!
//! Hosts and link take turns ([`turns`]), and so may the directions of the link ([`directions`]). Packets go in trains
//! ([`trains`], [`sending`]), and ahead of a link that decides at once ([`ahead`], [`way`]). A flow that loses nothing is a sum
//! ([`course`]). Each equals the plain network, event by event.

mod ahead;
mod course;
mod directions;
mod places;
mod sending;
mod trains;
mod turns;
mod way;

pub use course::{Course, Taken};

use super::{Addressed, Network};
use crate::net::ProtectedLink;
use crate::world::{Path, Protocol, Reception};
use ahead::Ahead;
use lossylink_core::time::Instant;
use places::Places;

/// The state of the fast half.
#[derive(Debug)]
pub(super) struct State {
    places: Places,
    /// Whether places may take turns, where nobody looks at all of them at once.
    skips: bool,
    /// Whether frames may go ahead of the link's turn, and how far.
    ahead: Option<Ahead>,
    /// Up to this instant nothing reaches the near host but what it knows of: when its turn ends, or the start of the run.
    near_turn_ends: Instant,
    /// Nobody looks at what the link has counted before this instant.
    counted_at: Instant,
}

impl State {
    pub(super) fn of(path: &Path) -> Self {
        Self {
            places: Places::of(path),
            skips: true,
            ahead: None,
            near_turn_ends: Instant::ZERO,
            counted_at: Instant::ZERO,
        }
    }

    /// The hosts receive like this.
    pub(super) fn set_reception(&mut self, reception: &Reception) {
        self.places.set_wake_up(reception.least_wake_up());
    }
}

impl<T: Protocol, L: ProtectedLink<Addressed<T::Packet>>> Network<T, L> {
    /// Lets places take turns, as they do unless this says otherwise, or goes event by event: with the same outcome.
    #[must_use]
    pub fn skipping(mut self, skips: bool) -> Self {
        self.fast.skips = skips;
        self
    }

    /// Before `at` nobody looks at what the link has counted, or at how long packets took: but at its queue.
    pub fn count_until(&mut self, at: Instant) {
        self.fast.counted_at = at;
    }
}

//! The fast half of the network: equal events at equal instants, with fewer changes of place.
//!
//! Hosts and link take turns ([`turns`]), and so may the directions of the link ([`directions`]). Packets go in trains
//! ([`trains`], [`sending`]), and ahead of a link that decides at once ([`ahead`], [`way`]). A flow that loses nothing is a sum
//! ([`turn_chain`]). Each equals the plain network, event by event.

mod ahead;
mod directions;
mod places;
mod sending;
mod trains;
mod turn_chain;
mod turns;
mod way;

pub use turn_chain::{Taken, TurnChain};

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
    /// Whether places may take turns, where nobody looks at all places at once.
    skips: bool,
    /// The limits within which frames go ahead of the link's turn; `None` if they may not.
    ahead: Option<Ahead>,
    /// The end of the near host's turn, or the start of the run outside of a turn. Up to then only packets that the near host
    /// knows of reach it.
    near_turn_ends: Instant,
    /// The time before which nobody reads the counters of the link.
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

    /// Sets how the hosts receive.
    pub(super) fn set_reception(&mut self, reception: &Reception) {
        self.places.set_wake_up(reception.least_wake_up());
    }
}

impl<T: Protocol, L: ProtectedLink<Addressed<T::Packet>>> Network<T, L> {
    /// Lets places take turns, which is the default, or go event by event if `skips` is false. The outcome is equal.
    #[must_use]
    pub fn skipping(mut self, skips: bool) -> Self {
        self.fast.skips = skips;
        self
    }

    /// Promises that nobody reads the counters of the link or the times of packets before `at`. The queue of the link may be
    /// read.
    pub fn count_until(&mut self, at: Instant) {
        self.fast.counted_at = at;
    }
}

//! Stand-ins for the entrances of the fast half where it is not compiled: the network goes event by event.

use super::{Addressed, Conversation, Network};
use crate::net::ProtectedLink;
use crate::world::{Path, Protocol, Reception};
use lossylink_core::time::Instant;

/// The state of the fast half, which is empty where the fast half is not compiled.
#[derive(Debug)]
pub(super) struct State;

impl State {
    pub(super) const fn of(_path: &Path) -> Self {
        Self
    }

    pub(super) const fn set_reception(&mut self, _reception: &Reception) {}
}

impl<T: Protocol, L: ProtectedLink<Addressed<T::Packet>>> Network<T, L> {
    /// Asks for the fast half, which is not compiled.
    #[must_use]
    pub const fn skipping(self, _skips: bool) -> Self {
        self
    }

    /// Tells the fast half, which is not compiled, when somebody next reads the counters of the link.
    pub const fn count_until(&mut self, _at: Instant) {}

    pub(super) const fn run_in_turns(
        &mut self,
        _end: Instant,
        _act: &mut impl FnMut(Instant, usize, &mut Conversation<T>) -> bool,
    ) -> bool {
        false
    }

    pub(super) const fn run_in_turns_while(
        &mut self,
        _index: usize,
        _goes_on: &impl Fn(&Conversation<T>) -> bool,
        _end: Instant,
    ) -> bool {
        false
    }

    pub(super) const fn flush_near_in_trains(&mut self, _index: usize) -> bool {
        false
    }

    pub(super) const fn flush_far_ahead(&mut self, _index: usize) -> bool {
        false
    }

    pub(super) const fn send_paced(&mut self, _index: usize) -> bool {
        false
    }
}

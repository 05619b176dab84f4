//! Runs of a network up to an instant, for an owner that may watch the near ends and act on them.

use super::{Addressed, Conversation, Network};
use crate::net::ProtectedLink;
use crate::world::Protocol;
use lossylink_core::time::Instant;

impl<T: Protocol, L: ProtectedLink<Addressed<T::Packet>>> Network<T, L> {
    /// Runs up to and including `end`.
    pub fn run_until(&mut self, end: Instant) {
        self.run_watched(end, |_, _| {});
    }

    /// Runs up to and including `end`; `watch` sees a conversation after each event of its near end.
    pub fn run_watched(&mut self, end: Instant, mut watch: impl FnMut(usize, &Conversation<T>)) {
        self.run_acting(end, |_, index, ends| {
            watch(index, ends);
            false
        });
    }

    /// Runs up to and including `end`. After each event of a near end, `act` may act on its conversation, and returns whether
    /// it did. Packets that come of an action leave behind the packets that have been sent.
    pub fn run_acting(
        &mut self,
        end: Instant,
        mut act: impl FnMut(Instant, usize, &mut Conversation<T>) -> bool,
    ) {
        if self.run_in_turns(end, &mut act) {
            return;
        }
        while !self.is_stopped() && self.step(end) {
            self.let_act(self.now, &mut act);
        }
        if !self.is_stopped() {
            self.now = self.now.max(end);
        }
    }

    /// Runs while `goes_on` holds for a conversation, up to and including `end`. Places that take turns ask once a turn: then
    /// some of the events behind the one that changes the answer have happened, at places that do not know of it yet.
    pub fn run_while(&mut self, index: usize, goes_on: impl Fn(&Conversation<T>) -> bool, end: Instant) {
        if self.run_in_turns_while(index, &goes_on, end) {
            return;
        }
        while goes_on(&self.conversations[index]) && !self.is_stopped() && self.step(end) {}
    }

    /// Lets the owner act on the near end that had an event at `at`, since when it may have sent ahead of the present.
    #[inline]
    pub(super) fn let_act(
        &mut self,
        at: Instant,
        act: &mut impl FnMut(Instant, usize, &mut Conversation<T>) -> bool,
    ) {
        let index = self.touched;
        if act(at, index, &mut self.conversations[index]) {
            self.flush_near(index);
        }
    }

    /// Returns the time of the near host's next event.
    #[inline]
    pub(super) fn next_at_near(&self) -> Instant {
        self.at_near.poll_timeout().min(self.near_timers.next()).min(self.near_lines.poll_timeout())
    }

    /// Returns the time of the far host's next event.
    #[inline]
    pub(super) fn next_at_far(&self) -> Instant {
        self.at_far.poll_timeout().min(self.far_timers.next()).min(self.far_lines.poll_timeout())
    }
}

//! Frames of a host that go on to the other host at once, where the link between them lets them.
//!
//! A link that decides at once answers nothing and holds nothing back, so its turn is arithmetic like that of a hop.
//! The turn of the sending host sends a frame all the way to the other host ([`Way`](super::way::Way)).

use crate::fast::{Path as Fast, takes};
use crate::net::ProtectedLink;
use crate::world::Protocol;
use crate::world::network::{Addressed, Network};
use lossylink_core::time::Instant;

/// How far frames may go ahead of the link's turn, and how far they went.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ahead {
    /// The time after which no frame enters the link. Whoever looks at the link at the end of a run sees all frames
    /// that have entered by then.
    until: Instant,
    /// The time by which the link decides on the frames that have entered it. Nobody reads the counters of the link
    /// before.
    pub(super) decides_until: Instant,
    /// The end of the near host's turn. Up to then only packets that the near host knows of reach it.
    turn_ends: Instant,
    /// The latest time at which a frame that went ahead entered the link.
    latest: Instant,
}

impl Ahead {
    /// Begins a turn of the near host that ends at `until`.
    pub(super) const fn begin_turn(&mut self, until: Instant) {
        self.turn_ends = until;
    }

    /// Returns the last instant of the turn before `next`, when the near host has another event.
    #[inline]
    pub(super) fn horizon(&self, next: Instant) -> Instant {
        self.turn_ends.min(next.just_before())
    }

    /// Whether a frame that reaches the link at `at` may enter it now; if so, notes the entry.
    #[inline]
    pub(super) fn lets_enter(&mut self, at: Instant) -> bool {
        let may = at <= self.until;
        if may {
            self.latest = self.latest.max(at);
        }
        may
    }
}

impl<T: Protocol, L: ProtectedLink<Addressed<T::Packet>>> Network<T, L> {
    /// Lets frames go ahead of the link from now on, up to and including `end`, if the link decides at once.
    pub(super) fn go_ahead(&mut self, end: Instant) {
        let decides_until = self.fast.counted_at.max(end);
        let decides_at_once = takes(Fast::AheadOfLink) && self.link.decide_until(decides_until);
        if decides_at_once {
            let mut ahead = Ahead { until: end, decides_until, turn_ends: self.now, latest: Instant::ZERO };
            self.enter_waiting(&mut ahead);
            self.fast.ahead = Some(ahead);
        }
    }

    /// Lets no frame go ahead any more. Sets the clock to `now`, or to the latest entry of a frame that went ahead.
    pub(super) fn stay_behind(&mut self, now: Instant) {
        self.now = self.fast.ahead.take().map_or(now, |ahead| ahead.latest.max(now));
        self.link.queue_mut().settle(self.now);
    }

    /// Lets the frames on their way to the link cross it, as far as they may go ahead.
    fn enter_waiting(&mut self, ahead: &mut Ahead) {
        let Self { link, at_link, back_at_link, .. } = self;
        at_link.drain_due(ahead.until, |at, frame| {
            ahead.lets_enter(at);
            link.offer(at, frame);
        });
        back_at_link.drain_due(ahead.until, |at, frame| {
            ahead.lets_enter(at);
            link.offer_back(at, frame);
        });
        self.collect_trains();
    }
}

//! What a host sends goes on to the other host at once, where the link between them lets it.
//!
//! A link that decides at once answers nothing and holds nothing back, so its turn is arithmetic like that
//! of a hop: the host's own turn sends a frame all the way ([`Way`](super::way::Way)).

use crate::fast::{Path as Fast, takes};
use crate::net::ProtectedLink;
use crate::world::Protocol;
use crate::world::network::{Addressed, Network};
use lossylink_core::time::Instant;

/// How far frames may go ahead of the link's turn, and went.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ahead {
    /// No frame enters the link later: whoever looks at the link at the end of a run sees what has entered it by then.
    until: Instant,
    /// The link decides by then on what has entered it: nobody looks at what it has counted before.
    pub(super) decides_until: Instant,
    /// Up to this instant nothing reaches the near host but what it knows of.
    turn_ends: Instant,
    /// When the latest of them entered the link.
    latest: Instant,
}

impl Ahead {
    /// A turn of the near host begins; it ends at `until`.
    pub(super) const fn begin_turn(&mut self, until: Instant) {
        self.turn_ends = until;
    }

    /// The last instant of the turn before `next`, when the near host does something else.
    #[inline]
    pub(super) fn horizon(&self, next: Instant) -> Instant {
        self.turn_ends.min(next.just_before())
    }

    /// Whether a frame that reaches the link at `at` may enter it now, which is noted.
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
    /// From now on frames go ahead of the link, up to and including `end`, if it decides at once.
    pub(super) fn go_ahead(&mut self, end: Instant) {
        let decides_until = self.fast.counted_at.max(end);
        let decides_at_once = takes(Fast::AheadOfLink) && self.link.decide_until(decides_until);
        if decides_at_once {
            let mut ahead = Ahead { until: end, decides_until, turn_ends: self.now, latest: Instant::ZERO };
            self.enter_waiting(&mut ahead);
            self.fast.ahead = Some(ahead);
        }
    }

    /// No frame goes ahead any more: the present is `now`, or when the latest of those that did entered the link.
    pub(super) fn stay_behind(&mut self, now: Instant) {
        self.now = self.fast.ahead.take().map_or(now, |ahead| ahead.latest.max(now));
        self.link.queue_mut().settle(self.now);
    }

    /// The frames that are on their way to the link cross it, as far as they may.
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

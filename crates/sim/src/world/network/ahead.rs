//! What a host sends goes on to the other host at once, where the link between them lets it.
//!
//! A link that decides at once answers nothing and holds nothing back, so its turn is arithmetic like that
//! of a hop: the host's own turn sends a frame all the way. And frames that leave one behind another are one
//! train, for which a hop or the link is a few additions, however many they are.
//!
//! ```text
//!  poll, repeat, take_train --to_link--> [link] --from_link--> arrivals    a train, or its frames one by one
//!                                '---------- at_link, for the link's own turn: what lies beyond the end of the run
//! ```

use super::{Addressed, Arrivals, Network};
use crate::kernel::{Pipe, Train};
use crate::net::{Direction, Frame, Passage, ProtectedLink};
use crate::world::Protocol;
use crate::world::path::Leg;
use lossylink_core::time::{Duration, Instant};

/// How far frames may go ahead of the link's turn, and went.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ahead {
    /// No frame enters the link later: whoever looks at the link at the end of a run sees what has entered it by then.
    until: Instant,
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
        self.turn_ends.min(next - Duration::from_ps(1))
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

/// A way across the link, from one host to the other.
pub(super) struct Way<'a, T: Protocol, L> {
    pub(super) direction: Direction,
    pub(super) protocol: &'a T,
    pub(super) to_link: &'a mut Leg,
    pub(super) from_link: &'a mut Leg,
    pub(super) link: &'a mut L,
    /// What waits for the link's turn.
    pub(super) at_link: &'a mut Pipe<Frame<Addressed<T::Packet>>>,
    pub(super) arrivals: &'a mut Arrivals<T::Packet>,
    pub(super) ahead: &'a mut Ahead,
}

impl<T: Protocol, L: ProtectedLink<Addressed<T::Packet>>> Network<T, L> {
    /// From now on frames go ahead of the link, up to and including `end`, if nobody could tell.
    pub(super) fn go_ahead(&mut self, end: Instant) {
        let decides_at_once = self.link.decides_at_once();
        self.leads.set_only_hosts_answer(decides_at_once);
        let nobody_looks = self.latency.is_none() && !self.tap.is_open();
        if nobody_looks && decides_at_once {
            self.link.decide_waiting(end);
            let mut ahead = Ahead { until: end, turn_ends: self.now, latest: Instant::ZERO };
            self.enter_waiting(&mut ahead);
            self.ahead = Some(ahead);
        }
    }

    /// No frame goes ahead any more: the present is `now`, or when the latest of those that did entered the link.
    pub(super) fn stay_behind(&mut self, now: Instant) {
        self.now = self.ahead.take().map_or(now, |ahead| ahead.latest.max(now));
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
        self.collect();
    }
}

impl<T: Protocol, L: ProtectedLink<Addressed<T::Packet>>> Way<'_, T, L> {
    /// Sends `frame` and those that follow it, when the train says.
    #[inline]
    pub(super) fn send(&mut self, train: Train, frame: &mut Frame<Addressed<T::Packet>>) {
        if train.count == 1 {
            self.send_one(train.first, frame);
        } else {
            self.send_train(train, frame);
        }
    }

    #[inline]
    fn send_one(&mut self, now: Instant, frame: &mut Frame<Addressed<T::Packet>>) {
        let Some(at) = self.to_link.cross(now, frame) else { return };
        if !(self.at_link.is_empty() && self.ahead.lets_enter(at)) {
            return self.wait(at, frame);
        }
        match self.carry(Train::of_one(at), frame) {
            Passage { delivered: Some(train), .. } => self.leave_one(train.first, frame),
            Passage { taken: 0, .. } => self.offer(at, frame),
            _ => {}
        }
    }

    #[inline(never)]
    fn send_train(&mut self, train: Train, frame: &mut Frame<Addressed<T::Packet>>) {
        match self.to_link.cross_train(train, frame.octets) {
            Some(train) => self.reach_link(train, frame),
            None => self.each(train, frame, Self::send_one),
        }
    }

    /// The frames reach the link: they cross it, or wait for its turn.
    fn reach_link(&mut self, mut train: Train, frame: &mut Frame<Addressed<T::Packet>>) {
        while self.at_link.is_empty() && self.ahead.lets_enter(train.last()) {
            let passage = self.carry(train, frame);
            if passage.taken == 0 {
                return self.each(train, frame, |this, at, frame| this.offer(at, frame));
            }
            if let Some(delivered) = passage.delivered {
                self.leave_link(delivered, frame);
            }
            if passage.taken == train.count {
                return;
            }
            self.protocol.follow(&mut frame.payload.packet, passage.taken * train.step);
            train = train.behind(passage.taken);
        }
        self.each(train, frame, Self::wait);
    }

    /// What the link knows at once of the frames.
    #[inline]
    fn carry(&mut self, train: Train, frame: &Frame<Addressed<T::Packet>>) -> Passage {
        match self.direction {
            Direction::Forward => self.link.carry_train(train, frame, self.ahead.until),
            Direction::Backward => self.link.carry_train_back(train, frame),
        }
    }

    #[inline(never)]
    fn wait(&mut self, at: Instant, frame: &mut Frame<Addressed<T::Packet>>) {
        frame.payload.entered_at = at;
        self.at_link.push(at, *frame);
    }

    /// The link looks at the frame.
    #[inline(never)]
    fn offer(&mut self, at: Instant, frame: &Frame<Addressed<T::Packet>>) {
        let Self { protocol, from_link, link, arrivals, .. } = self;
        let crossed = match self.direction {
            Direction::Forward => {
                link.offer(at, *frame);
                link.delivered()
            }
            Direction::Backward => {
                link.offer_back(at, *frame);
                link.returned()
            }
        };
        crossed.take_all(|at, frame| {
            if let Some(at) = from_link.cross(at, frame) {
                arrivals.arrive(*protocol, at, frame);
            }
        });
    }

    /// The frames go on to the other host.
    #[inline]
    fn leave_link(&mut self, train: Train, frame: &Frame<Addressed<T::Packet>>) {
        if train.count == 1 {
            return self.leave_one(train.first, frame);
        }
        let mut frame = *frame;
        match self.from_link.cross_train(train, frame.octets) {
            Some(train) => self.arrivals.arrive_in_train(self.protocol, train, &mut frame),
            None => self.each(train, &mut frame, |this, at, frame| this.leave_one(at, frame)),
        }
    }

    #[inline]
    fn leave_one(&mut self, at: Instant, frame: &Frame<Addressed<T::Packet>>) {
        if let Some(at) = self.from_link.cross(at, frame) {
            self.arrivals.arrive(self.protocol, at, frame);
        }
    }

    /// Hands the frames of a train to `take`, each with its time.
    #[inline]
    fn each(
        &mut self,
        train: Train,
        frame: &mut Frame<Addressed<T::Packet>>,
        take: impl Fn(&mut Self, Instant, &mut Frame<Addressed<T::Packet>>),
    ) {
        take(self, train.first, frame);
        for index in 1..train.count {
            self.protocol.follow(&mut frame.payload.packet, train.step);
            take(self, train.nth(index), frame);
        }
    }
}

//! A way across the link from one host to the other, on which frames go in the turn of the sending host: across the
//! link where it lets them go ahead, or up to it.
//!
//! Frames that leave one behind another are one train. A hop or the link handles a train by a few additions, however
//! many frames it has.
//!
//! ```text
//!  poll, repeat, take_train --to_link--> [link] --from_link--> arrivals    a train, or its frames one by one
//!                                '---------- at_link, for the link's own turn: frames that may not go ahead
//! ```

use super::ahead::Ahead;
use crate::kernel::{Member, Train, Trains};
use crate::measure::Delays;
use crate::net::{Direction, Frame, Passage, ProtectedLink};
use crate::world::network::Addressed;
use crate::world::network::arrivals::Arrivals;
use crate::world::path::Leg;
use crate::world::{Path, Protocol};
use lossylink_core::time::Instant;

/// A way across the link, from one host to the other.
pub(super) struct Way<'a, T: Protocol, L> {
    direction: Direction,
    protocol: &'a T,
    to_link: &'a mut Leg,
    from_link: &'a mut Leg,
    link: &'a mut L,
    /// Frames that wait for the link's turn.
    at_link: &'a mut Trains<Frame<Addressed<T::Packet>>>,
    arrivals: &'a mut Arrivals<T::Packet>,
    ahead: Option<&'a mut Ahead>,
    /// Times of frames across the link, if they are measured.
    latency: Option<&'a mut Delays>,
}

impl<'a, T: Protocol, L> Way<'a, T, L> {
    /// Returns the way from the near host to the far host.
    #[inline(always)]
    pub(super) const fn forward(
        protocol: &'a T,
        path: &'a mut Path,
        link: &'a mut L,
        at_link: &'a mut Trains<Frame<Addressed<T::Packet>>>,
        at_far: &'a mut Arrivals<T::Packet>,
        (ahead, latency): (Option<&'a mut Ahead>, Option<&'a mut Delays>),
    ) -> Self {
        let Path { to_link, to_far: from_link, .. } = path;
        Self {
            direction: Direction::Forward,
            protocol,
            to_link,
            from_link,
            link,
            at_link,
            arrivals: at_far,
            ahead,
            latency,
        }
    }

    /// Returns the way from the far host to the near host.
    #[inline(always)]
    pub(super) const fn backward(
        protocol: &'a T,
        path: &'a mut Path,
        link: &'a mut L,
        at_link: &'a mut Trains<Frame<Addressed<T::Packet>>>,
        at_near: &'a mut Arrivals<T::Packet>,
        ahead: Option<&'a mut Ahead>,
    ) -> Self {
        let Path { back_to_link: to_link, to_near: from_link, .. } = path;
        Self {
            direction: Direction::Backward,
            protocol,
            to_link,
            from_link,
            link,
            at_link,
            arrivals: at_near,
            ahead,
            latency: None,
        }
    }
}

impl<T: Protocol, L: ProtectedLink<Addressed<T::Packet>>> Way<'_, T, L> {
    /// Sends `frame` and the frames that follow it, at the times of the train.
    #[inline]
    pub(super) fn send(&mut self, train: &Train, frame: &mut Frame<Addressed<T::Packet>>) {
        if train.count == 1 {
            self.send_one(train.first, frame);
        } else {
            self.send_train(train, frame);
        }
    }

    #[inline]
    fn send_one(&mut self, now: Instant, frame: &mut Frame<Addressed<T::Packet>>) {
        let Some(at) = self.to_link.cross(now, frame) else { return };
        if !self.lets_enter(at) {
            return self.wait(at, frame);
        }
        match self.carry(Train::of_one(at), frame) {
            Passage { delivered: Some(train), .. } => {
                self.note(Train::of_one(at), train);
                self.leave_one(train.first, frame);
            }
            Passage { taken: 0, .. } => self.offer(at, frame),
            _ => {}
        }
    }

    #[inline(never)]
    fn send_train(&mut self, train: &Train, frame: &mut Frame<Addressed<T::Packet>>) {
        match self.to_link.cross_train(*train, frame.octets) {
            Some(train) => self.reach_link(train, frame),
            None => self.each(*train, frame, Self::send_one),
        }
    }

    /// Takes frames that reach the link across it, or lets them wait for its turn.
    fn reach_link(&mut self, mut train: Train, frame: &mut Frame<Addressed<T::Packet>>) {
        while self.lets_enter(train.last()) {
            let passage = self.carry(train, frame);
            if passage.taken == 0 {
                return self.each(train, frame, |this, at, frame| this.offer(at, frame));
            }
            if let Some(delivered) = passage.delivered {
                self.note(train, delivered);
                self.leave_link(delivered, frame);
            }
            if passage.taken == train.count {
                return;
            }
            frame.follow(passage.taken, train.step);
            train = train.behind(passage.taken);
        }
        if self.latency.is_some() {
            frame.payload.enter(train);
        }
        self.at_link.push_train(train, frame);
    }

    /// Whether frames that reach the link by `at` may cross it now.
    #[inline]
    fn lets_enter(&mut self, at: Instant) -> bool {
        let Some(ahead) = &mut self.ahead else { return false };
        self.at_link.is_empty() && ahead.lets_enter(at)
    }

    /// Returns the fate of the first frames of a train that may cross the link, as far as the link knows it at once.
    #[inline]
    fn carry(&mut self, train: Train, frame: &Frame<Addressed<T::Packet>>) -> Passage {
        match &self.ahead {
            Some(ahead) => self.link.take(self.direction, train, frame, ahead.decides_until),
            None => Passage::NONE,
        }
    }

    /// Notes the times across the link of frames that enter it in the train `entered` and leave it in the train
    /// `delivered`.
    #[inline(always)]
    fn note(&mut self, entered: Train, delivered: Train) {
        if self.latency.is_some() {
            self.note_latency(entered, delivered);
        }
    }

    /// Notes times across the link if they are measured. Not inlined, out of the way of the frames whose times are
    /// not measured.
    #[cold]
    #[inline(never)]
    fn note_latency(&mut self, entered: Train, delivered: Train) {
        if let Some(latency) = &mut self.latency {
            (0..delivered.count).for_each(|index| latency.add(delivered.nth(index) - entered.nth(index)));
        }
    }

    #[inline(never)]
    fn wait(&mut self, at: Instant, frame: &mut Frame<Addressed<T::Packet>>) {
        if self.latency.is_some() {
            frame.payload.enter(Train::of_one(at));
        }
        self.at_link.push(at, frame);
    }

    /// Offers a frame to the link, and sends on the frames that come out.
    #[inline(never)]
    fn offer(&mut self, at: Instant, frame: &mut Frame<Addressed<T::Packet>>) {
        let Self { protocol, from_link, link, arrivals, latency, .. } = self;
        if latency.is_some() {
            frame.payload.enter(Train::of_one(at));
        }
        let take = |at, frame: &Frame<Addressed<T::Packet>>| {
            let mut frame = *frame;
            if let Some(latency) = latency {
                frame.payload.leave(Train::of_one(at), |took| latency.add(took));
            }
            if let Some(at) = from_link.cross(at, &frame) {
                arrivals.arrive(*protocol, at, &frame);
            }
        };
        match self.direction {
            Direction::Forward => {
                link.offer(at, *frame);
                link.delivered().take_all(take);
            }
            Direction::Backward => {
                link.offer_back(at, *frame);
                link.returned().take_all(take);
            }
        }
    }

    /// Sends frames that have left the link on to the other host.
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
            frame.follow(1, train.step);
            take(self, train.nth(index), frame);
        }
    }
}

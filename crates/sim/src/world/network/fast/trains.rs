//! Packets that arrive evenly spaced are handed to a host that takes no time as a train, as far as the host takes them together.

use super::way::Way;
use crate::fast::{Path as Fast, takes};
use crate::kernel::Member;
use crate::net::{Ecn, Frame, ProtectedLink};
use crate::world::network::arrivals::Arrivals;
use crate::world::network::sending::address;
use crate::world::network::{Addressed, Network};
use crate::world::path::Leg;
use crate::world::{Endpoint, Protocol};
use lossylink_core::time::Instant;

impl<T: Protocol, L: ProtectedLink<Addressed<T::Packet>>> Network<T, L> {
    /// Hands the far host the packets that come next, up to and including `until`, as many as it takes as a train. Returns false
    /// if it takes none, and then [`Network::handle_at_far`] handles the next packet.
    #[inline]
    pub(super) fn take_train_at_far(&mut self, until: Instant) -> bool {
        let Some((train, frame)) = self.at_far.train() else { return false };
        let come = train.come_by(until.min(self.far_timers.next()).min(self.far_lines.poll_timeout()));
        let (index, owner) = owner(frame);
        if !(come > 1 && self.takes_trains(frame)) {
            return false;
        }
        let packet = frame.payload.packet;
        let Self { protocol, path, link, back_at_link, at_near, fast, .. } = self;
        let far = &mut self.conversations[index].far;
        let mut way = Way::backward(protocol, path, link, back_at_link, at_near, fast.ahead.as_mut());
        let taken = far.take_train(train.up_to(come), &packet, |train, packet| {
            way.send(&train, &mut address(protocol, owner, packet));
        });
        if taken > 0 {
            self.now = train.nth(taken - 1);
            self.at_far.skip(taken);
            self.far_timers.set(index, self.conversations[index].far.poll_timeout());
        }
        taken > 0
    }

    /// Hands the near host the packets that come next, up to and including `until`, as many as it takes as a train. Returns false
    /// if it takes none, and then [`Network::handle_at_near`] handles the next packet.
    #[inline]
    pub(super) fn take_train_at_near(&mut self, until: Instant) -> bool {
        let Some((train, frame)) = self.at_near.train() else { return false };
        let come = train.come_by(until.min(self.near_timers.next()).min(self.near_lines.poll_timeout()));
        let (index, owner) = owner(frame);
        if !(come > 1 && self.takes_trains(frame)) {
            return false;
        }
        let packet = frame.payload.packet;
        let Self { protocol, path, link, at_link, at_far, fast, latency, .. } = self;
        let near = &mut self.conversations[index].near;
        let looks = (fast.ahead.as_mut(), latency.as_mut());
        let mut way = Way::forward(protocol, path, link, at_link, at_far, looks);
        let taken = near.take_train(train.up_to(come), &packet, |train, packet| {
            way.send(&train, &mut address(protocol, owner, packet));
        });
        if taken > 0 {
            self.now = train.nth(taken - 1);
            self.at_near.skip(taken);
            self.touched = index;
            self.flush_near(index);
        }
        taken > 0
    }

    /// Takes the frames that have left the link on toward the hosts, in trains. Equals [`Network::collect`], where nobody looks at
    /// the hops.
    #[inline]
    pub(super) fn collect_trains(&mut self) {
        let Self { path, protocol, at_far, at_near, latency, .. } = self;
        let arrive =
            |leg: &mut Leg, at_far: &mut Arrivals<T::Packet>, at, frame: &Frame<Addressed<T::Packet>>| {
                if let Some(at) = leg.cross(at, frame) {
                    at_far.arrive(protocol, at, frame);
                }
            };
        self.link.delivered().take_trains(|train, frame| {
            let leg = &mut path.to_far;
            if train.count == 1 && latency.is_none() {
                return arrive(leg, at_far, train.first, frame);
            }
            let mut frame = *frame;
            if let Some(latency) = latency {
                frame.payload.leave(train, |took| latency.add(took));
            }
            if let Some(train) = leg.cross_train(train, frame.octets) {
                return at_far.arrive_in_train(protocol, train, &mut frame);
            }
            arrive(leg, at_far, train.first, &frame);
            for index in 1..train.count {
                frame.follow(1, train.step);
                arrive(leg, at_far, train.nth(index), &frame);
            }
        });
        self.link.returned().take_all(|at, frame| {
            if let Some(at) = path.to_near.cross(at, frame) {
                at_near.arrive(protocol, at, frame);
            }
        });
    }

    /// Whether frames like this one may be handed on together: their connection still stands, and they bear no congestion mark.
    fn takes_trains(&self, frame: &Frame<Addressed<T::Packet>>) -> bool {
        let (index, (_, generation)) = owner(frame);
        takes(Fast::Trains) && frame.ecn != Ecn::Experienced && generation == self.generations[index]
    }
}

/// Returns the index of a frame's conversation, and the address of an answer to the frame.
const fn owner<P>(frame: &Frame<Addressed<P>>) -> (usize, (u32, u32)) {
    let Addressed { conversation, generation, .. } = frame.payload;
    (conversation as usize, (conversation, generation))
}

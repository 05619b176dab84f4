//! Trains of copies are looked at together where frames leave so close behind each other that the port is hardly ever idle. Most
//! copies go round once there, one behind another, and have been acknowledged when they come back.

use super::{Outstanding, Ticket, TxLoop};
use crate::fast::{Path as Fast, takes};
use crate::kernel::Train;
use crate::net::Payload;
use crate::net::source::MANY;
use lossylink_core::time::Instant;

/// The number of trains that may be short, and the least number of copies per train if there are more trains. Otherwise copies come
/// back one by one. Both numbers are chosen by the instructions that a frame of the stress test and a message of `rdma-fct` take.
const FEW_TRAINS: usize = 4;
const FEWEST_COPIES: usize = 2;

impl<P: Payload> TxLoop<P> {
    /// Whether copies go round in trains: trains are going round already, or fresh copies keep the port busy, as `spacing < 5/4
    /// serialisation`.
    #[inline]
    pub(super) fn streams(&mut self) -> bool {
        if !takes(Fast::CopyTrains) {
            return false;
        }
        if !self.trains.is_empty() {
            return true;
        }
        // The port could not keep up if more than a few of these copies went round twice.
        let is_close = |(train, ticket): &(Train, Ticket)| {
            train.count >= MANY && train.spacing * 4 < self.queue.serialisation(ticket.octets) * 5
        };
        // The first train may be the rest of one that has been looked at.
        self.is_streaming =
            self.fresh.get(0).is_some_and(is_close) || self.fresh.get(1).is_some_and(is_close);
        self.is_streaming
    }

    /// Looks at the copies whose turn comes by `last`. An outstanding copy goes round, and any other copy leaves the loop.
    ///
    /// Equals [`TxLoop::look_at_each`]. Returns false if copies are left to be looked at one by one, because too many come back
    /// alone.
    #[inline(never)]
    pub(super) fn look_at_trains(&mut self, last: Instant, outstanding: &mut Outstanding) -> bool {
        let mut still = outstanding.clone();
        loop {
            // Copies that leave the loop do not meet any other.
            self.skip_acknowledged(last, &mut still);
            let (round, fresh) = (self.next_round(), self.fresh.poll_timeout());
            if round.min(fresh) > last {
                return true;
            }
            if self.trains.trains() > FEW_TRAINS && self.are_short() {
                let Self { trains, rounds, .. } = self;
                trains.take_all(|at, &ticket| rounds.push(at, ticket));
                self.is_streaming = false;
                return false;
            }
            if round <= fresh {
                if let Some((look, ticket)) = self.pop_round() {
                    self.send_round(look, ticket);
                }
            } else {
                // A copy that enters now comes back behind every copy that is going round.
                let back =
                    if round.is_never() { self.queue.next_start(fresh) + self.way_round } else { round };
                self.send_fresh(last.min(back.just_before()), outstanding);
            }
        }
    }

    /// Whether the trains have fewer than [`FEWEST_COPIES`] copies each on average.
    fn are_short(&self) -> bool {
        let (Some((_, first)), Some(newest)) = (self.trains.front(), self.trains.newest()) else {
            return false;
        };
        (newest.number.wrapping_sub(first.number) as usize) < FEWEST_COPIES * self.trains.trains()
    }

    /// Removes the acknowledged copies that come back by `last`, up to the first outstanding copy.
    #[inline]
    fn skip_acknowledged(&mut self, last: Instant, outstanding: &mut Outstanding) {
        while self.rounds.poll_timeout() <= last {
            let (look, front) = (self.rounds.poll_timeout(), self.rounds.front());
            if front.is_some_and(|ticket| outstanding.has(ticket.number, look)) {
                return;
            }
            self.rounds.skip();
        }
        if !self.rounds.is_empty() {
            return;
        }
        while let Some((train, first)) = self.trains.front().filter(|(train, _)| train.first <= last) {
            // `leave` copies at the front of the train are known to be acknowledged when they come back.
            let mut leave = 0;
            while leave < train.count {
                let oldest = outstanding.oldest_at(train.nth(leave));
                let acknowledged = oldest.wrapping_sub(first.number);
                if acknowledged as i32 <= leave as i32 {
                    break;
                }
                leave = acknowledged.min(train.count);
            }
            if leave == 0 {
                return;
            }
            let leave = train.up_to(leave).come_by(last);
            self.trains.skip(leave);
        }
    }

    /// Looks at the next fresh copies up to `until`, by which no copy comes back.
    #[inline]
    fn send_fresh(&mut self, until: Instant, outstanding: &mut Outstanding) {
        let Some((train, &ticket)) = self.fresh.front() else { return };
        if !outstanding.has(ticket.number, train.first) {
            self.fresh.skip(1);
            return;
        }
        let train = train.up_to(train.come_by(until));
        let train = train.up_to(outstanding.stretch(train, ticket.number));
        if let Some(left) = self.queue.enter_train(train, ticket.octets) {
            self.trains.push_train(left.from(left.first + self.way_round), &ticket);
            self.fresh.skip(left.count);
        } else {
            self.fresh.skip(1);
            if let Some(left) = self.queue.enter(train.first, ticket.octets) {
                self.trains.push(left + self.way_round, &ticket);
            } else {
                self.evicted.push(ticket.number);
            }
        }
    }
}

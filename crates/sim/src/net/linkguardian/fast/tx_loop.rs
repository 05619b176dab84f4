//! The recirculation loop in which a switch keeps copies of sent frames (LG-5, LG-6).
//!
//! ```text
//!  sent --- first_check ---> look --[queue]== port ==-- way_round --> look ...
//! ```
//!
//! A copy stays where it was put when its frame was sent, and only its number goes round. A look at a copy that changes nothing is
//! no event. The loop makes up for such looks in their order and at their times, when one of them could change something.

mod outstanding;
mod passing;
mod pending;
mod streaming;
mod uncontended;

pub(super) use passing::MANY_ROUNDS;

use super::frames::Copied;
use super::port_queue::{Counts, PortQueue};
use super::timing::Timing;
use super::wires::Acks;
use crate::kernel::{Member, Pipe, Train, Trains};
use crate::net::{Cells, Payload};
use lossylink_core::engine::linkguardian::{CopyFate, Sender};
use lossylink_core::time::{Duration, Instant};
use outstanding::{Outstanding, is_outstanding};
use pending::Pending;
use std::mem;
use uncontended::FirstLooks;

/// The number of trains of copies from which on the loop first frees copies that have left it.
const INITIAL_TRAINS: usize = 16;

/// The number of changes of the oldest outstanding frame that are expanded at once for looks at trains: chosen by the instructions
/// that a frame of the stress test takes.
const CHANGES_TOGETHER: usize = 32;

/// The number of copies from which on a train is shortened at its front.
const LONGEST_TRAIN: u32 = 1 << 16;

/// A copy in the loop: its number, which counts the data frames that were numbered before, and its octets on the wire.
#[derive(Clone, Copy, Debug, Default)]
struct Ticket {
    number: u32,
    octets: u32,
}

impl Ticket {
    const fn of<P>(copy: &Copied<P>) -> Self {
        Self { number: copy.number, octets: copy.frame.octets }
    }
}

impl Member for Ticket {
    #[inline]
    fn distance(&self, next: &Self, count: u32) -> Option<u32> {
        let follows = next.number == self.number.wrapping_add(count) && next.octets == self.octets;
        follows.then_some(count)
    }

    #[inline]
    fn follow(&mut self, count: u32, step: u32) {
        self.number = self.number.wrapping_add(count * step);
    }
}

/// A recirculation port: a queue at its own rate and a fixed way round.
#[derive(Clone, Debug)]
pub(super) struct TxLoop<P: Payload> {
    first_check: Duration,
    queue: PortQueue,
    way_round: Duration,
    /// The copies in the loop in the order of their numbers, behind copies that have left the loop.
    copies: Trains<Copied<P>>,
    /// The number of trains in `copies` from which on copies that have left the loop are freed.
    most_trains: usize,
    /// Copies that wait for their first look.
    fresh: Trains<Ticket>,
    /// Copies that have been round, by the time of their next look: single copies in `rounds`, and behind these whole trains in
    /// `trains`.
    rounds: Pipe<Ticket>,
    trains: Trains<Ticket>,
    /// Whether copies that come back are looked at in trains.
    is_streaming: bool,
    /// The newest copies, while their first looks are equally spaced.
    first_looks: FirstLooks,
    /// Acknowledgements that took effect after the last look.
    pending: Pending,
    /// Numbers of the copies that found no room and that the engine has not been told.
    evicted: Vec<u32>,
}

impl<P: Payload> TxLoop<P> {
    pub(super) fn new(timing: &Timing, cells: Cells, limit_bytes: u64) -> Self {
        Self {
            first_check: timing.copy_first_check,
            queue: PortQueue::new(timing, cells, limit_bytes, Counts::UntilItLeaves),
            way_round: timing.tx_loop_fixed,
            copies: Trains::new(),
            most_trains: INITIAL_TRAINS,
            fresh: Trains::new(),
            rounds: Pipe::new(),
            trains: Trains::new(),
            is_streaming: false,
            first_looks: FirstLooks::default(),
            pending: Pending::default(),
            evicted: Vec::new(),
        }
    }

    /// Tells the engine which copies of outstanding frames found no room since the last call (LG-34). A frame that is not outstanding
    /// may be so old that a newer frame has its position.
    #[inline]
    pub(super) fn tell_evicted(&mut self, engine: &mut Sender) {
        let oldest = engine.oldest_outstanding();
        for number in self.evicted.drain(..).filter(|&number| is_outstanding(number, oldest)) {
            engine.note_evicted(engine.position_of(number));
        }
    }

    /// Keeps the copy of the frame that left at `now` and is numbered next. Equals `TxLoop::insert` of the plain model.
    #[inline]
    pub(super) fn insert(&mut self, now: Instant, copy: &Copied<P>) {
        if self.copies.trains() >= self.most_trains {
            self.let_go();
        }
        let look = now + self.first_check;
        self.copies.push_apart(look, *copy);
        self.fresh.push_apart(look, Ticket::of(copy));
        self.first_looks.add(look, &Ticket::of(copy));
    }

    /// Keeps the copies of a train of frames, `copy` first. Equals [`TxLoop::insert`] of each frame at its time in `left`.
    #[inline]
    pub(super) fn insert_train(&mut self, left: Train, copy: &Copied<P>) {
        let longest = self.copies.front().map_or(0, |(train, _)| train.count);
        if self.copies.trains() >= self.most_trains || longest >= LONGEST_TRAIN {
            self.let_go();
        }
        let looks = left.from(left.first + self.first_check);
        self.copies.push_if_many(looks, copy);
        let looks = Train { step: 1, ..looks };
        self.fresh.push_if_many(looks, &Ticket::of(copy));
        self.first_looks.add_train(looks, &Ticket::of(copy));
    }

    /// Frees the copies in front of the oldest copy in the loop.
    #[cold]
    fn let_go(&mut self) {
        let fresh = self.fresh.front().map(|(_, ticket)| ticket.number);
        let in_trains = self.trains.iter().map(|(_, first)| first.number);
        let in_loop = self.rounds.iter().map(|ticket| ticket.number).chain(in_trains).chain(fresh);
        let oldest = in_loop.reduce(|one, other| if is_outstanding(one, other) { other } else { one });
        let before = oldest.map_or(self.copies.trains(), |oldest| {
            // The train of the oldest copy is the last train that begins no later than that copy.
            self.copies.partition_point(|copy| is_outstanding(oldest, copy.number)).saturating_sub(1)
        });
        self.copies.skip_trains(before);
        if let (Some(oldest), Some((_, first))) = (oldest, self.copies.front())
            && oldest != first.number
        {
            self.copies.skip(oldest.wrapping_sub(first.number));
        }
        self.most_trains = INITIAL_TRAINS.max(2 * self.copies.trains());
    }

    /// Returns the copy with this number, which is in the loop.
    #[cold]
    fn copy(&self, number: u32) -> Copied<P> {
        let place = self.copies.partition_point(|copy| is_outstanding(number, copy.number));
        let train = place.checked_sub(1).and_then(|place| self.copies.get(place));
        let (train, mut copy) = train.copied().unwrap_or_default();
        if number != copy.number {
            copy.follow(number.wrapping_sub(copy.number), train.step);
        }
        copy
    }

    #[inline]
    pub(super) fn next_look(&self) -> Instant {
        self.fresh.poll_timeout().min(self.next_round())
    }

    /// Returns when a copy that has been round before is next looked at.
    #[inline]
    fn next_round(&self) -> Instant {
        self.rounds.poll_timeout().min(self.trains.poll_timeout())
    }

    /// Takes the copy that is looked at then ([`TxLoop::next_round`]).
    #[inline]
    fn pop_round(&mut self) -> Option<(Instant, Ticket)> {
        if self.rounds.is_empty() { self.trains.pop() } else { self.rounds.pop() }
    }

    /// Looks at the copies whose turn came before `until`, up to the first lost copy. Returns the lost copy and the time at which
    /// it was found.
    ///
    /// Equals `TxBuffer::look` of the plain model at each turn. No acknowledgement takes effect between these looks, so a frame
    /// that is outstanding now was outstanding at every look. While no copy is asked for, an acknowledged copy just leaves the
    /// loop.
    #[inline]
    pub(super) fn find_lost(&mut self, until: Instant, engine: &mut Sender) -> Option<(Instant, Copied<P>)> {
        self.catch_up();
        let (oldest, is_asked) = (engine.oldest_outstanding(), engine.holes() > 0);
        if !is_asked {
            self.look_at_all(until.just_before(), &mut Pending::none(oldest));
            return None;
        }
        self.first_looks.is_uncontended = false;
        loop {
            // On a tie the copy that has been round before is looked at first.
            let round = self.next_round();
            let look = self.next_look();
            if look >= until {
                return None;
            }
            let ticket = if look < round { self.fresh.pop() } else { self.pop_round() };
            let (_, ticket) = ticket?;
            if is_outstanding(ticket.number, oldest) {
                self.send_round(look, ticket);
            } else if is_lost(ticket.number, engine) {
                return Some((look, self.copy(ticket.number)));
            }
        }
    }

    /// Takes in a train of acknowledgements, none of which asks for a copy.
    ///
    /// Frames from number `before` on are outstanding before the train, frames from number `first` on after its first
    /// acknowledgement, and frames from number `last` on after its last. The looks up to then are put off while [`Pending`] has
    /// room.
    #[inline]
    pub(super) fn free(&mut self, train: Train, before: u32, (first, last): (u32, u32), acks: &Acks) {
        if last == before {
            return;
        }
        if self.pending.is_full() {
            self.catch_up();
        }
        self.pending.add(train, before, (first, last), acks);
    }

    /// Looks at the copies whose turn came before the last acknowledgement in [`Pending`].
    #[inline(never)]
    fn catch_up(&mut self) {
        let Some(until) = self.pending.last() else { return };
        let mut pending = mem::take(&mut self.pending);
        self.look_at_all(until.just_before(), &mut pending);
        if let Some(freed) = pending.freed().last() {
            self.evicted.retain(|&number| is_outstanding(number, freed.last));
        }
        pending.clear();
        self.pending = pending;
    }

    /// Looks at the copies whose turn comes by `last`. An outstanding copy goes round, and any other copy leaves the loop.
    ///
    /// Equals `TxBuffer::look` of the plain model at each turn, with the acknowledgements of `pending` at their times.
    #[inline]
    fn look_at_all(&mut self, last: Instant, pending: &mut Pending) {
        if !self.streams() && self.pass_uncontended(last, pending) {
            return;
        }
        let (mut oldest, changes) = pending.changes();
        for some in changes.chunks(CHANGES_TOGETHER) {
            let (until, newest) = some[some.len() - 1];
            self.look_at_some(until.just_before(), Outstanding::new(oldest, some));
            oldest = newest;
        }
        self.look_at_some(last, Outstanding::new(oldest, &[]));
    }

    /// Looks at the copies whose turn comes by `last`, while the oldest outstanding frame changes only a few times.
    #[inline]
    fn look_at_some(&mut self, last: Instant, mut outstanding: Outstanding) {
        self.first_looks.is_uncontended = false;
        if self.streams() && self.look_at_trains(last, &mut outstanding) {
            return;
        }
        while self.has_long_until(last) {
            self.pass_rounds(last, &mut outstanding);
            if self.has_long_until(last) {
                let some = self.next_look() + self.long();
                self.look_at_each(some, &mut outstanding);
            }
        }
        self.look_at_each(last, &mut outstanding);
    }

    /// Looks at the copies whose turn comes by `last`, one by one. Equals `TxLoop::look` of the plain model for each copy.
    #[inline]
    fn look_at_each(&mut self, last: Instant, outstanding: &mut Outstanding<'_>) {
        let Self { rounds, queue, way_round, fresh, evicted, .. } = self;
        rounds.turn(fresh, last, |look, ticket| {
            if !outstanding.has(ticket.number, look) {
                return None;
            }
            let left = queue.enter(look, ticket.octets);
            if left.is_none() {
                evicted.push(ticket.number);
            }
            left.map(|left| left + *way_round)
        });
    }

    #[inline]
    fn send_round(&mut self, now: Instant, ticket: Ticket) {
        if let Some(left) = self.queue.enter(now, ticket.octets) {
            let again = left + self.way_round;
            if self.is_streaming {
                self.trains.push(again, &ticket);
            } else {
                self.rounds.push(again, ticket);
            }
        } else {
            self.evicted.push(ticket.number);
        }
    }

    /// Returns the bytes in the queue at `now`, after [`TxLoop::find_lost`].
    pub(super) fn depth_bytes(&mut self, now: Instant) -> u64 {
        self.queue.bytes_at(now)
    }

    /// Returns how many copies are kept, after [`TxLoop::find_lost`].
    pub(super) fn len(&self) -> usize {
        self.fresh.len() + self.rounds.len() + self.trains.len()
    }

    pub(super) const fn high_water_bytes(&self) -> u64 {
        self.queue.high_water_bytes()
    }

    /// Returns how many copies were not kept because the queue was full (LG-34).
    pub(super) const fn dropped(&self) -> u64 {
        self.queue.dropped()
    }

    /// Frees every copy (LG-30).
    pub(super) fn clear(&mut self) {
        self.copies.clear();
        self.fresh.clear();
        self.rounds.clear();
        self.trains.clear();
        self.first_looks = FirstLooks::default();
        self.pending = Pending::default();
        self.evicted.clear();
        self.queue.clear();
    }
}

/// Whether a notification asks for this acknowledged copy, which then leaves the loop to be sent again.
#[cold]
fn is_lost(number: u32, engine: &mut Sender) -> bool {
    !engine.has_abandoned(number) && engine.inspect_copy(engine.position_of(number)) == CopyFate::Retransmit
}

#[cfg(test)]
mod tests;

//! The recirculation loop in which a switch keeps copies of sent frames (LG-5, LG-6).
//!
//! ```text
//!  sent --- first_check ---> look --[queue]== port ==-- way_round --> look ...
//! ```
//!
//! A copy is kept where it was put when its frame was sent. What goes round is its number. A look at a copy that changes
//! nothing is no event: looks are caught up with in one loop, in their order and at their times, when something could
//! have changed.

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

/// Trains of copies that are kept before those that nobody needs any more are looked for.
const INITIAL_TRAINS: usize = 16;

/// So many changes of what is outstanding are at hand for looks at trains, which go through them: chosen by the instructions that a
/// frame of the stress test takes.
const CHANGES_TOGETHER: usize = 32;

/// So many copies of one train are too many to let the first of them lie.
const LONGEST_TRAIN: u32 = 1 << 16;

/// A copy in the loop: how many frames had been numbered before it, and its octets on the wire.
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
    /// The copies in the loop, in the order of their numbers, and some before them.
    copies: Trains<Copied<P>>,
    /// With so many trains of copies, those that nobody needs any more are let go.
    most_trains: usize,
    /// Copies that wait for their first look.
    fresh: Trains<Ticket>,
    /// The others in the loop, by the time of the next look: one by one, and behind these such as left the port in trains.
    rounds: Pipe<Ticket>,
    trains: Trains<Ticket>,
    /// Whether those that come back are looked at in trains.
    is_streaming: bool,
    /// The newest copies, as far as they are equally far apart.
    first_looks: FirstLooks,
    /// Acknowledgements since the last look.
    pending: Pending,
    /// Numbers of the copies that found no room, of which the engine has not been told.
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

    /// Tells the engine which copies found no room since it was told last (LG-34).
    #[inline]
    pub(super) fn tell_evicted(&mut self, engine: &mut Sender) {
        for number in self.evicted.drain(..) {
            engine.note_evicted(engine.position_of(number));
        }
    }

    /// A frame left at `now`, the one numbered after the last: keeps its copy.
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

    /// The same of a train of frames, `copy` first, which left when it says.
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

    /// Lets go of copies that are not in the loop any more, before the first that is.
    #[cold]
    fn let_go(&mut self) {
        let fresh = self.fresh.front().map(|(_, ticket)| ticket.number);
        let in_trains = self.trains.iter().map(|(_, first)| first.number);
        let in_loop = self.rounds.iter().map(|ticket| ticket.number).chain(in_trains).chain(fresh);
        let oldest = in_loop.reduce(|one, other| if is_outstanding(one, other) { other } else { one });
        let before = oldest.map_or(self.copies.trains(), |oldest| {
            // That in which the oldest is has its first no later.
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

    /// The copy with this number, which is in the loop.
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

    /// The next look at a copy that has been round before.
    #[inline]
    fn next_round(&self) -> Instant {
        self.rounds.poll_timeout().min(self.trains.poll_timeout())
    }

    /// Takes the copy of the next such look.
    #[inline]
    fn pop_round(&mut self) -> Option<(Instant, Ticket)> {
        if self.rounds.is_empty() { self.trains.pop() } else { self.rounds.pop() }
    }

    /// Looks at the copies whose turn came before `until`, up to the first that was lost: returns it and when it was found.
    ///
    /// No acknowledgement comes in between: the frames that are outstanding now were so at every look. The others
    /// just leave the loop while nothing is asked for.
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
            // On a tie the copy that has been round before goes first.
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

    /// Acknowledgements take effect when the train says, none of which asks for a copy. From the first of them on frames from number
    /// `first` on are outstanding, from the last of them on those from number `last` on, and before those from number `before` on. The
    /// looks up to then are left for later, as long as only a few trains wait.
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

    /// Looks at the copies whose turn came before the last acknowledgement.
    #[inline(never)]
    fn catch_up(&mut self) {
        let Some(until) = self.pending.last() else { return };
        let mut pending = mem::take(&mut self.pending);
        self.look_at_all(until.just_before(), &mut pending);
        pending.clear();
        self.pending = pending;
    }

    /// Looks at the copies whose turn comes by `last`: those that are outstanding go round, the others leave the loop. Which those are
    /// follows from the acknowledgements.
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

    /// The same up to a few changes of what is outstanding.
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

    /// The same, copy by copy.
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

    /// Bytes in the queue at `now`, after [`TxLoop::find_lost`].
    pub(super) fn depth_bytes(&mut self, now: Instant) -> u64 {
        self.queue.bytes_at(now)
    }

    /// How many copies are kept, after [`TxLoop::find_lost`].
    pub(super) fn len(&self) -> usize {
        self.fresh.len() + self.rounds.len() + self.trains.len()
    }

    pub(super) const fn high_water_bytes(&self) -> u64 {
        self.queue.high_water_bytes()
    }

    /// Copies that were not kept because the queue was full (LG-34).
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

/// Whether an acknowledged copy is asked for: then it leaves to be sent again.
#[cold]
fn is_lost(number: u32, engine: &mut Sender) -> bool {
    !engine.has_abandoned(number) && engine.inspect_copy(engine.position_of(number)) == CopyFate::Retransmit
}

#[cfg(test)]
mod tests;

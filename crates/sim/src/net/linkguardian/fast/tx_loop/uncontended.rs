//! Copies that never meet another copy at the port are looked at in closed form.
//!
//! Copies keep apart: every copy finds the port idle, so that each of its rounds takes `serialisation + way_round`. Only the copies
//! that are in the loop at the end are computed. Two copies whose numbers differ by `k` meet if `k * spacing` modulo the round lies
//! less than a serialisation from a whole round, where `spacing` is the distance of first looks. The *reach* is the largest `k` up
//! to which no two copies meet.

use super::outstanding::is_outstanding;
use super::{LONGEST_TRAIN, Pending, Ticket, TxLoop};
use crate::fast::{Path as Fast, takes};
use crate::kernel::{Member, Train};
use crate::net::Payload;
use crate::net::source::MANY;
use lossylink_core::time::{Duration, Instant};

/// The largest number of copies that may be in the loop at once.
const MOST_COPIES: usize = 16;

/// The newest copies, whose first looks are equally spaced.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FirstLooks {
    looks: Train,
    first: Ticket,
    /// The largest difference of numbers up to which no two copies meet at the port.
    reach: u32,
    /// The spacing of first looks for which `reach` holds.
    reach_spacing: Duration,
    /// Whether no copy in the loop has met another copy at the port.
    pub(super) is_uncontended: bool,
}

impl FirstLooks {
    /// Adds a train of copies and the times of their first looks. The train extends these copies, or replaces them.
    #[inline]
    pub(super) fn add_train(&mut self, looks: Train, ticket: &Ticket) {
        let count = self.looks.count;
        if !self.looks.append(looks, || self.first.distance(ticket, count)) {
            *self = Self { looks, first: *ticket, ..Self::default() };
        }
    }

    /// Adds a copy whose first look is at `look`. A copy that does not extend these copies removes all of them until the next
    /// train.
    #[inline]
    pub(super) fn add(&mut self, look: Instant, ticket: &Ticket) {
        let count = self.looks.count;
        if count > 0 {
            let goes_on = look == self.looks.nth(count) && self.first.distance(ticket, count).is_some();
            self.looks.count = if goes_on { count + 1 } else { 0 };
        }
    }

    /// Returns the first look at the copy of this number, which is one of these copies or comes after them.
    #[inline]
    fn look(&self, number: u32) -> Instant {
        self.looks.nth(number.wrapping_sub(self.first.number))
    }

    /// Whether the copy of this number is one of these copies.
    #[inline]
    const fn has(&self, number: u32) -> bool {
        number.wrapping_sub(self.first.number) < self.looks.count
    }

    /// Returns the first look at the first copy beyond the reach of the oldest outstanding copy.
    #[inline]
    fn beyond(&self, oldest: u32) -> Instant {
        self.look(oldest.wrapping_add(self.reach + 1))
    }

    /// Whether copies keep apart up to `last`: for each oldest outstanding copy and the end of its time as the oldest,
    /// `beyond(oldest) > last`, or `beyond(oldest) >= end + serialisation`.
    #[inline]
    fn keeps_apart(&self, last: Instant, serialisation: Duration, pending: &mut Pending) -> bool {
        self.trains_keep_apart(last, serialisation, pending)
            || pending.outstanding_from(Instant::ZERO).all(|oldest, end| {
                let beyond = self.beyond(oldest);
                beyond > last || beyond >= end.saturating_add(serialisation)
            })
    }

    /// Whether copies keep apart up to `last`, by the first and the last acknowledgement of each train alone. False does not mean
    /// that copies meet.
    #[inline]
    fn trains_keep_apart(&self, last: Instant, serialisation: Duration, pending: &Pending) -> bool {
        let mut oldest = pending.oldest();
        for freed in pending.freed() {
            if freed.first != oldest {
                let beyond = self.beyond(oldest);
                if beyond <= last && beyond < freed.train.first + serialisation {
                    return false;
                }
            }
            // Both sides of the condition are linear in the number of the oldest copy, so the first and the last number decide for
            // all between.
            let changes = freed.last.wrapping_sub(freed.first);
            if changes > 0 && self.beyond(freed.first) <= last {
                let is_apart = |count: u32| {
                    let beyond = self.beyond(freed.first.wrapping_add(count - 1));
                    beyond >= freed.known_by(count) + serialisation
                };
                if !(is_apart(1) && is_apart(changes)) {
                    return false;
                }
            }
            oldest = freed.last;
        }
        self.beyond(oldest) > last
    }

    /// Finds the reach of copies that come round every `round` and keep the port busy for `serialisation`.
    #[inline]
    fn find_reach(&mut self, round: Duration, serialisation: Duration) {
        if self.reach_spacing == self.looks.spacing {
            return;
        }
        let step = self.looks.spacing.as_ps() % round.as_ps();
        let (mut reach, mut phase) = (0, 0);
        while reach < MOST_COPIES as u32 {
            phase = (phase + step) % round.as_ps();
            if phase < serialisation.as_ps() || round.as_ps() - phase < serialisation.as_ps() {
                break;
            }
            reach += 1;
        }
        (self.reach, self.reach_spacing) = (reach, self.looks.spacing);
    }
}

impl<P: Payload> TxLoop<P> {
    /// Looks at the copies whose turn comes by `last`, if copies keep apart. An outstanding copy goes round, and any other copy
    /// leaves the loop. Equals [`TxLoop::look_at_each`]. Otherwise returns false, and nothing has happened.
    #[inline]
    pub(super) fn pass_uncontended(&mut self, last: Instant, pending: &mut Pending) -> bool {
        if !takes(Fast::CopiesApart) {
            return false;
        }
        let Some((train, fresh)) = self.fresh.front() else { return false };
        let (comes, fresh, first_looks) = (train.first, *fresh, &mut self.first_looks);
        // Each copy in the loop has at least one look by `last`, so that every acknowledged copy leaves.
        let has_time = comes.max(self.rounds.last_due()) <= last && self.trains.is_empty();
        if !has_time || !first_looks.has(fresh.number) || first_looks.looks.count < MANY {
            return false;
        }
        let serialisation = self.queue.serialisation(fresh.octets);
        let round = serialisation + self.way_round;
        first_looks.find_reach(round, serialisation);
        let next = comes.min(self.rounds.poll_timeout());
        let is_idle = self.queue.next_start(next) == next;
        if !is_idle
            || !(first_looks.is_uncontended || self.is_uncontended(round, fresh.number, pending.oldest()))
        {
            return false;
        }
        if !self.first_looks.keeps_apart(last, serialisation, pending) {
            return false;
        }
        self.skip_to(last, round, fresh.number, pending)
    }

    /// Whether the outstanding copies in the loop are all copies from number `oldest` on and before number `next`, and each comes a
    /// whole number of rounds after its first look, as if no copy had met another.
    #[cold]
    fn is_uncontended(&self, round: Duration, next: u32, oldest: u32) -> bool {
        let stays = |&&(_, ticket): &&(Instant, Ticket)| is_outstanding(ticket.number, oldest);
        let mut copies = self.rounds.entries().filter(stays);
        let all_come = copies.clone().count() == next.wrapping_sub(oldest) as usize;
        all_come
            && copies.all(|&(at, ticket)| {
                self.first_looks.has(ticket.number)
                    && (at - self.first_looks.look(ticket.number)).as_ps().is_multiple_of(round.as_ps())
            })
    }

    /// Moves the loop to `last`, while copies keep apart. The copy of number `next` is the first that has not been round.
    #[inline]
    fn skip_to(&mut self, last: Instant, round: Duration, next: u32, pending: &mut Pending) -> bool {
        let first_looks = &mut self.first_looks;
        let end = first_looks.first.number.wrapping_add(first_looks.looks.come_by(last));
        // A copy that was acknowledged one round before `last` has left the loop.
        let left_by = Instant::from_ps(last.as_ps().saturating_sub(round.as_ps()));
        let mut outstanding = pending.outstanding_from(left_by);
        let oldest = outstanding.oldest_at(left_by);
        let count = end.wrapping_sub(oldest) as usize;
        if count > MOST_COPIES {
            return false;
        }
        let mut copies = [(Instant::ZERO, Ticket::default()); MOST_COPIES];
        let (mut staying, mut busy_until) = (0, Instant::ZERO);
        for number in (0..count as u32).map(|place| oldest.wrapping_add(place)) {
            let first = first_looks.look(number);
            let latest = first + round * ((last - first).as_ps() / round.as_ps());
            if !outstanding.clone().has(number, latest) {
                continue;
            }
            let again = latest + round;
            busy_until = busy_until.max(again);
            let place = copies[..staying].partition_point(|&(at, _)| at < again);
            copies.copy_within(place..staying, place + 1);
            copies[place] = (again, Ticket { number, ..first_looks.first });
            staying += 1;
        }
        first_looks.is_uncontended = true;
        if first_looks.looks.count > LONGEST_TRAIN {
            let before = oldest.wrapping_sub(first_looks.first.number);
            (first_looks.looks, first_looks.first.number) = (first_looks.looks.behind(before), oldest);
        }
        self.rounds.clear();
        copies[..staying].iter().for_each(|&(at, ticket)| self.rounds.push(at, ticket));
        self.queue.pass(Instant::from_ps(busy_until.as_ps().saturating_sub(self.way_round.as_ps())));
        let mut left = end.wrapping_sub(next);
        while left > 0
            && let Some((train, _)) = self.fresh.front()
        {
            let count = train.count.min(left);
            self.fresh.skip(count);
            left -= count;
        }
        true
    }
}

//! Looks at copies that keep out of each other's way, where the port is mostly idle: then each of them comes back after the same
//! time, and only those are computed that are still in the loop at the end.

use super::outstanding::is_outstanding;
use super::{LONGEST_TRAIN, Pending, Ticket, TxLoop};
use crate::fast::{Path as Fast, takes};
use crate::kernel::{Member, Train};
use crate::net::Payload;
use crate::net::source::MANY;
use lossylink_core::time::{Duration, Instant};

/// So many copies are in the loop at once, at the most.
const MOST_COPIES: usize = 16;

/// The newest copies whose first looks are equally far apart.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FirstLooks {
    looks: Train,
    first: Ticket,
    /// Of copies that are no further apart than that, none finds the other at the port.
    reach: u32,
    /// How far apart the looks are for which this is the reach.
    reach_spacing: Duration,
    /// Whether no copy in the loop has met another.
    pub(super) is_uncontended: bool,
}

impl FirstLooks {
    /// A train of copies comes to its first looks: it goes on as these do, or they are the newest.
    #[inline]
    pub(super) fn add_train(&mut self, looks: Train, ticket: &Ticket) {
        let count = self.looks.count;
        if !self.looks.append(looks, || self.first.distance(ticket, count)) {
            *self = Self { looks, first: *ticket, ..Self::default() };
        }
    }

    /// A copy comes to its first look at `look`: unless it goes on as these do, there are none until the next train.
    #[inline]
    pub(super) fn add(&mut self, look: Instant, ticket: &Ticket) {
        let count = self.looks.count;
        if count > 0 {
            let goes_on = look == self.looks.nth(count) && self.first.distance(ticket, count).is_some();
            self.looks.count = if goes_on { count + 1 } else { 0 };
        }
    }

    /// The first look at the copy of this number, one of these or of those that come after them.
    #[inline]
    fn look(&self, number: u32) -> Instant {
        self.looks.nth(number.wrapping_sub(self.first.number))
    }

    /// Whether the copy of this number is one of these.
    #[inline]
    const fn has(&self, number: u32) -> bool {
        number.wrapping_sub(self.first.number) < self.looks.count
    }

    /// When the first copy is looked at that is too far behind the oldest outstanding one to keep out of its way.
    #[inline]
    fn beyond(&self, oldest: u32) -> Instant {
        self.look(oldest.wrapping_add(self.reach + 1))
    }

    /// Whether all copies that are in the loop at once by `last` are so close to each other that none finds another at the port.
    #[inline]
    fn keeps_apart(&self, last: Instant, serialisation: Duration, pending: &mut Pending) -> bool {
        self.trains_keep_apart(last, serialisation, pending)
            || pending.outstanding_from(Instant::ZERO).all(|oldest, end| {
                let beyond = self.beyond(oldest);
                beyond > last || beyond >= end.saturating_add(serialisation)
            })
    }

    /// The same, without a look at each acknowledgement: false if it does not follow.
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
            // Both sides grow evenly with the number of the oldest. So the first and the last tell of those between them.
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

    /// Finds out how far apart copies may be which come round in `round` and keep the port busy for `serialisation`.
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
    /// Looks at the copies whose turn comes by `last`, if none of them meets another: those that are outstanding go round, the others
    /// leave the loop. Otherwise false, and nothing has happened.
    #[inline]
    pub(super) fn pass_uncontended(&mut self, last: Instant, pending: &mut Pending) -> bool {
        if !takes(Fast::CopiesApart) {
            return false;
        }
        let Some((train, fresh)) = self.fresh.front() else { return false };
        let (comes, fresh, first_looks) = (train.first, *fresh, &mut self.first_looks);
        // Each copy in the loop is looked at once at the least, so that those leave that have been acknowledged.
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

    /// Whether those of the copies in the loop from number `oldest` on are all before number `next`, and come when they would if none
    /// had ever met another.
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

    /// Looks at the copies by `last`, none of which meets another; `next` is the number of the first that comes to its first look.
    #[inline]
    fn skip_to(&mut self, last: Instant, round: Duration, next: u32, pending: &mut Pending) -> bool {
        let first_looks = &mut self.first_looks;
        let end = first_looks.first.number.wrapping_add(first_looks.looks.come_by(last));
        // Whatever had been acknowledged one round before has left.
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

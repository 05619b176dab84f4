//! Frames and other members in flight on a first-in first-out path. Members that follow each other at equal distances are one entry.

use super::{Ring, Train};
use lossylink_core::time::Instant;

/// A possible member of a train, such as a frame: it tells how a train goes on from one member to the next.
pub trait Member: Copy + Default {
    /// Returns how far the number of `next` is beyond the number of this member, which is the first of `count` at equal
    /// distances. `None` if the two differ in anything else; otherwise `next` may be one more member.
    fn distance(&self, next: &Self, count: u32) -> Option<u32>;

    /// Turns the member into the one `count` places behind it in a train whose numbers are `step` apart.
    fn follow(&mut self, count: u32, step: u32);
}

/// A FIFO of trains whose members become due in order.
#[derive(Clone, Debug)]
pub struct Trains<T: Member> {
    entries: Ring<(Train, T)>,
    /// The time at which the first member is due; kept, because it is asked for far more often than it changes.
    due: Instant,
}

impl<T: Member> Default for Trains<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Member> Trains<T> {
    /// Builds an empty FIFO.
    pub fn new() -> Self {
        Self { entries: Ring::new(), due: Instant::NEVER }
    }

    /// Puts in a member that is due at `at`, no sooner than the newest member. The member joins the newest train if it goes on as
    /// that train does.
    #[inline]
    pub fn push(&mut self, at: Instant, value: &T) {
        self.push_train(Train::of_one(at), value);
    }

    /// Puts in a train whose first member is `value`, as [`Trains::push`] does. Returns true if the train joined the newest train.
    #[inline(always)]
    pub fn push_train(&mut self, train: Train, value: &T) -> bool {
        if let Some((last, first)) = self.entries.from_back_mut(0) {
            debug_assert!(last.last() <= train.first, "a train would overtake what came before");
            let count = last.count;
            if last.append(train, || first.distance(value, count)) {
                return true;
            }
        } else {
            self.due = train.first;
        }
        self.entries.push((train, *value));
        false
    }

    /// Puts in a member that is due at `at`, no sooner than the newest member, as a train by itself.
    #[inline(always)]
    pub fn push_apart(&mut self, at: Instant, value: T) {
        self.push_entry(Train::of_one(at), value);
    }

    /// Puts in a train whose first member is `value`, due no sooner than the newest member, as an entry by itself.
    #[inline(always)]
    pub fn push_entry(&mut self, train: Train, value: T) {
        debug_assert!(self.last_due() <= train.first, "a train would overtake what came before");
        if self.entries.is_empty() {
            self.due = train.first;
        }
        self.entries.push((train, value));
    }

    /// Puts in a train whose first member is `value`, as [`Trains::push_train`] does, but a train of one member stays by itself:
    /// where most trains have one member, a look at the newest train costs more than it saves.
    #[cfg(feature = "fast")]
    #[inline(always)]
    pub fn push_if_many(&mut self, train: Train, value: &T) {
        if train.count > 1 {
            self.push_train(train, value);
        } else {
            self.push_apart(train.first, *value);
        }
    }

    /// Returns when the next member is due.
    #[inline]
    pub const fn poll_timeout(&self) -> Instant {
        self.due
    }

    /// Whether `count` members, at least one, are certain to be due at `now`: members of the first train, or of `count` trains.
    #[cfg(feature = "fast")]
    #[inline]
    pub fn has_due(&self, count: u32, now: Instant) -> bool {
        let Some((train, _)) = self.entries.front() else { return false };
        let is_due = |(train, _): &(Train, T)| train.first <= now;
        (train.count >= count && train.nth(count - 1) <= now)
            || self.get(count as usize - 1).is_some_and(is_due)
    }

    /// Returns when the newest member is due; the start of the run if there is no member.
    pub fn last_due(&self) -> Instant {
        self.entries.back().map_or(Instant::ZERO, |(train, _)| train.last())
    }

    /// Returns the train that comes next, and its first member.
    #[inline]
    pub fn front(&self) -> Option<(Train, &T)> {
        self.entries.front().map(|(train, value)| (*train, value))
    }

    /// Returns the newest member.
    #[inline]
    pub fn newest(&self) -> Option<T> {
        let (train, mut value) = *self.entries.back()?;
        if train.count > 1 {
            value.follow(train.count - 1, train.step);
        }
        Some(value)
    }

    /// Removes the next `count` members of the train that comes next, which has at least `count`.
    #[inline]
    pub fn skip(&mut self, count: u32) {
        let Some((train, value)) = self.entries.front_mut() else { return };
        if count < train.count {
            value.follow(count, train.step);
            *train = train.behind(count);
            self.due = train.first;
        } else {
            self.entries.skip_front();
            self.due = self.entries.front().map_or(Instant::NEVER, |(train, _)| train.first);
        }
    }

    /// Puts the next member behind all other members, due at `at`, as a train by itself.
    #[inline(always)]
    pub fn turn_front(&mut self, at: Instant) {
        debug_assert!(self.last_due() <= at, "a train would overtake what came before");
        let Some((train, value)) = self.entries.front() else { return };
        let turned = (Train::of_one(at), *value);
        if train.count > 1 {
            self.skip(1);
            self.entries.push(turned);
        } else {
            self.entries.turn_front(turned);
            self.due = self.entries.front().map_or(Instant::NEVER, |(train, _)| train.first);
        }
    }

    /// Removes the next `count` trains. There are at least `count`.
    #[inline]
    pub fn skip_trains(&mut self, count: usize) {
        self.entries.skip(count);
        self.due = self.entries.front().map_or(Instant::NEVER, |(train, _)| train.first);
    }

    /// Takes the next member, whenever it is due.
    #[inline]
    pub fn pop(&mut self) -> Option<(Instant, T)> {
        let (train, value) = *self.entries.front()?;
        self.skip(1);
        Some((train.first, value))
    }

    /// Hands the next member, whenever it is due, to `take` and removes it.
    #[inline]
    pub fn take<R>(&mut self, take: impl FnOnce(Instant, &T) -> R) -> Option<R> {
        let (train, value) = self.entries.front()?;
        let taken = take(train.first, value);
        self.skip(1);
        Some(taken)
    }

    /// Removes the members that are due at `now`. Returns the last of them, if there are any.
    #[inline]
    pub fn take_newest_due(&mut self, now: Instant) -> Option<T> {
        let mut newest = None;
        while self.due <= now {
            let Some((train, value)) = self.entries.front() else { break };
            let (due, mut last) = (train.come_by(now), *value);
            if due > 1 {
                last.follow(due - 1, train.step);
            }
            newest = Some(last);
            self.skip(due);
        }
        newest
    }

    /// Returns the trains that come next and lie one behind another in memory.
    #[inline]
    pub fn oldest(&self) -> &[(Train, T)] {
        self.entries.oldest()
    }

    /// Begins to take members one after another with the train that comes next at hand.
    #[inline]
    pub fn taking(&mut self) -> Taking<'_, T> {
        let (train, value) = self.entries.front().copied().unwrap_or_default();
        Taking { due: self.due, trains: self, train, value }
    }

    /// Hands every train, whenever it is due, to `take` with its first member, and removes it.
    #[inline]
    pub fn take_trains(&mut self, mut take: impl FnMut(Train, &T)) {
        if !self.due.is_never() {
            self.entries.take_all(|(train, value)| take(*train, value));
            self.due = Instant::NEVER;
        }
    }

    /// Hands every member, whenever it is due, to `take`, and removes it.
    #[inline]
    pub fn take_all(&mut self, mut take: impl FnMut(Instant, &T)) {
        self.take_trains(|train, value| {
            let mut value = *value;
            take(train.first, &value);
            for index in 1..train.count {
                value.follow(1, train.step);
                take(train.nth(index), &value);
            }
        });
    }

    /// Takes the next member if it is due at `now`.
    #[inline]
    pub fn pop_due(&mut self, now: Instant) -> Option<(Instant, T)> {
        if self.due <= now { self.pop() } else { None }
    }

    /// Takes all members that are due at `now`.
    #[inline]
    pub fn drain_due(&mut self, now: Instant, mut take: impl FnMut(Instant, T)) {
        while let Some((at, value)) = self.pop_due(now) {
            take(at, value);
        }
    }

    /// Returns how many trains there are.
    #[inline]
    pub const fn trains(&self) -> usize {
        self.entries.len()
    }

    /// Returns the train `place` places behind the train that comes next, and its first member.
    #[inline]
    pub fn get(&self, place: usize) -> Option<&(Train, T)> {
        self.entries.get(place)
    }

    /// Returns how many trains come before the first train for whose first member `comes_before` does not hold. `comes_before`
    /// holds for no train behind that.
    pub fn partition_point(&self, comes_before: impl Fn(&T) -> bool) -> usize {
        let (mut from, mut to) = (0, self.trains());
        while from < to {
            let middle = from.midpoint(to);
            if self.get(middle).is_some_and(|(_, value)| comes_before(value)) {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        from
    }

    /// Iterates over the trains, the next train first, each with its first member.
    pub fn iter(&self) -> impl Iterator<Item = &(Train, T)> {
        (0..self.entries.len()).filter_map(|offset| self.entries.get(offset))
    }

    /// Returns the members, the next member first, each with the time at which it is due.
    #[cfg(test)]
    pub(crate) fn members(&self) -> Vec<(Instant, T)> {
        let mut members = Vec::new();
        self.clone().take_all(|at, value| members.push((at, *value)));
        members
    }

    /// Returns how many members there are.
    pub fn len(&self) -> usize {
        self.iter().map(|(train, _)| train.count as usize).sum()
    }

    /// Whether there is no member.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.due.is_never()
    }

    /// Drops all members.
    pub fn clear(&mut self) {
        self.due = Instant::NEVER;
        self.entries.clear();
    }
}

/// Trains of which members are taken. The rest of the train at hand comes back with [`Taking::finish`].
#[must_use]
pub struct Taking<'a, T: Member> {
    trains: &'a mut Trains<T>,
    train: Train,
    value: T,
    due: Instant,
}

impl<T: Member> Taking<'_, T> {
    /// Returns when the next member is due.
    #[inline(always)]
    pub const fn poll_timeout(&self) -> Instant {
        self.due
    }

    /// Equals [`Trains::take_newest_due`].
    #[inline(always)]
    pub fn take_newest_due(&mut self, now: Instant) -> Option<T> {
        let mut newest = None;
        while self.due <= now {
            let second = self.due + self.train.spacing;
            let due = if self.train.count > 1 && second <= now { self.train.come_by(now) } else { 1 };
            let mut last = self.value;
            if due > 1 {
                last.follow(due - 1, self.train.step);
            }
            newest = Some(last);
            self.skip(due);
        }
        newest
    }

    /// Returns the train at hand, and its first member; a train of a count of zero, if there is none.
    #[inline(always)]
    pub const fn front(&self) -> (Train, T) {
        (self.train, self.value)
    }

    /// Returns when the train behind the train at hand is due.
    #[cfg(feature = "fast")]
    #[inline(always)]
    pub fn next_train(&self) -> Instant {
        self.trains.entries.get(1).map_or(Instant::NEVER, |(train, _)| train.first)
    }

    /// Removes the next `count` members of the train at hand, which has at least `count`.
    #[inline(always)]
    pub fn skip(&mut self, count: u32) {
        if count < self.train.count {
            self.value.follow(count, self.train.step);
            self.train = self.train.behind(count);
            self.due = self.train.first;
            return;
        }
        self.trains.entries.skip_front();
        (self.train, self.value) = self.trains.entries.front().copied().unwrap_or_default();
        self.due = if self.trains.entries.is_empty() { Instant::NEVER } else { self.train.first };
    }

    /// Ends the taking, and puts the rest of the train at hand back.
    #[inline(always)]
    pub fn finish(self) {
        self.trains.due = self.due;
        if let Some(front) = self.trains.entries.front_mut() {
            *front = (self.train, self.value);
        }
    }
}

#[cfg(test)]
mod tests;

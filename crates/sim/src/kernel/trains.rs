//! Things in flight on a first-in first-out path, of which those that follow each other evenly are one entry.

use super::{Ring, Train};
use lossylink_core::time::Instant;

/// What may be a member of a train: says how it goes on from one to the next.
pub trait Member: Copy + Default {
    /// How far the number of `next` is beyond this one's, which is the first of `count` at equal distances, if they differ
    /// in nothing else: then `next` may be one more of them.
    fn distance(&self, next: &Self, count: u32) -> Option<u32>;

    /// Turns it into the one `count` places behind it in a train whose members are `step` apart.
    fn follow(&mut self, count: u32, step: u32);
}

/// A FIFO of trains whose members become due in order.
#[derive(Clone, Debug)]
pub struct Trains<T: Member> {
    entries: Ring<(Train, T)>,
    /// When the first member is due; kept, because it is asked for far more often than it changes.
    due: Instant,
}

impl<T: Member> Default for Trains<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Member> Trains<T> {
    /// Nothing.
    pub fn new() -> Self {
        Self { entries: Ring::new(), due: Instant::NEVER }
    }

    /// Puts in what is due at `at`, no sooner than what came before; it joins the train that came before if it goes on as
    /// that does.
    #[inline]
    pub fn push(&mut self, at: Instant, value: &T) {
        self.push_train(Train::of_one(at), value);
    }

    /// Puts in a train whose first is `value`, like [`Trains::push`]; true if it joined the one that came before.
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

    /// Puts in what is due at `at`, no sooner than what came before, as a train by itself.
    #[inline(always)]
    pub fn push_apart(&mut self, at: Instant, value: T) {
        self.push_entry(Train::of_one(at), value);
    }

    /// Puts in a train whose first is `value`, due no sooner than what came before, as an entry by itself.
    #[inline(always)]
    pub fn push_entry(&mut self, train: Train, value: T) {
        debug_assert!(self.last_due() <= train.first, "a train would overtake what came before");
        if self.entries.is_empty() {
            self.due = train.first;
        }
        self.entries.push((train, value));
    }

    /// Puts in a train whose first is `value`, like [`Trains::push_train`], but one that comes alone stays alone: where most
    /// do, a look at what came before costs more than it saves.
    #[cfg(feature = "fast")]
    #[inline(always)]
    pub fn push_if_many(&mut self, train: Train, value: &T) {
        if train.count > 1 {
            self.push_train(train, value);
        } else {
            self.push_apart(train.first, *value);
        }
    }

    /// When the next is due.
    #[inline]
    pub const fn poll_timeout(&self) -> Instant {
        self.due
    }

    /// Whether `count` members, at least one, are certain to be due at `now`: of one train, or of as many.
    #[cfg(feature = "fast")]
    #[inline]
    pub fn has_due(&self, count: u32, now: Instant) -> bool {
        let Some((train, _)) = self.entries.front() else { return false };
        let is_due = |(train, _): &(Train, T)| train.first <= now;
        (train.count >= count && train.nth(count - 1) <= now)
            || self.get(count as usize - 1).is_some_and(is_due)
    }

    /// When the newest is due; the start of the run when there is none.
    pub fn last_due(&self) -> Instant {
        self.entries.back().map_or(Instant::ZERO, |(train, _)| train.last())
    }

    /// The train that comes next, and its first.
    #[inline]
    pub fn front(&self) -> Option<(Train, &T)> {
        self.entries.front().map(|(train, value)| (*train, value))
    }

    /// The newest member.
    #[inline]
    pub fn newest(&self) -> Option<T> {
        let (train, mut value) = *self.entries.back()?;
        if train.count > 1 {
            value.follow(train.count - 1, train.step);
        }
        Some(value)
    }

    /// Removes the next `count` of the train that comes next, of which there are so many.
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

    /// Puts the next member behind all others, due at `at`, as a train by itself.
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

    /// Removes the next `count` trains, of which there are so many.
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

    /// Removes the members that are due at `now`; gives the last of them, if there are any.
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

    /// The trains that come next, as many as lie behind each other in memory.
    #[inline]
    pub fn oldest(&self) -> &[(Train, T)] {
        self.entries.oldest()
    }

    /// Takes members one after another with the train that comes next at hand.
    #[inline]
    pub fn taking(&mut self) -> Taking<'_, T> {
        let (train, value) = self.entries.front().copied().unwrap_or_default();
        Taking { due: self.due, trains: self, train, value }
    }

    /// Hands every train, whenever it is due, to `take` with its first, and removes it.
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

    /// How many trains there are.
    #[inline]
    pub const fn trains(&self) -> usize {
        self.entries.len()
    }

    /// The train `place` places behind the one that comes next, and its first.
    #[inline]
    pub fn get(&self, place: usize) -> Option<&(Train, T)> {
        self.entries.get(place)
    }

    /// How many trains come before the one of whose first `comes_before` does not hold; it holds of none behind that.
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

    /// The trains, the next one first, each with its first.
    pub fn iter(&self) -> impl Iterator<Item = &(Train, T)> {
        (0..self.entries.len()).filter_map(|offset| self.entries.get(offset))
    }

    /// The members, the next one first, each with when it is due.
    #[cfg(test)]
    pub(crate) fn members(&self) -> Vec<(Instant, T)> {
        let mut members = Vec::new();
        self.clone().take_all(|at, value| members.push((at, *value)));
        members
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.iter().map(|(train, _)| train.count as usize).sum()
    }

    /// Whether there is none.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.due.is_never()
    }

    /// Drops all.
    pub fn clear(&mut self) {
        self.due = Instant::NEVER;
        self.entries.clear();
    }
}

/// Trains of which members are taken. What is left of the train at hand comes back with [`Taking::finish`].
#[must_use]
pub struct Taking<'a, T: Member> {
    trains: &'a mut Trains<T>,
    train: Train,
    value: T,
    due: Instant,
}

impl<T: Member> Taking<'_, T> {
    /// When the next is due.
    #[inline(always)]
    pub const fn poll_timeout(&self) -> Instant {
        self.due
    }

    /// As [`Trains::take_newest_due`].
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

    /// The train at hand, and its first; of a count of zero, if there is none.
    #[inline(always)]
    pub const fn front(&self) -> (Train, T) {
        (self.train, self.value)
    }

    /// When the train behind the one at hand is due.
    #[cfg(feature = "fast")]
    #[inline(always)]
    pub fn next_train(&self) -> Instant {
        self.trains.entries.get(1).map_or(Instant::NEVER, |(train, _)| train.first)
    }

    /// Removes the next `count` of the train at hand, of which there are so many.
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

    /// No more is taken.
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

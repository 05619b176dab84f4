//! Frames and other entries in flight on a first-in first-out path, each with the time at which it arrives.

use super::{Member, Ring, Train, Trains};
use lossylink_core::time::{Duration, Instant};

/// A FIFO whose entries become due in order.
#[derive(Clone, Debug)]
pub struct Pipe<T: Copy + Default> {
    entries: Ring<(Instant, T)>,
    /// The time at which the first entry is due; kept, because it is asked for far more often than it changes.
    due: Instant,
}

impl<T: Copy + Default> Default for Pipe<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Copy + Default> Pipe<T> {
    /// Builds an empty pipe.
    pub fn new() -> Self {
        Self { entries: Ring::new(), due: Instant::NEVER }
    }

    /// Puts in an entry that is due at `at`.
    ///
    /// # Panics
    /// In debug builds, if the entry would overtake the entry before it.
    #[inline]
    pub fn push(&mut self, at: Instant, value: T) {
        debug_assert!(
            self.entries.back().is_none_or(|&(last, _)| last <= at),
            "an entry due at {at} would overtake the one before it"
        );
        if self.entries.is_empty() {
            self.due = at;
        }
        self.entries.push((at, value));
    }

    /// Returns when the next entry is due.
    #[inline]
    pub const fn poll_timeout(&self) -> Instant {
        self.due
    }

    /// Returns when the newest entry is due; the start of the run if the pipe is empty.
    pub fn last_due(&self) -> Instant {
        self.entries.back().map_or(Instant::ZERO, |&(at, _)| at)
    }

    /// Returns the entry that is due next.
    #[inline]
    pub fn front(&self) -> Option<&T> {
        self.entries.front().map(|(_, value)| value)
    }

    /// Returns the newest entry.
    #[inline]
    pub fn newest(&self) -> Option<&T> {
        self.entries.back().map(|(_, value)| value)
    }

    /// Returns the newest entry, to be changed.
    #[inline]
    pub fn last_mut(&mut self) -> Option<&mut T> {
        self.entries.from_back_mut(0).map(|(_, value)| value)
    }

    /// Puts the newest `count` entries off by `delay`, or all entries if the pipe has fewer.
    pub fn put_off(&mut self, count: usize, delay: Duration) {
        for offset in 0..count {
            let Some((at, _)) = self.entries.from_back_mut(offset) else { break };
            *at += delay;
        }
        self.due = self.entries.front().map_or(Instant::NEVER, |&(at, _)| at);
    }

    /// Takes the next entry, whenever it is due.
    #[inline]
    pub fn pop(&mut self) -> Option<(Instant, T)> {
        let entry = self.entries.pop()?;
        self.due = self.entries.front().map_or(Instant::NEVER, |&(at, _)| at);
        Some(entry)
    }

    /// Hands the next entry, whenever it is due, to `take` in its place in memory, and removes it.
    #[inline]
    pub fn take<R>(&mut self, take: impl FnOnce(Instant, &T) -> R) -> Option<R> {
        let (at, value) = self.entries.front()?;
        let taken = take(*at, value);
        self.entries.skip_front();
        self.due = self.entries.front().map_or(Instant::NEVER, |&(at, _)| at);
        Some(taken)
    }

    /// Removes the next entry. The pipe is not empty.
    #[inline]
    pub fn skip(&mut self) {
        self.entries.skip_front();
        self.due = self.entries.front().map_or(Instant::NEVER, |&(at, _)| at);
    }

    /// Takes the next entry if it is due at `now`.
    #[inline]
    pub fn pop_due(&mut self, now: Instant) -> Option<(Instant, T)> {
        if self.due <= now { self.pop() } else { None }
    }

    /// Hands every entry, whenever it is due, to `take` in its place in memory, and removes it.
    #[inline]
    pub fn take_all(&mut self, mut take: impl FnMut(Instant, &T)) {
        if !self.due.is_never() {
            self.entries.take_all(|(at, value)| take(*at, value));
            self.due = Instant::NEVER;
        }
    }

    /// Takes all entries that are due at `now`.
    #[inline]
    pub fn drain_due(&mut self, now: Instant, mut take: impl FnMut(Instant, T)) {
        if self.due <= now {
            self.entries.drain_while(|&(at, _)| at <= now, |(at, value)| take(at, value));
            self.due = self.entries.front().map_or(Instant::NEVER, |&(at, _)| at);
        }
    }

    /// Takes the entries and the members of `others` that are due by `last`, in the order of their times. At equal times the
    /// entry goes first. `turn` says when each is due again, if at all, no sooner than the newest entry. An entry that is due
    /// again goes behind the newest.
    #[inline]
    pub fn turn(
        &mut self,
        others: &mut Trains<T>,
        last: Instant,
        mut turn: impl FnMut(Instant, &T) -> Option<Instant>,
    ) where
        T: Member,
    {
        while self.due.min(others.poll_timeout()) <= last {
            let (slots, head, tail) = self.entries.parts(1);
            let mask = slots.len() - 1;
            let (mut oldest, mut end, mut due) = (*head, *tail, self.due);
            let (mut train, mut other) = front(others);
            let (mut taken, mut next) = (0, others.poll_timeout());
            loop {
                let until = last.min(next);
                while due <= until {
                    let value = slots[oldest & mask].1;
                    oldest = oldest.wrapping_add(1);
                    if let Some(again) = turn(due, &value) {
                        slots[end & mask] = (again, value);
                        end = end.wrapping_add(1);
                    }
                    due = if oldest == end { Instant::NEVER } else { slots[oldest & mask].0 };
                }
                // Without room for one more entry the ring must grow.
                if next > last || end.wrapping_sub(oldest) > mask {
                    break;
                }
                if let Some(again) = turn(next, &other) {
                    slots[end & mask] = (again, other);
                    end = end.wrapping_add(1);
                    due = due.min(again);
                }
                taken += 1;
                if taken < train.count {
                    other.follow(1, train.step);
                    next += train.spacing;
                } else {
                    others.skip_trains(1);
                    (train, other) = front(others);
                    (taken, next) = (0, others.poll_timeout());
                }
            }
            (*head, *tail, self.due) = (oldest, end, due);
            if taken > 0 {
                others.skip(taken);
            }
        }
    }

    /// Iterates over the entries, the next entry first.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.entries().map(|(_, value)| value)
    }

    /// Iterates over the entries, the next entry first, each with the time at which it is due.
    pub fn entries(&self) -> impl Iterator<Item = &(Instant, T)> + Clone {
        (0..self.len()).filter_map(|offset| self.entries.get(offset))
    }

    /// Returns how many entries are in flight.
    pub const fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether no entry is in flight.
    pub const fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Drops every entry in flight.
    pub fn clear(&mut self) {
        self.due = Instant::NEVER;
        self.entries.clear();
    }
}

/// Returns the train that comes next, and its first member; an empty train, if there is none.
#[inline]
fn front<T: Member>(trains: &Trains<T>) -> (Train, T) {
    trains.front().map_or_else(Default::default, |(train, first)| (train, *first))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    type Model = VecDeque<(Instant, u64)>;

    /// An operation on a pipe with many entries.
    #[derive(Clone, Copy, Debug)]
    enum Step {
        /// Several entries come, at equal distances.
        Push,
        Skip,
        SkipMany,
        /// Entries that are due are due again, or not, with members of trains in between.
        Turn,
    }

    /// Returns when an entry that was due at `at` is due again. An entry whose number is a multiple of three is not.
    fn again(at: Instant, number: u64, newest: Instant) -> Option<Instant> {
        (!number.is_multiple_of(3)).then(|| newest.max(at) + Duration::from_ps(1 + number % 5))
    }

    /// Takes the entries of both models that are due by `last` in order, one by one.
    fn turn_one_by_one(model: &mut Model, others: &mut Model, last: Instant) -> Model {
        let mut seen = Model::new();
        loop {
            let (entry, other) = (model.front().copied(), others.front().copied());
            let goes_first = other.is_none_or(|(next, _)| entry.is_some_and(|(due, _)| due <= next));
            let Some((at, number)) = if goes_first { entry } else { other }.filter(|&(at, _)| at <= last)
            else {
                return seen;
            };
            seen.push_back((at, number));
            _ = if goes_first { model.pop_front() } else { others.pop_front() };
            let newest = model.back().map_or(Instant::ZERO, |&(at, _)| at);
            model.extend(again(at, number, newest).map(|again| (again, number)));
        }
    }

    fn steps() -> impl Strategy<Value = Step> {
        prop::sample::select(vec![Step::Push, Step::Skip, Step::SkipMany, Step::Turn])
    }

    proptest! {
        #[test]
        fn many_entries_are_as_one_by_one(
            steps in prop::collection::vec((steps(), 0usize..40, 0u64..30), 1..60),
            trains in prop::collection::vec((0u64..60, 0u64..20, 1u32..6), 0..30),
        ) {
            let (mut pipe, mut model) = (Pipe::new(), Model::new());
            let (mut others, mut other_model, mut at) = (Trains::new(), Model::new(), Instant::ZERO);
            for (number, (wait, spacing, count)) in (1_000..).step_by(100).zip(trains) {
                at += Duration::from_ps(wait);
                let train = Train { spacing: Duration::from_ps(spacing), count, ..Train::of_one(at) };
                others.push_train(train, &number);
                other_model.extend((0..count).map(|index| (train.nth(index), number + u64::from(index))));
                at = train.last();
            }
            for (step, count, apart) in steps {
                match step {
                    Step::Push => for number in 0..count as u64 {
                        let at = pipe.last_due() + Duration::from_ps(apart);
                        pipe.push(at, number);
                        model.push_back((at, number));
                    },
                    Step::Skip if model.is_empty() => {}
                    Step::Skip => {
                        pipe.skip();
                        model.pop_front();
                    }
                    Step::SkipMany => {
                        let count = count.min(model.len());
                        (0..count).for_each(|_| pipe.skip());
                        model.drain(..count);
                    }
                    Step::Turn => {
                        let first = pipe.poll_timeout().min(others.poll_timeout());
                        let last = if first.is_never() { first.just_before() } else { first + Duration::from_ps(2 * apart) };
                        let (mut seen, mut newest) = (Model::new(), pipe.last_due());
                        if pipe.is_empty() {
                            newest = Instant::ZERO;
                        }
                        pipe.turn(&mut others, last, |at, &number| {
                            seen.push_back((at, number));
                            let again = again(at, number, newest);
                            newest = again.unwrap_or(newest);
                            again
                        });
                        prop_assert_eq!(seen, turn_one_by_one(&mut model, &mut other_model, last));
                        prop_assert!(others.members().iter().eq(&other_model));
                    }
                }
                prop_assert_eq!(pipe.poll_timeout(), model.front().map_or(Instant::NEVER, |&(at, _)| at));
                prop_assert!(pipe.iter().eq(model.iter().map(|(_, number)| number)));
                prop_assert_eq!(pipe.newest(), model.back().map(|(_, number)| number));
                prop_assert_eq!(model.is_empty(), pipe.is_empty());
            }
        }
    }

    #[test]
    fn entries_become_due_in_order() {
        let mut pipe = Pipe::new();
        assert!(pipe.poll_timeout().is_never());
        pipe.push(Instant::from_ps(10), 'a');
        pipe.push(Instant::from_ps(20), 'b');
        assert_eq!(pipe.pop_due(Instant::from_ps(9)), None);
        assert_eq!(pipe.pop_due(Instant::from_ps(10)), Some((Instant::from_ps(10), 'a')));
        assert_eq!((pipe.poll_timeout(), pipe.len()), (Instant::from_ps(20), 1));
    }

    #[test]
    fn only_the_newest_entries_are_put_off() {
        let mut pipe = Pipe::new();
        pipe.put_off(1, Duration::from_ps(5));
        assert!(pipe.poll_timeout().is_never());
        pipe.push(Instant::from_ps(10), 'a');
        pipe.put_off(2, Duration::from_ps(5));
        assert_eq!(pipe.poll_timeout(), Instant::from_ps(15));
        pipe.push(Instant::from_ps(20), 'b');
        pipe.put_off(1, Duration::from_ps(5));
        assert_eq!(pipe.pop(), Some((Instant::from_ps(15), 'a')));
        assert_eq!(pipe.last_mut(), Some(&mut 'b'));
        assert_eq!(pipe.pop(), Some((Instant::from_ps(25), 'b')));
        assert_eq!(pipe.last_mut(), None);
    }

    #[test]
    #[should_panic(expected = "overtake")]
    fn nothing_overtakes() {
        let mut pipe = Pipe::new();
        pipe.push(Instant::from_ps(20), ());
        pipe.push(Instant::from_ps(10), ());
    }
}

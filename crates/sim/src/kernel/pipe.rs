//! Things in flight on a first-in first-out path, each with the time at which it arrives.

use super::{Ring, Turn};
use lossylink_core::time::{Duration, Instant};

/// A FIFO whose entries become due in order.
#[derive(Clone, Debug)]
pub struct Pipe<T: Copy + Default> {
    entries: Ring<(Instant, T)>,
    /// When the first entry is due; kept, because it is asked for far more often than it changes.
    due: Instant,
}

impl<T: Copy + Default> Default for Pipe<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Copy + Default> Pipe<T> {
    /// An empty pipe.
    pub fn new() -> Self {
        Self { entries: Ring::new(), due: Instant::NEVER }
    }

    /// Puts in an entry that is due at `at`.
    ///
    /// # Panics
    /// In debug builds, if it would overtake the entry before it.
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

    /// When the next entry is due.
    #[inline]
    pub const fn poll_timeout(&self) -> Instant {
        self.due
    }

    /// When the newest entry is due; the start of the run when there is none.
    pub fn last_due(&self) -> Instant {
        self.entries.back().map_or(Instant::ZERO, |&(at, _)| at)
    }

    /// The entry that is due next.
    #[inline]
    pub fn front(&self) -> Option<&T> {
        self.entries.front().map(|(_, value)| value)
    }

    /// The newest entry.
    #[inline]
    pub fn newest(&self) -> Option<&T> {
        self.entries.back().map(|(_, value)| value)
    }

    /// The newest entry, to be changed.
    #[inline]
    pub fn last_mut(&mut self) -> Option<&mut T> {
        self.entries.from_back_mut(0).map(|(_, value)| value)
    }

    /// Puts the newest `count` entries, as far as there are so many, off by `delay`.
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

    /// Hands the next entry, whenever it is due, to `take` where it lies, and removes it.
    #[inline]
    pub fn take<R>(&mut self, take: impl FnOnce(Instant, &T) -> R) -> Option<R> {
        let (at, value) = self.entries.front()?;
        let taken = take(*at, value);
        self.entries.skip_front();
        self.due = self.entries.front().map_or(Instant::NEVER, |&(at, _)| at);
        Some(taken)
    }

    /// Removes the next entry, of which there is one.
    #[inline]
    pub fn skip(&mut self) {
        self.entries.skip_front();
        self.due = self.entries.front().map_or(Instant::NEVER, |&(at, _)| at);
    }

    /// Whether `count` entries, at least one, are due at `now`.
    #[inline]
    pub fn has_due(&self, count: usize, now: Instant) -> bool {
        self.entries.get(count - 1).is_some_and(|(at, _)| *at <= now)
    }

    /// The next entries, each with when it is due, as many as lie behind each other in memory.
    #[inline]
    pub fn oldest(&self) -> &[(Instant, T)] {
        self.entries.oldest()
    }

    /// Removes the next `count` entries, of which there are so many.
    #[inline]
    pub fn skip_many(&mut self, count: usize) {
        self.entries.skip(count);
        self.due = self.entries.front().map_or(Instant::NEVER, |&(at, _)| at);
    }

    /// Room for `count` entries more at the most, one at least: they are in the pipe after [`Pipe::extend_by`].
    #[inline]
    pub fn room(&mut self, count: usize) -> &mut [(Instant, T)] {
        self.entries.room(count)
    }

    /// Puts in the first `count` entries of [`Pipe::room`], which are due in order and behind those that were there.
    #[inline]
    pub fn extend_by(&mut self, count: usize) {
        self.entries.extend_by(count);
        if self.due.is_never() {
            self.due = self.entries.front().map_or(Instant::NEVER, |&(at, _)| at);
        }
    }

    /// Takes entries as long as `turn` says what becomes of them. One that goes again is due no sooner than the newest.
    #[inline]
    pub fn turn(&mut self, mut turn: impl FnMut(Instant, &T) -> Turn<(Instant, T)>) {
        self.entries.turn(|(at, value)| turn(*at, value));
        self.due = self.entries.front().map_or(Instant::NEVER, |&(at, _)| at);
    }

    /// Takes out the entries that are due at `now`; the last of them, if there are any.
    #[inline]
    pub fn take_newest_due(&mut self, now: Instant) -> Option<T> {
        let mut newest = None;
        while self.due <= now {
            let entries = self.entries.oldest();
            let due = entries.iter().take_while(|(at, _)| *at <= now).count();
            newest = Some(entries[due - 1].1);
            self.skip_many(due);
        }
        newest
    }

    /// Takes the next entry if it is due at `now`.
    #[inline]
    pub fn pop_due(&mut self, now: Instant) -> Option<(Instant, T)> {
        if self.due <= now { self.pop() } else { None }
    }

    /// Hands every entry, whenever it is due, to `take` where it lies, and removes it.
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

    /// The entries, the next one first.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        (0..self.len()).filter_map(|offset| self.entries.get(offset)).map(|(_, value)| value)
    }

    /// How many entries are in flight.
    pub const fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether nothing is in flight.
    pub const fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Drops everything in flight.
    pub fn clear(&mut self) {
        self.due = Instant::NEVER;
        self.entries.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    type Model = VecDeque<(Instant, u32)>;

    /// What is done to a pipe with many entries, and by which time.
    #[derive(Clone, Copy, Debug)]
    enum Step {
        Extend,
        Skip,
        SkipMany,
        Turn,
        TakeNewestDue,
    }

    /// Puts `count` entries in, so many picoseconds apart.
    fn extend(pipe: &mut Pipe<u32>, model: &mut Model, count: usize, apart: u64) {
        let mut rest = count;
        while rest > 0 {
            let last = model.back().copied().unwrap_or_default();
            let places = pipe.room(rest);
            let written = places.len();
            for (place, step) in places.iter_mut().zip(1..) {
                *place = (last.0 + Duration::from_ps(apart) * u64::from(step), last.1 + step);
                model.push_back(*place);
            }
            pipe.extend_by(written);
            rest -= written;
        }
    }

    /// By its number an entry stays, leaves or goes again.
    fn turn((at, number): (Instant, u32), until: Instant, newest: Instant) -> Turn<(Instant, u32)> {
        match number % 3 {
            _ if at > until => Turn::Stay,
            0 => Turn::Leave,
            _ => Turn::Again((newest, number + 1)),
        }
    }

    fn turn_one_by_one(model: &mut Model, until: Instant, newest: Instant) {
        while let Some(&entry) = model.front() {
            match turn(entry, until, newest) {
                Turn::Stay => break,
                Turn::Leave => _ = model.pop_front(),
                Turn::Again(again) => {
                    model.pop_front();
                    model.push_back(again);
                }
            }
        }
    }

    fn steps() -> impl Strategy<Value = Step> {
        let all = vec![Step::Extend, Step::Skip, Step::SkipMany, Step::Turn, Step::TakeNewestDue];
        prop::sample::select(all)
    }

    proptest! {
        #[test]
        fn many_entries_are_as_one_by_one(
            steps in prop::collection::vec(
                (steps(), 0usize..40, 0u64..3),
                1..100,
            ),
        ) {
            let (mut pipe, mut model) = (Pipe::new(), Model::new());
            for (step, count, apart) in steps {
                let until = model.get(count).map_or(pipe.last_due(), |&(at, _)| at);
                let newest = pipe.last_due().max(until + Duration::from_ps(1));
                match step {
                    Step::Extend => extend(&mut pipe, &mut model, count, apart),
                    Step::Skip if model.is_empty() => {}
                    Step::Skip => {
                        pipe.skip();
                        model.pop_front();
                    }
                    Step::SkipMany => {
                        let count = count.min(model.len());
                        pipe.skip_many(count);
                        model.drain(..count);
                    }
                    Step::Turn => {
                        pipe.turn(|at, number| turn((at, *number), until, newest));
                        turn_one_by_one(&mut model, until, newest);
                    }
                    Step::TakeNewestDue => {
                        let due = model.partition_point(|&(at, _)| at <= until);
                        let newest = model.drain(..due).next_back();
                        prop_assert_eq!(pipe.take_newest_due(until), newest.map(|(_, number)| number));
                    }
                }
                prop_assert_eq!(pipe.poll_timeout(), model.front().map_or(Instant::NEVER, |&(at, _)| at));
                prop_assert!(pipe.iter().eq(model.iter().map(|(_, number)| number)));
                prop_assert_eq!(pipe.newest(), model.back().map(|(_, number)| number));
                let (oldest, _) = model.as_slices();
                prop_assert_eq!(oldest.is_empty(), pipe.oldest().is_empty());
                prop_assert!(pipe.oldest().iter().eq(model.iter().take(pipe.oldest().len())));
                let due = model.iter().filter(|&&(at, _)| at <= until).count();
                prop_assert!(due == 0 || pipe.has_due(due, until));
                prop_assert!(!pipe.has_due(due + 1, until));
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

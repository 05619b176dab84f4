//! Things in flight on a first-in first-out path, of which those that follow each other evenly are one entry.

use super::{Ring, Train};
use lossylink_core::time::Instant;

/// A FIFO of trains whose members become due in order.
#[derive(Clone, Debug)]
pub struct Trains<T: Copy + Default> {
    entries: Ring<(Train, T)>,
    /// When the first member is due; kept, because it is asked for far more often than it changes.
    due: Instant,
}

impl<T: Copy + Default> Default for Trains<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Copy + Default> Trains<T> {
    /// Nothing.
    pub fn new() -> Self {
        Self { entries: Ring::new(), due: Instant::NEVER }
    }

    /// Puts in what is due at `at`, no sooner than what came before. `distance` says how far it is beyond the first member of
    /// the train that came before, if it is of the same kind: then it may join.
    #[inline]
    pub fn push(&mut self, at: Instant, value: &T, distance: impl FnOnce(&T, &T) -> Option<u32>) {
        self.push_train(Train::of_one(at), value, distance);
    }

    /// Puts in a train whose first is `value`, like [`Trains::push`].
    #[inline]
    pub fn push_train(&mut self, train: Train, value: &T, distance: impl FnOnce(&T, &T) -> Option<u32>) {
        if let Some((last, first)) = self.entries.from_back_mut(0) {
            debug_assert!(last.last() <= train.first, "a train would overtake what came before");
            if distance(first, value).is_some_and(|distance| last.append(train, distance)) {
                return;
            }
        } else {
            self.due = train.first;
        }
        self.entries.push((train, *value));
    }

    /// When the next is due.
    #[inline]
    pub const fn poll_timeout(&self) -> Instant {
        self.due
    }

    /// The train that comes next, and its first.
    #[inline]
    pub fn front(&self) -> Option<(Train, &T)> {
        self.entries.front().map(|(train, value)| (*train, value))
    }

    /// Removes the next `count` of the train that comes next; `advance` makes the first that is left, so far beyond the
    /// first that was, if any is left.
    #[inline]
    pub fn skip(&mut self, count: u32, advance: impl FnOnce(&mut T, u32)) {
        let Some((train, value)) = self.entries.front_mut() else { return };
        if count < train.count {
            advance(value, count * train.step);
            *train = train.behind(count);
            self.due = train.first;
        } else {
            self.entries.skip_front();
            self.due = self.entries.front().map_or(Instant::NEVER, |(train, _)| train.first);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Numbers that are close follow each other.
    fn distance(first: &u64, next: &u64) -> Option<u32> {
        next.checked_sub(*first).filter(|&distance| distance < 50).map(|distance| distance as u32)
    }

    proptest! {
        #[test]
        fn trains_hold_what_went_in(
            moves in prop::collection::vec((0u64..3, 0u64..3, 1u32..4), 1..200),
        ) {
            let (mut trains, mut plain) = (Trains::new(), std::collections::VecDeque::new());
            let (mut at, mut number) = (Instant::ZERO, 0);
            for (gap, further, skipped) in moves {
                at = Instant::from_ps(at.as_ps() + gap);
                number += further;
                trains.push(at, &number, distance);
                plain.push_back((at, number));
                if further == 0 {
                    let (train, &first) = trains.front().unwrap();
                    prop_assert_eq!(trains.poll_timeout(), train.first);
                    for index in 0..skipped.min(train.count) {
                        let held = (train.nth(index), first + u64::from(index * train.step));
                        prop_assert_eq!(plain.pop_front(), Some(held));
                    }
                    trains.skip(skipped.min(train.count), |value, distance| *value += u64::from(distance));
                }
            }
            while let Some((train, &first)) = trains.front() {
                prop_assert_eq!(plain.pop_front(), Some((train.first, first)));
                trains.skip(1, |value, distance| *value += u64::from(distance));
            }
            prop_assert!(plain.is_empty() && trains.poll_timeout().is_never());
        }
    }

    #[test]
    fn what_goes_on_evenly_is_one_entry() {
        let mut trains = Trains::new();
        for (at, number) in [(10, 1u64), (12, 2), (14, 3), (15, 4)] {
            trains.push(Instant::from_ps(at), &number, distance);
        }
        assert_eq!(trains.front().map(|(train, &number)| (train.count, number)), Some((3, 1)));
        let five = Train { count: 5, ..Train::of_one(Instant::from_ps(20)) };
        trains.push_train(five, &9, distance);
        trains.push_train(five, &14, distance);
        trains.skip(3, |_, _| unreachable!("none is left"));
        trains.skip(1, |_, _| unreachable!("none is left"));
        assert_eq!(trains.front().map(|(train, &number)| (train.count, number)), Some((10, 9)));
    }
}

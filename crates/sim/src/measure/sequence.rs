//! Checks whether numbered frames come out in order, and once each.

use super::Batches;
use std::collections::BTreeSet;

/// The number of missing numbers that are remembered; beyond it the oldest are forgotten.
const REMEMBERED: usize = 1 << 16;

/// Checks a stream of consecutive numbers for reordering and duplication.
#[derive(Clone, Debug, Default)]
pub struct SequenceCheck {
    next: u64,
    missing: BTreeSet<u64>,
    received: u64,
    reordered: u64,
    duplicated: u64,
    /// Numbers that were passed over and have not come out since, by batches.
    absent: Batches,
}

impl SequenceCheck {
    /// Builds a check that counts the missing numbers in batches of `numbers` numbers in all.
    pub fn of(numbers: u64) -> Self {
        Self { absent: Batches::new(numbers), ..Self::default() }
    }

    /// Notes that a frame with `number` comes out. A number below the largest so far is reordered (RFC 4737); a number that came
    /// out before is duplicated.
    #[inline]
    pub fn note(&mut self, number: u64) {
        self.received += 1;
        if number == self.next {
            self.next += 1;
        } else {
            self.note_out_of_sequence(number);
        }
    }

    /// Notes that `count` frames come out whose numbers are `step` apart, from `first` on. Equals [`SequenceCheck::note`] of each.
    #[inline]
    pub fn note_train(&mut self, first: u64, count: u32, step: u32) {
        let count = u64::from(count);
        if first == self.next && step == 1 {
            self.received += count;
            self.next += count;
        } else {
            (0..count).for_each(|place| self.note(first + place * u64::from(step)));
        }
    }

    #[cold]
    fn note_out_of_sequence(&mut self, number: u64) {
        if number > self.next {
            self.missing.extend(self.next..number);
            self.absent.add(self.next, number);
            while self.missing.len() > REMEMBERED {
                self.missing.pop_first();
            }
            self.next = number + 1;
        } else if self.missing.remove(&number) {
            self.reordered += 1;
            self.absent.take_back(number);
        } else {
            self.duplicated += 1;
        }
    }

    /// Returns the missing numbers and all numbers below `offered`, by batches.
    pub fn missing_by_batch(&self, offered: u64) -> Vec<(u64, u64)> {
        let mut absent = self.absent.clone();
        absent.add(self.next, offered);
        absent.upto(offered)
    }

    /// Returns how many frames came out.
    pub const fn received(&self) -> u64 {
        self.received
    }

    /// Returns how many frames came out after a frame with a larger number.
    pub const fn reordered(&self) -> u64 {
        self.reordered
    }

    /// Returns how many frames came out a second time.
    pub const fn duplicated(&self) -> u64 {
        self.duplicated
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_reordering_from_duplication() {
        let mut check = SequenceCheck::default();
        [0, 1, 4, 2, 2, 5].iter().for_each(|&number| check.note(number));
        assert_eq!((check.received(), check.reordered(), check.duplicated()), (6, 1, 1));
    }

    #[test]
    fn what_is_missing_is_counted_by_batches() {
        let mut check = SequenceCheck::of(128);
        [0, 1, 5, 3, 6].iter().for_each(|&number| check.note(number));
        let by_batch = check.missing_by_batch(9);
        assert_eq!(by_batch, [(0, 2), (1, 2), (1, 2), (1, 2), (1, 1)]);
        assert_eq!(SequenceCheck::default().missing_by_batch(9), []);
    }

    #[test]
    fn a_train_is_noted_as_frame_by_frame() {
        let (mut together, mut apart) = (SequenceCheck::default(), SequenceCheck::default());
        for (first, count, step) in [(0, 5, 1), (7, 1, 1), (8, 3, 2), (5, 2, 1), (11, 2, 1), (13, 2, 0)] {
            together.note_train(first, count, step);
            (0..count).for_each(|place| apart.note(first + u64::from(place * step)));
            assert_eq!(format!("{together:?}"), format!("{apart:?}"));
        }
        assert_eq!((apart.received(), apart.reordered(), apart.duplicated()), (15, 3, 2));
    }
}

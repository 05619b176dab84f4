//! The numbers of frames that have arrived, so that no frame counts twice: a sliding window (G-28; RFC 6479
//! describes the method).

/// How many numbers back of the highest are remembered; an older number counts as seen.
pub(super) const WINDOW: u64 = 4096;
const WORD: u64 = u64::BITS as u64;
/// One word more than the window, because the word of the highest number is only partly in use.
const WORDS: u64 = WINDOW / WORD + 1;

/// The highest number that was seen, and the set of numbers before it that were seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReplayWindow {
    /// One more than the highest number; zero before the first.
    next: u64,
    seen: [u64; WORDS as usize],
}

impl ReplayWindow {
    pub(super) const fn new() -> Self {
        Self { next: 0, seen: [0; WORDS as usize] }
    }

    /// Returns the number that ends in these bits and is nearest to the next number.
    pub(super) fn extend(&self, low: u32) -> u64 {
        let ahead = low.wrapping_sub(self.next as u32) as i32;
        self.next.saturating_add_signed(i64::from(ahead))
    }

    /// Whether a number is new: neither seen nor too old to be remembered.
    pub(super) fn is_new(&self, number: u64) -> bool {
        if number >= self.next {
            return true;
        }
        let is_recent = number + WINDOW >= self.next;
        is_recent && self.seen[word(number)] & bit(number) == 0
    }

    /// Takes note of a number that [is new](Self::is_new).
    pub(super) fn note(&mut self, number: u64) {
        if number >= self.next {
            // The words between the highest number so far and this number begin anew.
            let last = self.next.checked_sub(1).map_or(0, |last| last / WORD);
            let first = if self.next == 0 { 0 } else { last + 1 };
            for fresh in (first..=number / WORD).rev().take(WORDS as usize) {
                self.seen[(fresh % WORDS) as usize] = 0;
            }
            self.next = number + 1;
        }
        self.seen[word(number)] |= bit(number);
    }
}

fn word(number: u64) -> usize {
    (number / WORD % WORDS) as usize
}

fn bit(number: u64) -> u64 {
    1 << (number % WORD)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    proptest! {
        // G-28: the window agrees with a set of all numbers ever seen.
        #[test]
        fn no_number_counts_twice(steps in proptest::collection::vec((0u64..9000, 0u64..6000), 1..400)) {
            let (mut window, mut seen, mut high) = (ReplayWindow::new(), BTreeSet::new(), 0u64);
            for (ahead, back) in steps {
                let number = (high + ahead).saturating_sub(back);
                prop_assert_eq!(window.extend(number as u32), number);
                let is_old = !seen.is_empty() && number + WINDOW < high + 1;
                prop_assert_eq!(window.is_new(number), !is_old && !seen.contains(&number));
                if window.is_new(number) {
                    window.note(number);
                    seen.insert(number);
                    high = high.max(number);
                }
                prop_assert!(!window.is_new(number));
            }
        }
    }

    // G-28
    #[test]
    fn a_number_goes_on_behind_its_thirty_two_bits() {
        let mut window = ReplayWindow::new();
        let numbers: Vec<u64> = (0..40).map(|step| step << 28).collect();
        for number in &numbers {
            assert_eq!(window.extend(*number as u32), *number);
            window.note(*number);
        }
        assert!(window.next > u64::from(u32::MAX));
        // A number recorded one wrap of the 32 bits ago is taken for its present extension, so that its tag will be
        // wrong.
        assert_ne!(window.extend(numbers[39 - 16] as u32), numbers[39 - 16]);
    }
}

//! Whole numbers in as few bits as their neighbours allow.
//!
//! Numbers stand in runs. Of a run its least number is kept once, and of each number what it has above that. What a
//! thousand trials count is mostly zero, and what they take differs little: both need few bits.

use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Numbers of a run. A longer one has its head less often; in a shorter one fewer numbers pay for a large one.
const RUN: usize = 256;

/// Numbers in the order in which they came. A copy shares them, and their text has them as they are.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(from = "Vec<u64>", into = "Vec<u64>")]
pub(crate) struct Packed {
    runs: Arc<[Run]>,
    words: Arc<[u64]>,
}

/// So many numbers, each so many bits above the least.
#[derive(Clone, Copy, Debug)]
struct Run {
    least: u64,
    numbers: u32,
    bits: u32,
}

impl Packed {
    /// How many numbers there are.
    pub(crate) fn len(&self) -> usize {
        self.runs.iter().map(|run| run.numbers as usize).sum()
    }

    /// The least number; `None` if there are none.
    pub(crate) fn least(&self) -> Option<u64> {
        self.runs.iter().map(|run| run.least).min()
    }

    /// The numbers.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = u64> {
        let mut rest = &*self.words;
        self.runs.iter().flat_map(move |run| {
            let (words, others) = rest.split_at(run.words());
            rest = others;
            (0..run.numbers).map(|place| run.number(words, place))
        })
    }

    /// The octets in which they are held.
    #[cfg(test)]
    pub(crate) fn octets(&self) -> usize {
        size_of_val(&*self.runs) + size_of_val(&*self.words)
    }
}

impl Run {
    fn of(numbers: &[u64]) -> Self {
        let least = numbers.iter().copied().min().unwrap_or(0);
        let all_bits = numbers.iter().fold(0, |bits, number| bits | (number - least));
        Self { least, numbers: numbers.len() as u32, bits: u64::BITS - all_bits.leading_zeros() }
    }

    /// Words that its numbers take.
    const fn words(&self) -> usize {
        (self.numbers * self.bits).div_ceil(u64::BITS) as usize
    }

    /// The word in which a number begins, and the bit of that word.
    const fn begin(&self, place: u32) -> (usize, u32) {
        let bit = place * self.bits;
        ((bit / u64::BITS) as usize, bit % u64::BITS)
    }

    /// The number at a place, from the words of the run.
    fn number(&self, words: &[u64], place: u32) -> u64 {
        let Some(mask) = u64::MAX.checked_shr(u64::BITS - self.bits) else { return self.least };
        let (word, bit) = self.begin(place);
        let mut above = words[word] >> bit;
        if bit + self.bits > u64::BITS {
            above |= words[word + 1] << (u64::BITS - bit);
        }
        self.least + (above & mask)
    }

    /// Writes a number to its place; the words were zero.
    fn set(&self, words: &mut [u64], place: u32, number: u64) {
        if self.bits == 0 {
            return;
        }
        let (word, bit) = self.begin(place);
        let above = number - self.least;
        words[word] |= above << bit;
        if bit + self.bits > u64::BITS {
            words[word + 1] |= above >> (u64::BITS - bit);
        }
    }
}

/// Takes numbers, one after another, and packs them.
#[derive(Debug, Default)]
pub(crate) struct Packing {
    runs: Vec<Run>,
    words: Vec<u64>,
    /// Those that are no run yet.
    waiting: Vec<u64>,
}

impl Packing {
    /// Takes one more.
    pub(crate) fn push(&mut self, number: u64) {
        self.waiting.push(number);
        if self.waiting.len() == RUN {
            self.pack();
        }
    }

    /// All of them, packed.
    pub(crate) fn finish(mut self) -> Packed {
        self.pack();
        Packed { runs: self.runs.into(), words: self.words.into() }
    }

    /// Makes a run of those that wait.
    fn pack(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        let (run, first) = (Run::of(&self.waiting), self.words.len());
        self.words.resize(first + run.words(), 0);
        for (place, &number) in self.waiting.iter().enumerate() {
            run.set(&mut self.words[first..], place as u32, number);
        }
        self.runs.push(run);
        self.waiting.clear();
    }
}

impl From<Vec<u64>> for Packed {
    fn from(numbers: Vec<u64>) -> Self {
        let mut packing = Packing::default();
        numbers.into_iter().for_each(|number| packing.push(number));
        packing.finish()
    }
}

impl From<Packed> for Vec<u64> {
    fn from(packed: Packed) -> Self {
        packed.numbers().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn packed(numbers: &[u64]) -> Packed {
        numbers.to_vec().into()
    }

    proptest! {
        #[test]
        fn numbers_come_back(
            numbers in prop::collection::vec((0u64.., 0u32..64).prop_map(|(number, less)| number >> less), 0..1000),
        ) {
            let packed = packed(&numbers);
            prop_assert_eq!(packed.numbers().collect::<Vec<_>>(), &numbers[..]);
            prop_assert_eq!(packed.len(), numbers.len());
            prop_assert_eq!(packed.least(), numbers.iter().copied().min());
        }
    }

    #[test]
    fn every_width_comes_back() {
        for bits in 0..=u64::BITS {
            let most = u64::MAX.checked_shr(u64::BITS - bits).unwrap_or(0);
            let numbers: Vec<u64> =
                (0..RUN as u64 + 3).map(|place| if place % 3 == 0 { most } else { 0 }).collect();
            assert_eq!(packed(&numbers).numbers().collect::<Vec<_>>(), numbers, "{bits} bits");
        }
    }

    #[test]
    fn numbers_take_the_bits_in_which_they_differ() {
        let head = size_of::<Run>();
        assert_eq!(packed(&[7; RUN]).octets(), head);
        assert_eq!(packed(&[7; RUN + 1]).octets(), 2 * head);
        let odd: Vec<u64> = (0..RUN as u64).map(|place| 1_000_000 + place % 2).collect();
        assert_eq!(packed(&odd).octets(), head + RUN / 8);
    }
}

//! Whole numbers in as few bits as their neighbours allow.
//!
//! Numbers stand in runs. Of a run its least number is kept once, and of each number the excess over the least. The counts of a
//! thousand trials are mostly zero, and the times that trials take differ little: both need few bits. Runs stand in chunks, which
//! a [`Store`] keeps.

use super::store::{Kept, Store};
use serde::{Deserialize, Serialize, Serializer, ser};
use std::borrow::Cow;
use std::sync::Arc;
use std::{io, slice};

/// The numbers of a run. Longer runs would have fewer heads; in shorter runs fewer numbers would pay for a large one.
pub(crate) const RUN: usize = 256;
/// Words of the head of a run: the least number, then how many numbers there are and their bits.
const HEAD: usize = 2;
/// Words of a chunk, which is 64 KiB. The last run of a chunk is completed.
const CHUNK: usize = 1 << 13;

/// Numbers in the order in which they came. A copy shares the numbers. The serialised text has the numbers one by one, unpacked.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "Vec<u64>")]
pub(crate) struct Packed(Arc<[Chunk]>);

/// Runs of numbers that follow each other.
#[derive(Debug)]
struct Chunk {
    numbers: u64,
    least: u64,
    words: Kept,
}

/// `numbers` numbers, each of which takes `bits` bits above the least.
#[derive(Clone, Copy, Debug)]
struct Run {
    least: u64,
    numbers: u32,
    bits: u32,
}

impl Packed {
    /// Returns how many numbers there are.
    pub(crate) fn len(&self) -> usize {
        self.0.iter().map(|chunk| chunk.numbers).sum::<u64>() as usize
    }

    /// Returns the least number; `None` if there are no numbers.
    pub(crate) fn least(&self) -> Option<u64> {
        self.0.iter().map(|chunk| chunk.least).min()
    }

    /// Iterates over the numbers, run by run.
    pub(crate) fn runs(&self) -> Runs<'_> {
        Runs { chunks: self.0.iter(), words: Cow::default(), begin: 0, numbers: Vec::with_capacity(RUN) }
    }

    /// Hands each number to `visit`.
    ///
    /// # Errors
    /// The system's error if numbers cannot be read back.
    pub(crate) fn for_each(&self, mut visit: impl FnMut(u64)) -> io::Result<()> {
        let mut runs = self.runs();
        while let Some(numbers) = runs.next()? {
            numbers.iter().copied().for_each(&mut visit);
        }
        Ok(())
    }

    /// Returns the octets of memory that the numbers take.
    #[cfg(test)]
    pub(crate) fn octets(&self) -> usize {
        self.0.iter().map(|chunk| chunk.words.octets()).sum()
    }
}

/// An iterator over numbers, run by run.
pub(crate) struct Runs<'a> {
    chunks: slice::Iter<'a, Chunk>,
    /// The words of a chunk, and the place in them at which the next run begins.
    words: Cow<'a, [u64]>,
    begin: usize,
    numbers: Vec<u64>,
}

impl Runs<'_> {
    /// Returns the numbers of the next run; `None` after the last run.
    ///
    /// # Errors
    /// The system's error if the numbers cannot be read back.
    pub(crate) fn next(&mut self) -> io::Result<Option<&[u64]>> {
        while self.begin == self.words.len() {
            let Some(chunk) = self.chunks.next() else { return Ok(None) };
            (self.words, self.begin) = (chunk.words.read()?, 0);
        }
        let (head, words) = self.words[self.begin..].split_at(HEAD);
        let run = Run::behind(head);
        self.numbers.clear();
        self.numbers.extend((0..run.numbers).map(|place| run.number(words, place)));
        self.begin += HEAD + run.words();
        Ok(Some(&self.numbers))
    }
}

impl Run {
    fn of(numbers: &[u64]) -> Self {
        let least = numbers.iter().copied().min().unwrap_or(0);
        let all_bits = numbers.iter().fold(0, |bits, number| bits | (number - least));
        Self { least, numbers: numbers.len() as u32, bits: u64::BITS - all_bits.leading_zeros() }
    }

    /// Returns the run with this head.
    const fn behind(head: &[u64]) -> Self {
        Self { least: head[0], numbers: (head[1] >> u32::BITS) as u32, bits: head[1] as u32 }
    }

    const fn head(&self) -> [u64; HEAD] {
        [self.least, (self.numbers as u64) << u32::BITS | self.bits as u64]
    }

    /// Returns how many words the numbers of the run take.
    const fn words(&self) -> usize {
        (self.numbers * self.bits).div_ceil(u64::BITS) as usize
    }

    /// Returns the word in which a number begins, and the bit of that word.
    const fn begin(&self, place: u32) -> (usize, u32) {
        let bit = place * self.bits;
        ((bit / u64::BITS) as usize, bit % u64::BITS)
    }

    /// Returns the number at a place, from the words of the run.
    fn number(&self, words: &[u64], place: u32) -> u64 {
        let Some(mask) = u64::MAX.checked_shr(u64::BITS - self.bits) else { return self.least };
        let (word, bit) = self.begin(place);
        let mut above = words[word] >> bit;
        if bit + self.bits > u64::BITS {
            above |= words[word + 1] << (u64::BITS - bit);
        }
        self.least + (above & mask)
    }

    /// Writes a number to its place. The words there were zero.
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

/// A packer of numbers that come one after another. The default packer keeps them in memory.
#[derive(Debug)]
pub(crate) struct Packing {
    store: Store,
    chunks: Vec<Chunk>,
    /// Words from which on a chunk is complete.
    most: usize,
    /// The words of the chunk in progress.
    words: Vec<u64>,
    numbers: u64,
    least: u64,
    /// The numbers that do not form a run yet.
    waiting: Vec<u64>,
}

impl Default for Packing {
    fn default() -> Self {
        Self::new(Store::default())
    }
}

impl Packing {
    /// Builds a packer that keeps the numbers in this store.
    pub(crate) fn new(store: Store) -> Self {
        Self::in_chunks(store, CHUNK)
    }

    /// Builds a packer as [`Packing::new`] does, which takes no more than about `most` words of memory.
    pub(super) fn in_chunks(store: Store, most: usize) -> Self {
        let (chunks, words, waiting) = (Vec::new(), Vec::new(), Vec::new());
        Self { store, chunks, most, words, numbers: 0, least: u64::MAX, waiting }
    }

    /// Takes one more number.
    #[inline]
    pub(crate) fn push(&mut self, number: u64) {
        self.waiting.push(number);
        if self.waiting.len() == RUN {
            self.pack();
        }
    }

    /// Returns all numbers, packed.
    pub(crate) fn finish(mut self) -> Packed {
        self.pack();
        self.keep();
        Packed(self.chunks.into())
    }

    /// Makes a run of the numbers that wait.
    fn pack(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        let run = Run::of(&self.waiting);
        self.words.extend(run.head());
        let first = self.words.len();
        self.words.resize(first + run.words(), 0);
        for (place, &number) in self.waiting.iter().enumerate() {
            run.set(&mut self.words[first..], place as u32, number);
        }
        self.numbers += self.waiting.len() as u64;
        self.least = self.least.min(run.least);
        self.waiting.clear();
        if self.words.len() >= self.most {
            self.keep();
        }
    }

    /// Makes a chunk of the runs in progress, and keeps it in the store.
    fn keep(&mut self) {
        if self.words.is_empty() {
            return;
        }
        let words = self.store.keep(&self.words);
        self.chunks.push(Chunk { numbers: self.numbers, least: self.least, words });
        self.words.clear();
        (self.numbers, self.least) = (0, u64::MAX);
    }
}

impl From<Vec<u64>> for Packed {
    fn from(numbers: Vec<u64>) -> Self {
        let mut packing = Packing::default();
        numbers.into_iter().for_each(|number| packing.push(number));
        packing.finish()
    }
}

impl Serialize for Packed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut numbers = Vec::with_capacity(self.len());
        self.for_each(|number| numbers.push(number)).map_err(ser::Error::custom)?;
        numbers.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn packed(numbers: &[u64]) -> Packed {
        numbers.to_vec().into()
    }

    fn packed_in(store: Store, most: usize, numbers: &[u64]) -> Packed {
        let mut packing = Packing::in_chunks(store, most);
        numbers.iter().for_each(|&number| packing.push(number));
        packing.finish()
    }

    fn numbers_of(packed: &Packed) -> Vec<u64> {
        let mut numbers = Vec::new();
        packed.for_each(|number| numbers.push(number)).unwrap();
        numbers
    }

    proptest! {
        #[test]
        fn numbers_come_back(
            numbers in prop::collection::vec((0u64.., 0u32..64).prop_map(|(number, less)| number >> less), 0..2000),
            most in 1usize..2000,
            room in prop::option::of(0usize..10_000),
        ) {
            let packed = packed_in(room.map_or_else(Store::default, Store::new), most, &numbers);
            prop_assert_eq!(numbers_of(&packed), &numbers[..]);
            prop_assert_eq!(packed.len(), numbers.len());
            prop_assert_eq!(packed.least(), numbers.iter().copied().min());
            prop_assert!(packed.octets() <= room.unwrap_or(usize::MAX));
            prop_assert_eq!(serde_json::to_string(&packed).unwrap(), serde_json::to_string(&numbers).unwrap());
        }
    }

    #[test]
    fn every_width_comes_back() {
        for bits in 0..=u64::BITS {
            let most = u64::MAX.checked_shr(u64::BITS - bits).unwrap_or(0);
            let numbers: Vec<u64> =
                (0..RUN as u64 + 3).map(|place| if place % 3 == 0 { most } else { 0 }).collect();
            assert_eq!(numbers_of(&packed(&numbers)), numbers, "{bits} bits");
        }
    }

    #[test]
    fn numbers_take_the_bits_in_which_they_differ() {
        let head = HEAD * size_of::<u64>();
        assert_eq!(packed(&[7; RUN]).octets(), head);
        assert_eq!(packed(&[7; RUN + 1]).octets(), 2 * head);
        let odd: Vec<u64> = (0..RUN as u64).map(|place| 1_000_000 + place % 2).collect();
        assert_eq!(packed(&odd).octets(), head + RUN / 8);
    }
}

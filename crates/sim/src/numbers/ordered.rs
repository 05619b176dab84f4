//! Numbers in ascending order, in little memory however many there are.
//!
//! Numbers are counted by buckets of their distance from the least number. Neighbouring buckets make parts, whose numbers are
//! laid aside. Each part is put in order by itself, and is laid aside again. A part with too many numbers is divided anew. If a
//! number comes very often, its count is kept in place of the numbers. Threads may lay numbers of one part aside in any order,
//! because the part is put in order later.

use super::packed::{Packed, Packing};
use super::store::Store;
use rayon::prelude::*;
use std::io;
use std::sync::Mutex;

/// The most threads that work at once: each thread has memory of its own.
const THREADS: usize = 8;
/// The number of numbers that a thread puts in order at once, in 1 MiB.
const SLICE: usize = 1 << 17;
/// The number of parts at once, roughly. Each part has a chunk in memory.
const PARTS: u64 = 128;
/// Words of a part's chunk, which is 8 KiB.
const PART_CHUNK: usize = 1 << 10;
/// The number of numbers of a part that a thread collects before it lays them aside.
const BATCH: usize = 64;
/// The number of bits of a distance, after the highest bit, that tell its bucket.
const BITS: u32 = 10;
/// The number of buckets of all distances.
const BUCKETS: usize = bucket(u64::MAX) + 1;

/// Numbers in ascending order.
#[derive(Debug)]
pub(crate) struct Ordered(Vec<Slice>);

/// A part of the numbers, none of which is below the numbers of the slice before.
#[derive(Debug)]
enum Slice<T = Packed> {
    Equal { number: u64, times: u64 },
    Different(T),
}

impl Ordered {
    /// Puts numbers in order, by all threads of the current pool. Numbers for which memory has no room go to a file.
    ///
    /// # Errors
    /// The system's error if numbers cannot be read back.
    pub(crate) fn of(numbers: &[&Packed]) -> io::Result<Self> {
        Self::in_slices(numbers, SLICE)
    }

    /// Puts numbers in order as [`Ordered::of`] does, `slice` numbers at once.
    pub(crate) fn in_slices(numbers: &[&Packed], slice: usize) -> io::Result<Self> {
        Ordering { slice, store: Store::new(0) }.order(numbers).map(Self)
    }

    /// Returns how many numbers there are.
    pub(crate) fn count(&self) -> u64 {
        let of = |slice: &Slice| match slice {
            Slice::Equal { times, .. } => *times,
            Slice::Different(packed) => packed.len() as u64,
        };
        self.0.iter().map(of).sum()
    }

    /// Hands each number to `visit`, in ascending order, and how many times the number comes here.
    ///
    /// # Errors
    /// The errors of [`Ordered::of`].
    pub(crate) fn for_each(&self, mut visit: impl FnMut(u64, u64)) -> io::Result<()> {
        self.0.iter().try_for_each(|slice| match slice {
            Slice::Equal { number, times } => {
                visit(*number, *times);
                Ok(())
            }
            Slice::Different(packed) => packed.for_each(|number| visit(number, 1)),
        })
    }
}

/// The ordering of numbers: `slice` numbers are put in order at once, and go into `store` in order.
struct Ordering {
    slice: usize,
    store: Store,
}

impl Ordering {
    fn order(&self, numbers: &[&Packed]) -> io::Result<Vec<Slice>> {
        let count: usize = numbers.iter().map(|packed| packed.len()).sum();
        if count <= self.slice {
            return Ok(vec![Slice::Different(self.sort(numbers, count)?)]);
        }
        let parts = share(&self.parts(numbers, count)?, |part| match part {
            Slice::Equal { number, times } => Ok(vec![Slice::Equal { number: *number, times: *times }]),
            Slice::Different(packed) => self.order(&[packed]),
        })?;
        Ok(parts.into_iter().flatten().collect())
    }

    /// Puts `count` numbers in order.
    fn sort(&self, numbers: &[&Packed], count: usize) -> io::Result<Packed> {
        let mut all = Vec::with_capacity(count);
        numbers.iter().try_for_each(|packed| packed.for_each(|number| all.push(number)))?;
        all.sort_unstable();
        let mut packing = Packing::new(self.store.clone());
        all.into_iter().for_each(|number| packing.push(number));
        Ok(packing.finish())
    }

    /// Divides numbers into parts. No part has a number below the numbers of the part before.
    fn parts(&self, numbers: &[&Packed], count: usize) -> io::Result<Vec<Slice>> {
        let least = numbers.iter().filter_map(|packed| packed.least()).min().unwrap_or(0);
        let (parts, part_of) = plan(&counts(numbers, least)?, (self.slice as u64).max(count as u64 / PARTS));
        let store = Store::new(0);
        let slice = |part: Part| match part {
            Part::Equal(above, times) => Slice::Equal { number: least + above, times },
            Part::Different => Slice::Different(Mutex::new(Packing::in_chunks(store.clone(), PART_CHUNK))),
        };
        let slices: Vec<Slice<Mutex<Packing>>> = parts.into_iter().map(slice).collect();
        groups(numbers).try_for_each(|some| {
            let mut laying = Laying::new(&slices);
            let mut lay = |number: u64| laying.add(usize::from(part_of[bucket(number - least)]), number);
            some.iter().try_for_each(|packed| packed.for_each(&mut lay))?;
            laying.finish();
            Ok::<_, io::Error>(())
        })?;
        Ok(slices.into_iter().map(Slice::finish).collect())
    }
}

/// Returns how many numbers lie in each bucket.
fn counts(numbers: &[&Packed], least: u64) -> io::Result<Vec<u64>> {
    let of = |some: &[&Packed]| -> io::Result<Vec<u64>> {
        let mut counts = vec![0; BUCKETS];
        let mut add = |number: u64| counts[bucket(number - least)] += 1;
        some.iter().try_for_each(|packed| packed.for_each(&mut add))?;
        Ok(counts)
    };
    let of_groups: Vec<Vec<u64>> = groups(numbers).map(of).collect::<io::Result<_>>()?;
    let mut counts = vec![0; BUCKETS];
    of_groups.iter().for_each(|more| counts.iter_mut().zip(more).for_each(|(count, more)| *count += more));
    Ok(counts)
}

/// Runs `work` on each item by several threads. Returns the results in the order of the items.
fn share<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> io::Result<R> + Sync) -> io::Result<Vec<R>> {
    let of_groups = groups(items).map(|some| some.iter().map(&work).collect::<io::Result<Vec<R>>>());
    Ok(of_groups.collect::<io::Result<Vec<_>>>()?.into_iter().flatten().collect())
}

/// Divides items into groups, one for each thread.
fn groups<T: Sync>(items: &[T]) -> impl IndexedParallelIterator<Item = &[T]> {
    let threads = rayon::current_num_threads().min(THREADS);
    items.par_chunks(items.len().div_ceil(threads).max(1)).with_max_len(1)
}

/// The numbers that a thread lays aside: many numbers of a part at once, because other threads wait meanwhile.
struct Laying<'a> {
    slices: &'a [Slice<Mutex<Packing>>],
    waiting: Vec<Vec<u64>>,
}

impl<'a> Laying<'a> {
    fn new(slices: &'a [Slice<Mutex<Packing>>]) -> Self {
        Self { slices, waiting: slices.iter().map(|_| Vec::new()).collect() }
    }

    #[inline]
    fn add(&mut self, part: usize, number: u64) {
        if let Slice::Different(_) = self.slices[part] {
            self.waiting[part].push(number);
            if self.waiting[part].len() == BATCH {
                self.lay(part);
            }
        }
    }

    fn lay(&mut self, part: usize) {
        if let Slice::Different(packing) = &self.slices[part] {
            let mut packing = packing.lock().expect("no thread failed");
            self.waiting[part].drain(..).for_each(|number| packing.push(number));
        }
    }

    /// Lays the waiting numbers aside.
    fn finish(mut self) {
        (0..self.slices.len()).for_each(|part| self.lay(part));
    }
}

impl Slice<Mutex<Packing>> {
    fn finish(self) -> Slice {
        match self {
            Self::Equal { number, times } => Slice::Equal { number, times },
            Self::Different(packing) => {
                Slice::Different(packing.into_inner().expect("no thread failed").finish())
            }
        }
    }
}

/// A part of the numbers: one bucket, or buckets that follow each other.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Part {
    /// A bucket that has a single distance: the distance, and how many numbers have it.
    Equal(u64, u64),
    Different,
}

/// Divides buckets with these counts into parts. Returns the parts, and the part of each bucket. A part has at most `most`
/// numbers, or is one bucket.
fn plan(counts: &[u64], most: u64) -> (Vec<Part>, Vec<u16>) {
    let (mut parts, mut part_of, mut held) = (Vec::new(), vec![0; counts.len()], 0);
    for (bucket, &count) in counts.iter().enumerate().filter(|&(_, &count)| count > 0) {
        let is_equal = bucket < 2 << BITS && count >= most;
        if is_equal {
            parts.push(Part::Equal(bucket as u64, count));
        } else if held + count > most || !matches!(parts.last(), Some(Part::Different)) {
            parts.push(Part::Different);
            held = 0;
        }
        held += count;
        part_of[bucket] = (parts.len() - 1) as u16;
    }
    (parts, part_of)
}

/// Returns the bucket of a distance. Each distance below 2048 has a bucket of its own. Beyond, a bucket is 1/1024 to 1/2048 of
/// its distances wide.
const fn bucket(above: u64) -> usize {
    let bits = u64::BITS - above.leading_zeros();
    let shift = bits.saturating_sub(BITS + 1);
    ((shift as usize) << BITS) + (above >> shift) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn numbers_of(ordered: &Ordered) -> Vec<u64> {
        let mut numbers = Vec::new();
        ordered.for_each(|number, times| numbers.extend((0..times).map(|_| number))).unwrap();
        numbers
    }

    /// Draws one number, numbers near to each other, and numbers anywhere.
    fn number() -> impl Strategy<Value = u64> {
        prop_oneof![
            Just(17_974_840),
            17_974_800u64..18_974_800,
            (0u64.., 0u32..64).prop_map(|(number, less)| number >> less)
        ]
    }

    proptest! {
        #[test]
        fn numbers_are_in_order(
            pieces in prop::collection::vec(prop::collection::vec(number(), 0..500), 0..4),
            slice in 1usize..400,
        ) {
            let mut expected = pieces.concat();
            expected.sort_unstable();
            let packed: Vec<Packed> = pieces.into_iter().map(Packed::from).collect();
            let ordered = Ordered::in_slices(&packed.iter().collect::<Vec<_>>(), slice).unwrap();
            prop_assert_eq!(ordered.count(), expected.len() as u64);
            prop_assert_eq!(numbers_of(&ordered), expected);
        }

        #[test]
        fn buckets_ascend(number in number(), above in number()) {
            let other = number.saturating_add(above);
            prop_assert!(bucket(number) <= bucket(other));
            prop_assert!(bucket(number) < BUCKETS);
        }
    }

    #[test]
    fn small_distances_have_a_bucket_each() {
        assert!((0..2048).all(|above| bucket(above) == above as usize));
        assert_eq!((bucket(2048), bucket(2049), bucket(2050)), (2048, 2048, 2049));
        assert_eq!((bucket(1 << 20) - bucket((1 << 20) - 1), BUCKETS), (1, 56_320));
    }

    #[test]
    fn a_number_that_comes_often_is_counted() {
        let packed = Packed::from([vec![5; 1000], vec![9, 4, 7]].concat());
        let ordered = Ordered::in_slices(&[&packed], 10).unwrap();
        assert!(matches!(ordered.0[..], [_, Slice::Equal { number: 5, times: 1000 }, _]));
        assert_eq!(numbers_of(&ordered), [vec![4], vec![5; 1000], vec![7, 9]].concat());
    }

    #[test]
    fn what_is_in_order_takes_no_memory() {
        let packed = Packed::from((0..10_000).rev().collect::<Vec<u64>>());
        let ordered = Ordered::in_slices(&[&packed], 500).unwrap();
        let held = |slice: &Slice| match slice {
            Slice::Equal { .. } => 0,
            Slice::Different(packed) => packed.octets(),
        };
        assert_eq!(ordered.0.iter().map(held).sum::<usize>(), 0);
        assert!(numbers_of(&ordered).into_iter().eq(0..10_000));
    }
}

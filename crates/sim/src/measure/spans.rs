//! Spans of time in ascending order.

use super::figures::Ascending;
use crate::numbers::Ordered;
use lossylink_core::time::Duration;
use std::io;

/// The number of spans from which on another thread is worth its cost. Chosen, not measured.
const FEWEST: usize = 1 << 14;

/// The picoseconds of a span that never ended. Every span that ended comes before it in order.
pub const NEVER_PS: u64 = u64::MAX;

/// Returns a span in microseconds; infinite if it never ended.
fn as_us(span_ps: u64) -> f64 {
    if span_ps == NEVER_PS { f64::INFINITY } else { Duration::from_ps(span_ps).as_us_f64() }
}

/// Spans of picoseconds, in any order. Spans within 4.29 ms of the shortest take four octets each. A longer span waited for a
/// timer, and is rare.
#[derive(Clone, Debug)]
pub struct Spans {
    shortest_ps: u64,
    /// The excess of the spans over the shortest.
    near: Vec<u32>,
    /// The excess over the shortest span, for spans whose excess does not fit four octets.
    far: Vec<u64>,
}

impl Spans {
    /// Builds room for `count` spans, none below `shortest_ps`.
    pub fn new(count: usize, shortest_ps: u64) -> Self {
        Self { shortest_ps, near: Vec::with_capacity(count), far: Vec::new() }
    }

    /// Adds a span.
    pub fn add(&mut self, span_ps: u64) {
        let above = span_ps - self.shortest_ps;
        u32::try_from(above).map_or_else(|_| self.far.push(above), |above| self.near.push(above));
    }

    /// Puts the spans in order, by all threads of the current pool.
    pub fn sort(mut self) -> SortedSpans {
        let threads = rayon::current_num_threads();
        sort(&mut self.near, threads);
        sort(&mut self.far, threads);
        SortedSpans(self)
    }
}

/// Puts numbers in order by `threads` threads. Each thread has an equal share of the numbers, and none of its numbers is below
/// those of the thread before.
fn sort<T: Ord + Send>(numbers: &mut [T], threads: usize) {
    if threads < 2 || numbers.len() < FEWEST {
        return numbers.sort_unstable();
    }
    let first_threads = threads / 2;
    let place = numbers.len() / threads * first_threads;
    numbers.select_nth_unstable(place);
    let (low, high) = numbers.split_at_mut(place);
    rayon::join(|| sort(low, first_threads), || sort(high, threads - first_threads));
}

/// Spans in ascending order, in microseconds when they are read.
#[derive(Clone, Debug)]
pub struct SortedSpans(Spans);

impl Ascending for SortedSpans {
    fn count(&self) -> u64 {
        (self.0.near.len() + self.0.far.len()) as u64
    }

    fn for_each(&self, mut visit: impl FnMut(f64, u64)) -> io::Result<()> {
        let Spans { shortest_ps, near, far } = &self.0;
        let above = near.iter().copied().map(u64::from).chain(far.iter().copied());
        above.for_each(|above| visit(as_us(shortest_ps + above), 1));
        Ok(())
    }
}

/// Spans in picoseconds, of which there may be more than memory has room for.
impl Ascending for Ordered {
    fn count(&self) -> u64 {
        Self::count(self)
    }

    fn for_each(&self, mut visit: impl FnMut(f64, u64)) -> io::Result<()> {
        Self::for_each(self, |span_ps, times| visit(as_us(span_ps), times))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::{Description, Figures};
    use crate::numbers::Packed;
    use lossylink_core::rng::{RngCore, Streams};
    use proptest::prelude::*;

    fn sorted(spans: &[u64], shortest_ps: u64) -> SortedSpans {
        let mut all = Spans::new(spans.len(), shortest_ps);
        spans.iter().for_each(|&span| all.add(span));
        all.sort()
    }

    /// Returns the bits of every figure.
    fn bits(spans: &impl Ascending) -> Vec<u64> {
        let fractions: Vec<f64> = (0..=100).map(|percent| f64::from(percent) / 100.0).collect();
        let figures = Figures::of(spans, &fractions).unwrap().unwrap();
        let percentiles = fractions.iter().map(|&fraction| figures.percentile(fraction));
        percentiles.chain([figures.mean(), figures.standard_deviation()]).map(f64::to_bits).collect()
    }

    proptest! {
        #[test]
        fn spans_are_described_as_their_numbers_are(
            spans in prop::collection::vec(
                prop_oneof![0u64..10, 0u64..1 << 33, 0u64..600_000_000_000_000, Just(NEVER_PS)], 1..300
            ),
        ) {
            let shortest = spans.iter().copied().min().unwrap();
            let sorted = bits(&sorted(&spans, shortest));
            let numbers = spans.iter().map(|&span| as_us(span));
            let of_numbers = Description::of(numbers.collect()).unwrap();
            let percentiles = (0..=100).map(|percent| of_numbers.percentile(f64::from(percent) / 100.0));
            let others = [of_numbers.mean(), of_numbers.standard_deviation()];
            prop_assert_eq!(&sorted, &percentiles.chain(others).map(f64::to_bits).collect::<Vec<_>>());
            prop_assert_eq!(&sorted, &bits(&Ordered::in_slices(&[&Packed::from(spans)], 20).unwrap()));
        }
    }

    #[test]
    fn all_threads_put_in_order_what_one_does() {
        let mut draws = Streams::new(1).stream("numbers");
        let numbers: Vec<u64> = (0..5 * FEWEST + 7).map(|_| draws.next_u64() >> 50).collect();
        let mut in_order = numbers.clone();
        in_order.sort_unstable();
        for threads in 0..8 {
            let mut shared = numbers.clone();
            sort(&mut shared, threads);
            assert_eq!(shared, in_order, "{threads} threads");
        }
    }

    #[test]
    fn a_span_is_far_where_four_octets_end() {
        let most = u64::from(u32::MAX);
        let SortedSpans(sorted) = sorted(&[5 + most + 1, 5, 5 + most, 6], 5);
        assert_eq!((sorted.near, sorted.far), (vec![0, 1, u32::MAX], vec![most + 1]));
    }
}

//! Spans of time in ascending order.

use super::describe::Sorted;
use lossylink_core::time::Duration;
use rayon::prelude::*;

/// Spans in ascending order, in microseconds when they are read. Those within 4.29 ms of the shortest take four octets
/// each: what lies further away waited for a timer, and is rare.
#[derive(Clone, Debug)]
pub struct SortedSpans {
    shortest_ps: u64,
    /// What the spans have above the shortest; those that do not fit, behind the others.
    near: Vec<u32>,
    far: Vec<u64>,
}

impl SortedSpans {
    /// So many spans of picoseconds, none below `shortest_ps`. All threads of the pool that this runs in sort them.
    pub fn new(count: usize, shortest_ps: u64, spans_ps: impl Iterator<Item = u64>) -> Self {
        let (mut near, mut far) = (Vec::with_capacity(count), Vec::new());
        spans_ps.for_each(|span| {
            let above = span - shortest_ps;
            u32::try_from(above).map_or_else(|_| far.push(above), |above| near.push(above));
        });
        near.par_sort_unstable();
        far.par_sort_unstable();
        Self { shortest_ps, near, far }
    }
}

impl Sorted for SortedSpans {
    fn count(&self) -> usize {
        self.near.len() + self.far.len()
    }

    fn value(&self, place: usize) -> f64 {
        let above = match self.near.get(place) {
            Some(&near) => u64::from(near),
            None => self.far[place - self.near.len()],
        };
        Duration::from_ps(self.shortest_ps + above).as_us_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Description;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn spans_are_described_as_their_numbers_are(
            spans in prop::collection::vec(prop_oneof![0u64..10, 0u64..1 << 33, 0u64..600_000_000_000_000], 1..300),
        ) {
            let shortest = spans.iter().copied().min().unwrap();
            let sorted = SortedSpans::new(spans.len(), shortest, spans.iter().copied());
            let of_spans = Description::new(sorted).unwrap();
            let numbers = spans.iter().map(|&span| Duration::from_ps(span).as_us_f64());
            let of_numbers = Description::of(numbers.collect()).unwrap();
            prop_assert_eq!(of_spans.mean().to_bits(), of_numbers.mean().to_bits());
            prop_assert_eq!(of_spans.standard_deviation().to_bits(), of_numbers.standard_deviation().to_bits());
            for percent in 0..=100 {
                let fraction = f64::from(percent) / 100.0;
                prop_assert_eq!(of_spans.percentile(fraction).to_bits(), of_numbers.percentile(fraction).to_bits());
            }
        }
    }

    #[test]
    fn a_span_is_far_where_four_octets_end() {
        let most = u64::from(u32::MAX);
        let sorted = SortedSpans::new(4, 5, [5 + most + 1, 5, 5 + most, 6].into_iter());
        assert_eq!((sorted.near, sorted.far), (vec![0, 1, u32::MAX], vec![most + 1]));
    }
}

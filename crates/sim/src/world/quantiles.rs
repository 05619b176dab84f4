//! A quantile function from which latencies are drawn: linear between its points, which a guide finds without a search
//! (Chen and Asau 1974).

use crate::config::LatencyTable;
use lossylink_core::rng::{RngCore, Stream, as_uniform};
use lossylink_core::time::Duration;

/// Number of parts of the unit interval. For each part the guide knows the line at which to begin.
const PARTS: usize = 1 << PART_BITS;
/// Number of leading bits of a fraction that say in which part the fraction lies.
const PART_BITS: u32 = 8;

/// A line between two points.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Line {
    /// The probability at which the line ends; the last line has no end.
    end: f64,
    start: f64,
    /// The difference of probability between the start of the line and its end.
    span: f64,
    ns: f64,
    rise_ns: f64,
}

/// A quantile function of latencies.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantiles {
    lines: Vec<Line>,
    /// The first line of each part that does not end before the part begins.
    guide: [u16; PARTS],
}

impl Quantiles {
    /// Returns the function that is linear between the points of `table`, in ascending order, and level beyond them.
    /// Without points the function is zero.
    pub fn new(table: &LatencyTable) -> Self {
        let level = |&(start, ns): &(f64, f64)| Line { end: start, start, span: 0.0, ns, rise_ns: 0.0 };
        let between = |pair: &[(f64, f64)]| {
            let (start, ns) = pair[0];
            let (end, ns_at_end) = pair[1];
            Line { end, start, span: end - start, ns, rise_ns: ns_at_end - ns }
        };
        let last = table.last().map_or_else(Line::default, level);
        let lines: Vec<_> = table
            .first()
            .map(level)
            .into_iter()
            .chain(table.windows(2).map(between))
            .chain([Line { end: f64::INFINITY, ..last }])
            .collect();
        let begins = |part: usize| {
            let fraction = part as f64 / PARTS as f64;
            lines.partition_point(|line| line.end < fraction) as u16
        };
        let guide = std::array::from_fn(begins);
        Self { lines, guide }
    }

    /// Returns the latency at `fraction`, which is at least zero.
    #[inline]
    pub fn at(&self, fraction: f64) -> Duration {
        self.in_part(((fraction * PARTS as f64) as usize).min(PARTS - 1), fraction)
    }

    /// Draws a latency.
    #[inline]
    pub fn draw(&self, draws: &mut Stream) -> Duration {
        let bits = draws.next_u64();
        self.in_part((bits >> (u64::BITS - PART_BITS)) as usize, as_uniform(bits))
    }

    /// Returns the latency at `fraction`, which lies in this part.
    #[inline]
    fn in_part(&self, part: usize, fraction: f64) -> Duration {
        let mut place = usize::from(self.guide[part]);
        while self.lines[place].end < fraction {
            place += 1;
        }
        let line = &self.lines[place];
        let weight = if line.span > 0.0 { (fraction - line.start) / line.span } else { 0.0 };
        Duration::from_ns_f64(line.ns + weight * line.rise_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lossylink_core::rng::{Streams, uniform};
    use proptest::prelude::*;

    /// Returns the latency at `fraction` by a search for the points on both sides.
    fn searched(table: &LatencyTable, fraction: f64) -> Duration {
        let above = table.partition_point(|&(probability, _)| probability < fraction);
        let (p0, ns0) = table[above.saturating_sub(1)];
        let (p1, ns1) = table[above.min(table.len() - 1)];
        let weight = if p1 > p0 { (fraction - p0) / (p1 - p0) } else { 0.0 };
        Duration::from_ns_f64(ns0 + weight * (ns1 - ns0))
    }

    proptest! {
        #[test]
        fn the_guide_finds_what_a_search_finds(
            mut probabilities in prop::collection::vec(
                prop_oneof![0.0..=1.0, (0u32..=256).prop_map(|part| f64::from(part) / 256.0)], 1..40),
            rises in prop::collection::vec(0.0..1e6, 40),
            fractions in prop::collection::vec(0.0..=1.0, 100),
        ) {
            probabilities.sort_by(f64::total_cmp);
            let mut ns = 0.0;
            let table: LatencyTable = probabilities.iter().zip(rises).map(|(&probability, rise)| {
                ns += rise;
                (probability, ns)
            }).collect();
            let quantiles = Quantiles::new(&table);
            let parts = (0..=256).map(|part| f64::from(part) / 256.0);
            for fraction in fractions.into_iter().chain(probabilities).chain(parts) {
                prop_assert_eq!(quantiles.at(fraction), searched(&table, fraction), "at {}", fraction);
            }
        }
    }

    #[test]
    fn what_is_drawn_is_the_latency_at_a_uniform_fraction() {
        let quantiles = Quantiles::new(&vec![(0.0, 100.0), (0.3, 200.0), (0.99, 300.0), (1.0, 90_000.0)]);
        let mut draws = Streams::new(1).stream("draws");
        let mut fractions = draws.clone();
        for _ in 0..10_000 {
            assert_eq!(quantiles.draw(&mut draws), quantiles.at(uniform(&mut fractions)));
        }
    }

    #[test]
    fn a_latency_lies_between_its_points() {
        let quantiles = Quantiles::new(&vec![(0.0, 100.0), (0.5, 200.0), (1.0, 1_000.0)]);
        let ns = [0.0, 0.25, 0.5, 0.75, 1.0].map(|fraction| quantiles.at(fraction).as_ps() / 1_000);
        assert_eq!(ns, [100, 150, 200, 600, 1_000]);
        assert_eq!(Quantiles::new(&Vec::new()).at(0.5), Duration::ZERO);
    }
}

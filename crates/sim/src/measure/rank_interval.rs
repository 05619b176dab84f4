//! The interval of a quantile by ranks: exact for every continuous distribution, so that a tail of milliseconds among
//! microseconds needs no model.
//!
//! The number of values below the true quantile q is Bin(n, q), so two ranks enclose the quantile. Values that depend on each other
//! tell as much as fewer independent ones (Woodruff 1952; Korn and Graubard 1998): the ranks are those of n over the design effect,
//! by which the variance of the number of values beyond the quantile exceeds that of independent values.

use super::{DesignEffect, percentile_sorted};
use statrs::distribution::{Binomial, DiscreteCDF};

/// The fewest batches of consecutive values from which a variance is estimated.
const LEAST_BATCHES: usize = 20;

/// A quantile of a sample with its interval. An end for which the sample is too small is open: infinite above, zero below (values
/// are times).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankInterval {
    /// The quantile of the sample.
    pub value: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl RankInterval {
    /// Returns the quantile `fraction` of `values`, which stand in the order in which they arose, and in ascending order in
    /// `sorted`. Up to `block` values that follow each other may depend on each other; 1 where all are independent.
    ///
    /// # Panics
    /// If there is no value.
    pub fn of(values: &[f64], sorted: &Vec<f64>, fraction: f64, block: usize, confidence: f64) -> Self {
        let value = percentile_sorted(sorted, fraction);
        let count = (sorted.len() as f64 / design_effect(values, value, block, confidence)) as u64;
        let [low, high] = enclosing_places(sorted.len() as u64, count.max(1), fraction, confidence);
        let low = low.map_or(0.0, |place| sorted[place as usize]);
        let high = high.map_or(f64::INFINITY, |place| sorted[place as usize]);
        // Interpolation can leave the ranks of a tiny sample; the interval holds the value all the same.
        Self { value, low: low.min(value), high: high.max(value) }
    }
}

/// Returns the places, among `all` values in ascending order, of the two that enclose the quantile `fraction`; `None` for an end that
/// lies beyond all values. The values tell as much as `count` independent ones, at least one and at most `all`: a rank among those
/// stands for as many ranks among all as there are more values.
pub fn enclosing_places(all: u64, count: u64, fraction: f64, confidence: f64) -> [Option<u64>; 2] {
    let miss = (1.0 - confidence) / 2.0;
    let below = |rank: u64| {
        // A quantile of 0 or 1 has all values on one side.
        Binomial::new(fraction, count).map_or(1.0, |law| law.cdf(rank))
    };
    let first = |reaches: &dyn Fn(u64) -> bool| {
        let (mut low, mut high) = (0, count + 1);
        while low < high {
            let middle = low + (high - low) / 2;
            if reaches(middle) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        low
    };
    let (lower, upper) = (first(&|rank| below(rank) > miss), first(&|rank| below(rank) >= 1.0 - miss) + 1);
    let low = (lower >= 1).then(|| (lower - 1) * all / count);
    let high = (upper <= count).then(|| (upper * all).div_ceil(count) - 1);
    [low, high]
}

/// Returns how many values tell as much as one independent value, when the question is whether they lie beyond `value`.
fn design_effect(values: &[f64], value: f64, block: usize, confidence: f64) -> f64 {
    if block <= 1 {
        return 1.0;
    }
    let count = values.len();
    let batches = count.min(LEAST_BATCHES.max((count as f64 / block as f64).round_ties_even() as usize));
    let begin = |batch: usize| batch * count / batches;
    let counted: Vec<(u64, u64)> = (0..batches)
        .map(|batch| {
            let part = &values[begin(batch)..begin(batch + 1)];
            (part.iter().filter(|&&one| one > value).count() as u64, part.len() as u64)
        })
        .collect();
    DesignEffect::seen(&counted).widened(confidence)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(values: &[f64], fraction: f64, block: usize) -> RankInterval {
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        RankInterval::of(values, &sorted, fraction, block, 0.95)
    }

    /// By tables of the binomial law: of 101 values the 41st and the 61st enclose the median with 95 %.
    #[test]
    fn two_ranks_enclose_a_quantile() {
        let values: Vec<f64> = (0..101).map(f64::from).collect();
        assert_eq!(interval(&values, 0.5, 1), RankInterval { value: 50.0, low: 40.0, high: 60.0 });
        let tail = interval(&values[..100], 0.999, 1);
        assert_eq!((tail.high, tail.low > 90.0), (f64::INFINITY, true));
        assert_eq!(interval(&values[..100], 0.001, 1).low, 0.0);
    }

    /// A thousand values, of which ten at a time are the same one, tell as much as a hundred.
    #[test]
    fn values_that_are_alike_widen() {
        let alone: Vec<f64> = (0..100_u64).map(|place| (place * 37 % 101) as f64).collect();
        let together: Vec<f64> = alone.iter().flat_map(|&value| [value; 10]).collect();
        let (one, other) = (interval(&alone, 0.5, 1), interval(&together, 0.5, 10));
        assert!(one.low >= other.low && one.high <= other.high, "{one:?} {other:?}");
        let apart = interval(&together, 0.5, 1);
        assert!(apart.low > other.low && apart.high < other.high);
    }

    #[test]
    fn one_value_bounds_nothing() {
        assert_eq!(interval(&[7.0], 0.5, 100), RankInterval { value: 7.0, low: 0.0, high: f64::INFINITY });
    }
}

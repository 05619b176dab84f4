//! Percentiles by the one definition that is used everywhere: linear interpolation between order statistics (Hyndman and Fan's
//! type 7, the default of pandas and numpy).

use rayon::prelude::*;

/// Values in ascending order.
pub trait Sorted {
    /// Returns how many values there are.
    fn count(&self) -> usize;

    /// Returns the value that `place` values precede.
    fn value(&self, place: usize) -> f64;
}

impl Sorted for Vec<f64> {
    fn count(&self) -> usize {
        self.len()
    }

    fn value(&self, place: usize) -> f64 {
        self[place]
    }
}

/// Returns the `fraction` quantile of `sorted`, which is not empty. Infinite values stand for spans that never ended: a quantile
/// among infinite values is infinite.
pub fn percentile_sorted(sorted: &impl Sorted, fraction: f64) -> f64 {
    let ([low, high], way) = places(sorted.count(), fraction);
    let (low, high) = (sorted.value(low), sorted.value(high));
    // Between two infinite values lies no number.
    if low == high { low } else { low + (high - low) * way }
}

/// Returns the places between which the `fraction` quantile of `count` values lies, and how far the quantile is from the first place.
pub(super) fn places(count: usize, fraction: f64) -> ([usize; 2], f64) {
    let rank = fraction * (count - 1) as f64;
    ([rank.floor() as usize, rank.ceil() as usize], rank - rank.floor())
}

/// Summary of a sample, in the unit of its values.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    sorted: Vec<f64>,
}

impl Description {
    /// Describes `values`; `None` if there are no values. Many values are sorted by all threads of the current pool.
    pub fn of(mut values: Vec<f64>) -> Option<Self> {
        values.par_sort_unstable_by(f64::total_cmp);
        (!values.is_empty()).then_some(Self { sorted: values })
    }

    /// Returns the `fraction` quantile.
    pub fn percentile(&self, fraction: f64) -> f64 {
        percentile_sorted(&self.sorted, fraction)
    }

    /// Returns the smallest value.
    pub fn min(&self) -> f64 {
        self.sorted[0]
    }

    /// Returns the largest value.
    pub fn max(&self) -> f64 {
        self.sorted[self.sorted.len() - 1]
    }

    /// Returns the mean value.
    pub fn mean(&self) -> f64 {
        self.sorted.iter().sum::<f64>() / self.sorted.len() as f64
    }

    /// Returns the sample's standard deviation, with n - 1 in the denominator; NaN for one value.
    pub fn standard_deviation(&self) -> f64 {
        let n = self.sorted.len();
        if n < 2 {
            return f64::NAN;
        }
        let mean = self.mean();
        let squares: f64 = self.sorted.iter().map(|value| (value - mean).powi(2)).sum();
        (squares / (n - 1) as f64).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_pandas_describe() {
        // pandas.Series([1, 2, 3, 4]).describe(percentiles=[0.9]): std 1.290994, 90% 3.7.
        let sample = Description::of(vec![4.0, 1.0, 3.0, 2.0]).unwrap();
        assert!((sample.standard_deviation() - 1.290_994).abs() < 1e-6);
        assert!((sample.percentile(0.9) - 3.7).abs() < 1e-12);
        assert_eq!((sample.min(), sample.mean(), sample.max()), (1.0, 2.5, 4.0));
    }

    #[test]
    fn nothing_has_no_description() {
        assert_eq!(Description::of(vec![]), None);
    }
}

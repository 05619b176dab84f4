//! Counts in bins of equal width: percentiles of any number of values in bounded memory.

/// Values counted in bins of equal width, with exact extremes. Memory reaches as far as the values.
#[derive(Clone, Debug)]
pub struct Histogram {
    bin_width: u64,
    bins: usize,
    counts: Vec<u64>,
    total: u64,
    sum: u128,
    min: u64,
    max: u64,
}

impl Histogram {
    /// Builds a histogram of `bins` bins of `bin_width`. Larger values share the last bin.
    ///
    /// # Panics
    /// If `bin_width` or `bins` is zero.
    pub fn new(bin_width: u64, bins: usize) -> Self {
        assert!(bin_width > 0 && bins > 0, "a histogram needs bins of some width");
        Self { bin_width, bins, counts: Vec::new(), total: 0, sum: 0, min: u64::MAX, max: 0 }
    }

    /// Counts a value.
    #[inline]
    pub fn add(&mut self, value: u64) {
        let bin = (value / self.bin_width).min(self.bins as u64 - 1) as usize;
        if bin >= self.counts.len() {
            self.reach(bin + 1);
        }
        self.counts[bin] += 1;
        self.total += 1;
        self.sum += u128::from(value);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    /// Adds the counts of another histogram of the same shape.
    ///
    /// # Panics
    /// If the other histogram has other bins.
    pub fn merge(&mut self, other: &Self) {
        assert_eq!((self.bin_width, self.bins), (other.bin_width, other.bins));
        self.reach(other.counts.len());
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
        self.total += other.total;
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Makes room for `bins` bins at least.
    #[cold]
    fn reach(&mut self, bins: usize) {
        if bins > self.counts.len() {
            self.counts.resize(bins.next_power_of_two().min(self.bins), 0);
        }
    }

    /// Returns how many values were counted.
    pub const fn len(&self) -> u64 {
        self.total
    }

    /// Whether no value was counted.
    pub const fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// Returns the smallest value.
    pub fn min(&self) -> Option<u64> {
        (self.total > 0).then_some(self.min)
    }

    /// Returns the largest value.
    pub fn max(&self) -> Option<u64> {
        (self.total > 0).then_some(self.max)
    }

    /// Returns the sum of the values.
    pub const fn sum(&self) -> u128 {
        self.sum
    }

    /// Returns the mean value.
    pub fn mean(&self) -> Option<f64> {
        (self.total > 0).then(|| self.sum as f64 / self.total as f64)
    }

    /// Returns the `fraction` quantile by linear interpolation between order statistics, each known to the width of a bin.
    pub fn percentile(&self, fraction: f64) -> Option<f64> {
        self.percentile_among(fraction, 0)
    }

    /// Returns the quantile as [`Histogram::percentile`] does, where `beyond` more values are larger than all counted values;
    /// `None` if the quantile lies among the larger values.
    pub fn percentile_among(&self, fraction: f64, beyond: u64) -> Option<f64> {
        let last = (self.total + beyond).checked_sub(1)?;
        let rank = fraction * last as f64;
        let [below, above] = [rank.floor(), rank.ceil()].map(|rank| rank as u64);
        if above >= self.total {
            return None;
        }
        let (low, high) = (self.order_statistic(below), self.order_statistic(above));
        Some(low + (high - low) * (rank - rank.floor()))
    }

    /// Returns the value with `rank` smaller ones, as the middle of its bin, within the exact extremes.
    fn order_statistic(&self, rank: u64) -> f64 {
        let mut below = 0;
        for (bin, &count) in self.counts.iter().enumerate() {
            below += count;
            if below > rank {
                let middle = bin as f64 * self.bin_width as f64 + self.bin_width as f64 / 2.0;
                return middle.clamp(self.min as f64, self.max as f64);
            }
        }
        self.max as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_interpolate_between_values() {
        let mut histogram = Histogram::new(1, 100);
        assert_eq!(histogram.percentile(0.5), None);
        [10, 20, 30, 40].iter().for_each(|&value| histogram.add(value));
        let median = histogram.percentile(0.5).unwrap();
        assert!((median - 25.5).abs() <= 0.5, "{median}");
        assert_eq!(histogram.percentile(0.0), Some(10.5));
        assert_eq!(histogram.percentile(1.0), Some(40.0));
        assert_eq!((histogram.min(), histogram.max(), histogram.mean()), (Some(10), Some(40), Some(25.0)));
    }

    #[test]
    fn a_percentile_among_values_that_were_not_counted_is_unknown() {
        let mut histogram = Histogram::new(1, 100);
        [10, 20, 30].iter().for_each(|&value| histogram.add(value));
        assert_eq!(histogram.percentile_among(0.5, 2), Some(30.0));
        assert_eq!(histogram.percentile_among(0.51, 2), None);
        assert_eq!(Histogram::new(1, 100).percentile_among(0.5, 2), None);
    }

    #[test]
    fn merged_histograms_count_as_one() {
        let (mut one, mut other, mut both) =
            (Histogram::new(5, 9), Histogram::new(5, 9), Histogram::new(5, 9));
        for value in 0..30 {
            both.add(value * 3);
            if value % 4 == 0 { one.add(value * 3) } else { other.add(value * 3) }
        }
        one.merge(&other);
        assert_eq!(
            (one.len(), one.min(), one.max(), one.mean()),
            (both.len(), both.min(), both.max(), both.mean())
        );
        assert_eq!(one.percentile(0.3), both.percentile(0.3));
    }

    #[test]
    fn the_last_bin_takes_what_is_larger() {
        let mut histogram = Histogram::new(10, 2);
        histogram.add(1_000_000);
        assert_eq!(histogram.max(), Some(1_000_000));
        assert_eq!(histogram.percentile(1.0), Some(1_000_000.0));
    }
}

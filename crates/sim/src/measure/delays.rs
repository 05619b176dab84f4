//! Delays of packets: their counts in bins, and their moving average, as a monitor would show it.

use super::Histogram;
use lossylink_core::time::Duration;

/// The width of a bin, which is the resolution of the percentiles.
const BIN: Duration = Duration::from_ns(100);
/// The number of bins. Delays beyond 20 ms share the last bin; the maximum is exact.
const BINS: usize = 200_000;
/// The weight of a new delay in the moving average: as in TCP's smoothed round trip (RFC 6298). The published evaluation does not
/// state its own weight.
pub const SMOOTHING_GAIN: f64 = 1.0 / 8.0;

/// Delays of packets.
#[derive(Clone, Debug)]
pub struct Delays {
    histogram: Histogram,
    smoothed_ps: f64,
}

impl Default for Delays {
    fn default() -> Self {
        Self { histogram: Histogram::new(BIN.as_ps(), BINS), smoothed_ps: f64::NAN }
    }
}

impl Delays {
    /// Counts a delay.
    #[inline]
    pub fn add(&mut self, delay: Duration) {
        let ps = delay.as_ps() as f64;
        let before = if self.histogram.is_empty() { ps } else { self.smoothed_ps };
        self.smoothed_ps = before + (ps - before) * SMOOTHING_GAIN;
        self.histogram.add(delay.as_ps());
    }

    /// Adds the counts of other delays; the moving average stays.
    pub fn merge(&mut self, other: &Self) {
        self.histogram.merge(&other.histogram);
    }

    /// Returns how many delays were counted.
    pub const fn len(&self) -> u64 {
        self.histogram.len()
    }

    /// Whether no delay was counted.
    pub const fn is_empty(&self) -> bool {
        self.histogram.is_empty()
    }

    /// Returns the sum of the delays in microseconds.
    pub fn sum_us(&self) -> f64 {
        self.histogram.sum() as f64 / 1e6
    }

    /// Returns the mean of the delays in microseconds.
    pub fn mean_us(&self) -> Option<f64> {
        self.histogram.mean().map(|ps| ps / 1e6)
    }

    /// Returns the `fraction` quantile of the delays in microseconds.
    pub fn percentile_us(&self, fraction: f64) -> Option<f64> {
        self.percentile_among_us(fraction, 0)
    }

    /// Returns the `fraction` quantile in microseconds of the delays of these packets and of `lost` packets, which never came
    /// (RFC 7679: their delay is infinite); `None` if the quantile lies among the lost packets.
    pub fn percentile_among_us(&self, fraction: f64, lost: u64) -> Option<f64> {
        self.histogram.percentile_among(fraction, lost).map(|ps| ps / 1e6)
    }

    /// Returns the longest delay in microseconds.
    pub fn max_us(&self) -> Option<f64> {
        self.histogram.max().map(|ps| ps as f64 / 1e6)
    }

    /// Returns the moving average in microseconds; not a number before the first delay.
    pub fn smoothed_us(&self) -> f64 {
        self.smoothed_ps / 1e6
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_moving_average_begins_at_the_first_delay() {
        let mut delays = Delays::default();
        assert!(delays.smoothed_us().is_nan());
        delays.add(Duration::from_us(8));
        assert_eq!(delays.smoothed_us(), 8.0);
        delays.add(Duration::from_us(16));
        assert_eq!((delays.smoothed_us(), delays.mean_us()), (9.0, Some(12.0)));
        assert_eq!((delays.len(), delays.sum_us(), delays.max_us()), (2, 24.0, Some(16.0)));
    }
}

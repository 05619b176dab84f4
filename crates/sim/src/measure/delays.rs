//! Delays of packets: counted in bins, and as the moving average that a monitor would show.

use super::Histogram;
use lossylink_core::time::Duration;

/// Resolution of the percentiles.
const BIN: Duration = Duration::from_ns(100);
/// Delays beyond 20 ms share the last bin; the maximum is exact.
const BINS: usize = 200_000;
/// What a new delay weighs in the moving average: as in TCP's smoothed round trip (RFC 6298); the
/// published evaluation does not state its own.
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

    /// Adds the counts of others; the moving average stays.
    pub fn merge(&mut self, other: &Self) {
        self.histogram.merge(&other.histogram);
    }

    /// How many were counted.
    pub const fn len(&self) -> u64 {
        self.histogram.len()
    }

    /// Whether none was counted.
    pub const fn is_empty(&self) -> bool {
        self.histogram.is_empty()
    }

    /// Their sum in microseconds.
    pub fn sum_us(&self) -> f64 {
        self.histogram.sum() as f64 / 1e6
    }

    /// Their mean in microseconds.
    pub fn mean_us(&self) -> Option<f64> {
        self.histogram.mean().map(|ps| ps / 1e6)
    }

    /// Their `fraction` quantile in microseconds.
    pub fn percentile_us(&self, fraction: f64) -> Option<f64> {
        self.percentile_among_us(fraction, 0)
    }

    /// The `fraction` quantile in microseconds of these and of `lost` packets, which never came (RFC 7679: their delay is
    /// infinite); `None` if it lies among the lost.
    pub fn percentile_among_us(&self, fraction: f64, lost: u64) -> Option<f64> {
        self.histogram.percentile_among(fraction, lost).map(|ps| ps / 1e6)
    }

    /// The longest in microseconds.
    pub fn max_us(&self) -> Option<f64> {
        self.histogram.max().map(|ps| ps as f64 / 1e6)
    }

    /// The moving average in microseconds; not a number before the first delay.
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

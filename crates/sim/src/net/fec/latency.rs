//! How long frames take from the encoder's entry to the decoder's exit, intact and rebuilt apart.
//!
//! The published evaluation stamped packets in the switch at both ends of the protected link.

use crate::measure::Histogram;
use lossylink_core::time::{Duration, Instant};

/// Resolution of the percentiles.
const BIN: Duration = Duration::from_ns(50);
/// Up to 10 ms; longer times share the last bin, and the maximum is exact.
const BINS: usize = 200_000;

/// Latencies of one period of the series.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LatencySample {
    /// The end of the period.
    pub at: Instant,
    /// Frames that arrived intact, and the sum of their latencies.
    pub intact: (u64, Duration),
    /// Frames that were rebuilt, and the sum of their latencies.
    pub recovered: (u64, Duration),
}

/// Latencies across a protected link.
#[derive(Clone, Debug)]
pub struct Latency {
    intact: Histogram,
    recovered: Histogram,
    period: Duration,
    current: LatencySample,
    series: Vec<LatencySample>,
}

impl Latency {
    /// No latencies yet; the series has one sample a `period`.
    pub fn new(period: Duration) -> Self {
        let histogram = || Histogram::new(BIN.as_ps(), BINS);
        let current = LatencySample { at: Instant::ZERO + period, ..LatencySample::default() };
        Self { intact: histogram(), recovered: histogram(), period, current, series: Vec::new() }
    }

    /// A frame that `entered` leaves at `now`.
    #[inline]
    pub(in crate::net) fn note(&mut self, now: Instant, entered: Instant, is_recovered: bool) {
        while now >= self.current.at {
            self.end_period();
        }
        let latency = now - entered;
        let (histogram, (count, sum)) = if is_recovered {
            (&mut self.recovered, &mut self.current.recovered)
        } else {
            (&mut self.intact, &mut self.current.intact)
        };
        histogram.add(latency.as_ps());
        *count += 1;
        *sum += latency;
    }

    #[cold]
    fn end_period(&mut self) {
        let at = self.current.at;
        self.series.push(self.current);
        self.current = LatencySample { at: at + self.period, ..LatencySample::default() };
    }

    /// Latencies of frames that arrived intact, in picoseconds.
    pub const fn intact(&self) -> &Histogram {
        &self.intact
    }

    /// Latencies of frames that were rebuilt, in picoseconds.
    pub const fn recovered(&self) -> &Histogram {
        &self.recovered
    }

    /// Samples of all periods that have ended.
    pub fn series(&self) -> &[LatencySample] {
        &self.series
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_end_where_they_should() {
        let mut latency = Latency::new(Duration::from_us(10));
        let at = |us| Instant::ZERO + Duration::from_us(us);
        latency.note(at(9), at(8), false);
        latency.note(at(10), at(7), true);
        latency.note(at(31), at(30), false);
        let sums: Vec<_> = latency.series().iter().map(|s| (s.intact.1, s.recovered.1)).collect();
        let us = Duration::from_us;
        assert_eq!(sums, [(us(1), us(0)), (us(0), us(3)), (us(0), us(0))]);
        assert_eq!((latency.intact().len(), latency.recovered().max()), (2, Some(3_000_000)));
    }
}

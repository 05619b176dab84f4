//! A histogram of lateness: 32 buckets an octave, hence percentiles to within 3 %, in constant memory.

use lossylink_core::engine::report::Kind;
use lossylink_core::time::Duration;
use serde::Serialize;

/// Buckets in each doubling, as a power of two.
const OCTAVE_BITS: u32 = 5;
/// Buckets in each doubling.
const OCTAVE: u64 = 1 << OCTAVE_BITS;
/// Enough buckets for every 64-bit number of nanoseconds.
const BUCKETS: usize = (64 - OCTAVE_BITS as usize + 1) * OCTAVE as usize;

/// A histogram of how late events happened, in nanoseconds.
#[derive(Clone, Debug)]
pub struct Histogram {
    counts: Box<[u64]>,
    total: u64,
    longest: u64,
}

/// The figures that a report prints, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Lateness {
    /// How many events were recorded.
    pub frames: u64,
    /// The median lateness.
    pub p50_us: f64,
    /// The 99th percentile of the lateness.
    pub p99_us: f64,
    /// The largest lateness, exactly.
    pub max_us: f64,
}

impl Lateness {
    /// The help texts of the figures.
    pub(crate) const HELP: [(&str, Kind, &str); 4] = [
        ("frames", Kind::Count, "How often something was due."),
        ("p50_us", Kind::Level, "Half of it was at most so many microseconds late."),
        ("p99_us", Kind::Level, "99 of 100 were at most so many microseconds late."),
        ("max_us", Kind::Level, "The latest was so many microseconds late."),
    ];
}

impl Default for Histogram {
    fn default() -> Self {
        Self { counts: vec![0; BUCKETS].into_boxed_slice(), total: 0, longest: 0 }
    }
}

impl Histogram {
    /// Records one span.
    pub fn record(&mut self, span: Duration) {
        let nanoseconds = span.as_ps() / 1_000;
        self.counts[bucket(nanoseconds)] += 1;
        self.total += 1;
        self.longest = self.longest.max(nanoseconds);
    }

    /// Forgets all recorded spans.
    pub fn clear(&mut self) {
        self.counts.fill(0);
        (self.total, self.longest) = (0, 0);
    }

    /// Returns the summary so far; zeros when nothing was recorded.
    pub fn lateness(&self) -> Lateness {
        Lateness {
            frames: self.total,
            p50_us: self.quantile_us(0.5),
            p99_us: self.quantile_us(0.99),
            max_us: self.longest as f64 / 1e3,
        }
    }

    /// Returns the upper edge of the bucket that holds the quantile, but never more than the longest span.
    fn quantile_us(&self, quantile: f64) -> f64 {
        let rank = (quantile * self.total as f64).ceil() as u64;
        let mut seen = 0;
        for (index, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= rank && seen > 0 {
                return upper_edge(index).min(self.longest) as f64 / 1e3;
            }
        }
        0.0
    }
}

/// Returns the bucket of a value: exact below one octave's number of buckets, then logarithmic.
fn bucket(value: u64) -> usize {
    if value < OCTAVE {
        return value as usize;
    }
    let octave = value.ilog2() - OCTAVE_BITS;
    ((u64::from(octave) << OCTAVE_BITS) + (value >> octave)) as usize
}

/// Returns the largest value of a bucket.
fn upper_edge(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < 2 * OCTAVE {
        return bucket;
    }
    let octave = (bucket >> OCTAVE_BITS) - 1;
    let first = (OCTAVE + (bucket & (OCTAVE - 1))) << octave;
    first + ((1u64 << octave) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nothing_recorded_is_all_zeros() {
        let none = Lateness { frames: 0, p50_us: 0.0, p99_us: 0.0, max_us: 0.0 };
        assert_eq!(Histogram::default().lateness(), none);
    }

    #[test]
    fn percentiles_are_within_a_bucket() {
        let mut histogram = Histogram::default();
        for us in 1..=1000 {
            histogram.record(Duration::from_us(us));
        }
        let lateness = histogram.lateness();
        assert_eq!(lateness.frames, 1000);
        assert!((lateness.p50_us / 500.0 - 1.0).abs() < 1.0 / 32.0, "{lateness:?}");
        assert!((lateness.p99_us / 990.0 - 1.0).abs() < 1.0 / 32.0, "{lateness:?}");
        assert_eq!(lateness.max_us, 1000.0);
        histogram.clear();
        assert_eq!(histogram.lateness().frames, 0);
    }

    proptest! {
        #[test]
        fn a_value_lies_in_its_bucket(value: u64) {
            let index = bucket(value);
            prop_assert!(index < BUCKETS);
            prop_assert!(value <= upper_edge(index));
            prop_assert!(index == 0 || upper_edge(index - 1) < value);
        }
    }
}

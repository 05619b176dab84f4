//! Simulated and live time in integer picoseconds.
//!
//! A byte lasts exactly 800 ps at 10 Gb/s, 80 ps at 100 Gb/s and 10 ps at 800 Gb/s, so
//! serialisation never rounds at the rates Ethernet uses. A `u64` of picoseconds lasts 213 days.

use core::fmt;
use core::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};
use serde::Deserialize;

/// Picoseconds in a nanosecond.
const PS_PER_NS: u64 = 1_000;
/// Picoseconds in a microsecond.
const PS_PER_US: u64 = 1_000_000;
/// Picoseconds in a millisecond.
const PS_PER_MS: u64 = 1_000_000_000;
/// Picoseconds in a second.
const PS_PER_S: u64 = 1_000_000_000_000;

/// The greatest number below a half: a sum with it is rounded by cutting off its fraction.
const ALMOST_HALF: f64 = 0.5 - f64::EPSILON / 4.0;

/// A point in time, in picoseconds since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

/// A span of time in picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(transparent)]
pub struct Duration(u64);

impl Instant {
    /// The start of the run.
    pub const ZERO: Self = Self(0);
    /// An instant later than every event: the deadline of a timer that is not armed.
    pub const NEVER: Self = Self(u64::MAX);

    /// Returns the instant `ps` picoseconds after the start.
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }

    /// Returns the picoseconds since the start.
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// Returns the seconds since the start.
    pub const fn as_secs_f64(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }

    /// Whether the instant is [`Instant::NEVER`].
    pub const fn is_never(self) -> bool {
        self.0 == u64::MAX
    }

    /// Returns the instant `span` later, or [`Instant::NEVER`] if that is beyond the last instant.
    pub const fn saturating_add(self, span: Duration) -> Self {
        Self(self.0.saturating_add(span.0))
    }

    /// Returns the last instant before this one. The start of the run has none before it, and
    /// stays.
    pub const fn just_before(self) -> Self {
        Self(self.0.saturating_sub(1))
    }

    /// Returns the time elapsed since `earlier`, or zero if `earlier` lies in the future.
    pub const fn saturating_since(self, earlier: Self) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

impl Duration {
    /// The span of zero picoseconds.
    pub const ZERO: Self = Self(0);
    /// The longest span.
    pub const MAX: Self = Self(u64::MAX);

    /// Returns a span of `ps` picoseconds.
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }

    /// Returns a span of `ns` nanoseconds.
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns * PS_PER_NS)
    }

    /// Returns a span of `us` microseconds.
    pub const fn from_us(us: u64) -> Self {
        Self(us * PS_PER_US)
    }

    /// Returns a span of `ms` milliseconds.
    pub const fn from_ms(ms: u64) -> Self {
        Self(ms * PS_PER_MS)
    }

    /// Returns a span of `s` seconds.
    pub const fn from_secs(s: u64) -> Self {
        Self(s * PS_PER_S)
    }

    /// Returns the span nearest to `ns` nanoseconds; negative and non-finite values give zero.
    pub fn from_ns_f64(ns: f64) -> Self {
        // As `libm::round`, without the part that only negative values need.
        Self((ns * PS_PER_NS as f64 + ALMOST_HALF) as u64)
    }

    /// Returns the span in picoseconds.
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// Returns the span in nanoseconds.
    pub const fn as_ns_f64(self) -> f64 {
        self.0 as f64 / PS_PER_NS as f64
    }

    /// Returns the span in microseconds.
    pub const fn as_us_f64(self) -> f64 {
        self.0 as f64 / PS_PER_US as f64
    }

    /// Returns the span in seconds.
    pub const fn as_secs_f64(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }

    /// Returns the difference, or zero if `other` is longer.
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// Returns `self * numerator / denominator` without intermediate overflow, rounded down.
    pub const fn mul_ratio(self, numerator: u64, denominator: u64) -> Self {
        Self((self.0 as u128 * numerator as u128 / denominator as u128) as u64)
    }
}

impl Add<Duration> for Instant {
    type Output = Self;
    fn add(self, span: Duration) -> Self {
        Self(self.0 + span.0)
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, span: Duration) {
        self.0 += span.0;
    }
}

impl Sub<Duration> for Instant {
    type Output = Self;
    fn sub(self, span: Duration) -> Self {
        Self(self.0 - span.0)
    }
}

impl Sub for Instant {
    type Output = Duration;
    fn sub(self, earlier: Self) -> Duration {
        Duration(self.0 - earlier.0)
    }
}

impl Add for Duration {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Duration {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Duration {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl SubAssign for Duration {
    fn sub_assign(&mut self, other: Self) {
        self.0 -= other.0;
    }
}

impl Mul<u64> for Duration {
    type Output = Self;
    fn mul(self, times: u64) -> Self {
        Self(self.0 * times)
    }
}

impl Div<u64> for Duration {
    type Output = Self;
    fn div(self, parts: u64) -> Self {
        Self(self.0 / parts)
    }
}

impl Div for Duration {
    type Output = u64;
    fn div(self, other: Self) -> u64 {
        self.0 / other.0
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            ps if ps < PS_PER_NS => write!(f, "{ps} ps"),
            ps if ps < PS_PER_US => write!(f, "{} ns", ps as f64 / PS_PER_NS as f64),
            ps if ps < PS_PER_MS => write!(f, "{} us", ps as f64 / PS_PER_US as f64),
            ps if ps < PS_PER_S => write!(f, "{} ms", ps as f64 / PS_PER_MS as f64),
            ps => write!(f, "{} s", ps as f64 / PS_PER_S as f64),
        }
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_never() { f.write_str("never") } else { Duration(self.0).fmt(f) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    proptest::proptest! {
        #[test]
        fn nanoseconds_are_rounded_to_the_nearest_picosecond(bits: u64, ps in 0u64..1_000_000_000, offset in -2i64..3) {
            // The numbers are any, and those next to a picosecond and a half.
            let half = (ps as f64 + 0.5) / PS_PER_NS as f64;
            let near = f64::from_bits(half.to_bits().wrapping_add_signed(offset));
            for ns in [f64::from_bits(bits), near, -near] {
                let rounded = libm::round(ns * PS_PER_NS as f64) as u64;
                proptest::prop_assert_eq!(Duration::from_ns_f64(ns).as_ps(), rounded, "{} ns", ns);
            }
        }
    }

    #[test]
    fn instants_and_spans_add_up() {
        let start = Instant::from_ps(5);
        let later = start + Duration::from_ns(2);
        assert_eq!(later - start, Duration::from_ps(2_000));
        assert_eq!(start.saturating_since(later), Duration::ZERO);
        assert_eq!(Duration::from_us(3) / Duration::from_ns(1), 3_000);
    }

    #[test]
    fn spans_print_in_the_largest_unit_that_fits() {
        assert_eq!(Duration::from_ps(999).to_string(), "999 ps");
        assert_eq!(Duration::from_ns(124).to_string(), "124 ns");
        assert_eq!(Duration::from_us(7100).to_string(), "7.1 ms");
        assert_eq!(Instant::NEVER.to_string(), "never");
    }

    #[test]
    fn a_ratio_of_a_long_span_does_not_overflow() {
        let day = Duration::from_secs(86_400);
        assert_eq!(day.mul_ratio(1_000_000, 1_000_000), day);
    }
}

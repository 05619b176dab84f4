//! Bytes and bit rates whose algebra gives time: `Bytes / BitRate = Duration`.

use crate::time::Duration;
use core::fmt;
use core::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};
use serde::Deserialize;

/// Picoseconds in a second times bits in a byte.
const BIT_PS_PER_BYTE: u64 = 8 * 1_000_000_000_000;

/// An amount of data, in bytes (octets).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(transparent)]
pub struct Bytes(pub u64);

/// A rate in bits per second; never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BitRate(u64);

impl Bytes {
    /// No bytes.
    pub const ZERO: Self = Self(0);
}

impl BitRate {
    /// Returns a rate of `bits_per_second`.
    ///
    /// # Panics
    /// If the rate is zero, because no frame would ever leave the link.
    pub const fn from_bps(bits_per_second: u64) -> Self {
        assert!(bits_per_second > 0, "a link rate must be positive");
        Self(bits_per_second)
    }

    /// Returns a rate of `gigabits_per_second`.
    pub const fn from_gbps(gigabits_per_second: u64) -> Self {
        Self::from_bps(gigabits_per_second * 1_000_000_000)
    }

    /// Returns the rate in bits per second.
    pub const fn as_bps(self) -> u64 {
        self.0
    }

    /// Returns the rate in gigabits per second.
    pub const fn as_gbps_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

impl Div<BitRate> for Bytes {
    type Output = Duration;

    /// Returns the time to serialise these bytes, rounded down to a picosecond.
    fn div(self, rate: BitRate) -> Duration {
        match self.0.checked_mul(BIT_PS_PER_BYTE) {
            Some(bit_ps) => Duration::from_ps(bit_ps / rate.0),
            None => {
                let bit_ps = u128::from(self.0) * u128::from(BIT_PS_PER_BYTE);
                Duration::from_ps((bit_ps / u128::from(rate.0)) as u64)
            }
        }
    }
}

impl Mul<Duration> for BitRate {
    type Output = Bytes;

    /// Returns the whole bytes that this rate carries in a span.
    fn mul(self, span: Duration) -> Bytes {
        let bit_ps = u128::from(self.0) * u128::from(span.as_ps());
        Bytes((bit_ps / u128::from(BIT_PS_PER_BYTE)) as u64)
    }
}

impl Add for Bytes {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Bytes {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl SubAssign for Bytes {
    fn sub_assign(&mut self, other: Self) {
        self.0 -= other.0;
    }
}

impl Mul<u64> for Bytes {
    type Output = Self;
    fn mul(self, times: u64) -> Self {
        Self(self.0 * times)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} B", self.0)
    }
}

impl fmt::Display for BitRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} Gb/s", self.as_gbps_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_is_exact_at_ethernet_rates() {
        for (gbps, ps) in [(10, 800), (25, 320), (40, 200), (100, 80), (200, 40), (400, 20), (800, 10)] {
            assert_eq!(Bytes(1) / BitRate::from_gbps(gbps), Duration::from_ps(ps));
        }
    }

    #[test]
    fn a_full_frame_lasts_123_ns_at_100g() {
        assert_eq!(Bytes(1538) / BitRate::from_gbps(100), Duration::from_ps(123_040));
    }

    #[test]
    fn large_amounts_take_the_wide_path() {
        let terabyte = Bytes(1_000_000_000_000);
        assert_eq!(terabyte / BitRate::from_gbps(8), Duration::from_secs(1000));
        assert_eq!(BitRate::from_gbps(8) * Duration::from_secs(1000), terabyte);
    }
}

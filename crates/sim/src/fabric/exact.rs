//! Sums of loss ratios without rounding: a ratio that is added and taken away again leaves nothing behind.

use std::ops::{AddAssign, SubAssign};

/// Binary digits of a sum behind the point. The least loss ratio of a link in service, 1e-18, has all its
/// digits above them.
const FRACTION: i32 = 120;
/// Binary digits of a float's significand behind its first.
const SIGNIFICAND: i32 = 52;
const EXPONENT_BIAS: i32 = 1023;

/// An exact sum of loss ratios.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sum(u128);

impl Sum {
    /// Returns the sum of one ratio, which is exact if the ratio is zero or at least 1e-18.
    pub fn of(ratio: f64) -> Self {
        debug_assert!((0.0..=1.0).contains(&ratio), "{ratio} is no ratio");
        let bits = ratio.to_bits();
        let exponent = (bits >> SIGNIFICAND) as i32 - EXPONENT_BIAS;
        if exponent < -FRACTION {
            return Self(0);
        }
        let significand = u128::from(bits & ((1 << SIGNIFICAND) - 1) | 1 << SIGNIFICAND);
        let shift = exponent - SIGNIFICAND + FRACTION;
        Self(if shift < 0 { significand >> -shift } else { significand << shift })
    }

    /// Returns the sum `count` times.
    pub const fn times(self, count: u32) -> Self {
        Self(self.0 * count as u128)
    }

    /// Returns the nearest float.
    pub fn to_f64(self) -> f64 {
        self.0 as f64 * 2.0_f64.powi(-FRACTION)
    }
}

impl AddAssign for Sum {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl SubAssign for Sum {
    fn sub_assign(&mut self, other: Self) {
        self.0 -= other.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_ratio_comes_back_as_it_was(ratio in 1e-18..=1.0_f64) {
            prop_assert_eq!(Sum::of(ratio).to_f64(), ratio);
        }

        #[test]
        fn nothing_is_left_of_what_is_taken_away(ratios in prop::collection::vec(1e-18..=1e-2_f64, 0..50)) {
            let healthy = Sum::of(1e-18).times(100_224);
            let mut sum = healthy;
            ratios.iter().for_each(|&ratio| sum += Sum::of(ratio));
            ratios.iter().rev().for_each(|&ratio| sum -= Sum::of(ratio));
            prop_assert_eq!(sum, healthy);
        }
    }

    #[test]
    fn zero_is_zero() {
        assert_eq!(Sum::of(0.0), Sum::default());
    }
}

//! Probabilities drawn by integer comparison, so that 1e-8 is as exact as 1e-2.

use rand_core::RngCore;

/// A probability as a threshold out of 2^64: an event happens when a uniform 64-bit number lies
/// below the threshold. Exactly one is kept apart, because 2^64 does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probability {
    threshold: u64,
    certain: bool,
}

impl Probability {
    /// The probability of an event that never happens.
    pub const NEVER: Self = Self { threshold: 0, certain: false };
    /// The probability of an event that always happens.
    pub const ALWAYS: Self = Self { threshold: u64::MAX, certain: true };

    /// Returns the probability nearest to `p`, or `None` unless 0 <= `p` <= 1.
    pub fn new(p: f64) -> Option<Self> {
        if !(0.0..=1.0).contains(&p) {
            return None;
        }
        if p == 1.0 {
            return Some(Self::ALWAYS);
        }
        // p < 1 is at most 1 - 2^-53, so the product stays below 2^64.
        Some(Self { threshold: (p * TWO_TO_64) as u64, certain: false })
    }

    /// Returns the probability of `values` chances out of 2^`bits`: the form in which switches draw
    /// (LinkGuardian's artifact compares a 20-bit random number).
    ///
    /// # Panics
    /// If `bits` exceeds 63 or `values` exceeds 2^`bits`.
    pub const fn out_of_power_of_two(values: u64, bits: u32) -> Self {
        assert!(bits <= 63 && values <= 1 << bits, "a chance is at most one");
        if values == 1 << bits {
            return Self::ALWAYS;
        }
        Self { threshold: values << (64 - bits), certain: false }
    }

    /// Returns the probability as a ratio between 0 and 1.
    pub fn as_f64(self) -> f64 {
        if self.certain { 1.0 } else { self.threshold as f64 / TWO_TO_64 }
    }

    /// Whether the event can never happen.
    pub const fn is_never(self) -> bool {
        self.threshold == 0
    }

    /// Whether the event always happens.
    pub const fn is_always(self) -> bool {
        self.certain
    }

    /// Draws once, and returns whether the event happens.
    #[inline]
    pub fn draw(self, rng: &mut impl RngCore) -> bool {
        rng.next_u64() < self.threshold || self.certain
    }

    /// Draws how many draws fail before the next success: one geometric draw in place of many.
    ///
    /// Returns `u64::MAX` when the event never happens. The logarithms come from `libm`, hence the
    /// same number on every machine.
    pub fn failures_before_success(self, rng: &mut impl RngCore) -> u64 {
        if self.is_never() {
            return u64::MAX;
        }
        if self.certain {
            return 0;
        }
        // Uniform on (0, 1]: 53 random bits, shifted so that zero, whose logarithm diverges, is out.
        let uniform = ((rng.next_u64() >> 11) + 1) as f64 / TWO_TO_53;
        let gap = libm::floor(libm::log(uniform) / libm::log1p(-self.as_f64()));
        // A float-to-integer cast saturates: a gap beyond u64 is practically never.
        gap as u64
    }
}

/// 2^64 as a float, exactly.
const TWO_TO_64: f64 = 18_446_744_073_709_551_616.0;
/// 2^53 as a float, exactly.
const TWO_TO_53: f64 = 9_007_199_254_740_992.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Streams;

    #[test]
    fn the_ends_are_certain() {
        let mut rng = Streams::new(1).stream("test");
        assert!(Probability::ALWAYS.draw(&mut rng));
        assert!(!Probability::NEVER.draw(&mut rng));
        assert_eq!(Probability::ALWAYS.failures_before_success(&mut rng), 0);
        assert_eq!(Probability::NEVER.failures_before_success(&mut rng), u64::MAX);
    }

    #[test]
    fn only_ratios_are_probabilities() {
        for bad in [-1e-9, 1.000_001, f64::NAN, f64::INFINITY] {
            assert_eq!(Probability::new(bad), None);
        }
        assert_eq!(Probability::new(1.0), Some(Probability::ALWAYS));
    }

    #[test]
    fn the_artifact_draws_1048_of_2_to_20() {
        let p = Probability::out_of_power_of_two(1048, 20);
        assert!((p.as_f64() - 9.994_507e-4).abs() < 1e-10);
    }

    /// The mean gap of a geometric law is (1 - p) / p; with n draws its standard error is sqrt(1 -
    /// p) / (p sqrt(n)). The seed is fixed, and a fair sampler stays within four standard errors.
    #[test]
    fn gaps_have_the_geometric_mean() {
        for p in [0.3, 1e-3, 1e-8] {
            let mut rng = Streams::new(7).stream("gaps");
            let chance = Probability::new(p).unwrap();
            let n = 40_000u32;
            let sum: f64 = (0..n).map(|_| chance.failures_before_success(&mut rng) as f64).sum();
            let mean = sum / f64::from(n);
            let error = libm::sqrt(1.0 - p) / (p * libm::sqrt(f64::from(n)));
            assert!((mean - (1.0 - p) / p).abs() < 4.0 * error, "p {p}: mean gap {mean}");
        }
    }
}

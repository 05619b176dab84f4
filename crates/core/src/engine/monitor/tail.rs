//! Tails of the Poisson distribution, exact up to rounding: the evidence in counts of lost frames.
//!
//! The chance of at least k events where x are expected is the regularised lower incomplete gamma
//! function P(k, x); the chance of at most k is its complement Q(k + 1, x) (NIST DLMF 8.4.10).
//! Lost frames are binomial, and for the rates in question the Poisson tail lies above the binomial
//! one on either side of the mean: tests built on it err toward waiting.

/// More terms than any series here needs: the number of terms grows with the root of the count.
const MOST_TERMS: u32 = 10_000_000;
/// The fraction of the sum below which a further term is left out.
const PRECISION: f64 = 1e-15;
/// The number that replaces a zero denominator in the continued fraction.
const TINY: f64 = 1e-300;

/// Returns the chance of at least `count` events where `mean` are expected.
pub(super) fn at_least(count: u64, mean: f64) -> f64 {
    if count == 0 { 1.0 } else { lower_gamma(count as f64, mean) }
}

/// Returns the chance of at most `count` events where `mean` are expected.
pub(super) fn at_most(count: u64, mean: f64) -> f64 {
    1.0 - lower_gamma(count as f64 + 1.0, mean)
}

/// Returns the regularised lower incomplete gamma function P(a, x).
fn lower_gamma(a: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    let scale = libm::exp(a * libm::log(x) - x - libm::lgamma(a));
    // Each expansion converges fast on its side of the bulk of the distribution.
    if x < a + 1.0 { scale * series(a, x) } else { 1.0 - scale * fraction(a, x) }
}

/// Returns the sum of x^n / (a (a + 1) ... (a + n)), DLMF 8.11.4.
fn series(a: f64, x: f64) -> f64 {
    let mut term = 1.0 / a;
    let mut sum = term;
    for n in 1..MOST_TERMS {
        term *= x / (a + f64::from(n));
        sum += term;
        if term < sum * PRECISION {
            break;
        }
    }
    sum
}

/// Returns the continued fraction of the upper function, DLMF 8.9.2, by Lentz's method.
fn fraction(a: f64, x: f64) -> f64 {
    let mut b = x + 1.0 - a;
    let mut c = 1.0 / TINY;
    let mut d = 1.0 / b;
    let mut value = d;
    for n in 1..MOST_TERMS {
        let n = f64::from(n);
        let numerator = n * (a - n);
        b += 2.0;
        d = 1.0 / away_from_zero(b + numerator * d);
        c = away_from_zero(b + numerator / c);
        let factor = c * d;
        value *= factor;
        if libm::fabs(factor - 1.0) < PRECISION {
            break;
        }
    }
    value
}

fn away_from_zero(x: f64) -> f64 {
    if libm::fabs(x) < TINY { TINY } else { x }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_near(value: f64, expected: f64) {
        assert!((value - expected).abs() <= 1e-12 + 1e-9 * expected, "{value} is not {expected}");
    }

    /// Returns the direct sum of e^-m m^k / k! over `counts`.
    fn summed(counts: core::ops::RangeInclusive<u64>, mean: f64) -> f64 {
        counts.map(|k| libm::exp(k as f64 * libm::log(mean) - mean - libm::lgamma(k as f64 + 1.0))).sum()
    }

    #[test]
    fn tails_agree_with_direct_sums() {
        for mean in [1e-6, 0.3, 1.0, 5.0, 40.0] {
            for count in [1, 2, 5, 10, 60] {
                assert_near(at_most(count, mean), summed(0..=count, mean));
                assert_near(at_least(count, mean), summed(count..=count + 400, mean));
            }
        }
    }

    #[test]
    fn the_ends_are_certain() {
        assert_near(at_least(0, 3.0), 1.0);
        assert_near(at_least(3, 0.0), 0.0);
        assert_near(at_most(0, 2.0), libm::exp(-2.0));
    }

    /// A Poisson variable of large mean m lies below m half of the time, give or take 1 / sqrt(2 pi m) / 3.
    #[test]
    fn large_counts_neither_overflow_nor_stall() {
        for mean in [1e4, 1e6, 1e8] {
            let half = at_most(mean as u64, mean);
            assert!((half - 0.5).abs() < 1.0 / libm::sqrt(mean), "{mean}: {half}");
        }
        assert_near(at_least(2_000_000, 1e6), 0.0);
        assert_near(at_least(500_000, 1e6), 1.0);
    }
}

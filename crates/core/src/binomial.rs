//! The exact interval of a ratio of counted events (Clopper and Pearson 1934), for counts of any size.
//!
//! The lower bound is the ratio at which so many events or more have half of what the confidence leaves; the upper one is
//! that at which so many or fewer have it. A tail is the probability of its first count times a sum of positive terms, so
//! nothing cancels. The probability is that of Loader ("Fast and Accurate Computation of Binomial Probabilities", 2000),
//! which stays exact to a few units in the last place where logarithms of factorials have lost all digits.

use core::f64::consts::PI;

/// Terms of a tail below this share of the sum no longer matter.
const PRECISION: f64 = 1e-17;
/// Newton's steps: each doubles the digits.
const MOST_STEPS: u32 = 60;

/// The ratios between which that of `events` in `trials` lies, with this confidence at least.
///
/// # Panics
/// If there are more events than trials, no trials, or the confidence is not between 0 and 1.
pub fn exact_interval(events: u64, trials: u64, confidence: f64) -> (f64, f64) {
    assert!(events <= trials && trials > 0, "{events} of {trials} are no events of trials");
    assert!(confidence > 0.0 && confidence < 1.0, "the confidence lies between 0 and 1, not at {confidence}");
    let tail = (1.0 - confidence) / 2.0;
    let low = if events == 0 { 0.0 } else { logistic(bound(events, trials, tail)) };
    // So few or fewer events are so many others or more.
    let high = if events == trials { 1.0 } else { logistic(-bound(trials - events, trials, tail)) };
    (low, high)
}

/// The logit of the ratio at which `count` or more of `trials` have the probability `tail`; `count` is not zero.
fn bound(count: u64, trials: u64, tail: f64) -> f64 {
    let (k, rest) = (count as f64, (trials - count) as f64);
    // The logarithm of the tail is concave in the logit: from here, close to its middle, Newton's steps go beyond the root
    // once at most, and then come nearer from one side.
    let mut logit = libm::log(k / (rest + 1.0));
    for _ in 0..MOST_STEPS {
        let (p, q) = (logistic(logit), logistic(-logit));
        let sum = terms(k, rest, p / q);
        let excess = log_probability(k, rest, p, q) + libm::log(sum) - libm::log(tail);
        let step = excess * sum / (k * q);
        logit -= step;
        if libm::fabs(step) <= 1e-15 * libm::fabs(logit) {
            break;
        }
    }
    logit
}

/// The ratio with this logit.
fn logistic(logit: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-logit))
}

/// The probabilities of `k` events and of all larger counts, of which the first is one: `rest` trials have none.
fn terms(k: f64, rest: f64, odds: f64) -> f64 {
    let (mut term, mut sum, mut more) = (1.0, 1.0, 0.0);
    while more < rest {
        let ratio = (rest - more) / (k + more + 1.0) * odds;
        term *= ratio;
        sum += term;
        more += 1.0;
        // The ratios only fall.
        if ratio < 1.0 && term * ratio < sum * (1.0 - ratio) * PRECISION {
            break;
        }
    }
    sum
}

/// The logarithm of the probability of `k` events, each of probability `p`, and `rest` others; `k` is not zero.
fn log_probability(k: f64, rest: f64, p: f64, q: f64) -> f64 {
    let trials = k + rest;
    if rest == 0.0 {
        return k * if p < 0.5 { libm::log(p) } else { libm::log1p(-q) };
    }
    stirling_error(trials)
        - stirling_error(k)
        - stirling_error(rest)
        - deviance(k, trials * p)
        - deviance(rest, trials * q)
        + 0.5 * libm::log(trials / (2.0 * PI * k * rest))
}

/// By how much the logarithm of n! exceeds Stirling's formula, ln sqrt(2 pi n) + n ln n - n.
fn stirling_error(n: f64) -> f64 {
    if n <= 15.0 {
        return libm::lgamma(n + 1.0) - (n + 0.5) * libm::log(n) + n - 0.5 * libm::log(2.0 * PI);
    }
    let inverse = 1.0 / (n * n);
    (1.0 / 12.0
        - (1.0 / 360.0 - (1.0 / 1260.0 - (1.0 / 1680.0 - inverse / 1188.0) * inverse) * inverse) * inverse)
        / n
}

/// x ln(x / mean) + mean - x, without the cancellation where both are close.
fn deviance(x: f64, mean: f64) -> f64 {
    let difference = x - mean;
    if libm::fabs(difference) >= 0.1 * (x + mean) {
        return x * libm::log(x / mean) - difference;
    }
    let v = difference / (x + mean);
    let mut sum = difference * v;
    let mut power = 2.0 * x * v;
    let mut odd = 1.0;
    loop {
        power *= v * v;
        odd += 2.0;
        let next = sum + power / odd;
        if next == sum {
            return sum;
        }
        sum = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn assert_near(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-11, "{found:e} is not {expected:e}");
    }

    /// Where the distribution has a closed form: no events, and nothing but events.
    #[test]
    fn the_ends_have_closed_forms() {
        for trials in [1u64, 2, 59, 1000, 1 << 20, 1 << 50] {
            for confidence in [0.5, 0.95, 0.999_999] {
                let tail = (1.0 - confidence) / 2.0;
                let share = -libm::expm1(libm::log(tail) / trials as f64);
                let (low, high) = exact_interval(0, trials, confidence);
                assert_eq!(low, 0.0);
                assert_near(high, share);
                let (low, high) = exact_interval(trials, trials, confidence);
                assert_near(low, libm::exp(libm::log(tail) / trials as f64));
                assert_eq!(high, 1.0);
            }
        }
    }

    /// One event: 1 - (1 - p)^n is the tail.
    #[test]
    fn one_event_has_a_closed_form() {
        for trials in [2u64, 10, 1_000_000, 1 << 52] {
            let (low, _) = exact_interval(1, trials, 0.95);
            assert_near(low, -libm::expm1(libm::log1p(-0.025) / trials as f64));
        }
    }

    /// Two examples of textbooks.
    #[test]
    fn published_intervals_come_out() {
        let (low, high) = exact_interval(162, 1000, 0.95);
        assert_eq!([low, high].map(|bound| libm::round(bound * 1e4)), [1397.0, 1863.0]);
        let (low, high) = exact_interval(8, 10, 0.95);
        assert_eq!([low, high].map(|bound| libm::round(bound * 1e4)), [4439.0, 9748.0]);
    }

    /// The direct sum of all probabilities.
    fn at_least(count: u64, trials: u64, p: f64) -> f64 {
        let mut probability = libm::pow(1.0 - p, trials as f64);
        let mut sum = if count == 0 { probability } else { 0.0 };
        for k in 1..=trials {
            probability *= (trials - k + 1) as f64 / k as f64 * p / (1.0 - p);
            sum += if k >= count { probability } else { 0.0 };
        }
        sum
    }

    proptest! {
        /// At a bound the tail has what it is to have, by the sum of all probabilities.
        #[test]
        fn the_tails_have_what_the_confidence_leaves(
            (trials, events) in (1u64..60).prop_flat_map(|trials| (Just(trials), 0..=trials)),
            confidence in 0.01f64..0.999,
        ) {
            let tail = (1.0 - confidence) / 2.0;
            let (low, high) = exact_interval(events, trials, confidence);
            prop_assert!(low <= high && low >= 0.0 && high <= 1.0);
            if events > 0 {
                prop_assert!((at_least(events, trials, low) / tail - 1.0).abs() < 1e-9);
            }
            if events < trials {
                prop_assert!((at_least(trials - events, trials, 1.0 - high) / tail - 1.0).abs() < 1e-9);
            }
        }

        /// Of huge counts the interval is that of the normal distribution, nearly.
        #[test]
        fn huge_counts_neither_overflow_nor_stall(events in 10_000_000u64..1_000_000_000, more in 0u64..1_000_000_000_000) {
            let trials = events + more;
            let (low, high) = exact_interval(events, trials, 0.95);
            let p = events as f64 / trials as f64;
            let half = 1.959_963_985 * libm::sqrt(p * (1.0 - p) / trials as f64);
            if more > 10_000_000 {
                prop_assert!(((p - low) / half - 1.0).abs() < 1e-3 && ((high - p) / half - 1.0).abs() < 1e-3);
            }
        }
    }
}

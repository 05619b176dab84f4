//! The exact interval of a ratio of counted events (Clopper and Pearson 1934), for counts of any size, and its continuation to
//! counts that are not whole: those of the independent trials that would tell as much as dependent ones.
//!
//! At the lower bound, the chance of the counted events or more is half of the chance that the confidence leaves. At the upper
//! bound, the chance of the counted events or fewer is that half. A tail is the probability of its first count times a sum of
//! positive terms, so nothing cancels. The probability is that of Loader ("Fast and Accurate Computation of Binomial
//! Probabilities", 2000), which stays exact to a few units in the last place where logarithms of factorials have lost all
//! digits.

use core::f64::consts::PI;

/// The number of batches into which the trials of a run are parted, in their order, where events may come together: enough to
/// know the spread of their counts within a tenth, and few enough for each to be long.
pub const BATCHES: u64 = 64;

/// The share of the sum below which further terms of a tail are left out.
const PRECISION: f64 = 1e-17;
/// The most steps of Newton's method, each of which doubles the digits.
const MOST_STEPS: u32 = 60;
/// The most steps of a search that halves its interval where Newton's steps would leave the interval.
const MOST_HALVES: u32 = 200;
/// The first step of that search away from the middle, as a logit.
const FIRST_AWAY: f64 = 3.0;
/// The least logit whose ratio is a number above zero.
const LEAST_LOGIT: f64 = -700.0;
/// The ratio of events to others from which on the tail is computed from the others.
const MOSTLY: f64 = 4.0;

/// Returns the bounds between which the ratio of `events` in `trials` lies, with this confidence at least.
///
/// # Panics
/// If there are more events than trials, no trials, or the confidence is not between 0 and 1.
pub fn exact_interval(events: u64, trials: u64, confidence: f64) -> (f64, f64) {
    assert!(events <= trials && trials > 0, "{events} of {trials} are no events of trials");
    assert!(confidence > 0.0 && confidence < 1.0, "the confidence lies between 0 and 1, not at {confidence}");
    let tail = (1.0 - confidence) / 2.0;
    let low = if events == 0 { 0.0 } else { logistic(bound(events, trials, tail)) };
    // An upper bound for the events is a lower bound for the other trials.
    let high = if events == trials { 1.0 } else { logistic(-bound(trials - events, trials, tail)) };
    (low, high)
}

/// Returns the interval of [`exact_interval`] for counts that need not be whole: those of independent trials that would tell as
/// much as dependent ones do. The tail is the incomplete beta function, which is defined between whole counts too.
///
/// # Panics
/// If there are more events than trials, no trials, or the confidence is not between 0 and 1.
pub fn effective_interval(events: f64, trials: f64, confidence: f64) -> (f64, f64) {
    assert!(
        0.0 <= events && events <= trials && trials > 0.0,
        "{events} of {trials} are no events of trials"
    );
    assert!(confidence > 0.0 && confidence < 1.0, "the confidence lies between 0 and 1, not at {confidence}");
    let tail = (1.0 - confidence) / 2.0;
    let rest = trials - events;
    let low = if events > 0.0 { logistic(effective_bound(events, rest, tail)) } else { 0.0 };
    let high = if rest > 0.0 { logistic(-effective_bound(rest, events, tail)) } else { 1.0 };
    (low, high)
}

/// Returns the logit of [`bound`], where `k` events and `rest` others need not be whole. Newton's steps go between ratios that
/// are known to be too small and too large. Where a step would leave that interval, the interval is halved.
fn effective_bound(k: f64, rest: f64, tail: f64) -> f64 {
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
    let (mut logit, mut away) = (libm::log(k / (rest + 1.0)), FIRST_AWAY);
    for _ in 0..MOST_HALVES {
        if logit < LEAST_LOGIT {
            break;
        }
        let (found, slope) = effective_tail(k, rest, logit);
        if found > tail {
            high = logit;
        } else {
            low = logit;
        }
        let step = if found > 0.0 { libm::log(found / tail) * found / slope } else { f64::NAN };
        if libm::fabs(step) <= 1e-13 * libm::fabs(logit).max(1.0) {
            return logit - step;
        }
        let mut next = logit - step;
        let is_far = libm::fabs(step) > away && !(low.is_finite() && high.is_finite());
        if is_far || !(low < next && next < high) {
            next = match (low.is_finite(), high.is_finite()) {
                (false, _) => logit - away,
                (true, false) => logit + away,
                (true, true) => f64::midpoint(low, high),
            };
            away *= 2.0;
        }
        if next == logit {
            break;
        }
        logit = next;
    }
    logit
}

/// Returns the tail I_x(k, rest + 1) at the ratio x with this logit, and its slope along the logit, x^a (1 - x)^b / B(a, b).
fn effective_tail(k: f64, rest: f64, logit: f64) -> (f64, f64) {
    let (p, q) = (logistic(logit), logistic(-logit));
    let slope = libm::exp(log_probability(k, rest, p, q) + libm::log(q)) * k;
    // Close to one the series of the other side ends sooner.
    let is_close = k > MOSTLY * (rest + 1.0);
    let found = if is_close {
        1.0 - slope / (rest + 1.0) * beta_series(rest + 1.0, k, q)
    } else {
        slope / k * beta_series(k, rest + 1.0, p)
    };
    (found, slope)
}

/// Returns the sum over n of (a + b)(a + b + 1) ... (a + b + n - 1) / ((a + 1)(a + 2) ... (a + n)) x^n: with it I_x(a, b) is x^a
/// (1 - x)^b / (a B(a, b)) times this sum (Abramowitz and Stegun 26.5.4).
fn beta_series(a: f64, b: f64, x: f64) -> f64 {
    let (mut term, mut sum, mut more) = (1.0, 1.0, 0.0);
    loop {
        let ratio = (a + b + more) / (a + 1.0 + more) * x;
        term *= ratio;
        sum += term;
        more += 1.0;
        // The ratios go towards x from one side.
        let most = ratio.max(x);
        if most < 1.0 && term * most <= sum * (1.0 - most) * PRECISION {
            return sum;
        }
    }
}

/// Returns the logit of the ratio at which `count` or more of `trials` have the probability `tail`; `count` is not zero.
fn bound(count: u64, trials: u64, tail: f64) -> f64 {
    let (k, rest) = (count as f64, (trials - count) as f64);
    // The logarithm of the tail is concave in the logit. From this start, close to the middle of the tail, Newton's steps go
    // beyond the root once at most, and then approach it from one side.
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

/// Returns the ratio with this logit.
fn logistic(logit: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-logit))
}

/// Returns the chance of `count` events or more in `trials`, each of probability `p`. A chance of 1e-30 has as many right digits
/// as one of 0.1.
pub(crate) fn at_least(count: u64, trials: u64, p: f64) -> f64 {
    if count == 0 || p >= 1.0 {
        return if count <= trials { 1.0 } else { 0.0 };
    }
    if count > trials || p <= 0.0 {
        return 0.0;
    }
    let (k, rest, q) = (count as f64, (trials - count) as f64, 1.0 - p);
    (libm::exp(log_probability(k, rest, p, q)) * terms(k, rest, p / q)).min(1.0)
}

/// Returns the sum of the probabilities of `k` events and of all larger counts, relative to the first; `rest` trials have no
/// event.
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

/// Returns the logarithm of the probability of `k` events, each of probability `p`, and `rest` others; `k` is not zero.
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

/// Returns by how much the logarithm of n! exceeds Stirling's formula, ln sqrt(2 pi n) + n ln n - n.
fn stirling_error(n: f64) -> f64 {
    if n <= 15.0 {
        return libm::lgamma(n + 1.0) - (n + 0.5) * libm::log(n) + n - 0.5 * libm::log(2.0 * PI);
    }
    let inverse = 1.0 / (n * n);
    (1.0 / 12.0
        - (1.0 / 360.0 - (1.0 / 1260.0 - (1.0 / 1680.0 - inverse / 1188.0) * inverse) * inverse) * inverse)
        / n
}

/// Returns x ln(x / mean) + mean - x, without the cancellation where both are close.
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

    /// The interval has a closed form without events, and where every trial is an event.
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

    /// Two textbook examples of intervals come out.
    #[test]
    fn published_intervals_come_out() {
        let (low, high) = exact_interval(162, 1000, 0.95);
        assert_eq!([low, high].map(|bound| libm::round(bound * 1e4)), [1397.0, 1863.0]);
        let (low, high) = exact_interval(8, 10, 0.95);
        assert_eq!([low, high].map(|bound| libm::round(bound * 1e4)), [4439.0, 9748.0]);
    }

    /// Half an event: I_x(1/2, n + 1/2) at the lower bound, from a table of the beta distribution (its quantile at 2.5 % for 1/2
    /// and 1 is the square of the tail).
    #[test]
    fn half_an_event_has_a_closed_form() {
        let (low, _) = effective_interval(0.5, 0.5, 0.95);
        assert_near(low, 0.025 * 0.025);
    }

    /// The interval holds the ratio for less than one event, and for nearly all of few trials.
    #[test]
    fn hardly_an_event_has_an_interval() {
        for (events, trials) in
            [(1e-5, 2.0), (0.001, 1e6), (0.9, 0.900_001), (15.672_448, 15.674_68), (34.801_7, 34.801_77)]
        {
            for confidence in [0.5, 0.95, 0.999] {
                let (low, high) = effective_interval(events, trials, confidence);
                assert!(0.0 <= low && low < events / trials && events / trials < high && high <= 1.0);
            }
        }
    }

    #[test]
    fn tails_have_their_limits() {
        assert_eq!(super::at_least(0, 5, 0.1), 1.0);
        assert_eq!(super::at_least(6, 5, 0.5), 0.0);
        assert_eq!(super::at_least(1, 5, 0.0), 0.0);
        assert_eq!(super::at_least(5, 5, 1.0), 1.0);
        for (count, p) in [(1, 1e-9), (3, 0.2), (40, 0.999)] {
            assert_near(super::at_least(count, 40, p), at_least(count, 40, p));
        }
    }

    /// Returns the direct sum of all probabilities.
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
        /// At a bound the tail has the chance that the confidence leaves to it, by the sum of all probabilities.
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

        /// Between whole counts the interval is continued, and at whole counts it is the exact one.
        #[test]
        fn counts_that_are_not_whole_lie_between_whole_ones(
            trials in 1u64..3_000_000, share in 0.0f64..1.0, rare in 0i32..7, between in 0.0f64..1.0,
            confidence in prop_oneof![Just(0.95), 0.2..0.9999],
        ) {
            let events = (trials as f64 * share * libm::pow(10.0, -f64::from(rare))) as u64;
            let at = |events: f64| effective_interval(events, trials as f64, confidence);
            let (low, high) = exact_interval(events, trials, confidence);
            let (least, most) = at(events as f64);
            prop_assert!((least - low).abs() <= 1e-9 * low && (most - high).abs() <= 1e-9 * high);
            if events < trials {
                let (next_low, next_high) = at((events + 1) as f64);
                let (low, high) = at(events as f64 + between);
                prop_assert!(least <= low && low <= next_low * (1.0 + 1e-12));
                prop_assert!(most <= high * (1.0 + 1e-12) && high <= next_high * (1.0 + 1e-12));
            }
        }

        /// The interval of huge counts is nearly that of the normal distribution.
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

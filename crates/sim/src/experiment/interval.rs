//! Intervals of confidence: of a mean of independent parts, and of a rate over time.

use lossylink_core::time::Duration;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Returns the 97.5 % quantile of Student's law: half the width of a 95 % interval, in standard errors.
///
/// # Panics
/// If there is not one degree of freedom at least.
pub(super) fn student(degrees: f64) -> f64 {
    StudentsT::new(0.0, 1.0, degrees).expect("parts have a spread").inverse_cdf(0.975)
}

/// Spans into which the counted time of a rate is parted: the spread of the rates of the spans gives the interval of the rate.
pub(super) const SPANS: usize = 16;
/// The fewest times that flows must have given way to a loss (four in each span). With fewer, spans tell the rate too badly. Where each
/// loss costs an amount that is exponentially distributed, the rate of a span has the skewness 3 / sqrt(2 x 4), at which an interval by
/// Student's law misses two in a hundred more than it says (Hall, "The Bootstrap and Edgeworth Expansion", 1992).
const FEWEST_LOSS_EVENTS: u64 = 4 * SPANS as u64;
/// The least number of timeouts to be expected in a run. With fewer, one run in twenty at the most meets a timeout, and an interval at
/// 95 % may leave timeouts out.
const LEAST_TIMEOUTS: f64 = 0.05;
/// Correlation of neighbouring spans from which they are said to depend on each other.
const DEPENDENT: f64 = 0.2;

/// Returns the ends of [`SPANS`] spans of equal length between two times after the start.
pub(super) fn span_ends(begin: Duration, end: Duration) -> impl Iterator<Item = Duration> {
    let (from, span) = (begin.as_ps(), u128::from((end - begin).as_ps()));
    (1..=SPANS as u128).map(move |place| Duration::from_ps(from + (span * place / SPANS as u128) as u64))
}

/// Returns the 95 % interval of the mean of `rates`, which follow each other in spans of equal length. There is no interval with fewer
/// rates than [`SPANS`], or where a rate is not known because the run was cut short. Nor is there one where nothing arrived in a span:
/// sixteen spans cannot tell how often there are silences that outlast a span, as a wait for a retransmission timeout does.
///
/// The method is batch means. Half the width is the larger one of that of the spans and that of pairs of spans, for a span may be no
/// longer than the process that makes neighbours alike. Where neighbours are alike all the same, the width grows as that of a sum does
/// whose terms are alike by a factor that fades.
pub(super) fn of_rates(rates: &[f64]) -> Option<[f64; 2]> {
    if rates.len() < SPANS || rates.iter().any(|&rate| !(rate > 0.0 && rate.is_finite())) {
        return None;
    }
    let count = rates.len() as f64;
    let mean = rates.iter().sum::<f64>() / count;
    let pairs: Vec<f64> = rates.chunks_exact(2).map(|pair| f64::midpoint(pair[0], pair[1])).collect();
    let half_width = (half_width(rates) * alike(rates, mean)).max(half_width(&pairs));
    Some([(mean - half_width).max(0.0), mean + half_width])
}

/// Returns half the width of the 95 % interval of the mean of `values`.
fn half_width(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    student(count - 1.0) * (squares / (count - 1.0) / count).sqrt()
}

/// Returns by how much the deviation of a mean grows because neighbours are alike: sqrt((1 + r) / (1 - r)) with the correlation r of
/// neighbours. The sample's r is too small by 1 / n, which is added (Kendall 1954).
fn alike(values: &[f64], mean: f64) -> f64 {
    let off: Vec<f64> = values.iter().map(|value| value - mean).collect();
    let squares: f64 = off.iter().map(|off| off * off).sum();
    if squares == 0.0 {
        return 1.0;
    }
    let products: f64 = off.windows(2).map(|pair| pair[0] * pair[1]).sum();
    let correlation = (products / squares + 1.0 / values.len() as f64).min(0.9);
    if correlation > DEPENDENT { ((1.0 + correlation) / (1.0 - correlation)).sqrt() } else { 1.0 }
}

/// Returns the interval of [`of_rates`] for flows that gave way to `loss_events` losses. There is none where losses were so seldom that
/// a rare and costly one may not have been seen. Flows without a loss event have the interval of a rate that nothing disturbs.
pub(super) fn of_yielding(rates: &[f64], loss_events: u64) -> Option<[f64; 2]> {
    if (1..FEWEST_LOSS_EVENTS).contains(&loss_events) { None } else { of_rates(rates) }
}

/// Returns the interval of [`of_yielding`] for RDMA flows. The flows began `repeats` times to send packets again, of which `loss_ratio`
/// are lost once more, and waited for `timeouts` timeouts. A timeout lasts as long as thousands of packets. Few timeouts do not tell
/// their share; no timeout does not tell the share where one had to be expected. In both cases there is no interval.
pub(super) fn of_repeating(rates: &[f64], repeats: u64, loss_ratio: f64, timeouts: u64) -> Option<[f64; 2]> {
    let expected = (timeouts as f64).max(repeats as f64 * loss_ratio);
    let is_unknown = (LEAST_TIMEOUTS..FEWEST_LOSS_EVENTS as f64).contains(&expected);
    of_yielding(rates, repeats).filter(|_| !is_unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_end_with_the_whole() {
        let ends: Vec<_> = span_ends(Duration::from_ps(5), Duration::from_ps(5 + 161)).collect();
        assert_eq!((ends.len(), ends[0], ends[15]), (16, Duration::from_ps(15), Duration::from_ps(166)));
    }

    /// Rates of 9 and 11 by turns: 10, and Student's 2.1314 times sqrt(16 / 15 / 16); pairs do not differ at all.
    #[test]
    fn the_interval_of_a_rate_is_that_of_its_spans() {
        let rates: Vec<f64> = (0..SPANS).map(|span| if span % 2 == 0 { 9.0 } else { 11.0 }).collect();
        let [low, high] = of_rates(&rates).unwrap();
        let half = 2.131_449_5 * (1.0_f64 / 15.0).sqrt();
        assert!((high - 10.0 - half).abs() < 1e-6 && (10.0 - low - half).abs() < 1e-6);
        assert_eq!(of_rates(&rates[1..]), None);
        assert_eq!(of_rates(&[3.0; SPANS]), Some([3.0, 3.0]));
        let silent: Vec<f64> =
            rates.iter().enumerate().map(|(span, &rate)| if span == 7 { 0.0 } else { rate }).collect();
        assert_eq!(of_rates(&silent), None);
    }

    /// A single loss in a run does not tell how costly the next loss will be.
    #[test]
    fn seldom_losses_leave_a_rate_unknown() {
        let rates: Vec<f64> = (0..SPANS).map(|span| if span == 3 { 9.0 } else { 10.0 }).collect();
        for (loss_events, is_known) in [(0, true), (1, false), (63, false), (64, true)] {
            assert_eq!(of_yielding(&rates, loss_events), of_rates(&rates).filter(|_| is_known));
        }
    }

    /// Of a hundred packets that are sent again none is lost by luck at a loss of one in a thousand, and as a rule at one in a million.
    #[test]
    fn a_timeout_that_could_have_been_leaves_a_rate_unknown() {
        let rates: Vec<f64> = (0..SPANS).map(|span| if span % 2 == 0 { 9.0 } else { 10.0 }).collect();
        for (loss_ratio, timeouts, is_known) in [
            (1e-3, 0, false),
            (1e-6, 0, true),
            (1e-6, 1, false),
            (1e-3, 63, false),
            (1e-3, 64, true),
            (0.7, 0, true),
        ] {
            assert_eq!(
                of_repeating(&rates, 100, loss_ratio, timeouts),
                of_rates(&rates).filter(|_| is_known)
            );
        }
        assert_eq!(of_repeating(&rates, 0, 1e-3, 0), of_rates(&rates));
        assert_eq!(of_repeating(&rates, 63, 1e-9, 0), None);
    }

    /// A rate that is high first and low then has hardly been sampled: the interval grows well beyond that of its spans.
    #[test]
    fn neighbours_that_are_alike_widen() {
        let rates: Vec<f64> = (0..SPANS).map(|span| if span < SPANS / 2 { 9.0 } else { 11.0 }).collect();
        let [low, high] = of_rates(&rates).unwrap();
        assert!((high - low) / 2.0 > 3.0 * half_width(&rates));
    }

    #[test]
    fn the_quantile_is_that_of_the_tables() {
        for (degrees, quantile) in [(1.0, 12.7062), (4.0, 2.7764), (20.0, 2.0860), (99.0, 1.9842)] {
            let found = student(degrees);
            assert!((found - quantile).abs() < 5e-5, "{found} at {degrees}");
        }
    }
}

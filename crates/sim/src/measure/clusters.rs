//! The interval of a ratio whose events come in clusters: losses of a burst, of a block, of a flush.
//!
//! Consider n trials with y events, in B batches of consecutive trials. The *design effect* d is the factor by which the variance
//! of y exceeds that of independent events (Kish 1965). The interval is the exact binomial one (Clopper and Pearson 1934) of
//! y / d events in n / d trials, as Korn and Graubard give it ("Confidence intervals for proportions with small expected number of
//! positive counts", Survey Methodology 24, 1998): with d (t / z)^2 in place of d, where t and z are the quantiles of Student's
//! law with B - 1 degrees of freedom and of the normal one, since the variance is itself an estimate.
//!
//! The counts of the batches give the variance. The counts say little where clusters are few, and nothing where there is no
//! cluster. The design effect of losses therefore is a mean, weighted by clusters, of the design effect by the counts and that of
//! [`FORESEEN`] clusters more, of the kind that is foreseen. Without an event the design effect is the size of one foreseen
//! cluster, because a whole cluster of events would come at once.

use lossylink_core::binomial::{effective_interval, exact_interval};
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// The number of clusters for which the foreseen design effect counts. With three, fixed and geometric sizes of clusters are
/// covered in 94.5 to 99 % of 4,000 draws where 0.5 to 1,000 clusters are expected. Clusters foreseen ten times too large are
/// covered more often.
const FORESEEN: f64 = 3.0;

/// The kind of cluster that is foreseen, before any is seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Foreseen {
    /// Events of a cluster, on average.
    pub mean: f64,
    /// Events of a cluster as seen from one of its events: the mean square over the mean.
    pub seen_from_one: f64,
}

impl Foreseen {
    /// Events that come one by one, without clusters.
    pub const APART: Self = Self { mean: 1.0, seen_from_one: 1.0 };

    /// Returns clusters whose sizes are geometric, as those of bursts without memory, with this size as seen from an event.
    pub fn geometric(seen_from_one: f64) -> Self {
        let seen_from_one = seen_from_one.max(1.0);
        Self { mean: f64::midpoint(seen_from_one, 1.0), seen_from_one }
    }

    /// Returns clusters as large as the larger clusters of both.
    pub fn or(self, other: Self) -> Self {
        let (mean, seen_from_one) = (self.mean.max(other.mean), self.seen_from_one.max(other.seen_from_one));
        Self { mean, seen_from_one }
    }
}

/// The factor by which clusters widen an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DesignEffect {
    /// The design effect of the sum of all batches.
    pub factor: f64,
    /// The number of batches that the factor comes from; none if the factor was foreseen alone.
    pub batches: usize,
}

impl DesignEffect {
    /// Returns the design effect by the counts of events and trials of the batches alone; without an event, that of no clusters.
    pub fn seen(batches: &[(u64, u64)]) -> Self {
        let events: f64 = batches.iter().map(|&(events, _)| events as f64).sum();
        if events == 0.0 || batches.len() < 2 {
            return Self { factor: 1.0, batches: 0 };
        }
        Self { factor: spread(batches, events), batches: batches.len() }
    }

    /// Returns the design effect by the counts of events and trials of the batches, and by the foreseen clusters.
    pub fn of(batches: &[(u64, u64)], foreseen: Foreseen) -> Self {
        let events: f64 = batches.iter().map(|&(events, _)| events as f64).sum();
        if batches.len() < 2 {
            return Self { factor: foreseen.seen_from_one, batches: 0 };
        }
        if events == 0.0 {
            return Self { factor: foreseen.mean, batches: 0 };
        }
        let clusters = events / spread(batches, events);
        let factor = (events + FORESEEN * foreseen.seen_from_one) / (clusters + FORESEEN);
        Self { factor, batches: batches.len() }
    }

    /// Returns the interval of the ratio of events to trials.
    ///
    /// # Panics
    /// If there are more events than trials, no trials, or the confidence is not between 0 and 1.
    pub fn interval(&self, (events, trials): (u64, u64), confidence: f64) -> (f64, f64) {
        assert!(events <= trials && trials > 0, "{events} of {trials} are no events of trials");
        let factor = self.widened(confidence);
        if factor <= 1.0 {
            return exact_interval(events, trials, confidence);
        }
        effective_interval(events as f64 / factor, trials as f64 / factor, confidence)
    }

    /// Returns the factor for an interval of this confidence: larger, where the factor is itself an estimate.
    pub fn widened(&self, confidence: f64) -> f64 {
        self.factor * self.unknown(confidence)
    }

    /// Returns the factor that is added because the variance is an estimate: the square of Student's quantile over the normal one.
    fn unknown(&self, confidence: f64) -> f64 {
        if self.batches < 2 {
            return 1.0;
        }
        let at = f64::midpoint(1.0, confidence);
        let student = StudentsT::new(0.0, 1.0, (self.batches - 1) as f64).expect("batches have a spread");
        (student.inverse_cdf(at) / Normal::standard().inverse_cdf(at)).powi(2)
    }
}

/// Returns the variance of a ratio estimator over that of independent events, and at least one.
fn spread(batches: &[(u64, u64)], events: f64) -> f64 {
    let trials: f64 = batches.iter().map(|&(_, trials)| trials as f64).sum();
    let (ratio, count) = (events / trials, batches.len() as f64);
    let squares: f64 =
        batches.iter().map(|&(events, trials)| (events as f64 - ratio * trials as f64).powi(2)).sum();
    let independent = events * (1.0 - ratio);
    if independent > 0.0 { (squares * count / (count - 1.0) / independent).max(1.0) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batches(events: &[u64], trials: u64) -> Vec<(u64, u64)> {
        events.iter().map(|&events| (events, trials)).collect()
    }

    /// By hand: batches of 100 trials with 0, 4, 0 and 4 events. The mean is 2. The squares of the deviations from the mean add
    /// up to 16, times 4 / 3, over 8 (1 - 0.02).
    #[test]
    fn the_batches_give_the_design_effect() {
        let of = batches(&[0, 4, 0, 4], 100);
        assert!((spread(&of, 8.0) - 16.0 * 4.0 / 3.0 / (8.0 * 0.98)).abs() < 1e-12);
        // Events that are spread equally over the batches are taken for independent events.
        assert_eq!(spread(&batches(&[2, 2, 2, 2], 100), 8.0), 1.0);
    }

    #[test]
    fn what_is_foreseen_counts_for_three_clusters() {
        let of = batches(&[0, 4, 0, 4], 100);
        let foreseen = Foreseen { mean: 5.0, seen_from_one: 9.0 };
        let found = DesignEffect::of(&of, foreseen);
        let clusters = 8.0 / spread(&of, 8.0);
        assert!((found.factor - (8.0 + 3.0 * 9.0) / (clusters + 3.0)).abs() < 1e-12);
        assert_eq!((found.batches, DesignEffect::of(&[], foreseen).factor), (4, 9.0));
    }

    /// If each event stands for k, the interval is that of a kth of all events and trials.
    #[test]
    fn the_interval_is_that_of_fewer_events() {
        let effect = DesignEffect { factor: 10.0, batches: 0 };
        assert_eq!(effect.interval((50, 10_000), 0.95), effective_interval(5.0, 1000.0, 0.95));
        let (low, high) = exact_interval(5, 1000, 0.95);
        let (least, most) = effect.interval((50, 10_000), 0.95);
        assert!((least / low - 1.0).abs() < 1e-9 && (most / high - 1.0).abs() < 1e-9);
    }

    /// Without an event, the interval of independent events is the exact one. For clusters the upper bound is larger, because a
    /// whole cluster would have come at once.
    #[test]
    fn none_seen_is_an_upper_bound() {
        let none = batches(&[0; 64], 1000);
        let apart = DesignEffect::of(&none, Foreseen::APART);
        assert_eq!(apart.interval((0, 64_000), 0.95), exact_interval(0, 64_000, 0.95));
        let together = DesignEffect::of(&none, Foreseen { mean: 20.0, seen_from_one: 39.0 });
        let (low, high) = together.interval((0, 64_000), 0.95);
        assert_eq!(low, 0.0);
        assert!((high / exact_interval(0, 3200, 0.95).1 - 1.0).abs() < 1e-9);
    }

    /// With 64 batches Student's quantile is 1.998 (tables), the normal one 1.960.
    #[test]
    fn an_estimated_variance_widens() {
        let effect = DesignEffect { factor: 1.0, batches: 64 };
        assert!((effect.unknown(0.95) - (1.998_341_f64 / 1.959_964).powi(2)).abs() < 1e-6);
        let (low, high) = effect.interval((100, 10_000), 0.95);
        let (least, most) = exact_interval(100, 10_000, 0.95);
        assert!(low < least && high > most);
    }

    #[test]
    fn all_lost_is_a_lower_bound() {
        let all = DesignEffect::of(&batches(&[10; 64], 10), Foreseen::APART);
        let (low, high) = all.interval((640, 640), 0.95);
        assert!(high == 1.0 && low > 0.99);
    }
}

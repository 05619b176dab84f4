//! Whether two series of losses follow one law: means by batches, and distributions of runs.
//!
//! Losses come in bursts, so means are compared by the spread of batches, which are long against a burst.

use statrs::distribution::{ChiSquared, ContinuousCDF, Normal, StudentsT};

/// Batches of a series.
const BATCHES: usize = 40;
/// The least number of events expected on the slow line for a mean.
const EVENTS_MIN: f64 = 20.0;
/// The least number of runs expected in a class of the chi-square test.
const EXPECTED_MIN: f64 = 8.0;
/// A comparison whose chance is lower counts as a difference. Some ten thousand comparisons are made, with fixed seeds: fair
/// processes would fail once in a hundred sets of seeds.
pub const CHANCE_MIN: f64 = 1e-6;

/// What sets two series of losses apart.
#[derive(Clone, Copy, Debug)]
pub struct Differences {
    /// Standard normal if the shares of lost frames are equal; `None` if too few are lost, or pass.
    pub share: Option<f64>,
    /// Standard normal if frames are lost with the next frame equally often; `None` if too few are, or all.
    pub pairs: Option<f64>,
    /// Uniform if runs of lost frames are equally long.
    pub runs: f64,
    /// Uniform, or larger, if gaps between losses are equally long.
    pub gaps: f64,
}

pub fn compare(slow: &[bool], fast: &[bool]) -> Differences {
    let pairs = |lost: &[bool]| lost.windows(2).map(|pair| pair[0] && pair[1]).collect::<Vec<_>>();
    Differences {
        share: normal(slow, fast),
        pairs: normal(&pairs(slow), &pairs(fast)),
        runs: chi_square(&lengths(slow, true), &lengths(fast, true)),
        gaps: kolmogorov_smirnov(lengths(slow, false), lengths(fast, false)),
    }
}

/// Returns the shares of events in batches of `each` frames.
fn shares(events: &[bool], each: usize) -> Vec<f64> {
    let share = |batch: &[bool]| batch.iter().filter(|&&event| event).count() as f64 / each as f64;
    events.chunks_exact(each).map(share).collect()
}

/// Returns the difference of two means as a standard normal variable, by the t-test of batches with one variance. Returns `None` if
/// both series together promise too few events for a mean of the shorter one.
fn normal(slow: &[bool], fast: &[bool]) -> Option<f64> {
    let each = slow.len() / BATCHES;
    assert!(each > 0, "a series of {} frames is too short", slow.len());
    let (slow, fast) = (shares(slow, each), shares(fast, each));
    let all: Vec<f64> = slow.iter().chain(&fast).copied().collect();
    let mean = |shares: &[f64]| shares.iter().sum::<f64>() / shares.len() as f64;
    let middle = mean(&all);
    let expected = middle.min(1.0 - middle) * (slow.len() * each) as f64;
    if expected < EVENTS_MIN {
        return None;
    }
    let squares = |shares: &[f64]| {
        let mean = mean(shares);
        shares.iter().map(|share| (share - mean).powi(2)).sum::<f64>()
    };
    let freedom = (all.len() - 2) as f64;
    let variance = (squares(&slow) + squares(&fast)) / freedom;
    let t =
        (mean(&fast) - mean(&slow)) / (variance * (1.0 / slow.len() as f64 + 1.0 / fast.len() as f64)).sqrt();
    let tail = StudentsT::new(0.0, 1.0, freedom).expect("a positive freedom").cdf(-t.abs());
    Some(Normal::standard().inverse_cdf(tail.max(1e-300)).copysign(t))
}

/// Returns the two-sided chance of a standard normal variable.
pub fn chance_of(normal: f64) -> f64 {
    2.0 * Normal::standard().cdf(-normal.abs())
}

/// Returns the chance that a sum of `freedom` squares of standard normal variables exceeds `sum`.
pub fn chance_of_squares(sum: f64, freedom: f64) -> f64 {
    if freedom > 0.0 { ChiSquared::new(freedom).expect("a positive freedom").sf(sum) } else { 1.0 }
}

/// Returns the lengths of runs of frames with this fate, but for the runs at the ends of the series, which are cut.
fn lengths(lost: &[bool], fate: bool) -> Vec<usize> {
    let runs: Vec<&[bool]> = lost.chunk_by(|before, after| before == after).collect();
    let inner = runs.get(1..runs.len().saturating_sub(1)).unwrap_or(&[]);
    inner.iter().filter(|run| run[0] == fate).map(|run| run.len()).collect()
}

/// Returns the chance that two samples of one law differ so much: classes of lengths, each with enough runs of both samples.
fn chi_square(slow: &[usize], fast: &[usize]) -> f64 {
    let longest = slow.iter().chain(fast).copied().max().unwrap_or(0);
    let mut counts = vec![[0.0; 2]; longest + 1];
    for (sample, lengths) in [slow, fast].into_iter().enumerate() {
        for &length in lengths {
            counts[length][sample] += 1.0;
        }
    }
    let total = [slow.len() as f64, fast.len() as f64];
    let smaller = total[0].min(total[1]) / (total[0] + total[1]);
    let mut classes: Vec<[f64; 2]> = Vec::new();
    let mut open = [0.0; 2];
    for count in counts {
        open = [open[0] + count[0], open[1] + count[1]];
        if (open[0] + open[1]) * smaller >= EXPECTED_MIN {
            classes.push(open);
            open = [0.0; 2];
        }
    }
    let Some(last) = classes.last_mut() else { return 1.0 };
    *last = [last[0] + open[0], last[1] + open[1]];
    let roots = [(total[1] / total[0]).sqrt(), (total[0] / total[1]).sqrt()];
    let sum: f64 =
        classes.iter().map(|[one, two]| (one * roots[0] - two * roots[1]).powi(2) / (one + two)).sum();
    chance_of_squares(sum, (classes.len() - 1) as f64)
}

/// Returns the chance that two samples of one law have distributions so far apart. Lengths are whole numbers, which makes the test
/// lenient.
fn kolmogorov_smirnov(mut slow: Vec<usize>, mut fast: Vec<usize>) -> f64 {
    if slow.is_empty() || fast.is_empty() {
        return 1.0;
    }
    slow.sort_unstable();
    fast.sort_unstable();
    let below = |sample: &[usize], length: usize| {
        sample.partition_point(|&other| other <= length) as f64 / sample.len() as f64
    };
    let apart =
        slow.iter().chain(&fast).map(|&at| (below(&slow, at) - below(&fast, at)).abs()).fold(0.0, f64::max);
    let (one, two) = (slow.len() as f64, fast.len() as f64);
    let root = (one * two / (one + two)).sqrt();
    let scaled: f64 = (root + 0.12 + 0.11 / root) * apart;
    // The series (Smirnov) converges at once unless the distance is small, where the chance is one.
    if scaled < 0.3 {
        return 1.0;
    }
    let term = |k: i32| (-2.0 * (f64::from(k) * scaled).powi(2)).exp() * if k % 2 == 1 { 2.0 } else { -2.0 };
    (1..=100).map(term).sum::<f64>().clamp(0.0, 1.0)
}

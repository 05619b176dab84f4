//! Tails of the latency from weighted looks: quantiles, their intervals, and a verdict for each.

use super::rare::student;
use super::row::Row;
use crate::world::tails::Tails;
use serde_json::{Value, json};

/// Shares of the data frames that are later than the figure, and the ends of the keys that give it.
const SHARES: [(f64, &str); 4] = [(1e-6, "1e_6"), (1e-7, "1e_7"), (1e-8, "1e_8"), (1e-9, "1e_9")];
/// Effective samples below which there is no figure: the share has an error of a seventh then, and a latency depends on
/// the share by its logarithm (RARE-17).
const EFFECTIVE_MIN: f64 = 50.0;
/// Share of the looks that must find the link outside a cluster.
const CALM_MIN: f64 = 0.1;

/// A latency, in microseconds beyond the shortest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Quantile {
    pub(super) us: f64,
    /// Of 95 %.
    pub(super) interval_us: [f64; 2],
}

/// Sets the figures of each share, or says why there is none (RARE-17).
pub(super) fn describe(row: &mut Row, parts: Result<Vec<&Tails>, String>) {
    let swept = parts.and_then(|parts| Swept::new(&parts));
    for (share, ending) in SHARES {
        let figure = swept.as_ref().map_err(Clone::clone).and_then(|swept| swept.quantile(share));
        let quantile = figure.as_ref().ok();
        row.set(&format!("rare_late_us_{ending}"), quantile.map(|quantile| quantile.us))
            .set(
                &format!("rare_late_us_ci95_{ending}"),
                quantile.map_or(Value::Null, |quantile| json!(quantile.interval_us)),
            )
            .set(&format!("rare_late_verdict_{ending}"), figure.err().unwrap_or_else(|| "sound".to_owned()));
    }
}

/// How many frames are later than a latency.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Level {
    latency_ns: u32,
    /// Share of the data frames that are later, and half the width of its 95 % interval.
    beyond: f64,
    half_width: f64,
    /// Looks of equal weight that would spread as much, of all that have a frame as late.
    effective: f64,
}

/// All latencies that were seen, from the longest down.
#[derive(Clone, Debug)]
pub(super) struct Swept {
    levels: Vec<Level>,
    least_ns: u32,
    calm_ns: u32,
    looks: usize,
}

impl Swept {
    /// The estimate at each latency is a ratio of means over the parts (RARE-16).
    pub(super) fn new(parts: &[&Tails]) -> Result<Self, String> {
        let looks: usize = parts.iter().map(|part| part.looks.len()).sum();
        let busy: u64 = parts.iter().map(|part| part.busy).sum();
        if looks as f64 - (busy as f64) < CALM_MIN * looks as f64 {
            return Err("the link hardly ever loses nothing for a while: count without --rare".to_owned());
        }
        let mut late: Vec<(u32, usize, usize, f64)> = Vec::new();
        let mut look = 0;
        for (part, tails) in parts.iter().enumerate() {
            for of_look in &tails.looks {
                late.extend(of_look.iter().map(|late| (late.latency_ns, part, look, late.weight)));
                look += 1;
            }
        }
        late.sort_unstable_by_key(|&(latency, _, look, _)| (std::cmp::Reverse(latency), look));
        let data: Vec<f64> = parts.iter().map(|part| part.data * part.looks.len() as f64).collect();
        let (mut of_parts, mut of_looks, mut squares) = (vec![0.0; parts.len()], vec![0.0; looks], 0.0);
        let mut levels = Vec::new();
        for same in late.chunk_by(|one, next| one.0 == next.0) {
            let (beyond, half_width) = ratio(&of_parts, &data);
            for &(_, part, look, weight) in same {
                let of_look: &mut f64 = &mut of_looks[look];
                squares += weight * 2.0_f64.mul_add(*of_look, weight);
                *of_look += weight;
                of_parts[part] += weight;
            }
            let total: f64 = of_parts.iter().sum();
            levels.push(Level {
                latency_ns: same[0].0,
                beyond,
                half_width,
                effective: total * total / squares,
            });
        }
        let calm_ns = parts.iter().map(|part| part.calm_ns).max().unwrap_or(0);
        let (beyond, half_width) = ratio(&of_parts, &data);
        levels.retain(|level| level.latency_ns > calm_ns);
        levels.push(Level { latency_ns: calm_ns, beyond, half_width, effective: 0.0 });
        let least_ns = parts.iter().map(|part| part.least_ns).min().unwrap_or(0);
        Ok(Self { levels, least_ns, calm_ns, looks })
    }

    /// The latency that a share of the frames exceeds (RARE-16), or why there is no figure (RARE-17).
    pub(super) fn quantile(&self, share: f64) -> Result<Quantile, String> {
        let us = |level: &Level| f64::from(level.latency_ns.saturating_sub(self.least_ns)) / 1e3;
        let [longest, .., calm] = self.levels.as_slice() else {
            return Err(format!("nothing came late in {} looks: no figure", self.looks));
        };
        let all = calm.beyond;
        if all <= share {
            return Err(format!("a share of only {all:.1e} is later than undisturbed frames: no figure"));
        }
        // From the longest down, the last level that fewer exceed.
        let last = |is_below: &dyn Fn(&Level) -> bool| {
            self.levels.iter().take_while(|level| is_below(level)).last().unwrap_or(longest)
        };
        let middle = last(&|level| level.beyond <= share);
        let high = last(&|level| level.beyond + level.half_width <= share);
        let is_below = |level: &&Level| level.beyond - level.half_width <= share;
        let low = self.levels.iter().rfind(is_below).unwrap_or(middle);
        if middle.effective < EFFECTIVE_MIN {
            return Err(format!(
                "{:.0} effective samples of {EFFECTIVE_MIN} needed: raise run.looks",
                middle.effective
            ));
        }
        if low.latency_ns <= self.calm_ns {
            return Err("not told from undisturbed frames: raise run.looks".to_owned());
        }
        Ok(Quantile { us: us(middle), interval_us: [us(low), us(high)] })
    }
}

/// A ratio of sums over parts, and half the width of its 95 % interval (RARE-8).
fn ratio(parts: &[f64], data: &[f64]) -> (f64, f64) {
    let (total, frames): (f64, f64) = (parts.iter().sum(), data.iter().sum());
    let (mean, count) = (total / frames, parts.len() as f64);
    let spread: f64 = parts.iter().zip(data).map(|(part, data)| (part - mean * data).powi(2)).sum();
    (mean, student(count - 1.0) * (spread * count / (count - 1.0)).sqrt() / frames)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::tails::Late;

    /// Parts of one look each, with frames so late, in nanoseconds, of so much weight.
    fn parts(late: &[(u32, f64)], count: usize) -> Vec<Tails> {
        let look: Vec<Late> = late.iter().map(|&(latency_ns, weight)| Late { latency_ns, weight }).collect();
        let part = Tails { looks: vec![look], busy: 0, data: 1.0, least_ns: 1000, calm_ns: 1100, frames: 1 };
        vec![part; count]
    }

    fn quantile(parts: &[Tails], share: f64) -> Result<Quantile, String> {
        Swept::new(&parts.iter().collect::<Vec<_>>())?.quantile(share)
    }

    // RARE-16: 3e-7 of the frames are later than 4 us, and 1e-6 more are 4 us late.
    #[test]
    fn a_quantile_is_the_latency_that_fewer_exceed() {
        let parts = parts(&[(2000, 1e-4), (5000, 1e-6), (9000, 3e-7)], 60);
        assert_eq!(quantile(&parts, 1e-6), Ok(Quantile { us: 4.0, interval_us: [4.0, 4.0] }));
        assert_eq!(quantile(&parts, 1e-7), Ok(Quantile { us: 8.0, interval_us: [8.0, 8.0] }));
        assert_eq!(quantile(&parts, 1e-5), Ok(Quantile { us: 1.0, interval_us: [1.0, 1.0] }));
    }

    // RARE-16: where parts differ, the share has an interval, and the latency has that of its ends.
    #[test]
    fn the_interval_is_that_of_the_share() {
        let mut all = parts(&[(5000, 1.5e-6)], 60);
        all.extend(parts(&[(3000, 1e-5)], 60));
        // 7.5e-7 +- 1.4e-7 are as late as 4 us.
        assert_eq!(quantile(&all, 1e-6), Ok(Quantile { us: 2.0, interval_us: [2.0, 2.0] }));
        assert_eq!(quantile(&all, 8e-7), Ok(Quantile { us: 2.0, interval_us: [2.0, 4.0] }));
        assert_eq!(quantile(&all, 7e-7), Ok(Quantile { us: 4.0, interval_us: [2.0, 4.0] }));
    }

    // RARE-17
    #[test]
    fn what_is_not_known_has_no_figure() {
        let few = parts(&[(5000, 1e-6)], 49);
        assert!(quantile(&few, 1e-7).unwrap_err().starts_with("49 effective samples of 50"));
        let rare = parts(&[(5000, 1e-8)], 60);
        assert!(quantile(&rare, 1e-7).unwrap_err().starts_with("a share of only 1.0e-8 is later"));
        assert!(quantile(&parts(&[], 60), 1e-7).unwrap_err().starts_with("nothing came late in 60 looks"));
        let busy: Vec<Tails> =
            few.into_iter().map(|part| Tails { looks: vec![Vec::new(); 20], busy: 19, ..part }).collect();
        assert!(quantile(&busy, 1e-7).unwrap_err().contains("count without --rare"));
    }
}

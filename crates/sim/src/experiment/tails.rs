//! Tails of the latency from weighted looks: quantiles, their intervals, and a verdict for each.

use super::interval::student;
use super::row::Row;
use crate::world::tails::Tails;
use serde_json::{Value, json};

/// Shares of the data frames that are later than a quantile, and the ends of the keys that give the quantile.
const SHARES: [(f64, &str); 4] = [(1e-6, "1e_6"), (1e-7, "1e_7"), (1e-8, "1e_8"), (1e-9, "1e_9")];
/// Effective samples below which there is no quantile (RARE-17), as for the frames that stay lost (RARE-9).
const EFFECTIVE_MIN: f64 = 100.0;
/// Half the width of the interval of the share, over the share, above which there is no quantile. Looks of one part begin in like
/// states, and are not as independent as effective samples take them for (RARE-17).
const HALF_WIDTH_MAX: f64 = 0.5;
/// The least share of the looks that must find the link outside a cluster of losses.
const OUTSIDE_MIN: f64 = 0.1;

/// A quantile of the latency, in microseconds beyond the shortest latency.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Quantile {
    pub(super) us: f64,
    /// The 95 % interval.
    pub(super) interval_us: [f64; 2],
}

/// The reason why there is no quantile, and whether quantiles of rarer frames would be no better.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Complaint {
    /// Frames of this share are not late, but rarer frames may be.
    NotLate(String),
    /// The share is not known well enough.
    NotKnown(String),
}

/// Sets the quantile of each share, or says why there is none (RARE-17).
pub(super) fn describe(row: &mut Row, parts: Result<Vec<&Tails>, String>) {
    let swept = parts.and_then(|parts| Swept::new(&parts));
    let figures = figures(swept.as_ref().map_err(Clone::clone));
    for ((_, ending), figure) in SHARES.iter().zip(figures) {
        let quantile = figure.as_ref().ok();
        row.set(&format!("rare_late_us_{ending}"), quantile.map(|quantile| quantile.us))
            .set(
                &format!("rare_late_us_ci95_{ending}"),
                quantile.map_or(Value::Null, |quantile| json!(quantile.interval_us)),
            )
            .set(&format!("rare_late_verdict_{ending}"), figure.err().unwrap_or_else(|| "sound".to_owned()));
    }
}

/// Returns the quantiles of all shares. Where a share is not known well enough, rarer shares have no quantile either.
fn figures(swept: Result<&Swept, String>) -> Vec<Result<Quantile, String>> {
    let mut unknown: Option<&str> = None;
    let mut figure = |(share, ending)| {
        if let Some(nearer) = unknown {
            return Err(format!("no sound figure at {nearer}: none beyond it"));
        }
        swept.clone()?.quantile(share).map_err(|complaint| match complaint {
            Complaint::NotLate(words) => words,
            Complaint::NotKnown(words) => {
                unknown = Some(ending);
                words
            }
        })
    };
    SHARES.map(|(share, ending)| figure((share, ending))).into()
}

/// The share of the frames that are later than a latency.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Level {
    latency_ns: u64,
    /// Share of the data frames that are later than `latency_ns`, and half the width of its 95 % interval.
    beyond: f64,
    half_width: f64,
    /// Looks of equal weight whose mean would spread as much, of all looks that have a frame as late.
    effective: f64,
}

/// All latencies of late frames, from the longest down.
#[derive(Clone, Debug)]
pub(super) struct Swept {
    levels: Vec<Level>,
    least_ns: u64,
    cluster_end_ns: u64,
    looks: usize,
}

impl Swept {
    /// Estimates, at each latency, the share of later frames: a ratio of means over the parts (RARE-16).
    pub(super) fn new(parts: &[&Tails]) -> Result<Self, String> {
        let looks: usize = parts.iter().map(|part| part.looks.len()).sum();
        let busy: u64 = parts.iter().map(|part| part.busy).sum();
        if looks as f64 - (busy as f64) < OUTSIDE_MIN * looks as f64 {
            return Err("the link hardly ever loses nothing for a while: count without --rare".to_owned());
        }
        let mut late: Vec<(u64, usize, usize, f64)> = Vec::new();
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
        let cluster_end_ns = parts.iter().map(|part| part.cluster_end_ns).max().unwrap_or(0);
        let (beyond, half_width) = ratio(&of_parts, &data);
        levels.retain(|level| level.latency_ns > cluster_end_ns);
        levels.push(Level { latency_ns: cluster_end_ns, beyond, half_width, effective: 0.0 });
        let least_ns = parts.iter().map(|part| part.least_ns).min().unwrap_or(0);
        Ok(Self { levels, least_ns, cluster_end_ns, looks })
    }

    /// Returns the latency that a share of the frames exceeds (RARE-16), or the reason why there is none (RARE-17).
    pub(super) fn quantile(&self, share: f64) -> Result<Quantile, Complaint> {
        let us = |level: &Level| level.latency_ns.saturating_sub(self.least_ns) as f64 / 1e3;
        let [longest, .., outside] = self.levels.as_slice() else {
            return Err(Complaint::NotKnown(format!("nothing came late in {} looks: no figure", self.looks)));
        };
        let all = outside.beyond;
        if all <= share {
            let words = format!("a share of only {all:.1e} is later than undisturbed frames: no figure");
            return Err(Complaint::NotLate(words));
        }
        // From the longest latency down, the last level that fewer frames exceed.
        let last = |is_below: &dyn Fn(&Level) -> bool| {
            self.levels.iter().take_while(|level| is_below(level)).last().unwrap_or(longest)
        };
        let middle = last(&|level| level.beyond <= share);
        let high = last(&|level| level.beyond + level.half_width <= share);
        let is_below = |level: &&Level| level.beyond - level.half_width <= share;
        let low = self.levels.iter().rfind(is_below).unwrap_or(middle);
        if middle.effective < EFFECTIVE_MIN {
            return Err(Complaint::NotKnown(format!(
                "{:.0} effective samples of {EFFECTIVE_MIN} needed: raise run.looks",
                middle.effective
            )));
        }
        // The share with the frames of this latency itself: the next level has it.
        let with = self.levels.iter().find(|level| level.latency_ns < middle.latency_ns).unwrap_or(outside);
        if with.half_width > HALF_WIDTH_MAX * with.beyond {
            let percent = 100.0 * with.half_width / with.beyond;
            return Err(Complaint::NotKnown(format!(
                "the share is known to {percent:.0} %: raise run.looks"
            )));
        }
        if low.latency_ns <= self.cluster_end_ns {
            return Err(Complaint::NotKnown("not told from undisturbed frames: raise run.looks".to_owned()));
        }
        Ok(Quantile { us: us(middle), interval_us: [us(low), us(high)] })
    }
}

/// Returns a ratio of sums over parts, and half the width of its 95 % interval (RARE-8).
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

    /// Returns `count` parts of one look each. `late` has latencies in nanoseconds and weights.
    fn parts(late: &[(u64, f64)], count: usize) -> Vec<Tails> {
        let look: Vec<Late> = late.iter().map(|&(latency_ns, weight)| Late { latency_ns, weight }).collect();
        let part =
            Tails { looks: vec![look], busy: 0, data: 1.0, least_ns: 1000, cluster_end_ns: 1100, frames: 1 };
        vec![part; count]
    }

    fn quantile(parts: &[Tails], share: f64) -> Result<Quantile, String> {
        let figure = Swept::new(&parts.iter().collect::<Vec<_>>())?.quantile(share);
        figure.map_err(|(Complaint::NotLate(words) | Complaint::NotKnown(words))| words)
    }

    // RARE-16: 3e-7 of the frames are later than 4 us, and 1e-6 more are 4 us late.
    #[test]
    fn a_quantile_is_the_latency_that_fewer_exceed() {
        let parts = parts(&[(2000, 1e-4), (5000, 1e-6), (9000, 3e-7)], 120);
        assert_eq!(quantile(&parts, 1e-6), Ok(Quantile { us: 4.0, interval_us: [4.0, 4.0] }));
        assert_eq!(quantile(&parts, 1e-7), Ok(Quantile { us: 8.0, interval_us: [8.0, 8.0] }));
        assert_eq!(quantile(&parts, 1e-5), Ok(Quantile { us: 1.0, interval_us: [1.0, 1.0] }));
    }

    // RARE-16: where parts differ, the share has an interval, and the latency has that of its ends.
    #[test]
    fn the_interval_is_that_of_the_share() {
        let mut all = parts(&[(5000, 1.5e-6)], 120);
        all.extend(parts(&[(3000, 1e-5)], 120));
        // 7.5e-7 +- 9.5e-8 are as late as 4 us.
        assert_eq!(quantile(&all, 1e-6), Ok(Quantile { us: 2.0, interval_us: [2.0, 2.0] }));
        assert_eq!(quantile(&all, 8e-7), Ok(Quantile { us: 2.0, interval_us: [2.0, 4.0] }));
        assert_eq!(quantile(&all, 7e-7), Ok(Quantile { us: 4.0, interval_us: [2.0, 4.0] }));
    }

    // RARE-17
    #[test]
    fn what_is_not_known_has_no_figure() {
        let few = parts(&[(5000, 1e-6)], 99);
        assert!(quantile(&parts(&[(5000, 1e-6)], 101), 1e-7).is_ok());
        assert!(quantile(&few, 1e-7).unwrap_err().starts_with("99 effective samples of 100"));
        let rare = parts(&[(5000, 1e-8)], 120);
        assert!(quantile(&rare, 1e-7).unwrap_err().starts_with("a share of only 1.0e-8 is later"));
        assert!(quantile(&parts(&[], 60), 1e-7).unwrap_err().starts_with("nothing came late in 60 looks"));
        let busy: Vec<Tails> =
            few.into_iter().map(|part| Tails { looks: vec![Vec::new(); 20], busy: 19, ..part }).collect();
        assert!(quantile(&busy, 1e-7).unwrap_err().contains("count without --rare"));
    }

    // RARE-17: many looks, all of them in one part, are one state of the link.
    #[test]
    fn looks_of_one_part_are_not_independent() {
        let mut all = parts(&[], 119);
        let of_one = parts(&[(5000, 1e-6)], 1);
        all.push(Tails { looks: vec![of_one[0].looks[0].clone(); 200], ..of_one[0].clone() });
        assert!(quantile(&all, 1e-8).unwrap_err().starts_with("the share is known to 7"));
    }

    // RARE-17: where a share is not known well enough, rarer ones have no figure; where it is not late, they may.
    #[test]
    fn beyond_what_is_not_known_nothing_is_sound() {
        let verdicts = |parts: &[Tails]| -> Vec<Result<f64, String>> {
            let swept = Swept::new(&parts.iter().collect::<Vec<_>>()).unwrap();
            figures(Ok(&swept)).into_iter().map(|figure| figure.map(|quantile| quantile.us)).collect()
        };
        // One part in thirty decides 1e-6; all of them decide 1e-8.
        let mut all = parts(&[(3000, 1e-4), (9000, 1e-8 * 0.9)], 120);
        all.splice(..4, parts(&[(3000, 1e-4), (5000, 2e-4), (9000, 1e-8 * 0.9)], 4));
        let of_all = verdicts(&all);
        assert!(of_all[0].as_ref().unwrap_err().contains("effective samples"), "{of_all:?}");
        assert!(
            of_all[1..]
                .iter()
                .all(|of| of.as_ref().unwrap_err() == "no sound figure at 1e_6: none beyond it")
        );
        let rare = verdicts(&parts(&[(5000, 5e-8)], 120));
        assert!(rare[0].as_ref().unwrap_err().starts_with("a share of only"), "{rare:?}");
        assert_eq!(rare[2..], [Ok(4.0), Ok(4.0)]);
    }
}

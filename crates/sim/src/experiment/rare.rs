//! The stress test of rare losses: the frames that stay lost behind a protection, too rare to be counted.

use super::blocks::{Block, Workers};
use super::interval::student;
use super::row::Row;
use super::setup::Setup;
use super::stress::stress_of;
use super::tails;
use crate::config::{Config, RareConfig};
use crate::net::{GivesUp, ProtectedLink};
use crate::world::rare::{Look, Looks, Rare, Refusal};
use crate::world::tails::{Tail, Tails};
use crate::{ConfigError, Control, Outcome, Stop};
use lossylink_core::rng::Streams;
use serde_json::{Value, json};

/// Independent parts of a run; the interval comes from the spread of the parts.
const PARTS: u64 = 100;
/// Parts of a run where only the mean counts: each part builds links of its own, which takes longer than a few looks.
const FEW_PARTS: u64 = 20;
/// Effective samples below which no interval is given (RARE-9).
const EFFECTIVE_MIN: f64 = 100.0;
/// Looks at the tail of the latency for each look at frames that stay lost (RARE-16): single losses decide the nearer part of
/// the tail, and no look counts for more than another there.
const TAIL_LOOKS: u64 = 5;
/// The number of the random streams for the looks at the tail, among the streams of a part.
const TAIL: u64 = u64::MAX;
/// Half the width of the interval over the mean, above which no interval is given.
const HALF_WIDTH_MAX: f64 = 1.0;

pub(super) fn run(config: &Config, asked: RareConfig, control: &Control) -> Result<Outcome, ConfigError> {
    let setup = Setup::new(config);
    if config.pcap.is_some() {
        return Err(ConfigError("--rare is many copies of one link; record a run without it".into()));
    }
    if !config.state_at_ps.is_empty() {
        return Err(ConfigError(
            "--rare is many copies of one link; ask for the state of a run without it".into(),
        ));
    }
    let mut link = setup.link::<u64>(&Streams::new(config.seed))?;
    let gives_up = link.gives_up();
    if link.losses_mut().0.is_clean() {
        return Err(ConfigError("--rare: the link loses nothing; set loss.forward".into()));
    }
    let is_clean_back = link.losses_mut().1.is_clean();
    let each = asked.looks.div_ceil(PARTS).max(1);
    let part = |block: Block| {
        let looks = looks_of(&setup, block, control.stop())?;
        let tails = match (asked.tail, is_clean_back) {
            (false, _) => Err("run.tail is false: no figure"),
            (true, false) => Err("losses on the way back make frames late by themselves: no figure"),
            (true, true) => Ok(tails_of(&setup, block, control.stop())?),
        };
        Ok((looks, tails))
    };
    let (parts, interrupted) =
        Workers::new(config.threads)?.run_blocks((each * PARTS, each), config.seed, control, part)?;
    if parts.is_empty() {
        return Ok(Outcome::unfinished());
    }
    let (parts, of_tails): (Vec<Looks>, Vec<_>) = parts.into_iter().unzip();
    let mut row = Row::new(&setup);
    let mut estimate = Estimate::of(&parts);
    let of_tails = sound_tails(&of_tails, interrupted);
    estimate.frames += of_tails.iter().flatten().map(|part| part.frames).sum::<u64>();
    describe(&mut row, &estimate, gives_up, interrupted);
    tails::describe(&mut row, of_tails);
    Ok(Outcome { row: row.finish(), interrupted, ..Outcome::default() })
}

/// Returns the ratio of frames that stay lost on the link of `config`, from about `looks` looks, or the reason why there is
/// none.
pub(super) fn residual_loss(
    config: &Config,
    looks: u64,
    workers: &Workers,
    control: &Control,
) -> Result<Result<f64, String>, ConfigError> {
    let setup = Setup::new(config);
    let each = looks.div_ceil(FEW_PARTS).max(1);
    let part = |block| looks_of(&setup, block, control.stop());
    let (parts, interrupted) = workers.run_blocks((each * FEW_PARTS, each), config.seed, control, part)?;
    if interrupted {
        return Ok(Err("interrupted: no figure".to_owned()));
    }
    let estimate = Estimate::of(&parts);
    Ok(estimate.complaint().map_or(Ok(estimate.mean), Err))
}

fn refused(refusal: Refusal) -> ConfigError {
    ConfigError(refusal.to_string())
}

/// Runs the looks of one part at frames that stay lost.
fn looks_of(setup: &Setup<'_>, block: Block, stop: &Stop) -> Result<Looks, ConfigError> {
    let link = setup.link::<u64>(&block.streams)?;
    let stress = stress_of(setup.config, link.burst_frames())?;
    let rare = Rare::new(link, (stress.source, stress.frame_bytes), block.streams, stop);
    rare.and_then(|rare| rare.run(block.trials)).map_err(refused)
}

/// Runs the looks of one part at the tail of the latency, apart from those at frames that stay lost (RARE-14).
fn tails_of(setup: &Setup<'_>, block: Block, stop: &Stop) -> Result<Result<Tails, Refusal>, ConfigError> {
    let streams = block.streams.trial(TAIL);
    let frame_bytes = setup.config.require(&setup.config.traffic, "traffic")?.frame_bytes;
    let tail = Tail::new(setup.link(&streams)?, frame_bytes, streams, stop);
    Ok(tail.and_then(|tail| tail.run(TAIL_LOOKS * block.trials)))
}

/// The tail of one part: not looked at for a reason, refused, or seen.
type PartTails = Result<Result<Tails, Refusal>, &'static str>;

/// Returns the tails of all parts, or the reason why they have no figure.
fn sound_tails(parts: &[PartTails], interrupted: bool) -> Result<Vec<&Tails>, String> {
    if interrupted {
        return Err("interrupted: no figure".to_owned());
    }
    let sound = |part: &'_ PartTails| match part {
        Err(reason) => Err((*reason).to_owned()),
        Ok(Err(refusal)) => Err(refusal.to_string()),
        Ok(Ok(_)) => Ok(()),
    };
    parts.iter().try_for_each(sound)?;
    Ok(parts.iter().flatten().flatten().collect())
}

fn describe(row: &mut Row, estimate: &Estimate, gives_up: GivesUp, interrupted: bool) {
    let verdict = if interrupted { Some("interrupted: no figure".to_owned()) } else { estimate.complaint() };
    let sound = verdict.is_none();
    let method = match gives_up {
        GivesUp::Frames { .. } => "importance sampling of a frame's repairs",
        GivesUp::Block { .. } => "importance sampling of a block's losses",
    };
    let interval =
        json!([(estimate.mean - estimate.half_width).max(0.0), estimate.mean + estimate.half_width]);
    row.set("residual_loss_rate", sound.then_some(estimate.mean))
        .set("residual_loss_ci95", if sound { interval } else { Value::Null })
        .set("rare_relative_error", sound.then(|| estimate.half_width / estimate.mean))
        .set("rare_effective_samples", estimate.effective)
        .set("rare_looks", estimate.looks)
        .set("rare_hits", estimate.hits)
        .set("rare_method", method)
        .set("rare_verdict", verdict.unwrap_or_else(|| "sound".to_owned()))
        .set("frames_simulated", estimate.frames);
}

/// An estimated ratio of two means over independent parts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Estimate {
    mean: f64,
    /// Half the width of the 95 % interval.
    half_width: f64,
    /// Looks of equal weight whose mean would spread as much as that of the weighted looks.
    effective: f64,
    looks: u64,
    /// Looks in which a frame stayed lost.
    hits: u64,
    frames: u64,
}

impl Estimate {
    /// Estimates the ratio with the delta method over the parts (RARE-8).
    fn of(parts: &[Looks]) -> Self {
        let sum = |of: fn(&Look) -> f64| -> Vec<f64> {
            parts.iter().map(|part| part.each.iter().map(of).sum()).collect()
        };
        let (lost, data) = (sum(|look| look.lost), sum(|look| look.data));
        let (total, frames): (f64, f64) = (lost.iter().sum(), data.iter().sum());
        let squares: f64 = parts.iter().flat_map(|part| &part.each).map(|look| look.lost * look.lost).sum();
        let all = || parts.iter().flat_map(|part| &part.each);
        let mean = if frames > 0.0 { total / frames } else { 0.0 };
        let count = parts.len() as f64;
        let spread: f64 = lost.iter().zip(&data).map(|(lost, data)| (lost - mean * data).powi(2)).sum();
        let error = (spread * count / (count - 1.0)).sqrt() / frames;
        Self {
            mean,
            half_width: student(count - 1.0) * error,
            effective: if squares > 0.0 { total * total / squares } else { 0.0 },
            looks: all().count() as u64,
            hits: all().filter(|look| look.lost > 0.0).count() as u64,
            frames: parts.iter().map(|part| part.frames).sum(),
        }
    }

    /// Returns the reason why the estimate is not to be trusted, if there is one (RARE-9).
    fn complaint(&self) -> Option<String> {
        if self.hits == 0 {
            return Some(format!("nothing stayed lost in {} looks: no figure", self.looks));
        }
        if self.effective < EFFECTIVE_MIN || self.half_width > HALF_WIDTH_MAX * self.mean {
            return Some(format!(
                "{:.0} effective samples of {EFFECTIVE_MIN} needed: raise run.looks, or count without --rare",
                self.effective
            ));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(lost: &[f64]) -> Looks {
        Looks { each: lost.iter().map(|&lost| Look { lost, data: 2.0 }).collect(), frames: 10 }
    }

    // RARE-8: by hand, two parts with sums 3 and 5 over 4 data frames each: mean 1, spread 2, error 2 / 8 * 1.
    #[test]
    fn the_interval_is_that_of_a_ratio() {
        let estimate = Estimate::of(&[part(&[1.0, 2.0]), part(&[5.0, 0.0])]);
        assert_eq!((estimate.mean, estimate.looks, estimate.hits, estimate.frames), (1.0, 4, 3, 20));
        let error = (2.0_f64 * 2.0).sqrt() / 8.0;
        assert!((estimate.half_width / (student(1.0) * error) - 1.0).abs() < 1e-12);
        assert!((estimate.effective - 64.0 / 30.0).abs() < 1e-12);
    }

    // RARE-9
    #[test]
    fn too_few_effective_samples_are_refused() {
        let even = |count: usize| Estimate::of(&[part(&vec![1.0; count / 2]), part(&vec![1.0; count / 2])]);
        assert!(even(98).complaint().is_some_and(|words| words.starts_with("98 effective samples")));
        assert_eq!(even(100).complaint(), None);
        assert!(
            Estimate::of(&[part(&[0.0]), part(&[0.0])]).complaint().unwrap().starts_with("nothing stayed")
        );
    }
}

//! What flows one after another give: a trial each, and what all of them come to.

use super::counters::Repair;
use crate::{Columns, ConfigError};
use lossylink_core::time::Duration;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One flow's result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Trial {
    pub(super) took: Duration,
    pub(super) lost_frames: u32,
    pub(super) retransmissions: u32,
    pub(super) timeouts: u32,
    pub(super) repair: Option<Repair>,
}

impl Trial {
    /// With what the hosts add to the whole flow.
    pub(super) fn with(self, once: Duration) -> Self {
        Self { took: self.took + once, ..self }
    }

    pub(super) fn fct_us(&self) -> f64 {
        self.took.as_us_f64()
    }
}

/// Results of one block.
#[derive(Debug, Default)]
pub(super) struct Finished {
    pub(super) trials: Vec<Trial>,
    pub(super) totals: Totals,
    pub(super) unfinished: u64,
    pub(super) frames_simulated: u64,
    pub(super) frames_skipped: u64,
    /// Of the link of the first block.
    pub(super) states: Vec<Value>,
}

impl Finished {
    pub(super) fn add(&mut self, trial: Trial) {
        self.totals.add(&trial);
        self.trials.push(trial);
    }
}

/// A block as text: flows as picoseconds, lost frames, retransmissions, timeouts, and the slowest repair.
#[derive(Deserialize, Serialize)]
struct Told {
    flows: Vec<(u64, u32, u32, u32, Option<usize>)>,
    unfinished: u64,
    frames_simulated: u64,
    frames_skipped: u64,
    states: Vec<Value>,
}

impl From<&Finished> for Told {
    fn from(block: &Finished) -> Self {
        let flow = |trial: &Trial| {
            let repair = trial.repair.map(|repair| repair as usize);
            (trial.took.as_ps(), trial.lost_frames, trial.retransmissions, trial.timeouts, repair)
        };
        Self {
            flows: block.trials.iter().map(flow).collect(),
            unfinished: block.unfinished,
            frames_simulated: block.frames_simulated,
            frames_skipped: block.frames_skipped,
            states: block.states.clone(),
        }
    }
}

impl From<Told> for Finished {
    fn from(told: Told) -> Self {
        let mut block = Self {
            unfinished: told.unfinished,
            frames_simulated: told.frames_simulated,
            frames_skipped: told.frames_skipped,
            states: told.states,
            ..Self::default()
        };
        for (took_ps, lost_frames, retransmissions, timeouts, repair) in told.flows {
            let repair = repair.and_then(Repair::at);
            block.add(Trial {
                took: Duration::from_ps(took_ps),
                lost_frames,
                retransmissions,
                timeouts,
                repair,
            });
        }
        block
    }
}

/// Blocks as text, which [`read`] takes back.
pub(super) fn write(blocks: &[Finished]) -> String {
    let told: Vec<Told> = blocks.iter().map(Told::from).collect();
    serde_json::to_string(&told).expect("numbers have a text")
}

/// The blocks of parts, one after another.
///
/// # Errors
/// If a part is no text of blocks.
pub(super) fn read(parts: &[String]) -> Result<Vec<Finished>, ConfigError> {
    let refuse = |error| ConfigError(format!("a part of the flows cannot be read: {error}"));
    let mut blocks = Vec::new();
    for part in parts {
        let told: Vec<Told> = serde_json::from_str(part).map_err(refuse)?;
        blocks.extend(told.into_iter().map(Finished::from));
    }
    Ok(blocks)
}

/// What trials come to.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::experiment) struct Totals {
    pub(super) trials: u64,
    /// Flows that lost a frame.
    pub(super) hit: u64,
    pub(super) retransmissions: u64,
    pub(super) timeouts: u64,
    repaired: [u64; Repair::COUNT],
}

impl Totals {
    fn add(&mut self, trial: &Trial) {
        self.trials += 1;
        self.hit += u64::from(trial.lost_frames > 0);
        self.retransmissions += u64::from(trial.retransmissions);
        self.timeouts += u64::from(trial.timeouts);
        trial.repair.iter().for_each(|&repair| self.repaired[repair as usize] += 1);
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.trials += other.trials;
        self.hit += other.hit;
        self.retransmissions += other.retransmissions;
        self.timeouts += other.timeouts;
        self.repaired.iter_mut().zip(other.repaired).for_each(|(count, more)| *count += more);
    }

    /// Flows whose slowest repair this was.
    pub(in crate::experiment) const fn repaired(&self, repair: Repair) -> u64 {
        self.repaired[repair as usize]
    }
}

/// A value of every trial.
pub(super) fn column(blocks: &[Finished], of: fn(&Trial) -> f64) -> Vec<f64> {
    let mut column = Vec::with_capacity(blocks.iter().map(|block| block.trials.len()).sum());
    blocks.iter().for_each(|block| column.extend(block.trials.iter().map(of)));
    column
}

/// The name of a column, and what it holds.
type Named = (&'static str, fn(&Trial) -> f64);

pub(super) fn columns(blocks: &[Finished]) -> Columns {
    let columns: [Named; 4] = [
        ("fct_us", Trial::fct_us),
        ("lost_frames", |trial| f64::from(trial.lost_frames)),
        ("retransmissions", |trial| f64::from(trial.retransmissions)),
        ("timeouts", |trial| f64::from(trial.timeouts)),
    ];
    columns.into_par_iter().map(|(name, of)| (name.to_owned(), column(blocks, of))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn blocks_come_back_from_their_text(
            flows in prop::collection::vec((0u64..u64::MAX, 0u32.., 0u32.., 0u32.., prop::option::of(0usize..4)), 0..50),
            counts in prop::array::uniform3(0u64..1 << 40),
        ) {
            let mut block = Finished {
                unfinished: counts[0],
                frames_simulated: counts[1],
                frames_skipped: counts[2],
                ..Finished::default()
            };
            // Totals of flows add up, so none may be too large.
            for (took_ps, lost_frames, retransmissions, timeouts, repair) in flows {
                let repair = repair.and_then(Repair::at);
                block.add(Trial { took: Duration::from_ps(took_ps), lost_frames, retransmissions, timeouts, repair });
            }
            let texts = [write(&[]), write(std::slice::from_ref(&block)), write(&[Finished::default()])];
            let back = read(&texts).unwrap();
            prop_assert_eq!(back.len(), 2);
            prop_assert_eq!(&back[0].trials, &block.trials);
            prop_assert_eq!(format!("{:?}", back[0]), format!("{block:?}"));
        }
    }

    #[test]
    fn what_is_no_part_is_refused() {
        assert!(
            read(&["[1]".to_owned()])
                .unwrap_err()
                .to_string()
                .starts_with("a part of the flows cannot be read")
        );
    }
}

//! What flows one after another give: a trial each, and what all of them come to.

use super::counters::Repair;
use crate::Columns;
use lossylink_core::time::Duration;
use rayon::prelude::*;
use serde_json::Value;

/// One flow's result.
#[derive(Clone, Copy, Debug)]
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

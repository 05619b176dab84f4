//! The row of an experiment: the keys are those of `docs/data-dictionary.md`.

use super::setup::Setup;
use crate::ConfigError;
use crate::measure::{Ascending, Figures};
use crate::net::{self, Figure};
use crate::world::LostBehind;
use serde_json::{Map, Value};
use std::io;

/// The percentiles of a completion-time table, and how their keys end.
const PERCENTILES: [(&str, f64); 7] = [
    ("p50", 0.5),
    ("p90", 0.9),
    ("p95", 0.95),
    ("p99", 0.99),
    ("p99_9", 0.999),
    ("p99_99", 0.9999),
    ("p99_999", 0.999_99),
];

/// A row under construction.
#[derive(Debug, Default)]
pub(super) struct Row(Map<String, Value>);

impl Row {
    /// Begins a row with the figures that all experiments report: the loss rate and the link's rate.
    pub(super) fn new(setup: &Setup<'_>) -> Self {
        let mut row = Self::default();
        row.set("loss_rate", setup.loss_rate()).set("link_gbps", setup.config.link.rate().as_gbps_f64());
        row
    }

    /// Adds a value; a float that is not finite becomes null.
    pub(super) fn set(&mut self, key: &str, value: impl Into<Value>) -> &mut Self {
        self.0.insert(key.to_owned(), value.into());
        self
    }

    /// Adds the figures that a protection counts, under their own names.
    pub(super) fn set_figures(&mut self, figures: &[Figure]) -> &mut Self {
        for figure in figures {
            match figure.value {
                net::Value::Count(count) | net::Value::Setting(count) => self.set(figure.name, count),
                net::Value::Measure(measure) => self.set(figure.name, measure),
            };
        }
        self
    }

    /// Adds the frames that the hops behind the link corrupted, in each direction in which they corrupt any.
    pub(super) fn set_lost_behind(&mut self, lost: LostBehind) -> &mut Self {
        for (key, lost) in [("path_frames_lost", lost.forward), ("path_frames_lost_back", lost.back)] {
            if let Some(lost) = lost {
                self.set(key, lost);
            }
        }
        self
    }

    /// Adds the summary of flow completion times in microseconds; nulls if there are none.
    pub(super) fn set_completion_times(&mut self, times: &impl Ascending) -> Result<&mut Self, ConfigError> {
        let figures = Figures::of(times, &PERCENTILES.map(|(_, fraction)| fraction)).map_err(unread)?;
        let of = |value: fn(&Figures) -> f64| figures.as_ref().map(value);
        self.set("fct_us_min", of(Figures::min)).set("fct_us_mean", of(Figures::mean));
        for (name, fraction) in PERCENTILES {
            self.set(&format!("fct_us_{name}"), figures.as_ref().map(|times| times.percentile(fraction)));
        }
        Ok(self.set("fct_us_max", of(Figures::max)).set("fct_us_std", of(Figures::standard_deviation)))
    }

    pub(super) fn finish(self) -> Map<String, Value> {
        self.0
    }
}

/// Returns the error for numbers that a run laid aside in a file and cannot read back.
pub(super) fn unread(error: io::Error) -> ConfigError {
    ConfigError(format!("{error}; run again, with TMPDIR=FOLDER for another place"))
}

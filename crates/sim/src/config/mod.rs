//! The configuration of a simulation: a resolved scenario in base units, as the Python package hands it over.
//! The sections and their keys are described in `docs/guides/scenarios.md`.

mod capture;
mod fabric;
mod host;
mod sections;
mod switch;

pub use capture::{CaptureConfig, CaptureOutput, Recording};
pub use fabric::{FabricConfig, PointsConfig, TopologyConfig};
#[cfg(test)]
pub(crate) use host::tests::host_profile;
pub use host::{HostProfile, LatencyTable};
pub use sections::{
    FlowConfig, JitterConfig, LinkConfig, LossDirections, PartConfig, PathConfig, RareConfig, RunConfig,
    TimelineConfig, TrafficConfig, TrafficSource, TransportConfig, WorkloadConfig, WorkloadProtocol,
};
#[cfg(test)]
pub(crate) use switch::tests::profile as switch_profile;
pub use switch::{RateThresholds, SwitchProfile, thresholds_at};

use crate::ConfigError;
use lossylink_core::engine::monitor::MonitorConfig;
use lossylink_core::protection::Protection;
use serde::Deserialize;
use std::sync::Arc;

/// One experiment under one protection.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Name of the experiment.
    pub experiment: String,
    /// Seed of all random streams.
    pub seed: u64,
    /// Threads for independent trials.
    #[serde(default = "one")]
    pub threads: usize,
    /// Whether events that cannot change the result may be skipped.
    #[serde(default = "yes")]
    pub skip: bool,
    /// The link under test.
    pub link: LinkConfig,
    /// The losses of the link.
    #[serde(default)]
    pub loss: LossDirections,
    /// The switches at the ends of the link.
    pub switch: Arc<SwitchProfile>,
    /// The end hosts.
    pub host: Option<HostProfile>,
    /// The protection of the link.
    pub protection: Protection,
    /// Frames of the stress test.
    pub traffic: Option<TrafficConfig>,
    /// The transport protocol.
    pub transport: Option<TransportConfig>,
    /// The path between the hosts.
    pub path: Option<PathConfig>,
    /// The flows.
    pub flow: Option<FlowConfig>,
    /// Flows that begin at random.
    pub workload: Option<WorkloadConfig>,
    /// The times at which the link of a time line corrupts, heals and is protected.
    pub timeline: Option<TimelineConfig>,
    /// The thresholds of the monitor.
    pub monitor: Option<MonitorConfig>,
    /// The simulated time of a run.
    pub run: Option<RunConfig>,
    /// A whole fabric of links.
    pub fabric: Option<FabricConfig>,
    /// How rare losses are looked for, if the run looks for them.
    pub rare: Option<RareConfig>,
    /// The blocks of flows to run, in place of all.
    pub part: Option<PartConfig>,
    /// Results of parts that have been run before, from the first block on.
    #[serde(default)]
    pub parts: Vec<String>,
    /// The hop to record, and where the recording goes.
    pub pcap: Option<CaptureConfig>,
    /// When to look at the state of the two ends of the link.
    #[serde(default)]
    pub state_at_ps: Vec<u64>,
}

const fn one() -> usize {
    1
}

const fn yes() -> bool {
    true
}

impl Config {
    /// Reads a configuration.
    ///
    /// # Errors
    /// If it is no valid JSON, lacks a key, or has one that does not exist; if a loss model cannot be as it is described; if an
    /// option of the protection is out of range.
    pub fn from_json(text: &str) -> Result<Self, ConfigError> {
        let config: Self = serde_json::from_str(text).map_err(|error| ConfigError(words(&error)))?;
        config.protection.check_simulated().map_err(|error| ConfigError(error.to_string()))?;
        Ok(config)
    }

    /// Returns the section that this experiment needs.
    ///
    /// # Errors
    /// If the section is absent.
    pub fn require<'a, T>(&self, section: &'a Option<T>, name: &str) -> Result<&'a T, ConfigError> {
        let missing = || ConfigError(format!("{} needs the section [{name}]", self.experiment));
        section.as_ref().ok_or_else(missing)
    }
}

/// Returns the words of an error. A wrong value has been written by a user elsewhere, who does not know its place in this text.
fn words(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    if error.is_data() { text.trim_end_matches(&place).to_owned() } else { text }
}

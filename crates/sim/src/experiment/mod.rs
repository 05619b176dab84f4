//! The experiments: each builds a world from a configuration, runs it, and reports a row.

mod blocks;
mod capturing;
mod counted_flow;
mod fairness;
mod fec;
mod long_flow;
mod long_writes;
mod rare;
mod rdma_fct;
mod row;
mod serial;
mod setup;
mod slowdown;
mod stress;
mod tcp_fct;
mod timeline;
mod workload;

use crate::config::Config;
use crate::{ConfigError, Control, Outcome};
use lossylink_core::rng::Streams;
use setup::Setup;

/// Refuses what [`simulate`] would refuse about link, protection, path and transport, without running
/// anything.
///
/// # Errors
/// As [`simulate`].
pub fn check(config: &str) -> Result<(), ConfigError> {
    let config = Config::from_json(config)?;
    capturing::check(&config)?;
    Setup::new(&config)?.check(&Streams::new(config.seed))
}

/// Runs the experiment that `config` (JSON, see [`crate::config`]) describes.
///
/// # Errors
/// If the configuration cannot be simulated: one line that says what is wrong.
pub fn simulate(config: &str, control: &Control) -> Result<Outcome, ConfigError> {
    let config = Config::from_json(config)?;
    capturing::check(&config)?;
    match config.experiment.as_str() {
        "stress" => stress::run(&config, control),
        "tcp-fct" => tcp_fct::run(&config, control),
        "rdma-fct" => rdma_fct::run(&config, control),
        "workload" => workload::run(&config, control),
        "timeline" => timeline::run(&config, control),
        "fec" => fec::run(&config, control),
        "throughput" | "mathis" => long_flow::run(&config, control),
        other => Err(ConfigError(format!("the simulator has no experiment '{other}'"))),
    }
}

//! The experiments: each builds a world from a configuration, runs it, and reports a row.

mod row;
mod stress;

use crate::config::Config;
use crate::{ConfigError, Control, Outcome};

/// Runs the experiment that `config` (JSON, see [`crate::config`]) describes.
///
/// # Errors
/// If the configuration cannot be simulated: one line that says what is wrong.
pub fn simulate(config: &str, control: &Control) -> Result<Outcome, ConfigError> {
    let config = Config::from_json(config)?;
    match config.experiment.as_str() {
        "stress" => stress::run(&config, control),
        other => Err(ConfigError(format!("the simulator has no experiment '{other}'"))),
    }
}

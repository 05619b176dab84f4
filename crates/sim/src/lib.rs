//! Deterministic packet-level simulator: the entry point and its contract.

mod control;
mod outcome;

pub use control::Control;
pub use outcome::{Columns, ConfigError, Outcome};

/// Runs the experiment that `config` (JSON) describes.
///
/// # Errors
/// [`ConfigError`] when the configuration cannot be simulated.
pub fn simulate(config: &str, control: &Control) -> Result<Outcome, ConfigError> {
    let config: serde_json::Value = serde_json::from_str(config).map_err(|e| ConfigError(e.to_string()))?;
    let total = config["flow"]["trials"].as_u64().unwrap_or(10);
    control.set_total(total);
    let mut finished = Vec::new();
    while (finished.len() as u64) < total && !control.is_cancelled() {
        std::thread::sleep(std::time::Duration::from_millis(1));
        finished.push(finished.len() as f64);
        control.add_done(1);
    }
    let mut outcome = Outcome { interrupted: control.is_cancelled(), ..Outcome::default() };
    outcome.row.insert("trials".into(), finished.len().into());
    outcome.columns.push(("trials".into(), vec![("fct_us".into(), finished)]));
    Ok(outcome)
}

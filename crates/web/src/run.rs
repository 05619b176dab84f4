//! An experiment: its row, the completion times of its flows, and its small tables.

use crate::configuration::{Configuration, text};
use crate::flows;
use lossylink_sim::measure::DesignEffect;
use lossylink_sim::{Columns, ConfigError, Control, Outcome, Simulation, loss_design_effect};
use serde_json::{Map, Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The confidence of every interval.
pub const CONFIDENCE: f64 = 0.95;
/// The most rows of a table that is told whole.
const MOST_ROWS: usize = 20_000;
/// The table that has a row for each flow, and its column of completion times.
const TRIALS: (&str, &str) = ("trials", "fct_us");

/// Runs an experiment. With `looks` there is an answer after each of these numbers of flows, all but the last through `look`.
///
/// # Errors
/// If the experiment cannot be run.
pub fn run(
    configuration: &Configuration,
    looks: Vec<u64>,
    look: impl Fn(&Value) + Send + Sync + 'static,
) -> Result<Value, ConfigError> {
    let configuration = text(configuration);
    let simulation = Simulation::new(&configuration)?;
    let control = if looks.is_empty() { Control::default() } else { growing(&configuration, looks, look) };
    told(&configuration, &simulation.run(&control)?, true)
}

/// Returns the control of a run that is told after each of `looks` but the last.
fn growing(configuration: &str, looks: Vec<u64>, look: impl Fn(&Value) + Send + Sync + 'static) -> Control {
    let (configuration, looked) = (configuration.to_owned(), AtomicUsize::new(0));
    let early = looks.len() - 1;
    Control::growing(looks, move |outcome| {
        if looked.fetch_add(1, Ordering::Relaxed) < early
            && let Ok(answer) = told(&configuration, outcome, false)
        {
            look(&answer);
        }
        false
    })
}

/// Returns an outcome as the page is told it.
fn told(configuration: &str, outcome: &Outcome, is_final: bool) -> Result<Value, ConfigError> {
    let mut row = outcome.row.clone();
    if let Some(interval) = effective_loss_interval(configuration, &mut row)? {
        row.insert("effective_loss_ci95".to_owned(), json!(interval));
    }
    let mut answer = json!({ "final": is_final, "row": row });
    let mut tables = Map::new();
    for (name, columns) in &outcome.columns {
        if name == TRIALS.0 {
            if let Some((_, times)) = columns.iter().find(|(name, _)| name == TRIALS.1) {
                answer["flows"] = flows::told(&times.values().map_err(unread)?, CONFIDENCE);
            }
        } else if columns.iter().all(|(_, column)| column.len() <= MOST_ROWS) {
            tables.insert(name.clone(), table(columns)?);
        }
    }
    answer["tables"] = tables.into();
    Ok(answer)
}

fn table(columns: &Columns) -> Result<Value, ConfigError> {
    let mut table = Map::new();
    for (name, column) in columns {
        table.insert(name.clone(), json!(column.values().map_err(unread)?));
    }
    Ok(table.into())
}

/// Returns the interval of the effective loss of a row, if the row has one. The counts by batches leave the row.
fn effective_loss_interval(
    configuration: &str,
    row: &mut Map<String, Value>,
) -> Result<Option<[f64; 2]>, ConfigError> {
    let by_batch = row.remove("lost_by_batch").map(serde_json::from_value::<Vec<(u64, u64)>>);
    let by_batch = by_batch.transpose().map_err(|error| ConfigError(error.to_string()))?.unwrap_or_default();
    let count = |key| row.get(key).and_then(Value::as_u64);
    let Some((lost, sent)) = count("effective_lost_packets").zip(count("packets_sent")) else {
        return Ok(None);
    };
    if sent == 0 {
        return Ok(None);
    }
    let known =
        row.get("effective_loss_design_effect").and_then(Value::as_f64).zip(count("effective_loss_batches"));
    let effect = match known {
        Some((factor, batches)) => DesignEffect { factor, batches: batches as usize },
        None => loss_design_effect(configuration, &by_batch)?,
    };
    let (low, high) = effect.interval((lost, sent), CONFIDENCE);
    Ok(Some([low, high]))
}

fn unread(error: std::io::Error) -> ConfigError {
    ConfigError(error.to_string())
}

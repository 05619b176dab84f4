//! The outcome of one simulation: a row of results, columns of samples, and whether the run was cut short.

mod column;
#[cfg(feature = "parquet")]
mod parquet;

pub use column::Column;
#[cfg(feature = "parquet")]
pub use parquet::write_parquet;
use serde_json::{Map, Value};

/// Named columns of equal length.
pub type Columns = Vec<(String, Column)>;

/// Result of one experiment under one protection.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Row keys of the data dictionary.
    pub row: Map<String, Value>,
    /// Tables (`trials`, `series`, `timeline`) and their columns.
    pub columns: Vec<(String, Columns)>,
    /// The states of the two ends of the link at the instants that were asked for.
    pub states: Vec<Value>,
    /// Blocks of flows, as text for the run that puts parts together; the row is then empty.
    pub part: Option<String>,
    /// Whether the run was cancelled. The row then covers the work that had finished.
    pub interrupted: bool,
}

impl Outcome {
    /// Returns the outcome of a run that was cut short before any part of it had finished: it has no row.
    pub(crate) fn unfinished() -> Self {
        Self { interrupted: true, ..Self::default() }
    }
}

/// A configuration that the simulator refuses: one line that names the mistake and the mend.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(pub String);

//! What one simulation returns: a row of results, columns of samples, and whether it was cut short.

mod column;
mod parquet;

pub use column::Column;
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
    /// What the two ends of the link were about at the instants that were asked for.
    pub states: Vec<Value>,
    /// Blocks of flows, as text for the run that puts parts together; the row is empty then.
    pub part: Option<String>,
    /// True when the run was cancelled; the row then covers what had finished.
    pub interrupted: bool,
}

impl Outcome {
    /// A run that was cut short before anything of it had finished: it has no row.
    pub(crate) fn unfinished() -> Self {
        Self { interrupted: true, ..Self::default() }
    }
}

/// A configuration that the simulator refuses: one line that says what is wrong and the mend.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(pub String);

//! Building the row of an experiment.

use serde_json::{Map, Value};

/// A row under construction: the keys are those of `docs/data-dictionary.md`.
#[derive(Debug, Default)]
pub(super) struct Row(Map<String, Value>);

impl Row {
    /// Adds a value; a float that is not finite becomes null.
    pub(super) fn set(&mut self, key: &str, value: impl Into<Value>) -> &mut Self {
        self.0.insert(key.to_owned(), value.into());
        self
    }

    pub(super) fn finish(self) -> Map<String, Value> {
        self.0
    }
}

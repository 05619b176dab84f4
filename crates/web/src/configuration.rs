//! The configuration of a simulation in a question.

use serde_json::{Map, Value};

/// The configuration of [`lossylink_sim::config`], as the page filled it.
pub type Configuration = Map<String, Value>;

/// Returns the text that the simulator reads.
pub(crate) fn text(configuration: &Configuration) -> String {
    Value::from(configuration.clone()).to_string()
}

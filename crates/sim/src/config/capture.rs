//! The section of a capture: the hop to record.

use serde::Deserialize;
use std::path::PathBuf;

/// A hop and the file to record it to.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct CaptureConfig {
    /// Name of the hop.
    pub hop: String,
    /// The file, which is overwritten.
    pub path: PathBuf,
}

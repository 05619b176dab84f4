//! The section of a capture: the hop to record, and where the recording goes.

use serde::Deserialize;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// A hop, and where its recording goes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaptureConfig {
    /// Name of the hop.
    pub hop: String,
    /// The output; in JSON the path of a file, which is overwritten.
    #[serde(rename = "path")]
    pub output: CaptureOutput,
}

/// The output of a capture.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "PathBuf")]
pub enum CaptureOutput {
    /// A file.
    File(PathBuf),
    /// Memory, for a caller that has no files.
    Memory(Recording),
}

impl From<PathBuf> for CaptureOutput {
    fn from(path: PathBuf) -> Self {
        Self::File(path)
    }
}

/// A recording in memory. Clones are the same recording.
#[derive(Clone, Debug, Default)]
pub struct Recording(Arc<Mutex<Vec<u8>>>);

impl Recording {
    /// Takes the octets that have been recorded.
    pub fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for Recording {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(octets)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

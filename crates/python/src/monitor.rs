//! The monitor's decisions for Python: readings in, numbers of copies out.

use lossylink_core::engine::monitor::{Decision, Monitor, MonitorConfig};
use lossylink_core::time::{Duration, Instant};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Picoseconds in a second.
const PS_PER_SECOND: f64 = 1e12;

/// A monitor of one link; see `_native.pyi` for the contract.
#[pyclass(name = "Monitor", module = "lossylink._native")]
pub(crate) struct LinkMonitor(Monitor);

#[pymethods]
impl LinkMonitor {
    #[new]
    #[pyo3(signature = (*, window_frames, on_loss, off_loss, many_copies_loss, target_loss, confidence, hold_seconds))]
    fn new(
        window_frames: u64,
        on_loss: f64,
        off_loss: f64,
        many_copies_loss: f64,
        target_loss: f64,
        confidence: f64,
        hold_seconds: f64,
    ) -> PyResult<Self> {
        let hold = Duration::from_ps(picoseconds(hold_seconds)?);
        let config = MonitorConfig {
            window_frames,
            on_loss,
            off_loss,
            many_copies_loss,
            target_loss,
            confidence,
            hold,
        };
        Monitor::new(config).map(Self).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// Returns the change that a reading asks for: none (`None`), the number of copies from now on, or no
    /// protection (0).
    fn observe(&mut self, now_seconds: f64, received_ok: u64, received_all: u64) -> PyResult<Option<u8>> {
        let now = Instant::from_ps(picoseconds(now_seconds)?);
        Ok(self.0.observe(now, received_ok, received_all).map(|decision| match decision {
            Decision::Protect { copies } => copies,
            Decision::Unprotect => 0,
        }))
    }

    /// Returns the copies in use; 0 while the link is not protected.
    #[getter]
    fn copies(&self) -> u8 {
        self.0.copies().unwrap_or(0)
    }

    /// Returns the frames of the window, and how many of them were corrupted.
    #[getter]
    fn counts(&self) -> (u64, u64) {
        let counts = self.0.counts();
        (counts.frames, counts.lost)
    }
}

/// Returns seconds as whole picoseconds.
fn picoseconds(seconds: f64) -> PyResult<u64> {
    let picoseconds = seconds * PS_PER_SECOND;
    if (0.0..u64::MAX as f64).contains(&picoseconds) {
        Ok(picoseconds as u64)
    } else {
        Err(PyValueError::new_err(format!("{seconds} s is not between 0 and 213 days")))
    }
}

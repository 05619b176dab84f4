//! Real time for the engines: CLOCK_MONOTONIC as picoseconds since the process began its work.

use crate::sys::process::monotonic_ns;
use lossylink_core::time::Instant;

/// Picoseconds in a nanosecond.
const PS_PER_NS: u64 = 1_000;

/// The clock of one data plane.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    epoch_ns: u64,
}

impl Clock {
    /// Starts a clock, which reads zero now.
    pub fn start() -> Self {
        Self { epoch_ns: monotonic_ns() }
    }

    /// Returns the present instant.
    pub fn now(&self) -> Instant {
        Instant::from_ps((monotonic_ns() - self.epoch_ns) * PS_PER_NS)
    }
}

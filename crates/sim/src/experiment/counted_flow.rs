//! What a run of many flows keeps of each one that counts.

use lossylink_core::time::{Duration, Instant};

/// One flow that counted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flow {
    /// When it began.
    pub(super) start: Instant,
    /// What it carried.
    pub(super) bytes: u64,
    /// What it took; `None` if it never ended.
    pub(super) took: Option<Duration>,
    /// How many times as long as alone; infinite if it never ended.
    pub(super) slowdown: f64,
    /// Packets that were sent again.
    pub(super) retransmissions: u32,
    /// Timers that expired.
    pub(super) timeouts: u32,
}

impl Flow {
    /// One that never ended.
    pub(super) const fn never(start: Instant, bytes: u64) -> Self {
        Self { start, bytes, took: None, slowdown: f64::INFINITY, retransmissions: 0, timeouts: 0 }
    }
}

//! The record of a flow that counts, in a run of many flows.

use lossylink_core::time::{Duration, Instant};

/// A flow that counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flow {
    /// The instant at which the flow began.
    pub(super) start: Instant,
    /// The payload of the flow, in bytes.
    pub(super) bytes: u64,
    /// The completion time of the flow; `None` if the flow never ended.
    pub(super) took: Option<Duration>,
    /// The completion time over that of the flow alone on the clean link; infinite if the flow never ended.
    pub(super) slowdown: f64,
    /// Packets of the flow that were sent again.
    pub(super) retransmissions: u32,
    /// Expiries of the retransmission timers of the flow.
    pub(super) timeouts: u32,
}

impl Flow {
    /// Returns the record of a flow that never ended.
    pub(super) const fn never(start: Instant, bytes: u64) -> Self {
        Self { start, bytes, took: None, slowdown: f64::INFINITY, retransmissions: 0, timeouts: 0 }
    }
}

//! The result of one of the flows that follow each other.

use super::counters::Repair;
use lossylink_core::time::Duration;

/// The result of one flow, also of one that never ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Trial {
    /// The completion time of the flow; `None` if it never ended.
    pub(super) took: Option<Duration>,
    pub(super) lost_frames: u32,
    pub(super) retransmissions: u32,
    pub(super) timeouts: u32,
    pub(super) repair: Option<Repair>,
}

impl Trial {
    /// Returns the result of a flow that lost nothing.
    #[cfg(feature = "fast")]
    pub(super) const fn clean(took: Duration) -> Self {
        Self { took: Some(took), lost_frames: 0, retransmissions: 0, timeouts: 0, repair: None }
    }

    /// Returns the result with `once`, the latency that the hosts add to the whole flow.
    pub(super) fn with(self, once: Duration) -> Self {
        Self { took: self.took.map(|took| took + once), ..self }
    }
}

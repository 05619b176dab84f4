//! The result of one of the flows that follow each other.

use super::counters::Repair;
use lossylink_core::time::Duration;

/// One flow's result, also of one that never ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Trial {
    /// `None` if it never ended.
    pub(super) took: Option<Duration>,
    pub(super) lost_frames: u32,
    pub(super) retransmissions: u32,
    pub(super) timeouts: u32,
    pub(super) repair: Option<Repair>,
}

impl Trial {
    /// One that met no loss.
    #[cfg(feature = "fast")]
    pub(super) const fn clean(took: Duration) -> Self {
        Self { took: Some(took), lost_frames: 0, retransmissions: 0, timeouts: 0, repair: None }
    }

    /// With what the hosts add to the whole flow.
    pub(super) fn with(self, once: Duration) -> Self {
        Self { took: self.took.map(|took| took + once), ..self }
    }
}

//! A clock seen by a train of packets.

use super::Clock;
use crate::kernel::Train;
use lossylink_core::time::Instant;

impl Clock {
    /// How many of the train come before the next tick.
    pub(in crate::transport::tcp) fn within_tick(&self, train: Train) -> u32 {
        train.come_by(Instant::from_ps(self.jiffy_end_ps - 1))
    }

    /// Whether `at`, which is not past, comes before the next tick.
    #[inline]
    pub(in crate::transport::tcp) const fn is_within_tick(&self, at: Instant) -> bool {
        at.as_ps() < self.jiffy_end_ps
    }
}

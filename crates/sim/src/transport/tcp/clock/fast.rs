//! Questions of a train of packets to a clock.

use super::Clock;
use crate::kernel::Train;
use lossylink_core::time::Instant;

impl Clock {
    /// Returns how many packets of the train come before the next tick.
    pub(in crate::transport::tcp) fn within_tick(&self, train: Train) -> u32 {
        train.come_by(Instant::from_ps(self.jiffy_end_ps - 1))
    }

    /// Whether `at`, which does not lie in the past, comes before the next tick.
    #[inline]
    pub(in crate::transport::tcp) const fn is_within_tick(&self, at: Instant) -> bool {
        at.as_ps() < self.jiffy_end_ps
    }
}

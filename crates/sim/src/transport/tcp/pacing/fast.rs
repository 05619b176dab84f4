//! Trains of packets that leave at a pace.

use super::Pacing;
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::Bytes;

impl Pacing {
    /// Returns when the next packet may leave.
    pub(in crate::transport::tcp) const fn free_at(&self) -> Instant {
        self.free_at
    }

    /// Returns the time for which a packet of `payload` bytes occupies the stack; `None` if the stack is never the
    /// limit.
    pub(in crate::transport::tcp) fn stack_span(&self, payload: u32) -> Option<Duration> {
        self.stack_rate.map(|rate| Bytes(u64::from(payload)) / rate)
    }

    /// Notes packets that occupy the stack for `span` each and left one behind the other, the last of them at `last`.
    /// No packet waits any more. (TCP-61)
    pub(in crate::transport::tcp) fn note_repeated(&mut self, last: Instant, span: Duration) {
        self.occupy(last, span);
        self.timer = None;
    }
}

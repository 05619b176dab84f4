//! The retransmission delay: the time from the receiver's detection of a loss to the first copy.

use crate::measure::Histogram;
use lossylink_core::engine::linkguardian::{Notification, Position};
use lossylink_core::time::{Duration, Instant};

/// The number of losses whose delay is measured at once. An older loss is forgotten.
const TRACKED: usize = 64;
/// The resolution of the delays.
const BIN: Duration = Duration::from_ns(10);
/// The number of bins. Longer delays share the last bin, and the maximum is exact.
const BINS: usize = 5_000;

/// Delays of retransmissions.
#[derive(Clone, Debug)]
pub struct RetransmissionDelay {
    detected: [Option<(Position, Instant)>; TRACKED],
    next: usize,
    delays: Histogram,
}

impl Default for RetransmissionDelay {
    fn default() -> Self {
        Self { detected: [None; TRACKED], next: 0, delays: Histogram::new(BIN.as_ps(), BINS) }
    }
}

impl RetransmissionDelay {
    /// Notes that a hole was detected.
    pub(super) fn note_detection(&mut self, now: Instant, notification: &Notification) {
        for step in 0..u32::from(notification.hole_size) {
            self.detected[self.next] = Some((notification.first_lost.plus(step), now));
            self.next = (self.next + 1) % TRACKED;
        }
    }

    /// Notes that a copy arrived. The first copy of its position counts.
    pub(super) fn note_arrival(&mut self, now: Instant, position: Position) {
        let waiting = self.detected.iter_mut().find(|entry| entry.is_some_and(|(lost, _)| lost == position));
        if let Some((_, detected)) = waiting.and_then(Option::take) {
            self.delays.add((now - detected).as_ps());
        }
    }

    /// Forgets the losses that are being timed.
    pub(super) fn forget(&mut self) {
        self.detected = [None; TRACKED];
    }

    /// Returns the delays, in picoseconds.
    pub const fn histogram(&self) -> &Histogram {
        &self.delays
    }
}

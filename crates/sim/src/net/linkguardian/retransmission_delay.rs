//! How long a lost frame takes to come back: from the receiver's detection to the first copy.

use crate::measure::Histogram;
use lossylink_core::engine::linkguardian::{Notification, Position};
use lossylink_core::time::{Duration, Instant};

/// Losses whose return is being timed; older ones are forgotten.
const TRACKED: usize = 64;
/// Resolution of the delays kept.
const BIN: Duration = Duration::from_ns(10);
/// Delays beyond this many bins share the last one; the maximum is exact.
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
    /// A hole was detected.
    pub(super) fn note_detection(&mut self, now: Instant, notification: &Notification) {
        for step in 0..u32::from(notification.hole_size) {
            self.detected[self.next] = Some((notification.first_lost.plus(step), now));
            self.next = (self.next + 1) % TRACKED;
        }
    }

    /// A copy arrived: the first one of its position counts.
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

    /// The delays, in picoseconds.
    pub const fn histogram(&self) -> &Histogram {
        &self.delays
    }
}

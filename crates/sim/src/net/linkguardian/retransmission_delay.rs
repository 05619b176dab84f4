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
    /// Notes that a hole was detected. An earlier loss with one of its positions was never repaired.
    pub(super) fn note_detection(&mut self, now: Instant, notification: &Notification) {
        for step in 0..u32::from(notification.hole_size) {
            let position = notification.first_lost.plus(step);
            self.take(position);
            self.detected[self.next] = Some((position, now));
            self.next = (self.next + 1) % TRACKED;
        }
    }

    /// Notes that a copy arrived. The first copy of its position counts.
    pub(super) fn note_arrival(&mut self, now: Instant, position: Position) {
        if let Some(detected) = self.take(position) {
            self.delays.add((now - detected).as_ps());
        }
    }

    /// Stops timing the loss of `position`, and returns when the loss was detected.
    fn take(&mut self, position: Position) -> Option<Instant> {
        let waiting = self.detected.iter_mut().find(|entry| entry.is_some_and(|(lost, _)| lost == position));
        waiting.and_then(Option::take).map(|(_, detected)| detected)
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

#[cfg(test)]
mod tests {
    use super::*;

    // LG-1: after 131,072 frames a position is used again.
    #[test]
    fn a_loss_of_an_earlier_wrap_is_not_taken_for_a_new_one() {
        let mut delays = RetransmissionDelay::default();
        let at = |us| Instant::ZERO + Duration::from_us(us);
        let lost = Position::new(1000, false);
        let notification = Notification { leading: lost.next(), first_lost: lost, hole_size: 1 };
        for (detected, arrived) in [(1, None), (16_000, Some(16_003))] {
            delays.note_detection(at(detected), &notification);
            // Two copies come; the first counts.
            arrived
                .into_iter()
                .for_each(|arrived| (0..2).for_each(|_| delays.note_arrival(at(arrived), lost)));
        }
        assert_eq!(delays.histogram().max(), Some(Duration::from_us(3).as_ps()));
    }
}

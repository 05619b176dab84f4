//! Proportional rate reduction (RFC 6937 as revised by RFC 9937): the window during a reduction.

use super::congestion::Algorithm;
use super::progress::Progress;
use super::recovery::State;
use super::sender::Sender;
use super::window::NO_THRESHOLD;

/// Deliveries and transmissions since the reduction began, segments.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reduction {
    delivered: u32,
    pub(super) sent: u32,
}

impl Reduction {
    /// Segments that may leave now. (TCP-30)
    ///
    /// Above the threshold one segment leaves for every `window / threshold` delivered; below it
    /// as many as were delivered, and one more when the acknowledgement shows progress and no new
    /// loss (slow-start reduction bound, else conservative reduction bound).
    fn allowance(&mut self, window: u32, threshold: u32, in_flight: u32, delivered: u32, safe: bool) -> u32 {
        self.delivered += delivered;
        let sent = i64::from(self.sent);
        let allowed = if in_flight > threshold {
            let share = u64::from(threshold) * u64::from(self.delivered);
            share.div_ceil(u64::from(window)) as i64 - sent
        } else {
            let owed = (i64::from(self.delivered) - sent).max(i64::from(delivered));
            (owed + i64::from(safe)).min(i64::from(threshold - in_flight))
        };
        // The first retransmission of a recovery always leaves.
        allowed.max(i64::from(self.sent == 0)).max(0) as u32
    }
}

impl Sender {
    /// A reduction of the window begins. (TCP-31)
    pub(super) fn begin_reduction(&mut self) {
        self.recovery_end = self.board.next();
        self.probe.forget();
        self.window.begin_reduction();
        self.reduction = Reduction::default();
        self.window.threshold = self.congestion.threshold(&self.window);
        self.announce_reduction = self.config.uses_ecn();
    }

    /// Sets the window for `delivered` segments that this acknowledgement reported.
    pub(super) fn reduce(&mut self, delivered: u32, newly_lost: u64, progress: &Progress) {
        if delivered == 0 || self.congestion.models_path() {
            return;
        }
        let in_flight = self.board.in_flight();
        let safe = progress.advanced && newly_lost == 0;
        let window = self.window.before_reduction;
        let allowed = self.reduction.allowance(window, self.window.threshold, in_flight, delivered, safe);
        self.window.size = in_flight + allowed;
    }

    /// A reduction ends at its threshold, unless it was undone.
    pub(super) fn end_reduction(&mut self) {
        if self.congestion.models_path() {
            return;
        }
        let reduced = self.state == State::Reduced || self.undo.marker.is_some();
        if self.window.threshold < NO_THRESHOLD && reduced {
            self.window.set(self.window.threshold, self.clock.jiffies());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// TCP-30: RFC 6937 section 4, with half the window lost segments go out at half the pace.
    #[test]
    fn above_the_threshold_every_second_delivery_frees_a_segment() {
        let mut reduction = Reduction::default();
        let mut sent = Vec::new();
        for _ in 0..8 {
            let allowed = reduction.allowance(20, 10, 15, 1, false);
            reduction.sent += allowed;
            sent.push(allowed);
        }
        assert_eq!(sent, [1, 0, 1, 0, 1, 0, 1, 0]);
    }

    /// TCP-30: below the threshold progress without loss grows as slow start does.
    #[test]
    fn below_the_threshold_safe_progress_adds_one() {
        let mut reduction = Reduction { delivered: 5, sent: 5 };
        assert_eq!(reduction.allowance(20, 10, 4, 1, false), 1);
        let mut reduction = Reduction { delivered: 5, sent: 5 };
        assert_eq!(reduction.allowance(20, 10, 4, 1, true), 2);
        let mut reduction = Reduction { delivered: 5, sent: 5 };
        assert_eq!(reduction.allowance(20, 10, 9, 3, true), 1, "never above the threshold");
    }

    /// TCP-30
    #[test]
    fn the_first_retransmission_always_leaves() {
        let mut reduction = Reduction { delivered: 0, sent: 0 };
        assert_eq!(reduction.allowance(20, 10, 10, 1, false), 1);
    }
}

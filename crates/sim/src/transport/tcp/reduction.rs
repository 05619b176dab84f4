//! Proportional rate reduction (RFC 6937 as revised by RFC 9937): the window during a reduction.

use super::window::Window;

/// A reduction that goes on, or the last reduction.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reduction {
    /// Deliveries and transmissions since the reduction began, segments.
    delivered: u32,
    sent: u32,
    /// Whether the next new segment tells the receiver of the reduction.
    is_to_announce: bool,
}

impl Reduction {
    /// Begins a reduction. The receiver is told if ECN was negotiated. (TCP-51)
    pub(super) fn begin(&mut self, uses_ecn: bool) {
        *self = Self { delivered: 0, sent: 0, is_to_announce: uses_ecn };
    }

    /// Announces to the receiver that a timeout reduced the window at once, if ECN was negotiated.
    pub(super) const fn announce(&mut self, uses_ecn: bool) {
        self.is_to_announce = uses_ecn;
    }

    /// Withdraws the announcement of a reduction that was undone before the receiver was told.
    pub(super) const fn withdraw(&mut self) {
        self.is_to_announce = false;
    }

    /// Whether a new segment that leaves now tells of the reduction. (TCP-51)
    pub(super) fn take_announcement(&mut self) -> bool {
        std::mem::take(&mut self.is_to_announce)
    }

    /// Notes that `count` segments leave.
    pub(super) const fn note_sent(&mut self, count: u32) {
        self.sent += count;
    }

    /// Returns the number of segments that may leave now. (TCP-30)
    ///
    /// Above the threshold one segment leaves for every `window / threshold` delivered. Below the
    /// threshold one segment leaves for each delivered, and one more when the acknowledgement shows
    /// progress and no new loss (slow-start reduction bound, else conservative reduction bound).
    pub(super) fn allowance(
        &mut self,
        window: &Window,
        in_flight: u32,
        delivered: u32,
        is_safe: bool,
    ) -> u32 {
        let (before, threshold) = (window.before_reduction(), window.threshold);
        self.delivered += delivered;
        let sent = i64::from(self.sent);
        let allowed = if in_flight > threshold {
            let share = u64::from(threshold) * u64::from(self.delivered);
            share.div_ceil(u64::from(before)) as i64 - sent
        } else {
            let owed = (i64::from(self.delivered) - sent).max(i64::from(delivered));
            (owed + i64::from(is_safe)).min(i64::from(threshold - in_flight))
        };
        // The first retransmission of a recovery always leaves.
        allowed.max(i64::from(self.sent == 0)).max(0) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a window of twenty on its way to ten.
    fn reduced() -> Window {
        let mut window = Window::new(20);
        window.begin_reduction();
        window.threshold = 10;
        window
    }

    /// TCP-30: RFC 6937 section 4, with half the window lost segments go out at half the pace.
    #[test]
    fn above_the_threshold_every_second_delivery_frees_a_segment() {
        let mut reduction = Reduction::default();
        let mut sent = Vec::new();
        for _ in 0..8 {
            let allowed = reduction.allowance(&reduced(), 15, 1, false);
            reduction.note_sent(allowed);
            sent.push(allowed);
        }
        assert_eq!(sent, [1, 0, 1, 0, 1, 0, 1, 0]);
    }

    /// TCP-30: below the threshold progress without loss grows as slow start does.
    #[test]
    fn below_the_threshold_safe_progress_adds_one() {
        let mut reduction = Reduction { delivered: 5, sent: 5, ..Reduction::default() };
        assert_eq!(reduction.allowance(&reduced(), 4, 1, false), 1);
        let mut reduction = Reduction { delivered: 5, sent: 5, ..Reduction::default() };
        assert_eq!(reduction.allowance(&reduced(), 4, 1, true), 2);
        let mut reduction = Reduction { delivered: 5, sent: 5, ..Reduction::default() };
        assert_eq!(reduction.allowance(&reduced(), 9, 3, true), 1, "never above the threshold");
    }

    /// TCP-30
    #[test]
    fn the_first_retransmission_always_leaves() {
        let mut reduction = Reduction::default();
        assert_eq!(reduction.allowance(&reduced(), 10, 1, false), 1);
    }

    /// TCP-51
    #[test]
    fn a_reduction_is_announced_once_unless_it_was_undone() {
        let mut reduction = Reduction::default();
        reduction.begin(true);
        assert!(reduction.take_announcement() && !reduction.take_announcement());
        reduction.announce(true);
        reduction.withdraw();
        assert!(!reduction.take_announcement());
        reduction.begin(false);
        assert!(!reduction.take_announcement(), "without ECN");
    }
}

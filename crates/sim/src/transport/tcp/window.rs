//! The congestion window and its growth, shared by the loss-based algorithms.

/// A slow-start threshold that was never set.
pub(super) const NO_THRESHOLD: u32 = 0x7fff_ffff;

/// The congestion window in segments, and its use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// The congestion window, segments.
    pub(super) size: u32,
    /// The window below which slow start holds, and from which on congestion avoidance holds.
    pub(super) threshold: u32,
    /// Number of acknowledged segments not yet turned into growth.
    credit: u32,
    /// The window before the last reduction.
    before_reduction: u32,
    /// Whether the window, not the application, limited the last flight.
    limited: bool,
    /// The most segments outstanding in the last flight.
    most_outstanding: u32,
    /// The end of the flight to which `limited` and `most_outstanding` belong.
    usage_end: u64,
    /// The most segments outstanding since the application became the limit.
    used: u32,
    /// The time when the window was last known to be used, or was set, jiffies.
    stamp: u64,
}

impl Window {
    pub(super) const fn new(initial: u32) -> Self {
        Self {
            size: initial,
            threshold: NO_THRESHOLD,
            credit: 0,
            before_reduction: 0,
            limited: false,
            most_outstanding: 0,
            usage_end: 0,
            used: 0,
            stamp: 0,
        }
    }

    pub(super) const fn in_slow_start(&self) -> bool {
        self.size < self.threshold
    }

    /// Returns the window before the last reduction.
    pub(super) const fn before_reduction(&self) -> u32 {
        self.before_reduction
    }

    /// Whether the window, not the application, limited the last flight.
    pub(super) const fn was_full(&self) -> bool {
        self.limited
    }

    /// Whether growth is warranted: the window limited the sender, or, in slow start, over half of
    /// it was used. (TCP-47)
    pub(super) const fn is_limited(&self) -> bool {
        self.limited || (self.in_slow_start() && self.size < 2 * self.most_outstanding)
    }

    /// Grows the window by slow start up to the threshold. Returns the acknowledged segments left over. (TCP-45)
    pub(super) fn slow_start(&mut self, acknowledged: u32) -> u32 {
        let grown = (self.size + acknowledged).min(self.threshold);
        let left = acknowledged - (grown - self.size);
        self.size = grown;
        left
    }

    /// Grows the window linearly: by one segment for every `per_segment` acknowledged. (TCP-46)
    pub(super) fn grow_linearly(&mut self, per_segment: u32, acknowledged: u32) {
        if self.credit >= per_segment {
            // Credit from a larger window is worth one segment only.
            self.credit = 0;
            self.size += 1;
        }
        self.credit += acknowledged;
        if self.credit >= per_segment {
            self.size += self.credit / per_segment;
            self.credit %= per_segment;
        }
    }

    /// Returns how many segments more may be acknowledged before the window grows, if it is limited and past slow
    /// start, and `per_segment` acknowledged segments give one segment of growth.
    #[cfg(feature = "fast")]
    pub(super) const fn segments_without_growth(&self, per_segment: u32) -> u32 {
        if self.in_slow_start() || !self.limited {
            0
        } else {
            per_segment.saturating_sub(1).saturating_sub(self.credit)
        }
    }

    /// Notes acknowledged segments that are too few for the window to grow.
    #[cfg(feature = "fast")]
    pub(super) const fn note_without_growth(&mut self, acknowledged: u32) {
        self.credit += acknowledged;
    }

    /// Sets the window and forgets the credit.
    pub(super) fn restart(&mut self, size: u32, jiffies: u64) {
        self.size = size;
        self.credit = 0;
        self.stamp = jiffies;
    }

    /// Begins a reduction: keeps the window before it and forgets the credit.
    pub(super) fn begin_reduction(&mut self) {
        self.before_reduction = self.size;
        self.credit = 0;
    }

    /// Sets the window by recovery, not by growth.
    pub(super) fn set(&mut self, size: u32, jiffies: u64) {
        self.size = size;
        self.stamp = jiffies;
    }

    /// Notes how much of the window a transmission used. (TCP-47)
    pub(super) fn note_usage(&mut self, una: u64, next: u64, outstanding: u32, limited: bool, jiffies: u64) {
        let new_flight = una >= self.usage_end;
        if new_flight || limited || (!self.limited && outstanding > self.most_outstanding) {
            self.limited = limited;
            self.most_outstanding = outstanding;
            self.usage_end = next;
        }
        if self.is_limited() {
            self.used = 0;
            self.stamp = jiffies;
        } else {
            self.used = self.used.max(outstanding);
        }
    }

    /// Whether the window has not been known to be used for a retransmission timeout, `rto`.
    #[inline]
    pub(super) const fn is_stale(&self, rto: u64, jiffies: u64) -> bool {
        jiffies - self.stamp >= rto
    }

    /// Shrinks a window that the application left unused for a retransmission timeout. (TCP-48)
    pub(super) fn decay_unused(&mut self, initial: u32, current_threshold: u32, rto: u64, jiffies: u64) {
        if self.is_limited() || !self.is_stale(rto, jiffies) {
            return;
        }
        let used = self.used.max(initial);
        if used < self.size {
            self.threshold = current_threshold;
            self.size = (self.size + used) / 2;
        }
        self.used = 0;
        self.stamp = jiffies;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// TCP-45
    #[test]
    fn slow_start_stops_at_the_threshold_and_returns_the_rest() {
        let mut window = Window { threshold: 12, ..Window::new(10) };
        assert_eq!(window.slow_start(1), 0);
        assert_eq!(window.slow_start(3), 2);
        assert_eq!((window.size, window.in_slow_start()), (12, false));
    }

    /// TCP-46
    #[test]
    fn linear_growth_counts_segments_not_acknowledgements() {
        let mut window = Window { threshold: 10, ..Window::new(10) };
        for _ in 0..5 {
            window.grow_linearly(10, 2);
        }
        assert_eq!(window.size, 11);
        window.grow_linearly(11, 33);
        assert_eq!(window.size, 14);
    }

    /// TCP-47
    #[test]
    fn only_a_used_window_grows() {
        let mut window = Window::new(10);
        window.note_usage(0, 5, 5, false, 0);
        assert!(!window.is_limited(), "half of the window is not enough");
        window.note_usage(0, 6, 6, false, 0);
        assert!(window.is_limited(), "more than half is, in slow start");
        window.threshold = 10;
        assert!(!window.is_limited(), "past slow start it is not");
        window.note_usage(0, 10, 10, true, 0);
        assert!(window.is_limited());
    }

    /// TCP-48
    #[test]
    fn an_unused_window_decays_after_a_timeout() {
        let mut window = Window { threshold: 5, ..Window::new(40) };
        window.note_usage(0, 4, 4, false, 0);
        window.decay_unused(10, 30, 200, 199);
        assert_eq!(window.size, 40);
        window.decay_unused(10, 30, 200, 200);
        assert_eq!((window.size, window.threshold), (25, 30));
    }
}

//! The counters of a sender.

/// Counters of one sender since its connection opened.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Statistics {
    /// Data segments sent, retransmissions and probes included.
    pub segments_sent: u64,
    /// Segments sent again for whatever reason.
    pub retransmissions: u64,
    /// Retransmission timeouts that expired with data outstanding.
    pub timeouts: u64,
    /// Tail-loss probes sent.
    pub loss_probes: u64,
    /// Tail-loss probes whose retransmission repaired a loss.
    pub loss_probe_recoveries: u64,
    /// Fast recoveries entered on an acknowledgement.
    pub fast_recoveries: u64,
    /// Fast recoveries entered when the reordering timer fired.
    pub reordering_timer_recoveries: u64,
    /// Window reductions on an ECN echo.
    pub ecn_reductions: u64,
    /// Reductions taken back because the retransmissions proved needless.
    pub undo_events: u64,
    /// Segments that the receiver reported as duplicates.
    pub duplicate_reports: u64,
    /// Segments declared lost, a lost retransmission again each time.
    pub segments_lost: u64,
    /// Segments delivered (acknowledged, SACKed or reported as duplicates).
    pub segments_delivered: u64,
    /// Segments delivered by acknowledgements with an ECN echo.
    pub segments_marked: u64,
    /// Acknowledgements processed.
    pub acknowledgements: u64,
    /// Round-trip samples taken.
    pub rtt_samples: u64,
    /// Sum of the round-trip samples, microseconds.
    pub rtt_sum_us: u64,
    /// Least round-trip sample, microseconds; `u64::MAX` before the first.
    pub rtt_min_us: u64,
    /// Integral of the congestion window over time, segment-microseconds.
    pub window_time: u64,
    /// Span of the window's integral, microseconds.
    pub window_span_us: u64,
}

impl Statistics {
    pub(super) fn new() -> Self {
        Self { rtt_min_us: u64::MAX, ..Self::default() }
    }

    pub(super) fn note_round_trip(&mut self, sample_us: u64) {
        self.note_round_trips(1, sample_us, sample_us);
    }

    /// Notes `count` round-trip samples, of which the sum and the least are known, microseconds.
    pub(super) fn note_round_trips(&mut self, count: u64, sum_us: u64, least_us: u64) {
        self.rtt_samples += count;
        self.rtt_sum_us += sum_us;
        self.rtt_min_us = self.rtt_min_us.min(least_us);
    }

    /// Notes that `count` segments are known to have arrived.
    pub(super) fn note_delivered(&mut self, count: u64, is_congestion_echoed: bool) {
        self.segments_delivered += count;
        if is_congestion_echoed {
            self.segments_marked += count;
        }
    }

    /// Notes that the window was `window` segments for `span_us` microseconds.
    pub(super) fn note_window(&mut self, window: u32, span_us: u64) {
        self.window_time += u64::from(window) * span_us;
        self.window_span_us += span_us;
    }

    /// Returns the number of congestion events: recoveries of either kind and timeouts.
    pub const fn loss_events(&self) -> u64 {
        self.fast_recoveries + self.reordering_timer_recoveries + self.timeouts
    }

    /// Returns the mean round-trip time, microseconds, or `None` before the first sample.
    pub fn rtt_mean_us(&self) -> Option<f64> {
        (self.rtt_samples > 0).then(|| self.rtt_sum_us as f64 / self.rtt_samples as f64)
    }

    /// Returns the mean congestion window over time, segments, up to the last acknowledgement or
    /// timer.
    pub fn window_mean(&self) -> Option<f64> {
        (self.window_span_us > 0).then(|| self.window_time as f64 / self.window_span_us as f64)
    }
}

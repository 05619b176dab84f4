//! Segmentation offload: how many segments leave as one packet, and when they wait for more
//! (Linux `tcp_tso_autosize` and `tcp_tso_should_defer`).

use super::congestion::Algorithm;
use super::recovery::State;
use super::sender::Sender;

/// A burst is about a millisecond's worth of the pacing rate: its 2^10th part (Linux
/// `sk_pacing_shift`).
const RATE_SHIFT: u32 = 10;
/// Least burst while there is enough to send (Linux `tcp_min_tso_segs`), segments.
const LEAST_BURST: u64 = 2;
/// Largest burst of one offloaded packet, bytes.
const MOST_BYTES: u64 = 65_535 - 320;
/// Short round trips allow larger bursts: halved for every 2^9 us (Linux `tcp_tso_rtt_log`).
const ROUND_TRIP_SHIFT: u64 = 9;
/// Segments wait for more only this soon after others left, microseconds.
const RECENT_US: u64 = 1_000;
/// No waiting when this part of the window may leave (Linux `tcp_tso_win_divisor`).
const WINDOW_PART: u32 = 3;

impl Sender {
    /// Segments of the next packet when the window allows `quota`; none while they wait for more.
    pub(super) fn burst(&self, quota: u32) -> u32 {
        let limit = self.burst_limit();
        if self.defers(quota, limit) {
            return 0;
        }
        let count = u64::from(quota.min((self.window.size / 2).max(1)).min(limit));
        count.min(self.sendable()).min(self.left_in_buffer(self.board.next())) as u32
    }

    /// Most segments of one packet. (TCP-59)
    pub(super) fn burst_limit(&self) -> u32 {
        let view = self.view();
        let rate = self.congestion.pacing_rate().unwrap_or_else(|| view.pacing_rate(&self.window));
        let halvings = self.rtt.minimum_us() >> ROUND_TRIP_SHIFT;
        let near = if halvings < 32 { (MOST_BYTES + 1) >> halvings } else { 0 };
        let bytes = ((rate >> RATE_SHIFT) + near).min(MOST_BYTES);
        let segments = (bytes / u64::from(self.flow.payload())).max(LEAST_BURST);
        (segments as u32).min(self.config.max_burst_segments)
    }

    /// Segments from `first` to the end of the buffer that the application filled. (TCP-59)
    ///
    /// The kernel queues full buffers of the largest burst; what a smaller burst leaves of one is
    /// not merged with the next.
    fn left_in_buffer(&self, first: u64) -> u64 {
        let buffer = (MOST_BYTES / u64::from(self.flow.payload())).max(1);
        buffer - first % buffer
    }

    /// Whether `quota` segments wait for an acknowledgement that lets more leave with them. (TCP-60)
    fn defers(&self, quota: u32, limit: u32) -> bool {
        let now_us = self.clock.micros();
        let age_us = self.board.head().map_or(0, |head| now_us - head.sent_us);
        self.state < State::Recovery
            && quota < limit
            && now_us - self.last_sent_us <= RECENT_US
            && quota < self.window.size / WINDOW_PART
            && age_us >= self.rtt.smoothed_us() / 2
    }
}

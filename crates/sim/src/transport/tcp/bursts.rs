//! Segmentation offload: the number of segments that leave as one packet, and the time for which
//! segments wait for more (Linux `tcp_tso_autosize` and `tcp_tso_should_defer`).

use super::config::Config;

/// The shift from the pacing rate to the size of a burst, which is about a millisecond's worth of that
/// rate: its 2^10th part (Linux `sk_pacing_shift`).
const RATE_SHIFT: u32 = 10;
/// The least burst while there is enough data to send (Linux `tcp_min_tso_segs`), segments.
const LEAST_BURST: u64 = 2;
/// The largest burst of one offloaded packet, bytes.
const MOST_BYTES: u64 = 65_535 - 320;
/// The shift from the least round trip to halvings of the extra burst that short round trips allow: one
/// for every 2^9 us (Linux `tcp_tso_rtt_log`).
const ROUND_TRIP_SHIFT: u64 = 9;
/// The longest time after the last data for which segments wait for more, microseconds.
const RECENT_US: u64 = 1_000;
/// The part of the window from which on segments leave without waiting (Linux `tcp_tso_win_divisor`).
const WINDOW_PART: u32 = 3;

/// The bursts of one sender.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bursts {
    /// Most segments of one packet; 1 without offload.
    most: u32,
    /// Payload of a full segment, bytes.
    payload: u32,
    /// The time when data last left, microseconds.
    last_sent_us: u64,
    /// Whether segments wait for more segments to fill a burst.
    are_waiting: bool,
}

impl Bursts {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            most: config.max_burst_segments,
            payload: config.payload_bytes(),
            last_sent_us: 0,
            are_waiting: false,
        }
    }

    /// Whether a packet may hold more than one segment.
    pub(super) const fn are_on(&self) -> bool {
        self.most > 1
    }

    /// Notes that data leaves.
    pub(super) fn note_sent(&mut self, now_us: u64) {
        self.last_sent_us = now_us;
    }

    /// Returns the most segments of one packet at a pacing rate of `rate` bytes per second, on a path
    /// whose least round trip is `least_us`. (TCP-59)
    pub(super) fn limit(&self, rate: u64, least_us: u64) -> u32 {
        let halvings = least_us >> ROUND_TRIP_SHIFT;
        let near = if halvings < 32 { (MOST_BYTES + 1) >> halvings } else { 0 };
        let bytes = ((rate >> RATE_SHIFT) + near).min(MOST_BYTES);
        let segments = (bytes / u64::from(self.payload)).max(LEAST_BURST);
        (segments as u32).min(self.most)
    }

    /// Returns the number of segments from `first` on in one packet, when `quota` and `sendable` may
    /// leave of a `window`. (TCP-20)
    pub(super) fn size(&self, quota: u32, limit: u32, window: u32, sendable: u64, first: u64) -> u32 {
        let count = u64::from(quota.min((window / 2).max(1)).min(limit));
        count.min(sendable).min(self.left_in_buffer(first)) as u32
    }

    /// Returns the number of segments from `first` to the end of the buffer that the application
    /// filled. (TCP-59)
    ///
    /// The kernel queues full buffers of the largest burst. The part of a buffer that a smaller burst
    /// leaves is not merged with the next buffer.
    fn left_in_buffer(&self, first: u64) -> u64 {
        let buffer = (MOST_BYTES / u64::from(self.payload)).max(1);
        buffer - first % buffer
    }

    /// Whether `quota` segments wait for an acknowledgement that is near, and lets more segments leave
    /// with them. (TCP-60)
    pub(super) fn wait_for_more(&mut self, quota: u32, limit: u32, window: u32, now_us: u64) -> bool {
        self.are_waiting =
            quota < limit && now_us - self.last_sent_us <= RECENT_US && quota < window / WINDOW_PART;
        self.are_waiting
    }

    /// Whether segments have waited since the last call.
    pub(super) fn take_waiting(&mut self) -> bool {
        std::mem::take(&mut self.are_waiting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bursts() -> Bursts {
        Bursts::new(&Config { max_burst_segments: 44, ..Config::default() })
    }

    /// TCP-59
    #[test]
    fn a_burst_follows_rate_and_round_trip_and_ends_with_its_buffer() {
        let bursts = bursts();
        assert_eq!(bursts.limit(0, 20_000), 2);
        assert_eq!(bursts.limit(1 << 23, 20_000), 5, "8192 bytes");
        assert_eq!(bursts.limit(0, 600), 22, "half of 64 KB");
        assert_eq!(bursts.limit(0, 0), 44);
        assert_eq!(bursts.size(40, 44, 60, 100, 0), 30, "half of the window");
        assert_eq!(bursts.size(40, 44, 100, 100, 34), 10, "to the 44th segment");
        assert_eq!(bursts.size(40, 44, 100, 7, 0), 7);
    }

    /// TCP-60
    #[test]
    fn few_segments_wait_for_a_millisecond_at_most() {
        let mut bursts = bursts();
        bursts.note_sent(1_000);
        assert!(bursts.wait_for_more(2, 10, 12, 2_000) && bursts.take_waiting());
        assert!(!bursts.take_waiting(), "asked once");
        assert!(!bursts.wait_for_more(2, 10, 12, 2_001), "too late");
        assert!(!bursts.wait_for_more(4, 10, 12, 2_000), "a third of the window");
        assert!(!bursts.wait_for_more(10, 10, 100, 2_000), "a full burst");
    }
}

//! The data of a sender: the number of segments, their payload, and the times when they began and ended.

use super::config::Config;
use lossylink_core::time::Instant;

/// The end of an endless flow.
const ENDLESS: u64 = u64::MAX;

/// The data of one flow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flow {
    /// Payload of a full segment, bytes.
    payload: u32,
    /// Receive window, segments.
    receive_window: u64,
    /// One past the last segment of the flow.
    end: u64,
    /// Number of bytes by which the last segment is short.
    missing_in_last: u32,
    first_sent_at: Option<Instant>,
    completed_at: Option<Instant>,
}

impl Flow {
    /// Returns a flow of `bytes`, or an endless one.
    pub(super) fn new(config: &Config, bytes: Option<u64>) -> Self {
        let payload = config.payload_bytes();
        let end = bytes.map_or(ENDLESS, |bytes| bytes.div_ceil(u64::from(payload)));
        Self {
            payload,
            receive_window: config.receive_window_segments(),
            end,
            missing_in_last: bytes.map_or(0, |bytes| (end * u64::from(payload) - bytes) as u32),
            first_sent_at: None,
            completed_at: None,
        }
    }

    /// Returns the payload of a full segment, bytes.
    pub(super) const fn payload(&self) -> u32 {
        self.payload
    }

    /// Whether the flow is endless, so that there is always more to send.
    pub(super) const fn is_endless(&self) -> bool {
        self.end == ENDLESS
    }

    /// Returns the number of segments from `next` on that flow and receive window allow while `una` is acknowledged.
    /// (TCP-20)
    pub(super) fn sendable(&self, una: u64, next: u64) -> u64 {
        self.end.min(una + self.receive_window).saturating_sub(next)
    }

    /// Returns the number of full segments from `next` on that flow and receive window allow while `una` is acknowledged.
    #[cfg(feature = "fast")]
    pub(super) fn sendable_in_full(&self, una: u64, next: u64) -> u64 {
        let sendable = self.sendable(una, next);
        let with_short_last = self.missing_in_last > 0 && next + sendable == self.end;
        sendable.saturating_sub(u64::from(with_short_last))
    }

    /// Returns how many segments, up to `most`, may leave from `next` on without the last segment of the flow, if each
    /// leaves for an acknowledged one of `outstanding` segments.
    #[cfg(feature = "fast")]
    pub(super) fn leaves_in_full(&self, most: u32, outstanding: u32, next: u64) -> u32 {
        let fits = u64::from(outstanding) <= self.receive_window;
        if fits { self.end.saturating_sub(next + 1).min(u64::from(most)) as u32 } else { 0 }
    }

    /// Returns the payload of the `count` segments before `end`, bytes.
    pub(super) const fn bytes_of(&self, count: u32, end: u64) -> u32 {
        let missing = if end == self.end { self.missing_in_last } else { 0 };
        count * self.payload - missing
    }

    /// Returns the payload of all segments before `end`, bytes.
    pub(super) fn bytes_before(&self, end: u64) -> u64 {
        let missing = if end == self.end { self.missing_in_last } else { 0 };
        end * u64::from(self.payload) - u64::from(missing)
    }

    /// Returns the payload of all segments from `next` on, bytes; `None` for an endless flow.
    pub(super) fn bytes_from(&self, next: u64) -> Option<u64> {
        (!self.is_endless()).then(|| self.bytes_before(self.end) - self.bytes_before(next))
    }

    /// Notes that new data leaves.
    pub(super) fn note_sent(&mut self, now: Instant) {
        if self.first_sent_at.is_none() {
            self.first_sent_at = Some(now);
        }
    }

    /// Notes that all segments before `una` are acknowledged.
    pub(super) fn note_acknowledged(&mut self, una: u64, now: Instant) {
        if una == self.end && self.completed_at.is_none() {
            self.completed_at = Some(now);
        }
    }

    /// Returns when the first data left.
    pub(super) const fn first_sent_at(&self) -> Option<Instant> {
        self.first_sent_at
    }

    /// Returns when the acknowledgement of the whole flow arrived.
    pub(super) const fn completed_at(&self) -> Option<Instant> {
        self.completed_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// TCP-20
    #[cfg(feature = "fast")]
    #[test]
    fn the_flow_and_the_receive_window_bound_what_may_leave() {
        let config = Config { receive_window_bytes: 4 * 1460, ..Config::default() };
        let flow = Flow::new(&config, Some(10 * 1460));
        assert_eq!([flow.sendable(0, 0), flow.sendable(0, 4), flow.sendable(5, 6)], [4, 0, 3]);
        assert_eq!(flow.sendable(8, 8), 2, "the rest of the flow");
        assert_eq!(flow.sendable_in_full(8, 8), 2);
        let with_short_last = Flow::new(&config, Some(10 * 1460 - 1));
        assert_eq!([8, 9, 10].map(|next| with_short_last.sendable_in_full(8, next)), [1, 0, 0]);
        assert!(Flow::new(&config, None).is_endless());
    }

    #[test]
    fn the_last_segment_may_be_short_and_the_first_instants_count() {
        let mut flow = Flow::new(&Config::default(), Some(24_387));
        assert_eq!((flow.bytes_of(1, 16), flow.bytes_of(1, 17), flow.bytes_of(2, 17)), (1460, 1027, 2487));
        assert_eq!((flow.bytes_before(16), flow.bytes_before(17)), (16 * 1460, 24_387));
        let at = |us: u64| Instant::from_ps(us * 1_000_000);
        flow.note_sent(at(1));
        flow.note_sent(at(2));
        flow.note_acknowledged(16, at(3));
        assert_eq!((flow.first_sent_at(), flow.completed_at()), (Some(at(1)), None));
        flow.note_acknowledged(17, at(4));
        flow.note_acknowledged(17, at(5));
        assert_eq!(flow.completed_at(), Some(at(4)));
    }
}

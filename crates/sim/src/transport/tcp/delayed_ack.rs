//! The times at which the receiver acknowledges: at once, with the second segment, or when a timer
//! fires (Linux `__tcp_ack_snd_check` and `tcp_event_data_recv`).

use super::clock::Clock;
use super::config::Config;
use super::timers::ReceiverTimer;
use lossylink_core::time::Instant;

/// Segment size assumed before any data arrived (RFC 9293 section 3.7.1), bytes.
const DEFAULT_SEGMENT: u32 = 536;

/// The delayed-acknowledgement engine of one receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DelayedAck {
    /// The timeout, jiffies; zero before the first data.
    timeout: u64,
    /// The least timeout, jiffies.
    least_timeout: u64,
    /// The greatest timeout (Linux `TCP_DELACK_MAX`, 200 ms), jiffies.
    greatest_timeout: u64,
    /// Number of segments still to be acknowledged one by one.
    quick: u32,
    /// The time when data last arrived, jiffies.
    last_data: u64,
    /// The payload of a full segment as far as it is known, bytes.
    full_segment: u32,
    /// Number of full segments that one acknowledgement may cover.
    segments: u32,
    quick_acks: u32,
    receive_window: u64,
    /// Number of bytes that arrived in order since the last acknowledgement.
    pending_bytes: u64,
    /// Whether the next check acknowledges all segments that arrived.
    now: bool,
    /// Whether a short segment arrived: the reader, having emptied the queue, acknowledges it at
    /// once.
    pushed: bool,
    /// The tick for which the timer is armed, and when the wheel fires it.
    armed: Option<(u64, Instant)>,
}

impl DelayedAck {
    pub(super) fn new(config: &Config, clock: &Clock) -> Self {
        Self {
            timeout: 0,
            least_timeout: clock.jiffies_in(config.delayed_ack_min),
            greatest_timeout: clock.hertz() / 5,
            quick: 0,
            last_data: 0,
            full_segment: DEFAULT_SEGMENT.min(config.payload_bytes()),
            segments: config.delayed_ack_segments.max(1),
            quick_acks: config.quick_acks,
            receive_window: config.receive_window_bytes,
            pending_bytes: 0,
            now: false,
            pushed: false,
            armed: None,
        }
    }

    /// Notes that data arrived, in segments of `payload` bytes. A gap longer than `rto` counts as
    /// idle. (TCP-52)
    pub(super) fn note_data(&mut self, payload: u32, rto: u64, clock: &Clock) {
        self.measure_segment(payload);
        let jiffies = clock.jiffies();
        let gap = jiffies - self.last_data;
        if self.timeout == 0 {
            self.go_quick(self.quick_acks);
            self.timeout = self.least_timeout;
        } else if gap <= self.least_timeout / 2 {
            self.timeout = self.timeout / 2 + self.least_timeout / 2;
        } else if gap < self.timeout {
            self.timeout = (self.timeout / 2 + gap).min(rto);
        } else if gap > rto {
            // The sender was idle for longer than `rto` and starts over: quick acknowledgements
            // help its window.
            self.go_quick(self.quick_acks);
        }
        self.last_data = jiffies;
    }

    /// Takes the largest segment seen as a full one. A shorter segment ends the data that the
    /// application sent.
    fn measure_segment(&mut self, payload: u32) {
        if payload >= self.full_segment {
            self.full_segment = payload;
        } else {
            self.pushed = true;
        }
    }

    /// Notes that `bytes` more bytes arrived in order.
    pub(super) fn note_in_order(&mut self, bytes: u64) {
        self.pending_bytes += bytes;
    }

    /// Acknowledges the next segments one by one, at most `most` of them.
    fn go_quick(&mut self, most: u32) {
        let window = self.receive_window / (2 * u64::from(self.full_segment));
        let quick = u32::try_from(window).unwrap_or(u32::MAX).max(2).min(most);
        self.quick = self.quick.max(quick);
    }

    /// Acknowledges one by one after an unusual segment, and forgets a stretched timeout. (TCP-53)
    pub(super) fn enter_quick_mode(&mut self, most: u32) {
        self.go_quick(most);
        self.timeout = self.least_timeout;
    }

    /// Returns the greatest number of quick acknowledgements in a row.
    pub(super) const fn most_quick(&self) -> u32 {
        self.quick_acks
    }

    /// Lets the next check acknowledge all segments that arrived.
    pub(super) const fn hurry(&mut self) {
        self.now = true;
    }

    /// Whether the segments that arrived must be acknowledged at once. (TCP-54)
    pub(super) fn is_due(&self) -> bool {
        self.now || self.quick > 0 || self.pending_bytes > u64::from((self.segments - 1) * self.full_segment)
    }

    /// Whether the reading application acknowledges at once.
    pub(super) const fn is_pushed(&self) -> bool {
        self.pushed
    }

    /// Arms the timer. Returns false if the timer is about to fire anyway. (TCP-55)
    pub(super) fn delay(&mut self, smoothed_us: u64, clock: &Clock) -> bool {
        let mut wait = self.timeout;
        if wait > self.least_timeout {
            let round_trip = clock.jiffies_in_micros(smoothed_us).max(self.least_timeout);
            wait = if smoothed_us > 0 { wait.min(round_trip) } else { wait };
        }
        wait = wait.min(self.greatest_timeout);
        let mut expires = clock.jiffies() + wait;
        if let Some((armed, _)) = self.armed {
            if armed <= clock.jiffies() + wait / 4 {
                return false;
            }
            expires = expires.min(armed);
        }
        if self.armed.is_none_or(|(armed, _)| armed != expires) {
            self.armed = Some((expires, clock.fires_at(expires)));
        }
        true
    }

    /// Returns the timer, if it is armed.
    pub(super) fn timer(&self) -> Option<ReceiverTimer> {
        self.armed.map(|(_, at)| ReceiverTimer::DelayedAck(at))
    }

    /// Returns when the timer fires; [`Instant::NEVER`] if it is not armed.
    pub(super) fn poll_timeout(&self) -> Instant {
        self.armed.map_or(Instant::NEVER, |(_, at)| at)
    }

    /// Whether an acknowledgement waits for the timer.
    pub(super) const fn is_delaying(&self) -> bool {
        self.armed.is_some()
    }

    /// Doubles the timeout after the timer fired without a second segment, up to `rto`.
    pub(super) fn miss(&mut self, rto: u64) {
        self.timeout = (2 * self.timeout).min(rto);
    }

    /// Notes that an acknowledgement left.
    pub(super) fn acknowledged(&mut self) {
        self.pending_bytes = 0;
        self.now = false;
        self.pushed = false;
        self.armed = None;
        if self.quick > 0 {
            self.quick -= 1;
            if self.quick == 0 {
                self.timeout = self.least_timeout;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lossylink_core::time::Duration;

    fn engine(clock: &Clock) -> DelayedAck {
        DelayedAck::new(&Config::default(), clock)
    }

    fn clock_at(ms: u64) -> Clock {
        let mut clock = Clock::new(Duration::from_ms(1), Duration::ZERO);
        clock.refresh(Instant::ZERO + Duration::from_ms(ms));
        clock
    }

    fn receive(engine: &mut DelayedAck, clock: &Clock) -> bool {
        engine.note_data(1460, 201, clock);
        engine.note_in_order(1460);
        engine.is_due()
    }

    /// TCP-52, TCP-54: sixteen one by one, then every second.
    #[test]
    fn a_connection_starts_quick_and_then_delays() {
        let clock = clock_at(5);
        let mut engine = engine(&clock);
        let mut due = Vec::new();
        for _ in 0..22 {
            due.push(receive(&mut engine, &clock));
            if due.last() == Some(&true) {
                engine.acknowledged();
            }
        }
        assert!(due[..16].iter().all(|&due| due));
        assert_eq!(due[16..], [false, true, false, true, false, true]);
    }

    /// TCP-55
    #[test]
    fn a_lone_segment_waits_forty_milliseconds() {
        let clock = clock_at(5);
        let mut engine = engine(&clock);
        receive(&mut engine, &clock);
        engine.quick = 0;
        assert!(engine.delay(30, &clock));
        assert_eq!(engine.timer(), Some(ReceiverTimer::DelayedAck(Instant::ZERO + Duration::from_ms(46))));
    }

    /// TCP-52
    #[test]
    fn a_silence_beyond_the_timeout_brings_quick_mode_back() {
        for (gap_ms, quick) in [(201, 0), (202, 16)] {
            let mut engine = engine(&clock_at(5));
            receive(&mut engine, &clock_at(5));
            engine.quick = 0;
            receive(&mut engine, &clock_at(5 + gap_ms));
            assert_eq!(engine.quick, quick, "after {gap_ms} ms");
        }
    }
}

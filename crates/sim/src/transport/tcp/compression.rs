//! Thinning of duplicate acknowledgements: past the third, out-of-order segments are summed up
//! (Linux `tcp_comp_sack_delay_ns`, since 4.18).

use super::clock::Clock;
use super::timers::ReceiverTimer;
use lossylink_core::time::{Duration, Instant};

/// Number of duplicate acknowledgements that always leave, and trigger fast retransmit.
const FIRST_DUPLICATES: u32 = 3;
/// The most segments that one acknowledgement sums up (Linux `tcp_comp_sack_nr`).
const MOST_SUMMED: u32 = 44;
/// The longest wait of an acknowledgement (Linux `tcp_comp_sack_delay_ns`).
const LONGEST_WAIT: Duration = Duration::from_ms(1);
/// The time by which the high-resolution timer may be late, and is late (Linux `tcp_comp_sack_slack_ns`).
const TIMER_SLACK: Duration = Duration::from_us(100);
/// The part of a round-trip time for which an acknowledgement waits: one over this number.
const ROUND_TRIP_PART: u64 = 20;
/// Receive window of a new connection, which the first round-trip estimate spans, bytes: the most
/// that a SYN can announce unscaled.
const FIRST_WINDOW: u64 = 65_535;

/// The thinning state of one receiver.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Compression {
    /// Number of segments summed up since the last acknowledgement.
    summed: u32,
    /// Number of duplicate acknowledgements sent for the missing segment.
    duplicates: u32,
    /// The missing segment.
    missing: u64,
    timer: Option<Instant>,
    estimate: ReceiverRoundTrip,
}

/// The receiver's own estimate of the round trip: the least time in which a window of data came.
#[derive(Clone, Copy, Debug, Default)]
struct ReceiverRoundTrip {
    began_us: u64,
    /// The segment that ends the measurement; zero before the first measurement.
    ends: u64,
    least_us: Option<u64>,
}

impl Compression {
    /// Notes that data arrived in order up to `next`, in segments of `payload` bytes, of which a window holds
    /// `window`.
    pub(super) fn note_in_order(&mut self, next: u64, payload: u32, window: u64, clock: &Clock) {
        let estimate = &mut self.estimate;
        if next < estimate.ends {
            return;
        }
        let mut span = window;
        if estimate.ends == 0 {
            span = window.min(FIRST_WINDOW / u64::from(payload));
        } else {
            let taken_us = (clock.micros() - estimate.began_us).max(1);
            estimate.least_us = Some(estimate.least_us.map_or(taken_us, |least| least.min(taken_us)));
        }
        estimate.began_us = clock.micros();
        estimate.ends = next + span;
    }

    /// Returns how many segments may arrive in order from `next` on before [`Compression::note_in_order`] changes
    /// the estimate.
    #[cfg(feature = "fast")]
    pub(super) const fn segments_before_estimate(&self, next: u64) -> u64 {
        self.estimate.ends.saturating_sub(next + 1)
    }

    /// Takes an out-of-order segment that arrived while `next` is missing. Returns whether its acknowledgement
    /// leaves at once. (TCP-56)
    pub(super) fn lets_pass(&mut self, next: u64, smoothed_us: u64, clock: &Clock) -> bool {
        if self.summed >= MOST_SUMMED {
            return true;
        }
        if self.missing != next {
            self.missing = next;
            self.duplicates = 0;
        }
        if self.duplicates < FIRST_DUPLICATES {
            self.duplicates += 1;
            return true;
        }
        self.summed += 1;
        if self.timer.is_none() {
            self.timer = Some(clock.now() + self.wait(smoothed_us) + TIMER_SLACK);
        }
        false
    }

    fn wait(&self, smoothed_us: u64) -> Duration {
        let own = self.estimate.least_us.unwrap_or(0);
        let round_trip_us = if smoothed_us > 0 { own.min(smoothed_us) } else { own };
        (Duration::from_us(round_trip_us) / ROUND_TRIP_PART).min(LONGEST_WAIT)
    }

    /// Whether segments are summed up that no acknowledgement has reported yet.
    pub(super) const fn is_holding(&self) -> bool {
        self.summed > 0
    }

    /// Notes that an acknowledgement left, which reported all segments.
    pub(super) fn acknowledged(&mut self) {
        self.summed = 0;
        self.timer = None;
    }

    /// Returns when the timer fires; [`Instant::NEVER`] if it is not armed.
    pub(super) fn poll_timeout(&self) -> Instant {
        self.timer.unwrap_or(Instant::NEVER)
    }

    /// Returns the timer, if it is armed.
    pub(super) fn timer(&self) -> Option<ReceiverTimer> {
        self.timer.map(ReceiverTimer::CompressedAck)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// TCP-56
    #[test]
    fn three_duplicates_pass_then_a_twentieth_of_the_round_trip_is_summed_up() {
        let mut clock = Clock::new(Duration::from_ms(1), Duration::ZERO);
        clock.refresh(Instant::ZERO + Duration::from_us(500));
        let mut compression = Compression::default();
        compression.estimate.least_us = Some(50_000);
        let passed = [0; 5].map(|_| compression.lets_pass(7, 6_000, &clock));
        assert_eq!(passed, [true, true, true, false, false]);
        let fires = Instant::ZERO + Duration::from_us(500 + 300 + 100);
        assert_eq!(compression.timer(), Some(ReceiverTimer::CompressedAck(fires)));
        assert!(compression.lets_pass(8, 6_000, &clock), "another hole");
    }
}

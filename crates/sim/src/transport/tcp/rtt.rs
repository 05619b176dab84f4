//! Round-trip time: smoothed value and variance as Linux keeps them (RFC 6298), the timeout that
//! follows, and the minimum over five minutes.

#[cfg(feature = "fast")]
mod fast;

use super::clock::Clock;
use super::windowed::WindowedMinimum;
use lossylink_core::time::Duration;

/// The timeout before the first sample (RFC 6298 section 2.1), microseconds.
const FIRST_TIMEOUT_US: u64 = 1_000_000;
/// The timeout when the handshake gave no sample (RFC 6298 section 5.7), microseconds.
const FALLBACK_TIMEOUT_US: u64 = 3_000_000;
/// The longest timeout (Linux `TCP_RTO_MAX`), microseconds.
const LONGEST_TIMEOUT_US: u64 = 120_000_000;
/// The span of the minimum filter (Linux `tcp_min_rtt_wlen`), microseconds.
const MINIMUM_WINDOW_US: u64 = 300_000_000;

/// The round-trip estimator of one sender.
#[derive(Clone, Copy, Debug)]
pub(super) struct RoundTrip {
    /// Smoothed round-trip time times 8, microseconds; zero before the first sample.
    smoothed_8: u64,
    /// Mean deviation times 4, microseconds.
    deviation_4: u64,
    /// Largest deviation (times 4) of the current flight, not below the minimum variance term.
    deviation_4_max: u64,
    /// The variance term of the timeout, microseconds.
    variance: u64,
    /// The end of the flight over which the largest deviation is taken.
    flight_end: u64,
    /// Least variance term, microseconds.
    variance_min: u64,
    /// The retransmission timeout, doubled by expiries.
    timeout: Span,
    /// Twice the smoothed round-trip time.
    double: Span,
    minimum: WindowedMinimum,
}

impl RoundTrip {
    pub(super) fn new(rto_min: Duration, clock: &Clock) -> Self {
        // The kernel keeps the minimum in jiffies.
        let variance_min = clock.micros_in_jiffies(clock.jiffies_in(rto_min));
        Self {
            smoothed_8: 0,
            deviation_4: FIRST_TIMEOUT_US,
            deviation_4_max: 0,
            variance: 0,
            flight_end: 0,
            variance_min,
            timeout: Span::new(FIRST_TIMEOUT_US, clock),
            double: Span::default(),
            minimum: WindowedMinimum::new(),
        }
    }

    /// Returns the smoothed round-trip time, microseconds; zero before the first sample.
    pub(super) const fn smoothed_us(&self) -> u64 {
        self.smoothed_8 >> 3
    }

    /// Returns the smoothed round-trip time in eighths of a microsecond.
    pub(super) const fn smoothed_eighths(&self) -> u64 {
        self.smoothed_8
    }

    /// Returns the least round-trip time of the last five minutes, microseconds; `u32::MAX` before any sample.
    pub(super) const fn minimum_us(&self) -> u64 {
        self.minimum.get()
    }

    /// Returns the retransmission timeout, jiffies.
    pub(super) const fn timeout(&self) -> u64 {
        self.timeout.jiffies
    }

    /// Returns the retransmission timeout, whole jiffies in microseconds.
    const fn timeout_us(&self) -> u64 {
        self.timeout.rounded_us
    }

    /// Returns the jiffies until a segment sent at `sent_us` times out; `None` when that is past.
    pub(super) fn left_of_timeout(&self, sent_us: u64, clock: &Clock) -> Option<u64> {
        let due_us = sent_us + self.timeout_us();
        let left_us = due_us.checked_sub(clock.micros()).filter(|&left| left > 0)?;
        Some(clock.jiffies_in_micros(left_us))
    }

    /// Returns the jiffies until a segment sent at `sent_us` times out, if they are less than `limit`. Most often they are not,
    /// which costs no division.
    pub(super) fn left_of_timeout_within(&self, limit: u64, sent_us: u64, clock: &Clock) -> Option<u64> {
        let due_us = sent_us + self.timeout_us();
        let far = due_us > clock.micros() + clock.micros_in_jiffies(limit);
        if far { None } else { self.left_of_timeout(sent_us, clock) }
    }

    /// Returns two round-trip times, jiffies; `None` before the first sample.
    pub(super) fn two_round_trips(&self) -> Option<u64> {
        (self.smoothed_8 > 0).then_some(self.double.jiffies)
    }

    /// Takes a sample of `sample_us`, measured when `una` was acknowledged and `next` came next.
    /// (TCP-5, TCP-6)
    #[inline(always)]
    pub(super) fn sample(&mut self, sample_us: u64, una: u64, next: u64, clock: &Clock) {
        if self.smoothed_8 == 0 {
            self.smoothed_8 = sample_us << 3;
            self.deviation_4 = sample_us << 1;
            self.variance = self.deviation_4.max(self.variance_min);
            self.deviation_4_max = self.variance;
            self.flight_end = next;
            self.smoothed_8 = self.smoothed_8.max(1);
        } else {
            self.sample_on(sample_us, una, next);
        }
        self.settle(clock);
    }

    /// Takes a sample that is not the first; the timeout follows when the estimator [settles](Self::settle).
    #[inline(always)]
    pub(super) fn sample_on(&mut self, sample_us: u64, una: u64, next: u64) {
        self.smooth(sample_us);
        self.take_deviation(self.deviation_4, una, next);
    }

    /// Sets the timeout and twice the round-trip time from the estimates.
    #[inline(always)]
    pub(super) fn settle(&mut self, clock: &Clock) {
        let timeout_us = ((self.smoothed_8 >> 3) + self.variance).min(LONGEST_TIMEOUT_US);
        self.timeout.set(timeout_us, clock);
        self.double.set(self.smoothed_8 >> 2, clock);
    }

    fn smooth(&mut self, sample_us: u64) {
        (self.smoothed_8, self.deviation_4) = smoothed((self.smoothed_8, self.deviation_4), sample_us);
    }

    /// Raises the variance term at once, or lowers it by a quarter of the difference per flight; `most_4` is the largest
    /// deviation since the last call.
    fn take_deviation(&mut self, most_4: u64, una: u64, next: u64) {
        if most_4 > self.deviation_4_max {
            self.deviation_4_max = most_4;
            self.variance = self.variance.max(self.deviation_4_max);
        }
        if una > self.flight_end {
            if self.deviation_4_max < self.variance {
                self.variance -= (self.variance - self.deviation_4_max) >> 2;
            }
            self.flight_end = next;
            self.deviation_4_max = self.variance_min;
        }
    }

    /// Adds a sample to the minimum filter.
    pub(super) fn note_minimum(&mut self, sample_us: u64, clock: &Clock) {
        self.note_minimum_at(clock.micros(), sample_us, clock);
    }

    /// Adds a sample to the minimum filter at `now_us`.
    #[inline]
    pub(super) fn note_minimum_at(&mut self, now_us: u64, sample_us: u64, clock: &Clock) {
        let at_least_a_jiffy = if sample_us == 0 { clock.micros_in_jiffies(1) } else { sample_us };
        self.minimum.update(MINIMUM_WINDOW_US, now_us, at_least_a_jiffy);
    }

    /// Doubles the timeout after an expiry. (TCP-35)
    pub(super) fn back_off(&mut self, clock: &Clock) {
        self.timeout = Span::new((2 * self.timeout.rounded_us).min(LONGEST_TIMEOUT_US), clock);
    }

    /// Begins with the end of the handshake, with a sample or without. (TCP-3)
    pub(super) fn begin(&mut self, sample_us: Option<u64>, clock: &Clock) {
        if let Some(sample_us) = sample_us {
            self.note_minimum(sample_us, clock);
            self.sample(sample_us, 0, 0, clock);
        } else {
            self.deviation_4 = FALLBACK_TIMEOUT_US;
            self.deviation_4_max = FALLBACK_TIMEOUT_US;
            self.variance = FALLBACK_TIMEOUT_US;
            self.timeout = Span::new(FALLBACK_TIMEOUT_US, clock);
        }
    }
}

/// Returns the mean times 8 and the deviation times 4 after a sample, microseconds: gains of 1/8 for the mean and 1/4 for the
/// deviation. A deviation that grows because the round-trip time falls counts an eighth only. Neither falls by more than the
/// gain's part of itself.
#[inline(always)]
fn smoothed((mean_8, deviation_4): (u64, u64), sample_us: u64) -> (u64, u64) {
    let error = sample_us as i64 - (mean_8 >> 3) as i64;
    let excess = error.abs() - (deviation_4 >> 2) as i64;
    // Whether the sample lies below the mean cannot be foretold: no branch may depend on it.
    let is_eased = (error < 0) & (excess > 0);
    let eased = excess >> (3 * u32::from(is_eased));
    (mean_8.wrapping_add_signed(error).max(1), deviation_4.wrapping_add_signed(eased))
}

/// A span of time in jiffies, divided anew only when the time leaves the jiffy in which it is.
#[derive(Clone, Copy, Debug, Default)]
struct Span {
    jiffies: u64,
    /// The jiffies of the span in microseconds: the span, rounded up.
    rounded_us: u64,
}

impl Span {
    fn new(micros: u64, clock: &Clock) -> Self {
        let jiffies = clock.jiffies_in_micros(micros);
        Self { jiffies, rounded_us: clock.micros_in_jiffies(jiffies) }
    }

    fn set(&mut self, micros: u64, clock: &Clock) {
        let same = micros <= self.rounded_us && micros + clock.micros_in_jiffies(1) > self.rounded_us;
        if !same {
            *self = Self::new(micros, clock);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lossylink_core::time::Instant;

    fn estimator(rto_min_ms: u64) -> (RoundTrip, Clock) {
        let mut clock = Clock::new(Duration::from_ms(1), Duration::ZERO);
        clock.refresh(Instant::ZERO);
        (RoundTrip::new(Duration::from_ms(rto_min_ms), &clock), clock)
    }

    /// TCP-6: the timeout is never below the smoothed round-trip time plus the minimum.
    #[test]
    fn a_steady_path_times_out_after_rtt_plus_minimum() {
        let (mut rtt, clock) = estimator(200);
        for number in 0..100 {
            rtt.sample(20_000, number, number + 10, &clock);
        }
        assert_eq!((rtt.smoothed_us(), rtt.timeout()), (20_000, 220));
    }

    /// TCP-6: 30 us and a minimum of 1 ms round up to two jiffies.
    #[test]
    fn tiny_round_trips_take_two_jiffies() {
        let (mut rtt, clock) = estimator(1);
        rtt.sample(30, 0, 10, &clock);
        assert_eq!(rtt.timeout(), 2);
    }

    /// TCP-5: RFC 6298 section 2.2, the first sample's variance term is twice the sample.
    #[test]
    fn a_long_first_sample_sets_the_variance() {
        let (mut rtt, clock) = estimator(200);
        rtt.sample(300_000, 0, 10, &clock);
        assert_eq!(rtt.timeout(), 900);
    }

    /// TCP-35
    #[test]
    fn expiries_double_up_to_two_minutes() {
        let (mut rtt, clock) = estimator(200);
        rtt.sample(50_000, 0, 1, &clock);
        let first = rtt.timeout();
        rtt.back_off(&clock);
        assert_eq!(rtt.timeout(), 2 * first);
        for _ in 0..20 {
            rtt.back_off(&clock);
        }
        assert_eq!(rtt.timeout(), 120_000);
    }
}

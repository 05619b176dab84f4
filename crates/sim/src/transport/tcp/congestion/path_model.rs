//! The model of a path that both versions of BBR share: pacing rate, bandwidth-delay product,
//! bursts and the aggregation of acknowledgements.

use super::super::rate::RateSample;
use super::super::window::Window;
use super::View;

/// Fractional bits of rates, which are segments per microsecond.
pub(super) const RATE_BITS: u32 = 24;
/// Fractional bits of gains.
pub(super) const GAIN_BITS: u32 = 8;
/// A gain of one.
pub(super) const ONE: u64 = 1 << GAIN_BITS;
/// The initial window of Linux, segments. Below it start-up grows without a target.
pub(super) const INITIAL_WINDOW: u64 = 10;
/// The margin by which packets are paced below the estimate, per cent.
const PACING_MARGIN: u64 = 1;
/// The round trip assumed before any sample, microseconds.
const NOMINAL_ROUND_TRIP_US: u64 = 1_000;
/// The number of rounds over which aggregation of acknowledgements is measured.
const AGGREGATION_ROUNDS: u32 = 5;
/// The time up to whose worth of the rate aggregation counts, microseconds.
const AGGREGATION_MOST_US: u64 = 100_000;
/// The number of segments after which an aggregation epoch starts anew.
const AGGREGATION_EPOCH: u64 = 1 << 20;
/// The most segments of a burst.
const MOST_BURST: u64 = 0x7f;
/// The largest burst, bytes.
const MOST_BURST_BYTES: u64 = 65_535 - 320;
/// The rate below which a burst is a single segment, bytes per second.
const SLOW_BYTES_PER_SECOND: u64 = 1_200_000 / 8;

/// The rate at which packets leave.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pacer {
    bytes_per_second: u64,
    seen_round_trip: bool,
}

impl Pacer {
    pub(super) const fn bytes_per_second(&self) -> u64 {
        self.bytes_per_second
    }

    /// Paces the window over a round trip, times a gain.
    pub(super) fn start(&mut self, window: &Window, gain: u64, view: &View) {
        let smoothed_us = view.smoothed_eighths >> 3;
        self.seen_round_trip |= smoothed_us > 0;
        let round_trip_us = if smoothed_us > 0 { smoothed_us } else { NOMINAL_ROUND_TRIP_US };
        let rate = (u64::from(window.size) << RATE_BITS) / round_trip_us;
        self.bytes_per_second = in_bytes_per_second(rate, gain, view.payload);
    }

    /// Paces at gain times rate; the pace never falls until `may_fall`. (BBR-3)
    pub(super) fn set(&mut self, rate: u64, gain: u64, may_fall: bool, view: &View) {
        let bytes_per_second = in_bytes_per_second(rate, gain, view.payload);
        if may_fall || bytes_per_second > self.bytes_per_second {
            self.bytes_per_second = bytes_per_second;
        }
    }

    /// Whether the first round trip is known now but has not been used yet.
    pub(super) const fn awaits_round_trip(&self, view: &View) -> bool {
        !self.seen_round_trip && view.smoothed_eighths > 0
    }

    /// Returns the number of segments of one burst: a millisecond's worth, at least one or two.
    pub(super) fn burst(&self, view: &View) -> u64 {
        let least = if self.bytes_per_second < SLOW_BYTES_PER_SECOND { 1 } else { 2 };
        let bytes = (self.bytes_per_second >> 10).min(MOST_BURST_BYTES);
        (bytes / u64::from(view.payload)).max(least).min(MOST_BURST)
    }
}

/// Returns a rate times a gain, less the margin, in bytes per second.
fn in_bytes_per_second(rate: u64, gain: u64, payload: u32) -> u64 {
    let scaled = (u128::from(rate) * u128::from(payload) * u128::from(gain)) >> GAIN_BITS;
    ((scaled * u128::from(1_000_000 / 100 * (100 - PACING_MARGIN))) >> RATE_BITS) as u64
}

/// Returns the bandwidth-delay product times a gain, rounded up, segments; the initial window
/// before any round trip.
pub(super) fn delay_product(rate: u64, least_us: u64, gain: u64) -> u64 {
    if least_us == u64::MAX {
        return INITIAL_WINDOW;
    }
    let product = (u128::from(rate) * u128::from(least_us) * u128::from(gain)) >> GAIN_BITS;
    product.div_ceil(1 << RATE_BITS) as u64
}

/// The number of segments that acknowledgements report beyond the estimated rate. (BBR-7)
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Aggregation {
    most: [u64; 2],
    index: usize,
    rounds: u32,
    began_us: u64,
    acknowledged: u64,
}

impl Aggregation {
    /// Begins to measure at `now_us`.
    pub(super) fn begin(&mut self, now_us: u64) {
        self.began_us = now_us;
    }

    /// Takes an acknowledgement.
    pub(super) fn update(
        &mut self,
        rate: u64,
        round_start: bool,
        sample: &RateSample,
        window: u32,
        now_us: u64,
    ) {
        if sample.acknowledged == 0 || sample.delivery.is_none() {
            return;
        }
        if round_start {
            self.turn();
        }
        let epoch_us = now_us - self.began_us;
        let mut expected = ((u128::from(rate) * u128::from(epoch_us)) >> RATE_BITS) as u64;
        let acknowledged = u64::from(sample.acknowledged);
        if self.acknowledged <= expected || self.acknowledged + acknowledged >= AGGREGATION_EPOCH {
            (self.acknowledged, self.began_us, expected) = (0, now_us, 0);
        }
        self.acknowledged += acknowledged;
        let extra = (self.acknowledged - expected).min(u64::from(window));
        self.most[self.index] = self.most[self.index].max(extra);
    }

    /// Forgets aggregation that is two spans of rounds old.
    fn turn(&mut self) {
        self.rounds += 1;
        if self.rounds >= AGGREGATION_ROUNDS {
            self.rounds = 0;
            self.index ^= 1;
            self.most[self.index] = 0;
        }
    }

    /// Returns the room in the window for aggregation.
    pub(super) fn room(&self, rate: u64) -> u64 {
        let most = ((u128::from(rate) * u128::from(AGGREGATION_MOST_US)) >> RATE_BITS) as u64;
        self.most[0].max(self.most[1]).min(most)
    }
}

/// Returns a hash in place of a random draw: one run always gives the same phases (SplitMix64's
/// finaliser).
pub(super) fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// BBR-6: 10 segments per 100 us, 250 us round trip, gain 2.
    #[test]
    fn the_delay_product_is_rate_times_round_trip() {
        let rate = (10 << RATE_BITS) / 100;
        assert_eq!(delay_product(rate, 250, 2 * ONE), 50);
        assert_eq!(delay_product(rate, u64::MAX, ONE), INITIAL_WINDOW);
    }

    /// BBR-7: fifty segments at once where five were due make room for fifty.
    #[test]
    fn aggregation_is_what_came_beyond_the_rate() {
        let rate = (1 << RATE_BITS) / 10;
        let sample =
            |acknowledged| RateSample { acknowledged, delivery: Some((1, 1)), ..RateSample::default() };
        let mut aggregation = Aggregation::default();
        aggregation.update(rate, false, &sample(50), 1_000, 50);
        assert_eq!(aggregation.room(rate), 50);
        for _ in 0..2 * AGGREGATION_ROUNDS {
            aggregation.update(rate, true, &sample(1), 1_000, 1_000);
        }
        assert!(aggregation.room(rate) < 50, "forgotten after ten rounds");
    }
}

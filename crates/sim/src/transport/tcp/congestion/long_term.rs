//! BBR's policer detector: two intervals of heavy loss at the same rate mean that the path is
//! policed to it (Linux `bbr_lt_bw_sampling`).

use super::super::rate::RateSample;
use super::View;
use super::path_model::RATE_BITS;

/// The least number of rounds of an interval.
const LEAST_ROUNDS: u32 = 4;
/// The loss ratio from which on an interval is one of heavy loss: 50/256.
const HEAVY_LOSS: (u64, u64) = (50, 256);
/// The part of a rate by which two rates may differ and still agree: an eighth.
const AGREEMENT: u64 = 8;
/// The difference by which two rates may differ and still agree, bytes per second.
const AGREEMENT_BYTES: u64 = 4_000 / 8;
/// The number of rounds after which a policed rate is put to the test.
const TEST_ROUNDS: u32 = 48;

/// The detector of one sender. (BBR-10)
#[derive(Clone, Copy, Debug)]
pub(super) struct LongTerm {
    sampling: bool,
    rounds: u32,
    rate: u64,
    is_policed: bool,
    last_ms: u64,
    last_delivered: u64,
    last_lost: u64,
}

impl LongTerm {
    pub(super) const fn new() -> Self {
        Self {
            sampling: false,
            rounds: 0,
            rate: 0,
            is_policed: false,
            last_ms: 0,
            last_delivered: 0,
            last_lost: 0,
        }
    }

    /// Returns the policed rate, if the path is found policed.
    pub(super) fn in_use(&self) -> Option<u64> {
        self.is_policed.then_some(self.rate)
    }

    /// Forgets the policer and waits for loss.
    pub(super) fn restart(&mut self, view: &View) {
        self.rate = 0;
        self.is_policed = false;
        self.sampling = false;
        self.begin_interval(view);
    }

    fn begin_interval(&mut self, view: &View) {
        self.last_ms = view.now_us / 1_000;
        self.last_delivered = view.delivered;
        self.last_lost = view.lost;
        self.rounds = 0;
    }

    /// Takes an acknowledgement. Returns whether a policed rate is to be put to the test.
    pub(super) fn sample(
        &mut self,
        round_start: bool,
        sample: &RateSample,
        view: &View,
        is_probing: bool,
    ) -> bool {
        if self.is_policed {
            self.rounds += u32::from(is_probing && round_start);
            let is_tested = self.rounds >= TEST_ROUNDS;
            if is_tested {
                self.restart(view);
            }
            return is_tested;
        }
        if !self.sampling {
            if sample.lost > 0 {
                self.begin_interval(view);
                self.sampling = true;
            }
            return false;
        }
        if sample.limited {
            self.restart(view);
            return false;
        }
        self.rounds += u32::from(round_start);
        self.end_interval(sample, view);
        false
    }

    /// Ends an interval on a loss if the interval is long enough, or gives it up if it is too long.
    fn end_interval(&mut self, sample: &RateSample, view: &View) {
        if self.rounds < LEAST_ROUNDS {
            return;
        }
        if self.rounds > 4 * LEAST_ROUNDS {
            self.restart(view);
            return;
        }
        if sample.lost == 0 {
            return;
        }
        let lost = view.lost - self.last_lost;
        let delivered = view.delivered - self.last_delivered;
        if delivered == 0 || lost * HEAVY_LOSS.1 < HEAVY_LOSS.0 * delivered {
            return;
        }
        let span_ms = view.now_us / 1_000 - self.last_ms;
        if span_ms > 0 {
            self.take_rate((delivered << RATE_BITS) / (span_ms * 1_000), view);
        }
    }

    /// Takes the rate of an interval: two intervals that agree show a policer.
    fn take_rate(&mut self, rate: u64, view: &View) {
        if self.rate > 0 {
            let difference = rate.abs_diff(self.rate);
            let bytes = (u128::from(difference) * u128::from(view.payload) * 1_000_000) >> RATE_BITS;
            if difference * AGREEMENT <= self.rate || bytes <= u128::from(AGREEMENT_BYTES) {
                self.rate = (rate + self.rate) / 2;
                self.is_policed = true;
                self.rounds = 0;
                return;
            }
        }
        self.rate = rate;
        self.begin_interval(view);
    }
}

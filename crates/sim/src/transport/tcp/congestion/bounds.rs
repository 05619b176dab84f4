//! BBRv3's bounds: the segments in flight and the rate that losses allow, on the long and on the
//! short term (draft-ietf-ccwg-bbr sections 5.5.10 and 5.5.11).

use super::super::rate::RateSample;

/// The loss rate above which a flight is too large, per cent.
const LOSS_LIMIT: u64 = 2;
/// The part of a bound that remains after a loss, in tenths.
const BETA_TENTHS: u64 = 7;
/// The headroom that cruising leaves to others, per cent.
const HEADROOM: u64 = 15;
/// The most doublings of the growth while probing.
const MOST_DOUBLINGS: u32 = 30;

/// The relation of arriving acknowledgements to the last probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    None,
    /// Their segments were sent before the probe.
    Starting,
    /// Their segments were sent by the probe.
    Feedback,
    /// The probe is over, but their segments were sent by it.
    Stopping,
    Refilling,
}

/// The bounds of one sender; `u64::MAX` stands for no bound.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// The segments in flight without too much loss at the last probe.
    long_in_flight: u64,
    /// The rate and the segments in flight that lately went without loss.
    short_rate: u64,
    short_in_flight: u64,
    latest_rate: u64,
    latest_in_flight: u64,
    round_end: u64,
    is_round_start: bool,
    loss_in_round: bool,
    /// Whether rate samples come from a probe.
    probing: bool,
    answer: Answer,
    probe_rounds: u32,
    probe_acknowledged: u64,
    per_growth: u64,
    saved: (u64, u64, u64),
}

impl Bounds {
    pub(super) const fn new() -> Self {
        Self {
            long_in_flight: u64::MAX,
            short_rate: u64::MAX,
            short_in_flight: u64::MAX,
            latest_rate: 0,
            latest_in_flight: 0,
            round_end: 0,
            is_round_start: false,
            loss_in_round: false,
            probing: true,
            answer: Answer::None,
            probe_rounds: 0,
            probe_acknowledged: 0,
            per_growth: u64::MAX,
            saved: (u64::MAX, u64::MAX, u64::MAX),
        }
    }

    pub(super) const fn in_flight(&self) -> u64 {
        self.long_in_flight
    }

    pub(super) const fn short_in_flight(&self) -> u64 {
        self.short_in_flight
    }

    pub(super) const fn latest_in_flight(&self) -> u64 {
        self.latest_in_flight
    }

    pub(super) const fn round_start(&self) -> bool {
        self.is_round_start
    }

    /// Returns the rate, or the short-term bound if that is less.
    pub(super) fn within_rate(&self, rate: u64) -> u64 {
        rate.min(self.short_rate)
    }

    /// Returns the long-term bound less headroom for others.
    pub(super) const fn with_headroom(&self) -> u64 {
        if self.long_in_flight == u64::MAX {
            return u64::MAX;
        }
        self.long_in_flight - (self.long_in_flight * HEADROOM).div_ceil(100)
    }

    /// Whether more than two per cent of the flight were lost. (BBR3-4)
    pub(super) const fn is_too_high(sample: &RateSample) -> bool {
        sample.lost_since_sent * 100 > sample.sent_in_flight as u64 * LOSS_LIMIT
    }

    /// Takes an acknowledgement: counts rounds with loss, and lowers the short-term bounds on loss.
    pub(super) fn observe(
        &mut self,
        sample: &RateSample,
        rate: u64,
        delivered: u64,
        pushing: bool,
        greatest_rate: u64,
        window: u32,
    ) {
        self.is_round_start = false;
        let Some((in_flight, _)) = sample.delivery else { return };
        self.latest_rate = self.latest_rate.max(rate);
        self.latest_in_flight = self.latest_in_flight.max(in_flight);
        if sample.prior_delivered >= self.round_end {
            self.round_end = delivered;
            self.is_round_start = true;
        }
        self.loss_in_round |= sample.lost > 0;
        if self.is_round_start {
            if self.loss_in_round && !pushing {
                self.lower_short_term(greatest_rate, window);
            }
            self.loss_in_round = false;
        }
    }

    fn lower_short_term(&mut self, greatest_rate: u64, window: u32) {
        let beta = |bound: u64| (u128::from(bound) * u128::from(BETA_TENTHS) / 10) as u64;
        let or = |bound: u64, first: u64| if bound == u64::MAX { first } else { bound };
        self.short_rate = self.latest_rate.max(beta(or(self.short_rate, greatest_rate)));
        let first = u64::from(window);
        self.short_in_flight = self.latest_in_flight.max(beta(or(self.short_in_flight, first)));
    }

    /// Starts the next round's latest rate and flight with this acknowledgement's.
    pub(super) fn advance(&mut self, sample: &RateSample, rate: u64) {
        if self.is_round_start {
            self.latest_rate = rate;
            self.latest_in_flight = sample.delivery.map_or(0, |(delivered, _)| delivered);
        }
    }

    /// Moves the long-term bound by loss or its absence. Returns whether a probe went too far.
    /// (BBR3-4)
    pub(super) fn adapt_in_flight(
        &mut self,
        sample: &RateSample,
        target: u64,
        is_probing_up: bool,
        window_was_full: bool,
        window: u32,
        round_start: bool,
    ) -> bool {
        if self.answer == Answer::Starting && round_start {
            self.answer = Answer::Feedback;
        }
        if Self::is_too_high(sample) {
            if !self.probing {
                return false;
            }
            self.probing = false;
            if !sample.limited {
                self.long_in_flight = u64::from(sample.sent_in_flight).max(target * BETA_TENTHS / 10);
            }
            return true;
        }
        if self.long_in_flight != u64::MAX {
            self.long_in_flight = self.long_in_flight.max(u64::from(sample.sent_in_flight));
            if is_probing_up && window_was_full && u64::from(window) >= self.long_in_flight {
                self.grow(sample.acknowledged, window, round_start);
            }
        }
        false
    }

    /// Raises the long-term bound: by one segment in the first round of a probe, then doubling.
    fn grow(&mut self, acknowledged: u32, window: u32, round_start: bool) {
        self.probe_acknowledged += u64::from(acknowledged);
        if self.probe_acknowledged >= self.per_growth {
            self.long_in_flight += self.probe_acknowledged / self.per_growth;
            self.probe_acknowledged %= self.per_growth;
        }
        if round_start {
            self.steepen(window);
        }
    }

    fn steepen(&mut self, window: u32) {
        self.per_growth = (u64::from(window) >> self.probe_rounds).max(1);
        self.probe_rounds = (self.probe_rounds + 1).min(MOST_DOUBLINGS);
    }

    /// Whether the round after a probe has just ended.
    pub(super) fn end_of_stopping_round(&mut self) -> bool {
        let ends = self.answer == Answer::Stopping;
        if ends {
            self.answer = Answer::None;
            self.probing = false;
        }
        ends
    }

    pub(super) fn begin_stopping(&mut self) {
        self.answer = Answer::Stopping;
        self.per_growth = u64::MAX;
    }

    pub(super) fn begin_refill(&mut self) {
        self.answer = Answer::Refilling;
        self.probe_rounds = 0;
        self.probe_acknowledged = 0;
    }

    pub(super) fn begin_probe(&mut self, window: u32) {
        self.answer = Answer::Starting;
        self.probing = true;
        self.steepen(window);
    }

    /// Removes the short-term bounds.
    pub(super) fn forget_short_term(&mut self) {
        self.short_rate = u64::MAX;
        self.short_in_flight = u64::MAX;
        self.latest_rate = 0;
        self.latest_in_flight = 0;
        self.loss_in_round = false;
    }

    /// Lowers the short-term bound to the long-term one, while cruising.
    pub(super) fn limit_short_by_long(&mut self) {
        if self.short_in_flight != u64::MAX {
            self.short_in_flight = self.short_in_flight.min(self.long_in_flight);
        }
    }

    /// Caps the segments in flight after too much loss in start-up.
    pub(super) fn cap_in_flight(&mut self, in_flight: u64) {
        self.long_in_flight = in_flight;
    }

    /// Saves the bounds, in case the recovery that begins is undone.
    pub(super) fn save(&mut self) {
        self.saved = (self.long_in_flight, self.short_rate, self.short_in_flight);
    }

    /// Restores the bounds of before a recovery that was needless.
    pub(super) fn restore(&mut self) {
        self.long_in_flight = self.long_in_flight.max(self.saved.0);
        self.short_rate = self.short_rate.max(self.saved.1);
        self.short_in_flight = self.short_in_flight.max(self.saved.2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(lost: u64) -> RateSample {
        RateSample {
            delivery: Some((100, 100)),
            lost,
            lost_since_sent: lost,
            sent_in_flight: 100,
            acknowledged: 1,
            ..RateSample::default()
        }
    }

    /// BBR3-4: two per cent is tolerated, three end a probe and set the bound.
    #[test]
    fn a_probe_stops_beyond_two_per_cent_of_loss() {
        for (lost, stops) in [(2, false), (3, true)] {
            let mut bounds = Bounds::new();
            bounds.begin_probe(100);
            assert_eq!(bounds.adapt_in_flight(&sample(lost), 50, true, true, 100, true), stops);
            assert_eq!(bounds.in_flight(), if stops { 100 } else { u64::MAX });
        }
    }

    /// BBR3-4: growth doubles from round to round.
    #[test]
    fn a_probe_grows_faster_each_round() {
        let mut bounds = Bounds::new();
        bounds.cap_in_flight(100);
        bounds.begin_probe(64);
        let mut grown = Vec::new();
        for _ in 0..4 {
            let before = bounds.in_flight();
            for ack in 0..64 {
                let full = u32::try_from(bounds.in_flight()).expect("a window");
                bounds.adapt_in_flight(&sample(0), 50, true, true, full.max(64), ack == 63);
            }
            grown.push(bounds.in_flight() - before);
        }
        assert!(grown.is_sorted() && grown[3] >= 4 * grown[0], "{grown:?}");
    }

    /// BBR3-5: a round with loss keeps at least 0.7 of rate and window while not probing.
    #[test]
    fn loss_lowers_the_short_term_bounds_once_a_round() {
        let mut bounds = Bounds::new();
        let lossy = RateSample { delivery: Some((10, 100)), prior_delivered: 5, ..sample(1) };
        bounds.observe(&lossy, 10, 5, false, 1_000, 100);
        assert_eq!((bounds.within_rate(1_000), bounds.short_in_flight()), (700, 70));
        bounds.observe(&RateSample { prior_delivered: 4, ..lossy }, 10, 6, false, 1_000, 100);
        assert_eq!(bounds.within_rate(1_000), 700, "the same round");
    }
}

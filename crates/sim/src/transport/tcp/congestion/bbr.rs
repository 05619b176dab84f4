//! BBR version 1 as Linux has it (draft-cardwell-iccrg-bbr-congestion-control-00; Cardwell et al.
//! 2016): a model of bottleneck rate and round trip sets pacing rate and window.

use super::super::rate::RateSample;
use super::super::recovery_state::State;
use super::super::window::Window;
use super::super::windowed::WindowedMaximum;
use super::long_term::LongTerm;
use super::path_model::{Aggregation, INITIAL_WINDOW, ONE, Pacer, RATE_BITS, delay_product, mix};
use super::{Algorithm, View};

/// 2/ln 2: the least gain that doubles the rate every round trip.
const HIGH_GAIN: u64 = ONE * 2885 / 1000 + 1;
/// The inverse of the high gain: drains in one round trip the queue that start-up built.
const DRAIN_GAIN: u64 = ONE * 1000 / 2885;
/// The window in estimated bandwidth-delay products: room for delayed and stretched
/// acknowledgements.
const WINDOW_GAIN: u64 = 2 * ONE;
/// The gains of the bandwidth-probing cycle, a round trip each.
const CYCLE: [u64; 8] = [ONE * 5 / 4, ONE * 3 / 4, ONE, ONE, ONE, ONE, ONE, ONE];
/// The number of phases at which the cycle may begin, drawn at random, never at the draining one.
const RANDOM_PHASES: u64 = 7;
/// The number of rounds over which the maximum rate is taken.
const RATE_ROUNDS: u64 = CYCLE.len() as u64 + 2;
/// Seconds after which the minimum round trip must be measured again.
const ROUND_TRIP_VALID_S: u64 = 10;
/// The time for which the window stays minimal to measure the round trip, milliseconds.
const ROUND_TRIP_PROBE_MS: u64 = 200;
/// The least window, segments.
const LEAST_WINDOW: u32 = 4;
/// The number of rounds without a quarter more rate that end start-up.
const FULL_ROUNDS: u32 = 3;
/// The mode of BBR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// Doubles the rate every round trip.
    Startup,
    /// Drains the queue that start-up built.
    Drain,
    /// Cycles gains around the estimated rate.
    ProbeBandwidth,
    /// Keeps the window minimal to see the bare round trip.
    ProbeRoundTrip,
}

/// The model of one sender's path.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Bbr {
    mode: Mode,
    rate: WindowedMaximum,
    /// The least round trip, microseconds, and when it was measured, jiffies.
    least_us: u64,
    least_at: u64,
    rounds: u64,
    /// The number of deliveries that ends the round: the round ends when a segment is delivered
    /// that was sent after them.
    round_end: u64,
    round_start: bool,
    pacing_gain: u64,
    window_gain: u64,
    cycle: usize,
    cycle_at_us: u64,
    pacer: Pacer,
    full_rate: u64,
    full_rounds: u32,
    is_full: bool,
    /// The window before recovery or a round-trip probe.
    saved_window: u32,
    conserves: bool,
    previous_state: State,
    probe_done_at: Option<u64>,
    probe_round_done: bool,
    aggregation: Aggregation,
    long_term: LongTerm,
}

impl Bbr {
    pub(super) fn new() -> Self {
        Self {
            mode: Mode::Startup,
            rate: WindowedMaximum::new(),
            least_us: u64::MAX,
            least_at: 0,
            rounds: 0,
            round_end: 0,
            round_start: false,
            pacing_gain: HIGH_GAIN,
            window_gain: HIGH_GAIN,
            cycle: 0,
            cycle_at_us: 0,
            pacer: Pacer::default(),
            full_rate: 0,
            full_rounds: 0,
            is_full: false,
            saved_window: 0,
            conserves: false,
            previous_state: State::Open,
            probe_done_at: None,
            probe_round_done: false,
            aggregation: Aggregation::default(),
            long_term: LongTerm::new(),
        }
    }

    /// Returns the estimated bottleneck rate, or that of a policer.
    fn bandwidth(&self) -> u64 {
        self.long_term.in_use().unwrap_or(self.rate.get())
    }

    fn set_pacing_rate(&mut self, window: &Window, view: &View) {
        if self.pacer.awaits_round_trip(view) {
            self.pacer.start(window, HIGH_GAIN, view);
        }
        self.pacer.set(self.bandwidth(), self.pacing_gain, self.is_full, view);
    }

    /// Adds room for bursts on both hosts, an even number, and for the probing phase. (BBR-6)
    fn with_budget(&self, segments: u64, view: &View) -> u64 {
        let roomy = (segments + 3 * self.pacer.burst(view) + 1) & !1;
        let probing = self.mode == Mode::ProbeBandwidth && self.cycle == 0;
        roomy + if probing { 2 } else { 0 }
    }

    fn target_in_flight(&self, gain: u64, view: &View) -> u64 {
        self.with_budget(delay_product(self.rate.get(), self.least_us, gain), view)
    }

    /// Returns the number of segments that will be in the network when the next segment may leave.
    fn in_network(&self, in_flight: u32, view: &View) -> u64 {
        let ahead_us = view.paced_until_us.saturating_sub(view.now_us);
        let delivered = (self.bandwidth() * ahead_us) >> RATE_BITS;
        let burst = if self.pacing_gain > ONE { self.pacer.burst(view) } else { 0 };
        (u64::from(in_flight) + burst).saturating_sub(delivered)
    }

    /// Counts rounds and takes the rate of a sample. (BBR-2)
    fn update_rate(&mut self, sample: &RateSample, view: &View) {
        self.round_start = false;
        let Some((delivered, interval_us)) = sample.delivery else { return };
        if sample.prior_delivered >= self.round_end {
            self.round_end = view.delivered;
            self.rounds += 1;
            self.round_start = true;
            self.conserves = false;
        }
        let restart =
            self.long_term.sample(self.round_start, sample, view, self.mode == Mode::ProbeBandwidth);
        if restart && self.mode == Mode::ProbeBandwidth {
            self.probe_bandwidth(view);
        }
        let rate = (delivered << RATE_BITS) / interval_us;
        if !sample.limited || rate >= self.rate.get() {
            self.rate.update(RATE_ROUNDS, self.rounds, rate);
        }
    }

    fn aggregation_room(&self) -> u64 {
        if self.is_full { self.aggregation.room(self.bandwidth()) } else { 0 }
    }

    /// Moves to the next gain of the cycle when the present gain has done its work. (BBR-4)
    fn update_cycle(&mut self, sample: &RateSample, view: &View) {
        if self.mode != Mode::ProbeBandwidth {
            return;
        }
        let is_long = view.now_us - self.cycle_at_us > self.least_us;
        let in_flight = self.in_network(sample.prior_in_flight, view);
        let is_over = match self.pacing_gain {
            ONE => is_long,
            gain if gain > ONE => {
                is_long && (sample.lost > 0 || in_flight >= self.target_in_flight(gain, view))
            }
            _ => is_long || in_flight <= self.target_in_flight(ONE, view),
        };
        if is_over {
            self.advance_cycle(view);
        }
    }

    fn advance_cycle(&mut self, view: &View) {
        self.cycle = (self.cycle + 1) % CYCLE.len();
        self.cycle_at_us = view.now_us;
    }

    fn probe_bandwidth(&mut self, view: &View) {
        self.mode = Mode::ProbeBandwidth;
        self.cycle = CYCLE.len() - 1 - (mix(view.now_us ^ view.delivered) % RANDOM_PHASES) as usize;
        self.advance_cycle(view);
    }

    /// Notices that the rate stopped growing, and drains. (BBR-5)
    fn update_fullness(&mut self, sample: &RateSample, window: &mut Window, view: &View) {
        if !self.is_full && self.round_start && !sample.limited {
            if self.rate.get() >= self.full_rate * 5 / 4 {
                self.full_rate = self.rate.get();
                self.full_rounds = 0;
            } else {
                self.full_rounds += 1;
                self.is_full = self.full_rounds >= FULL_ROUNDS;
            }
        }
        if self.mode == Mode::Startup && self.is_full {
            self.mode = Mode::Drain;
            window.threshold = self.target_in_flight(ONE, view) as u32;
        }
        if self.mode == Mode::Drain
            && self.in_network(view.in_flight, view) <= self.target_in_flight(ONE, view)
        {
            self.probe_bandwidth(view);
        }
    }

    /// Keeps the least round trip, and empties the path to measure it anew when it is old. (BBR-8)
    fn update_round_trip(&mut self, sample: &RateSample, window: &mut Window, view: &View) {
        let is_old = view.jiffies > self.least_at + ROUND_TRIP_VALID_S * view.hertz;
        if let Some(rtt_us) = sample.rtt_us.filter(|&rtt_us| rtt_us < self.least_us || is_old) {
            self.least_us = rtt_us.max(1);
            self.least_at = view.jiffies;
        }
        if is_old && self.mode != Mode::ProbeRoundTrip {
            self.mode = Mode::ProbeRoundTrip;
            self.save_window(window);
            self.probe_done_at = None;
        }
        if self.mode == Mode::ProbeRoundTrip {
            self.continue_round_trip_probe(window, view);
        }
    }

    fn continue_round_trip_probe(&mut self, window: &mut Window, view: &View) {
        match self.probe_done_at {
            None if view.in_flight <= LEAST_WINDOW => {
                let probe = (ROUND_TRIP_PROBE_MS * view.hertz).div_ceil(1_000);
                self.probe_done_at = Some(view.jiffies + probe);
                self.probe_round_done = false;
                self.round_end = view.delivered;
            }
            None => {}
            Some(done_at) => {
                self.probe_round_done |= self.round_start;
                if self.probe_round_done && view.jiffies > done_at {
                    self.end_round_trip_probe(window, view);
                }
            }
        }
    }

    fn end_round_trip_probe(&mut self, window: &mut Window, view: &View) {
        self.least_at = view.jiffies;
        window.size = window.size.max(self.saved_window);
        if self.is_full {
            self.probe_bandwidth(view);
        } else {
            self.mode = Mode::Startup;
        }
    }

    fn update_gains(&mut self) {
        (self.pacing_gain, self.window_gain) = match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            Mode::ProbeBandwidth if self.long_term.in_use().is_some() => (ONE, WINDOW_GAIN),
            Mode::ProbeBandwidth => (CYCLE[self.cycle], WINDOW_GAIN),
            Mode::ProbeRoundTrip => (ONE, ONE),
        };
    }

    fn save_window(&mut self, window: &Window) {
        let fresh = self.previous_state < State::Recovery && self.mode != Mode::ProbeRoundTrip;
        self.saved_window = if fresh { window.size } else { self.saved_window.max(window.size) };
    }

    /// Sets the window towards the target. (BBR-6)
    fn set_window(&mut self, sample: &RateSample, window: &mut Window, view: &View) {
        let acknowledged = sample.acknowledged;
        if acknowledged > 0 && !self.recover_or_restore(sample, window, view) {
            let product = delay_product(self.bandwidth(), self.least_us, self.window_gain);
            let target = self.with_budget(product + self.aggregation_room(), view) as u32;
            if self.is_full {
                window.size = (window.size + acknowledged).min(target);
            } else if window.size < target || view.delivered < INITIAL_WINDOW {
                window.size += acknowledged;
            }
            window.size = window.size.max(LEAST_WINDOW);
        }
        if self.mode == Mode::ProbeRoundTrip {
            window.size = window.size.min(LEAST_WINDOW);
        }
    }

    /// Conserves packets in recovery's first round, and restores the window at its end. (BBR-9)
    fn recover_or_restore(&mut self, sample: &RateSample, window: &mut Window, view: &View) -> bool {
        if sample.lost > 0 {
            window.size = window.size.saturating_sub(sample.lost as u32).max(1);
        }
        if view.state == State::Recovery && self.previous_state != State::Recovery {
            self.conserves = true;
            self.round_end = view.delivered;
            window.size = view.in_flight + sample.acknowledged;
        } else if self.previous_state >= State::Recovery && view.state < State::Recovery {
            window.size = window.size.max(self.saved_window);
            self.conserves = false;
        }
        self.previous_state = view.state;
        if self.conserves {
            window.size = window.size.max(view.in_flight + sample.acknowledged);
        }
        self.conserves
    }
}

impl Algorithm for Bbr {
    /// Saves the window for the end of the recovery. BBR makes no use of the threshold.
    fn threshold(&mut self, window: &Window) -> u32 {
        self.save_window(window);
        window.threshold
    }

    fn grow(&mut self, _: &mut Window, _: u32, _: &View) {}

    fn on_open(&mut self, window: &Window, view: &View) {
        self.least_us = view.least_us;
        self.least_at = view.jiffies;
        self.aggregation.begin(view.now_us);
        self.long_term.restart(view);
        self.pacer.start(window, HIGH_GAIN, view);
    }

    fn on_state(&mut self, _: State, to: State, _: &mut Window, view: &View) {
        if to == State::Loss {
            self.previous_state = State::Loss;
            self.full_rate = 0;
            self.round_start = true;
            let lost = RateSample { lost: 1, ..RateSample::default() };
            self.long_term.sample(true, &lost, view, self.mode == Mode::ProbeBandwidth);
        }
    }

    fn model(&mut self, sample: &RateSample, window: &mut Window, view: &View) {
        self.update_rate(sample, view);
        let rate = self.bandwidth();
        self.aggregation.update(rate, self.round_start, sample, window.size, view.now_us);
        self.update_cycle(sample, view);
        self.update_fullness(sample, window, view);
        self.update_round_trip(sample, window, view);
        self.update_gains();
        self.set_pacing_rate(window, view);
        self.set_window(sample, window, view);
    }

    fn models_path(&self) -> bool {
        true
    }

    fn pacing_rate(&self) -> Option<u64> {
        Some(self.pacer.bytes_per_second())
    }

    fn is_limiting_itself(&self) -> bool {
        self.mode == Mode::ProbeRoundTrip
    }

    fn undone_window(&mut self, window: &Window, view: &View) -> u32 {
        self.full_rate = 0;
        self.full_rounds = 0;
        self.long_term.restart(view);
        window.size
    }
}

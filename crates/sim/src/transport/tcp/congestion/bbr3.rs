//! BBR version 3 (draft-ietf-ccwg-bbr, Google's Linux branch): version 1's model with bounds that
//! loss teaches, so that it shares a queue and stops at a loss rate of two per cent.

use super::super::rate::RateSample;
use super::super::recovery_state::State;
use super::super::window::Window;
use super::bounds::Bounds;
use super::path_model::{Aggregation, INITIAL_WINDOW, ONE, Pacer, RATE_BITS, delay_product, mix};
use super::{Algorithm, View};

/// 4 ln 2: the least pacing gain that doubles the rate every round trip.
const STARTUP_PACING: u64 = ONE * 277 / 100;
/// The pacing gain that drains the queue that start-up built.
const DRAIN_PACING: u64 = ONE / 2;
/// The window in bandwidth-delay products, and the window while probing for more rate.
const WINDOW_GAIN: u64 = 2 * ONE;
const WINDOW_GAIN_UP: u64 = ONE * 9 / 4;
/// Pacing gains of the probing phases.
const PACING_DOWN: u64 = ONE * 9 / 10;
const PACING_UP: u64 = ONE * 5 / 4;
/// The window while the round trip is measured, in bandwidth-delay products.
const ROUND_TRIP_GAIN: u64 = ONE / 2;
/// The time between two measurements of the round trip, seconds, and the length of one,
/// milliseconds.
const ROUND_TRIP_INTERVAL_S: u64 = 5;
const ROUND_TRIP_PROBE_MS: u64 = 200;
/// The age at which a minimum is replaced, seconds.
const ROUND_TRIP_VALID_S: u64 = 10;
/// The least window, segments.
const LEAST_WINDOW: u64 = 4;
/// The number of rounds without a quarter more rate that show a full path.
const FULL_ROUNDS: u32 = 3;
/// The losses of one round that end start-up, when the loss rate is too high as well.
const STARTUP_LOSSES: u32 = 6;
/// The time between two probes for bandwidth: 2 to 3 s, or the rounds that Reno would need, at most
/// 63.
const PROBE_WAIT_US: u64 = 2_000_000;
const PROBE_WAIT_RANDOM_US: u64 = 1_000_000;
const PROBE_WAIT_ROUNDS: u64 = 63;

/// The mode of BBR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    /// Paces below the estimate, and leaves room to others.
    Down,
    /// Keeps the rate.
    Cruise,
    /// Fills the path without a queue.
    Refill,
    /// Probes for more rate.
    Up,
    /// Keeps the window small to see the bare round trip.
    ProbeRoundTrip,
}

impl Mode {
    const fn probes_bandwidth(self) -> bool {
        matches!(self, Self::Down | Self::Cruise | Self::Refill | Self::Up)
    }

    /// Whether a loss now tells of this sender's probe, and not of other senders.
    const fn is_pushing(self) -> bool {
        matches!(self, Self::Startup | Self::Refill | Self::Up)
    }

    const fn gains(self) -> (u64, u64) {
        match self {
            Self::Startup => (STARTUP_PACING, WINDOW_GAIN),
            Self::Drain => (DRAIN_PACING, WINDOW_GAIN),
            Self::Down => (PACING_DOWN, WINDOW_GAIN),
            Self::Cruise | Self::Refill => (ONE, WINDOW_GAIN),
            Self::Up => (PACING_UP, WINDOW_GAIN_UP),
            Self::ProbeRoundTrip => (ONE, ROUND_TRIP_GAIN),
        }
    }
}

/// The greatest rate of each of two probing cycles: the last and the present one.
type RateCycles = [u64; 2];

/// The model of one sender's path.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Bbr3 {
    mode: Mode,
    rates: RateCycles,
    bounds: Bounds,
    pacer: Pacer,
    aggregation: Aggregation,
    least_us: u64,
    least_at: u64,
    /// The least round trip of the current measuring interval, and when it was measured.
    recent_least_us: u64,
    recent_least_at: u64,
    round_end: u64,
    round_start: bool,
    rounds_since_probe: u64,
    phase_at_us: u64,
    probe_wait_us: u64,
    full_rate: u64,
    full_rounds: u32,
    is_full_now: bool,
    is_full: bool,
    losses_in_round: u32,
    saved_window: u32,
    previous_state: State,
    probe_done_at: Option<u64>,
    probe_round_done: bool,
}

impl Bbr3 {
    pub(super) fn new() -> Self {
        Self {
            mode: Mode::Startup,
            rates: [0; 2],
            bounds: Bounds::new(),
            pacer: Pacer::default(),
            aggregation: Aggregation::default(),
            least_us: u64::MAX,
            least_at: 0,
            recent_least_us: u64::MAX,
            recent_least_at: 0,
            round_end: 0,
            round_start: false,
            rounds_since_probe: 0,
            phase_at_us: 0,
            probe_wait_us: PROBE_WAIT_US,
            full_rate: 0,
            full_rounds: 0,
            is_full_now: false,
            is_full: false,
            losses_in_round: 0,
            saved_window: 0,
            previous_state: State::Open,
            probe_done_at: None,
            probe_round_done: false,
        }
    }

    fn greatest_rate(&self) -> u64 {
        self.rates[0].max(self.rates[1])
    }

    /// Returns the rate to send at: the greatest measured rate, within the bounds that loss sets.
    fn bandwidth(&self) -> u64 {
        self.bounds.within_rate(self.greatest_rate())
    }

    /// Adds room for bursts and, while probing, for the probe.
    fn with_budget(&self, segments: u64, view: &View) -> u64 {
        let roomy = segments.max(3 * self.pacer.burst(view)).max(LEAST_WINDOW);
        roomy + if self.mode == Mode::Up { 2 } else { 0 }
    }

    fn target_in_flight(&self, gain: u64, view: &View) -> u64 {
        self.with_budget(delay_product(self.greatest_rate(), self.least_us, gain), view)
    }

    /// Counts rounds and takes the rate of a sample. (BBR3-1)
    fn update_rate(&mut self, sample: &RateSample, view: &View) -> u64 {
        self.round_start = false;
        let Some((delivered, interval_us)) = sample.delivery else { return 0 };
        if sample.prior_delivered >= self.round_end {
            self.begin_round(view);
            self.round_start = true;
            self.rounds_since_probe += 1;
        }
        let rate = (delivered << RATE_BITS) / interval_us;
        if !sample.limited || rate >= self.greatest_rate() {
            self.rates[1] = self.rates[1].max(rate);
        }
        rate
    }

    fn begin_round(&mut self, view: &View) {
        self.round_end = view.delivered;
    }

    /// Notices that the rate stopped growing. (BBR3-2)
    fn update_fullness(&mut self, rate: u64, sample: &RateSample) {
        if self.is_full_now || !self.round_start || sample.limited {
            return;
        }
        if rate >= self.full_rate * 5 / 4 {
            self.reset_fullness();
            self.full_rate = rate;
            return;
        }
        self.full_rounds += 1;
        self.is_full_now = self.full_rounds >= FULL_ROUNDS;
        self.is_full |= self.is_full_now;
    }

    fn reset_fullness(&mut self) {
        self.full_rate = 0;
        self.full_rounds = 0;
        self.is_full_now = false;
    }

    /// Ends start-up on a full path or too much loss, and ends draining when the queue is gone.
    fn update_start(&mut self, sample: &RateSample, view: &View) {
        if !self.is_full {
            self.losses_in_round += u32::from(sample.lost > 0);
            let lossy = self.losses_in_round >= STARTUP_LOSSES && Bounds::is_too_high(sample);
            if self.bounds.round_start() && view.state == State::Recovery && lossy {
                self.is_full = true;
                let product = delay_product(self.greatest_rate(), self.least_us, ONE);
                self.bounds.cap_in_flight(product.max(self.bounds.latest_in_flight()));
            }
            if self.bounds.round_start() {
                self.losses_in_round = 0;
            }
        }
        if self.mode == Mode::Startup && self.is_full {
            self.mode = Mode::Drain;
            self.bounds.forget_short_term();
        }
        if self.mode == Mode::Drain && u64::from(view.in_flight) <= self.target_in_flight(ONE, view) {
            self.go_down(view);
        }
    }

    /// Walks through down, cruise, refill and up. (BBR3-3)
    fn update_phase(&mut self, rate: u64, sample: &RateSample, window: &Window, view: &View) {
        if !self.is_full {
            return;
        }
        if self.round_start && self.bounds.end_of_stopping_round() && self.mode.probes_bandwidth() {
            // The result of the probe is known: it starts a new cycle of the filter.
            self.rates = [self.rates[1], 0];
        }
        let target = self.target_in_flight(ONE, view);
        let is_probing_up = self.mode == Mode::Up;
        let full_window = window.was_full();
        if self.bounds.adapt_in_flight(
            sample,
            target,
            is_probing_up,
            full_window,
            window.size,
            self.round_start,
        ) && is_probing_up
        {
            self.go_down(view);
        }
        let is_done = self.mode == Mode::Up && self.is_probe_done(rate, window);
        match self.mode {
            Mode::Down | Mode::Cruise if self.is_time_to_probe(view) => self.go_refill(view),
            Mode::Down if self.is_drained(target, view) => {
                self.mode = Mode::Cruise;
                self.bounds.limit_short_by_long();
            }
            Mode::Refill if self.round_start => self.go_up(rate, window, view),
            Mode::Up if is_done => self.go_down(view),
            _ => {}
        }
    }

    /// Whether the segments in flight leave headroom to others and no queue.
    fn is_drained(&self, target: u64, view: &View) -> bool {
        let in_flight = u64::from(view.in_flight);
        in_flight <= self.bounds.with_headroom() && in_flight <= target
    }

    /// Whether it is time to probe: after the wait, or when Reno would have grown by a segment.
    fn is_time_to_probe(&self, view: &View) -> bool {
        let reno_rounds = delay_product(self.greatest_rate(), self.least_us, ONE).min(PROBE_WAIT_ROUNDS);
        view.now_us - self.phase_at_us > self.probe_wait_us || self.rounds_since_probe >= reno_rounds
    }

    /// Whether the probe found the limit of the path's rate, and not its own bound.
    fn is_probe_done(&mut self, rate: u64, window: &Window) -> bool {
        if window.was_full() && u64::from(window.size) >= self.bounds.in_flight() {
            self.reset_fullness();
            self.full_rate = rate;
            return false;
        }
        self.is_full_now
    }

    fn go_down(&mut self, view: &View) {
        self.mode = Mode::Down;
        self.bounds.forget_short_term();
        self.bounds.begin_stopping();
        let draw = mix(view.now_us ^ view.delivered);
        self.rounds_since_probe = draw & 1;
        self.probe_wait_us = PROBE_WAIT_US + (draw >> 1) % PROBE_WAIT_RANDOM_US;
        self.phase_at_us = view.now_us;
        self.begin_round(view);
    }

    fn go_refill(&mut self, view: &View) {
        self.mode = Mode::Refill;
        self.bounds.forget_short_term();
        self.bounds.begin_refill();
        self.begin_round(view);
    }

    fn go_up(&mut self, rate: u64, window: &Window, view: &View) {
        self.mode = Mode::Up;
        self.reset_fullness();
        self.full_rate = rate;
        self.phase_at_us = view.now_us;
        self.bounds.begin_probe(window.size);
        self.begin_round(view);
    }

    /// Keeps the least round trip, and measures it anew every five seconds. (BBR3-6)
    fn update_round_trip(&mut self, sample: &RateSample, window: &mut Window, view: &View) {
        let is_due = view.jiffies > self.recent_least_at + ROUND_TRIP_INTERVAL_S * view.hertz;
        if let Some(rtt_us) = sample.rtt_us.filter(|&rtt_us| rtt_us < self.recent_least_us || is_due) {
            (self.recent_least_us, self.recent_least_at) = (rtt_us.max(1), view.jiffies);
        }
        let is_old = view.jiffies > self.least_at + ROUND_TRIP_VALID_S * view.hertz;
        if self.recent_least_us < self.least_us || is_old {
            (self.least_us, self.least_at) = (self.recent_least_us, self.recent_least_at);
        }
        if is_due && self.mode != Mode::ProbeRoundTrip {
            self.save_window(window);
            self.mode = Mode::ProbeRoundTrip;
            self.probe_done_at = None;
            self.bounds.begin_stopping();
        }
        if self.mode == Mode::ProbeRoundTrip {
            self.continue_round_trip_probe(window, view);
        }
    }

    fn continue_round_trip_probe(&mut self, window: &mut Window, view: &View) {
        match self.probe_done_at {
            None if u64::from(view.in_flight) <= self.round_trip_window() => {
                let probe = (ROUND_TRIP_PROBE_MS * view.hertz).div_ceil(1_000);
                self.probe_done_at = Some(view.jiffies + probe);
                self.probe_round_done = false;
                self.begin_round(view);
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
        self.recent_least_at = view.jiffies;
        window.size = window.size.max(self.saved_window);
        self.bounds.forget_short_term();
        if self.is_full {
            self.go_down(view);
            self.mode = Mode::Cruise;
        } else {
            self.mode = Mode::Startup;
        }
    }

    fn round_trip_window(&self) -> u64 {
        delay_product(self.bandwidth(), self.least_us, ROUND_TRIP_GAIN).max(LEAST_WINDOW)
    }

    fn save_window(&mut self, window: &Window) {
        let fresh = self.previous_state < State::Recovery && self.mode != Mode::ProbeRoundTrip;
        self.saved_window = if fresh { window.size } else { self.saved_window.max(window.size) };
    }

    /// Sets the window towards the target, within the bounds that loss sets. (BBR3-5)
    fn set_window(&mut self, sample: &RateSample, window: &mut Window, view: &View) {
        if self.previous_state >= State::Recovery && view.state < State::Recovery {
            window.size = window.size.max(self.saved_window);
        }
        self.previous_state = view.state;
        let mut size = u64::from(window.size);
        if sample.acknowledged > 0 {
            let acknowledged = u64::from(sample.acknowledged);
            let aggregation = if self.is_full { self.aggregation.room(self.bandwidth()) } else { 0 };
            let product = delay_product(self.bandwidth(), self.least_us, self.mode.gains().1);
            let target = self.with_budget(product + aggregation, view);
            if self.is_full {
                size = (size + acknowledged).min(target);
            } else if size < target || view.delivered < INITIAL_WINDOW {
                size += acknowledged;
            }
        }
        let cap = match self.mode {
            Mode::Cruise | Mode::ProbeRoundTrip => self.bounds.with_headroom(),
            mode if mode.probes_bandwidth() => self.bounds.in_flight(),
            _ => u64::MAX,
        };
        size = size.min(cap).min(self.bounds.short_in_flight());
        if self.mode == Mode::ProbeRoundTrip {
            size = size.min(self.round_trip_window());
        }
        window.size = size.max(LEAST_WINDOW) as u32;
    }
}

impl Algorithm for Bbr3 {
    /// Saves the window for the end of the recovery. BBR makes no use of the threshold.
    fn threshold(&mut self, window: &Window) -> u32 {
        self.save_window(window);
        self.bounds.save();
        window.threshold
    }

    fn grow(&mut self, _: &mut Window, _: u32, _: &View) {}

    fn on_open(&mut self, window: &Window, view: &View) {
        (self.least_us, self.recent_least_us) = (view.least_us, view.least_us);
        (self.least_at, self.recent_least_at) = (view.jiffies, view.jiffies);
        self.aggregation.begin(view.now_us);
        self.pacer.start(window, STARTUP_PACING, view);
    }

    fn on_state(&mut self, _: State, to: State, _: &mut Window, _: &View) {
        if to == State::Loss {
            self.previous_state = State::Loss;
            self.reset_fullness();
        }
    }

    fn model(&mut self, sample: &RateSample, window: &mut Window, view: &View) {
        let rate = self.update_rate(sample, view);
        let pushing = self.mode.is_pushing();
        self.bounds.observe(sample, rate, view.delivered, pushing, self.greatest_rate(), window.size);
        let bandwidth = self.bandwidth();
        self.aggregation.update(bandwidth, self.round_start, sample, window.size, view.now_us);
        self.update_fullness(rate, sample);
        self.update_start(sample, view);
        self.update_phase(rate, sample, window, view);
        self.update_round_trip(sample, window, view);
        self.bounds.advance(sample, rate);
        if self.pacer.awaits_round_trip(view) {
            self.pacer.start(window, STARTUP_PACING, view);
        }
        self.pacer.set(self.bandwidth(), self.mode.gains().0, self.is_full, view);
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

    fn undone_window(&mut self, window: &Window, _: &View) -> u32 {
        self.reset_fullness();
        self.bounds.restore();
        window.size.max(self.saved_window)
    }
}

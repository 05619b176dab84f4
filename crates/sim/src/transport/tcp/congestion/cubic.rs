//! CUBIC as Linux has it (RFC 9438): beta 717/1024, C 0.4, fast convergence, the Reno-friendly
//! region and HyStart (Ha and Rhee 2011, both detectors).

use super::super::recovery_state::State;
use super::super::window::Window;
use super::{Algorithm, View};

/// Scale of beta.
const BETA_SCALE: u32 = 1024;
/// Multiplicative decrease, 717/1024 = 0.7 (RFC 9438 section 4.6).
const BETA: u32 = 717;
/// Fractional bits of time: 1/1024 s.
const TIME_BITS: u32 = 10;
/// C = 410/1024 = 0.4 segments per cubic second (RFC 9438 section 5).
const C_1024: u64 = 410;
/// Number of acknowledged segments per segment of growth while no maximum is known: 5 % a round trip
/// (Linux).
const SLOWEST_EARLY_GROWTH: u32 = 20;
/// Number of acknowledged segments per segment of the fastest growth: two (Linux), 1.5 times a round
/// trip.
const FASTEST_GROWTH: u32 = 2;
/// Acknowledged segments per segment of Reno-friendly growth, times 8 and divided by the window: 3 (1 -
/// beta) / (1 + beta) segments a round trip (RFC 9438 section 4.3).
const FRIENDLY_SCALE: u32 = 8 * (BETA_SCALE + BETA) / 3 / (BETA_SCALE - BETA);

/// The window at which HyStart begins, segments (Linux `hystart_low_window`).
const HYSTART_LOW_WINDOW: u32 = 16;
/// The gap below which acknowledgements form a train, microseconds (Linux `hystart_ack_delta_us`).
const HYSTART_ACK_GAP_US: u64 = 2_000;
/// The number of samples of a round before its delay counts.
const HYSTART_SAMPLES: u32 = 8;
/// The least and the greatest rise of delay that ends slow start, microseconds.
const HYSTART_DELAY_US: (u64, u64) = (4_000, 16_000);
/// The allowance for bursts of segmentation offload: four bursts, bytes, at most a millisecond.
const HYSTART_BURST_BYTES: u64 = 4 * 65_536;
const HYSTART_BURST_US: u64 = 1_000;

/// The curve and the slow-start detectors of one sender.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Cubic {
    /// Number of acknowledged segments per segment of growth.
    per_segment: u32,
    /// The window before the last reduction, after fast convergence.
    last_maximum: u32,
    last_window: u32,
    last_update: u64,
    /// The plateau of the curve, segments.
    origin: u32,
    /// Time from the start of the epoch to the plateau, 1/1024 s.
    plateau_time: u64,
    /// The least round-trip time, microseconds; zero before any sample.
    least_delay_us: u64,
    /// The start of the growth since the last reduction, jiffies.
    epoch: Option<u64>,
    acknowledged: u32,
    /// The window that Reno would have.
    friendly_window: u32,
    hystart: HyStart,
}

/// The slow-start detectors, which end slow start before it overflows a queue.
#[derive(Clone, Copy, Debug, Default)]
struct HyStart {
    found: bool,
    round_start_us: u64,
    last_ack_us: u64,
    round_end: u64,
    least_round_us: Option<u64>,
    samples: u32,
}

impl Cubic {
    pub(super) fn new() -> Self {
        Self {
            per_segment: 0,
            last_maximum: 0,
            last_window: 0,
            last_update: 0,
            origin: 0,
            plateau_time: 0,
            least_delay_us: 0,
            epoch: None,
            acknowledged: 0,
            friendly_window: 0,
            hystart: HyStart::default(),
        }
    }

    /// Sets how many acknowledged segments one segment of growth takes. (CUBIC-2)
    fn update(&mut self, window: u32, acknowledged: u32, view: &View) {
        self.acknowledged += acknowledged;
        if self.is_growth_recent(window, view.jiffies, view.hertz) {
            return;
        }
        // The curve moves once a jiffy at most.
        if self.epoch.is_none() || view.jiffies != self.last_update {
            self.follow_curve(window, acknowledged, view);
        }
        self.follow_reno(window);
        self.per_segment = self.per_segment.max(FASTEST_GROWTH);
    }

    /// Whether the growth was set for this window in the last 1/32 s.
    const fn is_growth_recent(&self, window: u32, jiffies: u64, hertz: u64) -> bool {
        self.last_window == window && jiffies - self.last_update <= hertz / 32
    }

    fn follow_curve(&mut self, window: u32, acknowledged: u32, view: &View) {
        self.last_window = window;
        self.last_update = view.jiffies;
        let epoch = self.epoch.unwrap_or_else(|| self.begin_epoch(window, acknowledged, view.jiffies));
        let delay = (self.least_delay_us * view.hertz).div_ceil(1_000_000);
        let time = ((view.jiffies - epoch + delay) << TIME_BITS) / view.hertz;
        let target = curve(self.origin, self.plateau_time, time);
        self.per_segment = if target > u64::from(window) {
            (u64::from(window) / (target - u64::from(window))) as u32
        } else {
            100 * window
        };
        if self.last_maximum == 0 {
            self.per_segment = self.per_segment.min(SLOWEST_EARLY_GROWTH);
        }
    }

    fn begin_epoch(&mut self, window: u32, acknowledged: u32, jiffies: u64) -> u64 {
        self.epoch = Some(jiffies);
        self.acknowledged = acknowledged;
        self.friendly_window = window;
        self.origin = self.last_maximum.max(window);
        self.plateau_time = time_to_plateau(self.origin - window);
        jiffies
    }

    /// Keeps the window no smaller than that of Reno with CUBIC's decrease. (CUBIC-3)
    fn follow_reno(&mut self, window: u32) {
        let per_growth = ((u64::from(window) * u64::from(FRIENDLY_SCALE)) >> 3) as u32;
        if self.acknowledged > per_growth {
            // The greatest number of whole steps that leaves at most one step.
            let steps = (self.acknowledged - 1) / per_growth.max(1);
            self.friendly_window += steps;
            self.acknowledged -= steps * per_growth;
        }
        if self.friendly_window > window {
            self.per_segment = self.per_segment.min(window / (self.friendly_window - window));
        }
    }
}

/// Returns the window at `time` after the start of the epoch (RFC 9438 equation 1). (CUBIC-1)
fn curve(origin: u32, plateau_time: u64, time: u64) -> u64 {
    let offset = time.abs_diff(plateau_time);
    let distance = (u128::from(C_1024) * u128::from(offset).pow(3)) >> (10 + 3 * TIME_BITS);
    let distance = u64::try_from(distance).unwrap_or(u64::MAX);
    if time < plateau_time {
        u64::from(origin).saturating_sub(distance)
    } else {
        u64::from(origin).saturating_add(distance)
    }
}

/// Returns K, the time to climb `missing` segments, 1/1024 s (RFC 9438 equation 2). (CUBIC-1)
fn time_to_plateau(missing: u32) -> u64 {
    let cubed = (1u64 << (10 + 3 * TIME_BITS)) / C_1024 * u64::from(missing);
    libm::cbrt(cubed as f64) as u64
}

impl HyStart {
    fn begin_round(&mut self, view: &View) {
        let found = self.found;
        *self = Self {
            found,
            round_start_us: view.now_us,
            last_ack_us: view.now_us,
            round_end: view.next,
            ..Self::default()
        };
    }

    /// Whether slow start should end now. (CUBIC-4)
    fn ends_slow_start(&mut self, window: &Window, rtt_us: u64, least_us: u64, view: &View) -> bool {
        let train = self.train_is_long(window, least_us, view);
        let delay = self.delay_rose(rtt_us, least_us);
        self.found = train || delay;
        self.found
    }

    /// Whether the acknowledgements of a round came closely packed over half a round-trip time.
    fn train_is_long(&mut self, window: &Window, least_us: u64, view: &View) -> bool {
        if view.now_us - self.last_ack_us > HYSTART_ACK_GAP_US {
            return false;
        }
        self.last_ack_us = view.now_us;
        let burst = HYSTART_BURST_BYTES * 1_000_000 / view.pacing_rate(window).max(1);
        view.now_us - self.round_start_us > (least_us + burst.min(HYSTART_BURST_US)) / 2
    }

    /// Whether the least delay of this round is clearly above the least delay of all rounds.
    fn delay_rose(&mut self, rtt_us: u64, least_us: u64) -> bool {
        let least_round = self.least_round_us.unwrap_or(rtt_us).min(rtt_us);
        self.least_round_us = Some(least_round);
        if self.samples < HYSTART_SAMPLES {
            self.samples += 1;
            return false;
        }
        least_round > least_us + (least_us / 8).clamp(HYSTART_DELAY_US.0, HYSTART_DELAY_US.1)
    }
}

impl Algorithm for Cubic {
    // CUBIC-5
    fn threshold(&mut self, window: &Window) -> u32 {
        self.epoch = None;
        let converging = window.size < self.last_maximum;
        self.last_maximum = if converging {
            // A flow that did not come back to its maximum makes room for others.
            (u64::from(window.size) * u64::from(BETA_SCALE + BETA) / u64::from(2 * BETA_SCALE)) as u32
        } else {
            window.size
        };
        let reduced = u64::from(window.size) * u64::from(BETA) / u64::from(BETA_SCALE);
        (reduced as u32).max(super::LEAST_THRESHOLD)
    }

    fn grow(&mut self, window: &mut Window, acknowledged: u32, view: &View) {
        if !window.is_limited() {
            return;
        }
        let left = if window.in_slow_start() { window.slow_start(acknowledged) } else { acknowledged };
        if left > 0 {
            self.update(window.size, left, view);
            window.grow_linearly(self.per_segment, left);
        }
    }

    #[cfg(feature = "fast")]
    fn segments_per_growth(&self, window: &Window, jiffies: u64, hertz: u64) -> u32 {
        if self.is_growth_recent(window.size, jiffies, hertz) { self.per_segment } else { 0 }
    }

    #[cfg(feature = "fast")]
    fn note_without_growth(&mut self, acknowledged: u32) {
        self.acknowledged += acknowledged;
    }

    // CUBIC-6
    fn on_state(&mut self, _: State, to: State, _: &mut Window, view: &View) {
        if to == State::Loss {
            *self = Self::new();
            self.hystart.begin_round(view);
        }
    }

    fn watches_round_trips(&self) -> bool {
        true
    }

    fn on_round_trip(&mut self, window: &mut Window, rtt_us: u64, view: &View) {
        // Samples right after a recovery still carry its queue.
        if self.epoch.is_some_and(|epoch| view.jiffies - epoch < view.hertz) {
            return;
        }
        let rtt_us = rtt_us.max(1);
        if self.least_delay_us == 0 || rtt_us < self.least_delay_us {
            self.least_delay_us = rtt_us;
        }
        if !self.hystart.found && window.in_slow_start() {
            // A round is a flight, from the first flight on. Below the least window a round is only not
            // judged.
            if view.una > self.hystart.round_end {
                self.hystart.begin_round(view);
            }
            if window.size >= HYSTART_LOW_WINDOW
                && self.hystart.ends_slow_start(window, rtt_us, self.least_delay_us, view)
            {
                window.threshold = window.size;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CUBIC-1: W(t) = C (t - K)^3 + W_max with K = cbrt(W_max (1 - beta) / C).
    #[test]
    fn the_curve_is_that_of_rfc_9438() {
        for maximum in [100u32, 1_000, 20_000] {
            let start = (f64::from(maximum) * 0.7) as u32;
            let plateau_time = time_to_plateau(maximum - start);
            let k = (f64::from(maximum - start) / 0.4).cbrt();
            assert!((plateau_time as f64 / 1024.0 - k).abs() < 0.01 * k);
            for tenths in 0..40u64 {
                let seconds = k * tenths as f64 / 20.0;
                let exact = 0.4 * (seconds - k).powi(3) + f64::from(maximum);
                let window = curve(maximum, plateau_time, (seconds * 1024.0) as u64) as f64;
                assert!(
                    (window - exact).abs() < 1.0 + 0.01 * exact,
                    "{maximum} at {seconds} s: {window} {exact}"
                );
            }
        }
    }

    /// CUBIC-3: alpha = 3 (1 - beta) / (1 + beta) = 0.529 segments a round trip.
    #[test]
    fn the_friendly_region_grows_half_a_segment_a_round_trip() {
        let mut cubic = Cubic { friendly_window: 100, ..Cubic::new() };
        for _ in 0..1_000 {
            cubic.acknowledged += 100;
            cubic.per_segment = u32::MAX;
            cubic.follow_reno(100);
        }
        let grown = f64::from(cubic.friendly_window - 100);
        assert!((grown / 1_000.0 - 3.0 * 0.3 / 1.7).abs() < 0.01, "{grown}");
    }

    /// CUBIC-5
    #[test]
    fn loss_keeps_seven_tenths_and_converges_fast() {
        let mut cubic = Cubic::new();
        assert_eq!(cubic.threshold(&Window::new(1_000)), 700);
        assert_eq!(cubic.last_maximum, 1_000);
        assert_eq!(cubic.threshold(&Window::new(800)), 560);
        assert_eq!(cubic.last_maximum, 680);
    }

    fn view(now_us: u64, una: u64, next: u64) -> View {
        View {
            now_us,
            jiffies: now_us / 1_000,
            una,
            next,
            delivered: una,
            outstanding: (next - una) as u32,
            in_flight: (next - una) as u32,
            smoothed_eighths: 8 * 20_000,
            least_us: 20_000,
            ..View::example()
        }
    }

    /// CUBIC-2: at the plateau growth is slow, at most one for two acknowledged beyond it, one for
    /// twenty while no maximum is known.
    #[test]
    fn growth_follows_the_distance_to_the_curve() {
        let mut cubic = Cubic { last_maximum: 1_000, ..Cubic::new() };
        cubic.update(700, 1, &view(10_000_000, 0, 700));
        // K = 9.086 s, so W(1 s) = 1000 - 0.4 * 8.086^3 = 788.5: 88 segments for 700.
        cubic.update(700, 1, &view(11_000_000, 0, 700));
        assert_eq!(cubic.per_segment, 700 / 88);
        cubic.update(1_000, 1, &view(19_086_000, 0, 1_000));
        assert_eq!(cubic.per_segment, 100 * 1_000, "on the plateau");
        cubic.last_window = 0;
        cubic.update(999, 1, &view(60_000_000, 0, 999));
        assert_eq!(cubic.per_segment, FASTEST_GROWTH);
        let mut fresh = Cubic::new();
        fresh.update(1_000, 1, &view(10_000_000, 0, 1_000));
        assert_eq!(fresh.per_segment, SLOWEST_EARLY_GROWTH);
    }

    /// Sends ten samples a round, `rise_us` above the minimum. Returns whether slow start ends.
    /// (CUBIC-4)
    fn slow_start_ends(least_us: u64, rise_us: u64, gap_us: u64) -> bool {
        let mut cubic = Cubic { least_delay_us: least_us, ..Cubic::new() };
        let mut window = Window::new(HYSTART_LOW_WINDOW);
        for ack in 0..10 {
            cubic.on_round_trip(&mut window, least_us + rise_us, &view(10_000_000 + ack * gap_us, 1, 100));
        }
        !window.in_slow_start()
    }

    /// CUBIC-4
    #[test]
    fn hystart_sees_delay_and_trains() {
        assert!(!slow_start_ends(40_000, 5_000, 10));
        assert!(slow_start_ends(40_000, 5_001, 10), "an eighth of 40 ms");
        assert!(!slow_start_ends(10_000, 4_000, 10));
        assert!(slow_start_ends(10_000, 4_001, 10), "4 ms at least");
        assert!(slow_start_ends(10_000, 0, 700), "a train of more than half the round trip");
        assert!(!slow_start_ends(10_000, 0, 2_001), "no train");
    }

    /// CUBIC-6
    #[test]
    fn a_timeout_forgets_the_path() {
        let mut cubic = Cubic { last_maximum: 500, least_delay_us: 7, epoch: Some(3), ..Cubic::new() };
        cubic.on_state(State::Open, State::Loss, &mut Window::new(10), &view(5_000_000, 0, 10));
        assert_eq!((cubic.last_maximum, cubic.least_delay_us, cubic.epoch), (0, 0, None));
    }
}

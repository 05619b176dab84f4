//! DCQCN's reaction point: the rate of one sender under congestion notifications.
//!
//! After Zhu et al., "Congestion Control for Large-Scale RDMA Deployments" (SIGCOMM 2015), section
//! 4, which takes its increase stages from quantised congestion notification (IEEE 802.1Qau).

use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::BitRate;

/// Picoseconds in a second times bits in a byte.
const BIT_PS_PER_BYTE: f64 = 8e12;
/// The number of periods without a notification after which alpha is below 1e-33 at the published
/// gain, and counts as zero.
const MOST_DECAYS: u64 = 20_000;

/// Parameters of DCQCN, with the published values as defaults.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dcqcn {
    /// Rate of the interface: the first rate of a sender, and the rate at which the limiter stops.
    pub line_rate: BitRate,
    /// Gain of alpha's average, g.
    pub gain: f64,
    /// Least time between notifications at the receiving end, N.
    pub notification_interval: Duration,
    /// The time without a notification after which alpha decays, K.
    pub alpha_period: Duration,
    /// Period of the increase timer, T.
    pub increase_period: Duration,
    /// Bytes between increases, B.
    pub increase_bytes: u64,
    /// Number of increases that only recover the rate before the last cut, F.
    pub fast_recovery_steps: u32,
    /// Step of the target in additive increase, R_AI.
    pub additive_step: BitRate,
    /// Step of the target in hyper increase, R_HAI.
    pub hyper_step: BitRate,
    /// The least rate of a sender.
    pub least_rate: BitRate,
}

impl Dcqcn {
    /// Returns the published parameters on an interface of `line_rate`. The paper leaves the hyper
    /// step and the least rate open: ten additive steps and 10 Mb/s are 802.1Qau's.
    pub const fn on(line_rate: BitRate) -> Self {
        Self {
            line_rate,
            gain: 1.0 / 256.0,
            notification_interval: Duration::from_us(50),
            alpha_period: Duration::from_us(55),
            increase_period: Duration::from_us(55),
            increase_bytes: 10_000_000,
            fast_recovery_steps: 5,
            additive_step: BitRate::from_bps(40_000_000),
            hyper_step: BitRate::from_bps(400_000_000),
            least_rate: BitRate::from_bps(10_000_000),
        }
    }
}

/// The rate of one sender. Expiries of timers are made up for when the rate is asked for, so timers
/// cost no events: a packet leaves at the rate that holds when the packet is asked for.
#[derive(Clone, Copy, Debug)]
pub struct RateLimiter {
    config: Dcqcn,
    /// The present rate, bit/s.
    current_bps: f64,
    /// The rate to recover to, bit/s.
    target_bps: f64,
    alpha: f64,
    /// Whether the rate is below the line rate; otherwise no packet is paced.
    is_limiting: bool,
    alpha_at: Instant,
    increase_at: Instant,
    /// Expiries of the increase timer and of the byte counter since the last cut.
    timer_steps: u32,
    byte_steps: u32,
    bytes: u64,
    /// The earliest time at which the next packet may leave.
    open_from: Instant,
}

impl RateLimiter {
    /// Returns a sender at line rate that has not seen a notification.
    pub fn new(config: Dcqcn) -> Self {
        let line_bps = config.line_rate.as_bps() as f64;
        Self {
            config,
            current_bps: line_bps,
            target_bps: line_bps,
            alpha: 1.0,
            is_limiting: false,
            alpha_at: Instant::NEVER,
            increase_at: Instant::NEVER,
            timer_steps: 0,
            byte_steps: 0,
            bytes: 0,
            open_from: Instant::ZERO,
        }
    }

    /// Returns the rate at `now`, bit/s.
    pub fn rate_bps(&mut self, now: Instant) -> f64 {
        self.catch_up(now);
        self.current_bps
    }

    /// Returns the estimate of congestion at `now`.
    pub fn alpha(&mut self, now: Instant) -> f64 {
        self.catch_up(now);
        self.alpha
    }

    /// Returns when the next packet may leave; a time in the past if it may leave at once.
    #[inline]
    pub const fn open_from(&self) -> Instant {
        if self.is_limiting { self.open_from } else { Instant::ZERO }
    }

    /// Lowers the rate on a congestion notification.
    pub fn handle_notification(&mut self, now: Instant) {
        self.catch_up(now);
        // RDMA-31
        self.target_bps = self.current_bps;
        self.current_bps =
            (self.current_bps * (1.0 - self.alpha / 2.0)).max(self.config.least_rate.as_bps() as f64);
        self.alpha += self.config.gain * (1.0 - self.alpha);
        self.is_limiting = true;
        self.alpha_at = now + self.config.alpha_period;
        self.increase_at = now + self.config.increase_period;
        (self.timer_steps, self.byte_steps, self.bytes) = (0, 0, 0);
    }

    /// Notes that a packet of `ip_bytes` left. Below line rate the packet keeps its successor back
    /// (RDMA-34).
    #[inline]
    pub fn note_sent(&mut self, now: Instant, ip_bytes: u32) {
        if !self.is_limiting {
            return;
        }
        self.catch_up(now);
        let gap = f64::from(ip_bytes) * BIT_PS_PER_BYTE / self.current_bps;
        self.open_from = self.open_from.max(now) + Duration::from_ps(gap as u64);
        self.count(u64::from(ip_bytes));
    }

    /// Adds the bytes of a packet to the byte counter (RDMA-33).
    fn count(&mut self, bytes: u64) {
        self.bytes += bytes;
        if self.bytes >= self.config.increase_bytes {
            self.bytes -= self.config.increase_bytes;
            self.byte_steps += 1;
            self.increase();
        }
    }

    /// Makes up for the expiries of both timers up to `now`.
    fn catch_up(&mut self, now: Instant) {
        if self.alpha_at <= now {
            self.decay(now);
        }
        while self.increase_at <= now {
            self.increase_at += self.config.increase_period;
            self.timer_steps += 1;
            self.increase();
        }
    }

    /// Lowers alpha once for every period without a notification (RDMA-32).
    fn decay(&mut self, now: Instant) {
        let periods = (now - self.alpha_at) / self.config.alpha_period + 1;
        self.alpha_at += self.config.alpha_period * periods;
        if periods > MOST_DECAYS {
            self.alpha = 0.0;
        }
        for _ in 0..periods.min(MOST_DECAYS) {
            self.alpha *= 1.0 - self.config.gain;
        }
    }

    /// Raises the rate on one event of either counter (RDMA-33).
    fn increase(&mut self) {
        let steps = self.config.fast_recovery_steps;
        let (most, least) = (self.timer_steps.max(self.byte_steps), self.timer_steps.min(self.byte_steps));
        if least > steps {
            self.target_bps += f64::from(least - steps) * self.config.hyper_step.as_bps() as f64;
        } else if most >= steps {
            self.target_bps += self.config.additive_step.as_bps() as f64;
        }
        let line_bps = self.config.line_rate.as_bps() as f64;
        self.target_bps = self.target_bps.min(line_bps);
        self.current_bps = f64::midpoint(self.current_bps, self.target_bps);
        // Halving never reaches the target: a rate within a bit per second of the line rate counts
        // as the line rate.
        if line_bps - self.current_bps < 1.0 {
            self.release(line_bps);
        }
    }

    /// Returns to the line rate: no packet is held back until the next notification.
    fn release(&mut self, line_bps: f64) {
        (self.current_bps, self.target_bps) = (line_bps, line_bps);
        self.is_limiting = false;
        self.increase_at = Instant::NEVER;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: f64 = 1e11;

    fn at(us: u64) -> Instant {
        Instant::ZERO + Duration::from_us(us)
    }

    fn limiter() -> RateLimiter {
        RateLimiter::new(Dcqcn::on(BitRate::from_gbps(100)))
    }

    fn assert_near(value: f64, expected: f64) {
        assert!((value - expected).abs() <= 1e-12 * expected.abs(), "{value} is not {expected}");
    }

    // RDMA-31
    #[test]
    fn the_first_notification_halves_the_rate_and_later_ones_follow_alpha() {
        let mut limiter = limiter();
        limiter.handle_notification(at(0));
        assert_near(limiter.rate_bps(at(0)), LINE / 2.0);
        assert_near(limiter.alpha(at(0)), 1.0);
        // 100 us without a notification: one decay at 55 us; one step of recovery, half-way back.
        assert_near(limiter.alpha(at(100)), 255.0 / 256.0);
        assert_near(limiter.rate_bps(at(100)), 0.75 * LINE);
        limiter.handle_notification(at(100));
        let alpha: f64 = 255.0 / 256.0;
        assert_near(limiter.rate_bps(at(100)), 0.75 * LINE * (1.0 - alpha / 2.0));
        assert_near(limiter.alpha(at(100)), alpha + (1.0 - alpha) / 256.0);
    }

    // RDMA-32
    #[test]
    fn alpha_decays_by_a_255th_part_every_55_us() {
        let mut limiter = limiter();
        limiter.handle_notification(at(0));
        assert_near(limiter.alpha(at(54)), 1.0);
        assert_near(limiter.alpha(at(55)), 255.0 / 256.0);
        assert_near(limiter.alpha(at(55 * 10)), (255.0f64 / 256.0).powi(10));
        assert_eq!(limiter.alpha(at(55 * 30_000)), 0.0);
    }

    // RDMA-33: five halvings of the gap, the fifth of them with the first additive step.
    #[test]
    fn fast_recovery_halves_the_gap_then_the_target_grows() {
        let mut limiter = limiter();
        limiter.handle_notification(at(0));
        limiter.handle_notification(at(0));
        let target = LINE / 2.0;
        let mut rate = LINE / 4.0;
        for step in 1..5 {
            rate = f64::midpoint(rate, target);
            assert_near(limiter.rate_bps(at(55 * step)), rate);
        }
        for step in 5..9 {
            rate = f64::midpoint(rate, target + (step - 4) as f64 * 40e6);
            assert_near(limiter.rate_bps(at(55 * step)), rate);
        }
    }

    // RDMA-33: hyper increase needs more than five steps of both counters.
    #[test]
    fn hyper_increase_starts_when_both_counters_are_past_fast_recovery() {
        let mut limiter = limiter();
        limiter.handle_notification(at(0));
        limiter.handle_notification(at(0));
        limiter.catch_up(at(55 * 6));
        (0..5).for_each(|_| limiter.count(10_000_000));
        let additive = limiter.target_bps;
        // Two by the timer (its fifth and sixth steps), five by the counter.
        assert_near(additive, LINE / 2.0 + 7.0 * 40e6);
        limiter.count(9_999_999);
        assert_near(limiter.target_bps, additive);
        limiter.count(1);
        assert_near(limiter.target_bps, additive + 400e6);
    }

    // RDMA-34
    #[test]
    fn packets_are_spaced_by_the_rate_that_holds() {
        let mut limiter = limiter();
        limiter.note_sent(at(1), 1000);
        assert_eq!(limiter.open_from(), Instant::ZERO);
        limiter.handle_notification(at(1));
        limiter.note_sent(at(1), 1000);
        // 8000 bits at 50 Gb/s last 160 ns.
        assert_eq!(limiter.open_from(), at(1) + Duration::from_ns(160));
        limiter.note_sent(at(2), 1000);
        assert_eq!(limiter.open_from(), at(2) + Duration::from_ns(160));
    }

    // RDMA-34
    #[test]
    fn the_limiter_lets_go_at_line_rate_and_never_falls_below_the_least() {
        let mut limiter = limiter();
        limiter.handle_notification(at(0));
        assert_near(limiter.rate_bps(at(55 * 36)), LINE);
        assert_eq!(limiter.open_from(), Instant::ZERO);
        (0..100).for_each(|_| limiter.handle_notification(at(3000)));
        assert_near(limiter.rate_bps(at(3000)), 10e6);
    }
}

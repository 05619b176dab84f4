//! A host's clocks: microsecond stamps, jiffies, and the kernel's timer wheel.
//!
//! A timer of n jiffies fires at a tick, after n to n + 1 jiffies; beyond 63 jiffies the wheel is
//! coarser: 8 jiffies up to 503, 64 up to 4031, and so on (Linux `kernel/time/timer.c`).
//!
//! On a host of several cores one of the cores counts the jiffies, and all cores tick at the same instant. A core that
//! looks before the jiffy is counted finds no timer due (Linux `run_local_timers`): it has missed the tick.

#[cfg(feature = "fast")]
mod fast;

use super::config::Config;
use lossylink_core::probability::Probability;
use lossylink_core::rng::at_index;
use lossylink_core::time::{Duration, Instant};

/// Picoseconds in a microsecond.
const PS_PER_US: u64 = 1_000_000;
/// Picoseconds in a second.
const PS_PER_S: u64 = 1_000_000_000_000;
/// Buckets of a wheel level, less one: timers shorter than this are in the first level, jiffies.
const LEVEL_SPAN: u64 = 63;
/// Shift from one level of the wheel to the next, which is 2^3 times coarser.
const LEVEL_SHIFT: u32 = 3;
/// Number of levels of the wheel.
const LEVELS: u32 = 9;

/// The clocks of one host, refreshed at every event as the kernel does per packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    tick_ps: u64,
    tick_us: u64,
    hertz: u64,
    /// The time of the first tick, picoseconds.
    phase_ps: u64,
    /// Jiffies counted before the start, which place the wheel's coarse slots.
    first_jiffy: u64,
    missed_ticks: Probability,
    now: Instant,
    micros: u64,
    jiffy: u64,
    /// The end of the current jiffy, kept to save a division per event.
    jiffy_end_ps: u64,
}

impl Clock {
    /// Returns the clock of a host, one of whose ticks comes at `phase`. Whole ticks in `phase` shift the coarse slots.
    pub(super) fn of(config: &Config, phase: Duration) -> Self {
        Self { missed_ticks: config.missed_ticks, ..Self::new(config.tick, phase) }
    }

    /// Returns a clock that misses no tick.
    pub(super) fn new(tick: Duration, phase: Duration) -> Self {
        let tick_ps = tick.as_ps();
        assert!(tick_ps >= PS_PER_US, "a jiffy is at least a microsecond");
        let phase_ps = phase.as_ps() % tick_ps;
        let first_jiffy = phase.as_ps() / tick_ps;
        Self {
            tick_ps,
            tick_us: tick_ps / PS_PER_US,
            hertz: PS_PER_S / tick_ps,
            phase_ps,
            first_jiffy,
            missed_ticks: Probability::NEVER,
            now: Instant::ZERO,
            micros: 0,
            jiffy: first_jiffy,
            jiffy_end_ps: phase_ps,
        }
    }

    /// Sets the clock to `now`.
    pub(super) fn refresh(&mut self, now: Instant) {
        debug_assert!(now >= self.now, "time runs forward");
        self.now = now;
        self.micros = Self::micros_at(now);
        if now.as_ps() >= self.jiffy_end_ps {
            let ticks = (now.as_ps() + self.tick_ps - self.phase_ps) / self.tick_ps;
            self.jiffy = self.first_jiffy + ticks;
            self.jiffy_end_ps = ticks * self.tick_ps + self.phase_ps;
        }
    }

    /// Returns whole microseconds from the start to `at`.
    #[inline]
    pub(super) const fn micros_at(at: Instant) -> u64 {
        at.as_ps() / PS_PER_US
    }

    /// Returns the time of the last refresh.
    pub(super) const fn now(&self) -> Instant {
        self.now
    }

    /// Returns whole microseconds since the start: the resolution of segment stamps and round-trip times.
    pub(super) const fn micros(&self) -> u64 {
        self.micros
    }

    /// Returns milliseconds since the start: the resolution of the timestamps option. Never returns zero, which stands
    /// for an absent stamp.
    pub(super) const fn millis(&self) -> u32 {
        (self.micros / 1000) as u32 + 1
    }

    /// Returns the number of ticks so far.
    pub(super) const fn jiffies(&self) -> u64 {
        self.jiffy
    }

    /// Returns the number of ticks in a second.
    pub(super) const fn hertz(&self) -> u64 {
        self.hertz
    }

    /// Returns a span of microseconds in jiffies, rounded up.
    pub(super) const fn jiffies_in_micros(&self, micros: u64) -> u64 {
        micros.div_ceil(self.tick_us)
    }

    /// Returns a span in jiffies, rounded up.
    pub(super) const fn jiffies_in(&self, span: Duration) -> u64 {
        span.as_ps().div_ceil(self.tick_ps)
    }

    /// Returns a span of jiffies in microseconds.
    pub(super) const fn micros_in_jiffies(&self, jiffies: u64) -> u64 {
        jiffies * self.tick_us
    }

    /// Returns when a timer fires that is armed now for `length` jiffies. (TCP-4)
    pub(super) fn fires_after(&self, length: u64) -> Instant {
        self.fires_at(self.jiffy + length)
    }

    /// Returns when a timer fires that is armed now for the tick `expires`: never before that tick, at most one slot
    /// later, and at the next tick if its tick is missed.
    pub(super) fn fires_at(&self, expires: u64) -> Instant {
        let length = expires.saturating_sub(self.jiffy);
        let shift = if length < LEVEL_SPAN { 0 } else { level_of(length) * LEVEL_SHIFT };
        let slot = ((expires >> shift) + 1) << shift;
        let seen_at = slot + u64::from(self.misses(slot));
        Instant::from_ps((seen_at - 1 - self.first_jiffy) * self.tick_ps + self.phase_ps)
    }

    /// Whether the timers of the tick that counts jiffy `number` find this jiffy not counted yet. At the next tick it is
    /// counted.
    fn misses(&self, number: u64) -> bool {
        !self.missed_ticks.is_never() && self.missed_ticks.draw(&mut at_index(self.phase_ps, number))
    }
}

/// Returns the wheel level that holds timers of `length` jiffies.
fn level_of(length: u64) -> u32 {
    let fits = |level: &u32| length < LEVEL_SPAN << (LEVEL_SHIFT * level);
    (0..LEVELS - 1).find(fits).unwrap_or(LEVELS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock_at(now_us: u64, phase_us: u64) -> Clock {
        let mut clock = Clock::new(Duration::from_ms(1), Duration::from_us(phase_us));
        clock.refresh(Instant::ZERO + Duration::from_us(now_us));
        clock
    }

    fn fires_us(now_us: u64, phase_us: u64, length: u64) -> u64 {
        clock_at(now_us, phase_us).fires_after(length).as_ps() / PS_PER_US
    }

    /// TCP-4
    #[test]
    fn a_short_timer_lasts_its_length_to_one_tick_more() {
        assert_eq!(fires_us(0, 300, 2), 2_300);
        assert_eq!(fires_us(299, 300, 2), 2_300);
        assert_eq!(fires_us(300, 300, 2), 3_300);
        for now in (0..5_000).step_by(37) {
            let lasts = fires_us(now, 300, 2) - now;
            assert!(lasts > 2_000 && lasts <= 3_000, "armed at {now} us: {lasts} us");
        }
    }

    /// TCP-4
    #[test]
    fn a_long_timer_fires_at_a_coarser_slot() {
        for (length, slot_ms) in [(62, 1), (63, 8), (206, 8), (503, 8), (504, 64), (4_031, 64), (4_032, 512)]
        {
            let fires = fires_us(10_500, 0, length);
            let lasts_ms = (fires - 10_500) as f64 / 1e3;
            assert!(
                lasts_ms > length as f64 && lasts_ms <= (length + slot_ms) as f64,
                "{length}: {lasts_ms}"
            );
        }
    }

    /// TCP-4
    #[test]
    fn a_timer_whose_tick_is_missed_fires_at_the_next() {
        let missing = |share| Config {
            missed_ticks: Probability::new(share).expect("a probability"),
            ..Config::default()
        };
        let fires_us = |share, now_us: u64, phase_us, length| {
            let mut clock = Clock::of(&missing(share), Duration::from_us(phase_us));
            clock.refresh(Instant::ZERO + Duration::from_us(now_us));
            clock.fires_after(length).as_ps() / PS_PER_US
        };
        assert_eq!(fires_us(0.0, 299, 300, 2), 2_300);
        assert_eq!(fires_us(1.0, 299, 300, 2), 3_300, "one tick later and no more");
        assert_eq!(fires_us(1.0, 0, 0, 63), fires_us(0.0, 0, 0, 63) + 1_000, "in a coarse slot, too");
        // Whether a tick is missed does not depend on the timer, or on when it was armed.
        assert_eq!(fires_us(0.5, 299, 300, 2), fires_us(0.5, 150, 300, 2));
        let late = (0..10_000).filter(|&phase_us| fires_us(0.25, 0, phase_us, 2) > 2_000 + phase_us % 1_000);
        let late = late.count() as f64;
        assert!((late - 2_500.0).abs() < 4.0 * (2_500.0f64 * 0.75).sqrt(), "{late} of 10,000 a tick late");
    }

    #[test]
    fn jiffies_round_up_and_follow_the_phase() {
        let clock = clock_at(1_299, 300);
        assert_eq!(clock.jiffies(), 1);
        assert_eq!(clock_at(1_300, 300).jiffies(), 2);
        assert_eq!(clock.jiffies_in_micros(1), 1);
        assert_eq!(clock.jiffies_in_micros(1_030), 2);
        assert_eq!(clock.hertz(), 1_000);
    }
}

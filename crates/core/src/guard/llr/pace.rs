//! The waits and the window of a live sending end, computed from a measured loop (LLR-24, LLR-25).

use crate::engine::llr::{SPACING_DEFAULT, Sizing, spacing_time};
use crate::protection::Llr;
use crate::time::Duration;
use crate::units::{BitRate, Bytes};

/// The slack of a wait beside the loop: a late wake-up of the other end, as in G-14.
const SLACK: Duration = Duration::from_ms(1);
/// The loop that is assumed before it has been measured. The timer is then about 21 ms.
const UNMEASURED_LOOP: Duration = Duration::from_ms(5);
/// The number of loops that a replay timer lasts at least, even if a shorter timer was chosen, as in G-14.
const LOOPS_AT_LEAST: u64 = 2;
/// The least time between two control sets. A control set is a frame of its own, and costs both ends a packet. At 1
/// Gb/s one in 50 us is one for every four full frames (LLR-24).
const CONTROL_INTERVAL: Duration = Duration::from_us(50);
/// The most frames and bytes that may be outstanding unless others were chosen: those of G-12.
pub(super) const MOST_FRAMES: u32 = 1 << 15;
pub(super) const MOST_BYTES: Bytes = Bytes(32 << 20);

/// The properties of a link that are known before its loop is measured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub(super) rate: BitRate,
    /// The longest frame with all octets that it takes on the line.
    pub(super) full_frame: Bytes,
}

/// The waits and sizes that follow from the chosen options and from the loop.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    rate: BitRate,
    /// The longest frame with all octets that it takes on the line.
    full_frame: Bytes,
    spacing: Bytes,
    chosen_timer: Option<Duration>,
    chosen_window: Option<Bytes>,
    loop_time: Option<Duration>,
    timer: Duration,
    window: Bytes,
}

impl Pace {
    /// Returns the waits and sizes on this link, for the chosen options.
    pub(super) fn new(Link { rate, full_frame }: Link, options: &Llr) -> Self {
        let spacing = control_spacing(rate, Bytes(u64::from(options.spacing_bytes)));
        let mut pace = Self {
            rate,
            full_frame,
            spacing: rate * spacing,
            chosen_timer: options.timer_ns.map(|ns| Duration::from_ns(u64::from(ns))),
            chosen_window: options.bytes.map(|bytes| Bytes(u64::from(bytes))),
            loop_time: None,
            timer: Duration::ZERO,
            window: Bytes::ZERO,
        };
        pace.follow();
        pace
    }

    /// Takes in the loop that the guards have measured; `None` before the first measurement.
    pub(super) fn note(&mut self, loop_time: Option<Duration>) {
        if self.loop_time != loop_time {
            self.loop_time = loop_time;
            self.follow();
        }
    }

    /// Returns the replay timer in force (LLR-25).
    pub(super) fn timer(&self) -> Duration {
        self.timer
    }

    /// Returns the bytes that may be outstanding (LLR-25).
    pub(super) fn window(&self) -> Bytes {
        self.window
    }

    /// Whether the chosen timer is too short for the loop (LLR-25).
    pub(super) fn is_raised(&self) -> bool {
        self.chosen_timer.is_some_and(|chosen| chosen < self.timer)
    }

    fn follow(&mut self) {
        let loop_time = self.loop_time.unwrap_or(UNMEASURED_LOOP);
        self.timer = match self.chosen_timer {
            Some(chosen) => chosen.max(loop_time * LOOPS_AT_LEAST + SLACK),
            None => self.sizing(loop_time).replay_timer() + SLACK,
        };
        let needed = self.sizing(loop_time + SLACK).bytes_needed();
        self.window = self.chosen_window.unwrap_or(needed.min(MOST_BYTES));
    }

    /// Returns the sizing for a loop. A measured loop holds the cable and the software at both ends, in unknown
    /// parts.
    fn sizing(&self, loop_time: Duration) -> Sizing {
        Sizing {
            rate: self.rate,
            rate_back: self.rate,
            propagation: Duration::ZERO,
            pipeline: loop_time / 2,
            frame: self.full_frame,
            spacing: self.spacing,
        }
    }
}

/// Returns the time from a control set to the next (LLR-24).
pub(super) fn control_interval(rate: BitRate, options: Option<&Llr>) -> Duration {
    let spacing = options.map_or(SPACING_DEFAULT, |options| Bytes(u64::from(options.spacing_bytes)));
    control_spacing(rate, spacing)
}

fn control_spacing(rate: BitRate, spacing: Bytes) -> Duration {
    spacing_time(spacing, rate).max(CONTROL_INTERVAL)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: BitRate = BitRate::from_gbps(1);
    const US: fn(u64) -> Duration = Duration::from_us;

    fn pace(options: &Llr, loop_time: Option<Duration>) -> Pace {
        let mut pace = Pace::new(Link { rate: RATE, full_frame: Bytes(1538) }, options);
        pace.note(loop_time);
        pace
    }

    // LLR-25: two full frames take 24.608 us at 1 Gb/s, and the control interval is 50 us.
    #[test]
    fn the_timer_is_four_loops_and_the_slack() {
        let measured = pace(&Llr::default(), Some(US(200)));
        assert_eq!(measured.timer(), (US(200) + US(50) + Duration::from_ns(24_608)) * 4 + SLACK);
        // 1.25 ms and two intervals of 50 us at 125 B a microsecond, less one interval, and two frames.
        assert_eq!(measured.window(), Bytes(1_300 * 125 + 2 * 1538));
        assert_eq!(pace(&Llr::default(), None).timer() / US(1), 21_298);
        assert!(!measured.is_raised());
    }

    // LLR-25
    #[test]
    fn a_timer_that_is_too_short_for_the_loop_is_raised() {
        let chosen = |ns| Llr { timer_ns: Some(ns), ..Llr::default() };
        let raised = pace(&chosen(65_535), Some(US(200)));
        assert_eq!((raised.timer(), raised.is_raised()), (US(1_400), true));
        // No register of a switch holds this timer, but a timer that is long enough is used.
        let long = pace(&chosen(1_400_000), Some(US(200)));
        assert_eq!((long.timer(), long.is_raised()), (US(1_400), false));
    }

    // LLR-25
    #[test]
    fn the_window_has_an_end() {
        assert_eq!(pace(&Llr::default(), Some(Duration::from_secs(1))).window(), MOST_BYTES);
    }

    // LLR-24
    #[test]
    fn control_sets_are_paced_in_time() {
        let spaced = |gbps, spacing_bytes| {
            control_interval(BitRate::from_gbps(gbps), Some(&Llr { spacing_bytes, ..Llr::default() }))
        };
        assert_eq!(spaced(1, 2_048), US(50));
        assert_eq!(spaced(1, 16_384), Duration::from_ns(131_072));
        assert_eq!(control_interval(BitRate::from_bps(100_000_000), None), Duration::from_ns(163_840));
    }
}

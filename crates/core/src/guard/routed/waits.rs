//! The waits of a receiving end: before a hole counts as lost, and before it is asked for again (RT-7, RT-8, RT-15).
//!
//! Sources: RFC 6298 (smoothed round trip and variation), RFC 8985 section 6.2 (the reordering window of RACK).

use crate::time::{Duration, Instant};

/// The repair time before any round trip is known.
const UNMEASURED: Duration = Duration::from_ms(200);
/// The least slack of a repair time beside the round trip: late wake-ups of both ends.
const SLACK: Duration = Duration::from_ms(2);
/// The reordering window on a path without reordering, as a part of the round trip and within bounds.
const WINDOW_PART: u64 = 16;
const LEAST_WINDOW: Duration = Duration::from_us(100);
const MOST_WINDOW: Duration = Duration::from_ms(1);
/// Round trips for which reordering is remembered, as RACK remembers it for 16 recoveries.
const MEMORY: u64 = 16;
/// The number of repairs that a hole waits for, and the part of a round trip that it waits for them at most (RT-15).
const AWAITED_REPAIRS: u64 = 2;
const AWAITED_PART: u64 = 4;
/// The number of intervals after which a late repair will not come.
const OVERDUE: u64 = 4;

/// The waits of one receiving end.
#[derive(Clone, Copy, Debug, Default)]
pub struct Waits {
    /// Smoothed round trip of repairs and its variation.
    smoothed: Option<(Duration, Duration)>,
    /// The loop that the hellos measure.
    loop_time: Option<Duration>,
    /// The longest time after which a frame has come behind its hole, and until when that counts.
    overtaken: Duration,
    overtaken_until: Instant,
    /// When the last repair came, and the smoothed time between two repairs.
    repaired: Option<Instant>,
    interval: Option<Duration>,
}

impl Waits {
    /// Begins a new session: the times of repairs sent ahead are those of the old session.
    pub fn start_over(&mut self) {
        (self.repaired, self.interval) = (None, None);
    }

    /// Takes note of a repair that was sent ahead.
    pub fn repair_came(&mut self, now: Instant) {
        if let Some(before) = self.repaired.replace(now) {
            let span = now - before;
            // The time before a repair that comes after a rest tells nothing about the pace.
            let usual = self.interval.unwrap_or(span).min(self.round_trip());
            // Repairs that came together, even all of them, do not keep the interval at zero.
            let longest = (usual * OVERDUE).max(LEAST_WINDOW);
            self.interval = Some((usual * 7 + span.min(longest)) / 8);
        }
    }

    /// Returns how long a hole waits for repairs, beside the window.
    pub fn awaited(&self, now: Instant) -> Duration {
        match (self.repaired, self.interval) {
            (Some(last), Some(interval)) if now < last + interval * OVERDUE => {
                (interval * AWAITED_REPAIRS).min(self.round_trip() / AWAITED_PART)
            }
            _ => Duration::ZERO,
        }
    }

    /// Takes in the loop that the guards have measured; `None` before the first measurement.
    pub fn note_loop(&mut self, loop_time: Option<Duration>) {
        self.loop_time = loop_time;
    }

    /// Takes note of a request that was answered after `span`.
    pub fn answered(&mut self, span: Duration) {
        self.smoothed = Some(match self.smoothed {
            None => (span, span / 2),
            Some((smoothed, variation)) => {
                let off = span.saturating_sub(smoothed) + smoothed.saturating_sub(span);
                ((smoothed * 7 + span) / 8, (variation * 3 + off) / 4)
            }
        });
    }

    /// Takes note of a frame, sent once, that came `late` after its hole was found.
    pub fn overtaken(&mut self, now: Instant, late: Duration) {
        if late >= self.overtaken || now >= self.overtaken_until {
            self.overtaken = late;
        }
        self.overtaken_until = now + self.round_trip() * MEMORY;
    }

    /// Returns the round trip, as far as it is known.
    pub(super) fn round_trip(&self) -> Duration {
        self.smoothed.map(|(smoothed, _)| smoothed).or(self.loop_time).unwrap_or(UNMEASURED)
    }

    /// Returns how long a hole may be caused by reordering alone.
    pub fn window(&self, now: Instant) -> Duration {
        let round_trip = self.round_trip();
        let usual = (round_trip / WINDOW_PART).max(LEAST_WINDOW).min(MOST_WINDOW);
        let late = if now < self.overtaken_until { self.overtaken * 5 / 4 } else { Duration::ZERO };
        usual.max(late.min(round_trip))
    }

    /// Returns the time after which to ask again. A path that has become longer than past answers shows that by its
    /// loop. A receiving end that asked again too early would give up before the first answer could come, and never
    /// measure the longer round trip.
    pub fn repair(&self) -> Duration {
        let allowance = |round_trip: Duration| round_trip / 4 + SLACK;
        let measured =
            self.smoothed.map(|(smoothed, variation)| smoothed + (variation * 4).max(allowance(smoothed)));
        let looped = self.loop_time.map(|loop_time| loop_time + allowance(loop_time));
        measured.max(looped).unwrap_or(UNMEASURED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_ms;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + MS(ms)
    }

    // RT-8
    #[test]
    fn the_repair_time_follows_the_measured_round_trip_and_its_variation() {
        let mut waits = Waits::default();
        assert_eq!(waits.repair(), MS(200));
        waits.note_loop(Some(MS(40)));
        assert_eq!(waits.repair(), MS(52));
        waits.answered(MS(20));
        assert_eq!(waits.repair(), MS(60), "the first sample, and four times half of it");
        (0..100).for_each(|_| waits.answered(MS(20)));
        assert_eq!(waits.repair(), MS(52), "no less than by the loop");
        waits.note_loop(Some(MS(20)));
        let steady = waits.repair();
        assert!(steady >= MS(27) && steady < MS(28), "a quarter and 2 ms above it: {steady}");
        (0..100).for_each(|turn| waits.answered(MS(if turn % 2 == 0 { 10 } else { 30 })));
        let varying = waits.repair();
        assert!(varying > MS(55) && varying < MS(65), "20 ms, and four times 10 ms: {varying}");
    }

    // RT-7
    #[test]
    fn the_window_adapts_to_reordering_and_forgets_it() {
        let mut waits = Waits::default();
        waits.note_loop(Some(MS(32)));
        assert_eq!(waits.window(at(0)), MS(1));
        waits.overtaken(at(0), MS(8));
        assert_eq!(waits.window(at(0)), MS(10));
        waits.overtaken(at(1), MS(4));
        assert_eq!(waits.window(at(1)), MS(10), "a smaller one takes nothing back");
        assert_eq!(waits.window(at(512)), MS(10));
        assert_eq!(waits.window(at(513)), MS(1), "sixteen round trips later");
        waits.overtaken(at(600), MS(500));
        assert_eq!(waits.window(at(600)), MS(32), "one round trip at most");
    }

    // RT-15
    #[test]
    fn a_hole_waits_for_repairs_while_they_come() {
        let mut waits = Waits::default();
        waits.note_loop(Some(MS(40)));
        waits.repair_came(at(0));
        assert_eq!(waits.awaited(at(0)), Duration::ZERO, "one says nothing of a pace");
        (1..100).for_each(|turn| waits.repair_came(at(3 * turn)));
        assert_eq!(waits.awaited(at(298)), MS(6));
        assert_eq!(waits.awaited(at(297 + 12)), Duration::ZERO, "four intervals later");
        (1..200).for_each(|turn| waits.repair_came(at(300 + 9 * turn)));
        assert_eq!(waits.awaited(at(2100)), MS(10), "a quarter of the round trip at most");
        waits.start_over();
        assert_eq!(waits.awaited(at(2100)), Duration::ZERO);
    }

    // RT-15: many datagrams are read at one instant.
    #[test]
    fn repairs_that_come_together_do_not_end_the_wait_for_others() {
        let mut waits = Waits::default();
        waits.note_loop(Some(MS(40)));
        (0..3).for_each(|_| waits.repair_came(at(0)));
        (1..200).for_each(|turn| waits.repair_came(at(3 * turn)));
        let awaited = waits.awaited(at(598));
        assert!(awaited >= Duration::from_us(5900) && awaited <= MS(6), "{awaited}");
    }

    // RT-7
    #[test]
    fn the_window_has_bounds() {
        let mut waits = Waits::default();
        waits.note_loop(Some(Duration::from_us(200)));
        assert_eq!(waits.window(at(0)), LEAST_WINDOW);
        waits.note_loop(Some(MS(150)));
        assert_eq!(waits.window(at(0)), MOST_WINDOW);
    }
}

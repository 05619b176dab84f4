//! How long a guard holds its frames back when its peer asks for a pause, and for which share of the time at most
//! (G-30).

use crate::time::{Duration, Instant};

/// How long a pause lasts without a resume: at 1 Gb/s, the 65535 quanta of a pause frame (LG-25).
const LASTS: Duration = Duration::from_us(33_554);
/// The longest pause in a row. A peer that asks for a longer wait drops the frames that it cannot hold (G-16).
const MOST: Duration = Duration::from_ms(100);

/// The pauses of one end. Each instant without a pause earns an instant of pause, up to [`MOST`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Pause {
    until: Instant,
    earned: Duration,
    settled: Instant,
}

impl Pause {
    pub(super) const fn new() -> Self {
        Self { until: Instant::ZERO, earned: MOST, settled: Instant::ZERO }
    }

    /// Returns the time until which frames are held back.
    pub(super) fn until(&self) -> Instant {
        self.until
    }

    /// Begins a pause that the peer asks for.
    pub(super) fn begin(&mut self, now: Instant) {
        self.settle(now);
        self.until = now + LASTS.min(self.earned);
    }

    /// Ends the pause, because the peer resumes, or is another one.
    pub(super) fn end(&mut self, now: Instant) {
        self.settle(now);
        self.until = now;
    }

    /// Takes into account the time that has passed since the last call.
    fn settle(&mut self, now: Instant) {
        let paused = self.until.min(now).saturating_since(self.settled);
        let free = now.saturating_since(self.settled.max(self.until));
        self.earned = (self.earned.saturating_sub(paused) + free).min(MOST);
        self.settled = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Instant {
        Instant::ZERO + Duration::from_us(us)
    }

    // LG-25
    #[test]
    fn a_pause_lasts_until_it_ends_or_time_does() {
        let mut pause = Pause::new();
        pause.begin(at(1000));
        assert_eq!(pause.until(), at(34_554));
        pause.end(at(2000));
        assert_eq!(pause.until(), at(2000));
    }

    // G-30
    #[test]
    fn whoever_asks_without_end_holds_frames_back_for_half_of_the_time() {
        let mut pause = Pause::new();
        let held = (0..10_000).filter(|ms| {
            let now = at(ms * 1000);
            pause.begin(now);
            pause.until() > now
        });
        let held_ms = held.count();
        assert!((4900..5200).contains(&held_ms), "{held_ms} of 10,000 ms");
    }
}

//! The watchdog: notices a session in which frames arrive and none is delivered, or wait and none leaves
//! (G-22).
//!
//! No order of events of two correct guards leads there. Forged control frames do, and so would a fault of this
//! program: the link would be dead while both ends report that it works.

use crate::time::{Duration, Instant};

/// The time for which no frame may move. Every wait of a line protocol is a tenth of it or less.
const STUCK: Duration = Duration::from_ms(500);
/// The number of frames from which on arrivals count. Fewer may be repetitions.
const ENOUGH: u64 = 8;

/// The frames that have moved so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Progress {
    /// Frames with contents that arrived in the session, whatever their further fate.
    pub(super) arrived: u64,
    /// Frames that were handed to the LAN, or wait for it.
    pub(super) delivered: u64,
    /// Frames of the LAN that have left.
    pub(super) left: u64,
    /// Whether frames of the LAN wait because the line protocol lets none leave.
    pub(super) is_held: bool,
}

/// The watchdog of one end of a link.
#[derive(Clone, Debug, Default)]
pub(super) struct Watchdog {
    seen: Progress,
    /// The time since which frames have arrived and none was delivered.
    in_vain: Option<Instant>,
    /// The time since which frames have been held back.
    held: Option<Instant>,
}

impl Watchdog {
    /// Begins a session: frames that moved before do not count.
    pub(super) fn start_over(&mut self, progress: Progress) {
        *self = Self { seen: progress, ..Self::default() };
    }

    /// Takes in the frames that have moved. Returns whether none has for too long.
    pub(super) fn is_stuck(&mut self, now: Instant, progress: Progress) -> bool {
        if progress.delivered != self.seen.delivered {
            self.seen.delivered = progress.delivered;
            self.seen.arrived = progress.arrived;
            self.in_vain = None;
        } else if progress.arrived > self.seen.arrived {
            self.in_vain.get_or_insert(now);
        }
        if progress.left != self.seen.left || !progress.is_held {
            self.seen.left = progress.left;
            self.held = None;
        } else {
            self.held.get_or_insert(now);
        }
        let too_long = |since: Option<Instant>| since.is_some_and(|since| now >= since + STUCK);
        too_long(self.held) || (too_long(self.in_vain) && progress.arrived - self.seen.arrived >= ENOUGH)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_ms(ms)
    }

    // G-22
    #[test]
    fn frames_that_arrive_in_vain_are_noticed() {
        let mut watchdog = Watchdog::default();
        let arrived = |arrived| Progress { arrived, ..Progress::default() };
        assert!(!watchdog.is_stuck(at(0), arrived(1)));
        assert!(!watchdog.is_stuck(at(499), arrived(100)));
        assert!(watchdog.is_stuck(at(500), arrived(100)));
        assert!(!watchdog.is_stuck(at(501), Progress { delivered: 1, ..arrived(101) }));
        // Seven frames are too few to tell, after any time.
        assert!(!watchdog.is_stuck(at(502), Progress { delivered: 1, ..arrived(102) }));
        assert!(!watchdog.is_stuck(at(9000), Progress { delivered: 1, ..arrived(108) }));
        assert!(watchdog.is_stuck(at(9001), Progress { delivered: 1, ..arrived(109) }));
    }

    // G-22
    #[test]
    fn frames_that_may_not_leave_are_noticed() {
        let mut watchdog = Watchdog::default();
        let held = |left, is_held| Progress { left, is_held, ..Progress::default() };
        assert!(!watchdog.is_stuck(at(0), held(0, true)));
        assert!(!watchdog.is_stuck(at(400), held(1, true)));
        assert!(!watchdog.is_stuck(at(500), held(1, true)));
        assert!(!watchdog.is_stuck(at(900), held(1, false)));
        assert!(!watchdog.is_stuck(at(1000), held(1, true)));
        assert!(watchdog.is_stuck(at(1500), held(1, true)));
    }
}

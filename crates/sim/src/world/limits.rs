//! The limits of a run that does not end by itself.
//!
//! A link may ask for an answer for ever, and a queue may stay full for ever. So a run ends once its traffic has ended and
//! nothing moves any more ([`ProtectedLink::standstill`]), or at the end of simulated time. Frames that are under way then are
//! lost, and the row says so.
//!
//! [`ProtectedLink::standstill`]: crate::net::ProtectedLink::standstill

use lossylink_core::time::{Duration, Instant};
use std::fmt;

/// The divisor that gives the length of a turn in which a link drains: the simulated time since the last offer over this number.
/// Whoever stops a run waits for an eighth of the work that is done.
const PATIENCE: u64 = 8;

/// The latest time of a run: half of the range of the clock, so that nothing that begins by then leaves the clock.
pub const LATEST: Instant = Instant::from_ps(1 << 63);

/// The longest time of a flow, in multiples of the least time that it needs. Chosen: under a loss of 1 % over a round trip of
/// half a second, 20 MB at 12 Mb/s take forty times the least.
const TIMES_THE_LEAST: u64 = 100;

/// The longest time for which a flow is waited for, so that the flows of a block end within the range of the clock.
const LONGEST_WAIT: Duration = Duration::from_secs(12 * 3600);

/// The least time for which a flow that runs by itself is waited for.
const ALONE: Duration = Duration::from_secs(600);

/// Returns how long a flow that runs by itself is waited for, if it needs `least` on an empty, clean path.
pub fn wait_for_flow_alone(least: Duration) -> Duration {
    wait_for_flow(least, ALONE)
}

/// Returns how long a flow is waited for that needs `least` on an empty, clean path: at least `floor`.
pub fn wait_for_flow(least: Duration, floor: Duration) -> Duration {
    if least > LONGEST_WAIT / TIMES_THE_LEAST { LONGEST_WAIT } else { floor.max(least * TIMES_THE_LEAST) }
}

/// Returns the end of the next turn of a link that has been draining since `begin`, and whose next event is at `next`. The turns
/// grow, so that years take few of them.
pub fn turn(begin: Instant, next: Instant) -> Instant {
    next + next.saturating_since(begin) / PATIENCE
}

/// The limit at which a run ended before everything had happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// A standstill: no data moved any more.
    Standstill {
        /// The time at which the link was given up.
        at: Instant,
        /// Number of frames that were under way.
        under_way: u64,
    },
    /// The end of simulated time.
    Latest {
        /// Number of frames that were under way.
        under_way: u64,
    },
}

impl fmt::Display for Limit {
    fn fmt(&self, words: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Standstill { at, under_way } => {
                let at = at.as_secs_f64();
                write!(
                    words,
                    "ended at {at:.3e} s, when nothing moved any more, with {under_way} packets under way"
                )
            }
            Self::Latest { under_way } => {
                let days = LATEST.as_secs_f64() / 86_400.0;
                write!(
                    words,
                    "ended at its limit of {days:.0} simulated days, with {under_way} packets under way"
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_is_waited_for_as_long_as_it_needs() {
        let floor = Duration::from_secs(600);
        let seconds = |least| wait_for_flow(Duration::from_secs(least), floor).as_secs_f64();
        assert_eq!(
            [0, 6, 7, 432, 433, 1 << 24].map(seconds),
            [600.0, 600.0, 700.0, 43_200.0, 43_200.0, 43_200.0]
        );
    }
}

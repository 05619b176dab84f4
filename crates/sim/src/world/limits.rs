//! Where a run ends that does not end by itself.
//!
//! A link may ask for an answer for ever, and a queue may stay full for ever. So a run ends once its traffic has ended and nothing
//! moves any more ([`ProtectedLink::standstill`]), or at the end of simulated time. What is under way then is lost, and the row says so.
//!
//! [`ProtectedLink::standstill`]: crate::net::ProtectedLink::standstill

use lossylink_core::time::{Duration, Instant};
use std::fmt;

/// A link comes to rest in turns. Each is as long as the simulated time since the last offer, divided by this: whoever stops a run waits
/// for an eighth of the work that is done.
const PATIENCE: u64 = 8;

/// No run goes beyond this: half of what the clock can tell, so that nothing that begins by then leaves the clock.
pub const LATEST: Instant = Instant::from_ps(1 << 63);

/// A flow may take so many times what it needs at the least. Chosen: under a loss of 1 % over a round trip of half a second,
/// 20 MB at 12 Mb/s take forty times the least.
const TIMES_THE_LEAST: u64 = 100;

/// No flow is waited for any longer, so that the flows of a block end within what the clock can tell.
const LONGEST_WAIT: Duration = Duration::from_secs(12 * 3600);

/// A flow that runs by itself is waited for at least this long.
const ALONE: Duration = Duration::from_secs(600);

/// How long a flow is waited for that runs by itself, and needs `least` on an empty, clean path.
pub fn wait_for_flow_alone(least: Duration) -> Duration {
    wait_for_flow(least, ALONE)
}

/// How long a flow is waited for that needs `least` on an empty, clean path: at least `floor`.
pub fn wait_for_flow(least: Duration, floor: Duration) -> Duration {
    if least > LONGEST_WAIT / TIMES_THE_LEAST { LONGEST_WAIT } else { floor.max(least * TIMES_THE_LEAST) }
}

/// The end of the next turn of a link that has been coming to rest since `begin`. The link next does something at `next`. The turns
/// grow, so that years take few of them.
pub fn turn(begin: Instant, next: Instant) -> Instant {
    next + next.saturating_since(begin) / PATIENCE
}

/// Why a run ended before everything had happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// No data moved any more.
    Standstill {
        /// When the link was given up.
        at: Instant,
        /// Frames that were under way.
        under_way: u64,
    },
    /// Simulated time came to its end.
    Latest {
        /// Frames that were under way.
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

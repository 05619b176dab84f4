//! Where a run ends that does not end by itself.
//!
//! A link may ask for an answer for ever, and a queue may stay full for ever. So a run ends once its traffic has ended and nothing
//! moves any more ([`ProtectedLink::standstill`]), or at the end of simulated time. What is under way then is lost, and the row says so.
//!
//! [`ProtectedLink::standstill`]: crate::net::ProtectedLink::standstill

use lossylink_core::time::Instant;
use std::fmt;

/// A link that comes to rest does so in turns, each this fraction of the time that it has taken so far.
const TURNS: u64 = 8;

/// No run goes beyond this: half of what the clock can tell, so that nothing that begins by then leaves the clock.
pub const LATEST: Instant = Instant::from_ps(1 << 63);

/// How far a link may go on in one turn that comes to rest since `begin`, and where something happens next at `next`: the turns grow, so
/// that years take few of them, and one who loses patience waits for a fraction of the work that is done.
pub fn turn(begin: Instant, next: Instant) -> Instant {
    next + next.saturating_since(begin) / TURNS
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

//! How far a place may run ahead of another, which its events reach after some time.

use lossylink_core::time::{Duration, Instant};

/// The last instant before an event at `at` can have come `lead` far.
#[inline]
pub const fn just_short_of(at: Instant, lead: Duration) -> Instant {
    at.saturating_add(lead).just_before()
}

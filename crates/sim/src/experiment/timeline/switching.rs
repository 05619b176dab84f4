//! Switching of a protection on and off while traffic runs, and the account of the times at which that
//! happens.

use crate::net::{Advice, Payload, ProtectedLink};
use lossylink_core::time::{Duration, Instant};

/// Time between two attempts to take a protection off: the protection leaves when all frames that it protects
/// have gone on (LG-36), which takes microseconds.
const RETRY: Duration = Duration::from_us(1);

/// The state of the protection on the link, and the account of its changes.
#[derive(Debug)]
pub(super) struct Switching {
    /// When the link began to be protected, if it is, or when that time was last counted.
    since: Option<Instant>,
    /// Protected time that has not been counted.
    untaken: Duration,
    /// When the protection is to leave; never, if it stays.
    leaves_at: Instant,
    switched: Switched,
}

/// The account of a protection's changes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Switched {
    /// When it was protected for the first time.
    pub(super) first_on: Option<Instant>,
    /// When the protection left for the last time.
    pub(super) last_off: Option<Instant>,
    /// How often the protection was switched on or off.
    pub(super) changes: u64,
}

impl Default for Switching {
    /// Returns the state of a protection that is off.
    fn default() -> Self {
        let (untaken, switched) = (Duration::ZERO, Switched::default());
        Self { since: None, untaken, leaves_at: Instant::NEVER, switched }
    }
}

impl Switching {
    /// Whether the protection is on; it still is while it tries to leave.
    pub(super) const fn is_on(&self) -> bool {
        self.since.is_some()
    }

    /// Returns when the next attempt to take the protection off is due.
    pub(super) const fn poll_timeout(&self) -> Instant {
        self.leaves_at
    }

    /// Returns the account of the changes so far.
    pub(super) const fn switched(&self) -> &Switched {
        &self.switched
    }

    /// Returns how long the link was protected since this was asked last.
    pub(super) fn take_protected_time(&mut self, now: Instant) -> Duration {
        let current = self.since.map_or(Duration::ZERO, |since| now - since);
        self.since = self.since.map(|_| now);
        std::mem::take(&mut self.untaken) + current
    }

    /// Switches the protection on, or tells it new advice.
    pub(super) fn protect<P: Payload>(
        &mut self,
        now: Instant,
        advice: Advice,
        link: &mut impl ProtectedLink<P>,
    ) {
        self.leaves_at = Instant::NEVER;
        link.protect(now, advice);
        if self.since.is_none() {
            self.since = Some(now);
            self.switched.first_on.get_or_insert(now);
            self.switched.changes += 1;
        }
    }

    /// Takes the protection off, as soon as it can leave.
    pub(super) fn unprotect(&mut self, now: Instant) {
        self.leaves_at = if self.is_on() { now } else { Instant::NEVER };
    }

    /// Tries to take the protection off.
    pub(super) fn advance<P: Payload>(&mut self, now: Instant, link: &mut impl ProtectedLink<P>) {
        if !link.leave(now) {
            self.leaves_at = now + RETRY;
            return;
        }
        self.untaken += self.since.take().map_or(Duration::ZERO, |since| now - since);
        self.leaves_at = Instant::NEVER;
        self.switched.last_off = Some(now);
        self.switched.changes += 1;
    }
}

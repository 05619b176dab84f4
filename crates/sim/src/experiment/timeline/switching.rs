//! Switching a protection on and off while traffic runs, and the accounts of both.

use crate::net::{Advice, Payload, ProtectedLink};
use lossylink_core::time::{Duration, Instant};

/// Time between two attempts to take a protection off: it leaves when all that it protects has gone on
/// (LG-36), which takes microseconds.
const RETRY: Duration = Duration::from_us(1);

/// What is done to the link, and what has been done.
#[derive(Debug)]
pub(super) struct Switching {
    /// Since when the link has been protected, if it is; part of it may be taken already.
    since: Option<Instant>,
    /// Protected time that has not been taken.
    untaken: Duration,
    /// When the protection is to leave; never, if it is not.
    leaves_at: Instant,
    switched: Switched,
}

/// What has been done to the link.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Switched {
    /// When it was protected for the first time.
    pub(super) first_on: Option<Instant>,
    /// When the protection left for the last time.
    pub(super) last_off: Option<Instant>,
    /// How often either happened.
    pub(super) changes: u64,
}

impl Default for Switching {
    /// A protection that is off.
    fn default() -> Self {
        let (untaken, switched) = (Duration::ZERO, Switched::default());
        Self { since: None, untaken, leaves_at: Instant::NEVER, switched }
    }
}

impl Switching {
    /// Whether the protection is on, on its way out included.
    pub(super) const fn is_on(&self) -> bool {
        self.since.is_some()
    }

    /// When it next does something by itself.
    pub(super) const fn poll_timeout(&self) -> Instant {
        self.leaves_at
    }

    /// What has been done so far.
    pub(super) const fn switched(&self) -> &Switched {
        &self.switched
    }

    /// How long the link was protected since this was asked last.
    pub(super) fn take_protected_time(&mut self, now: Instant) -> Duration {
        let current = self.since.map_or(Duration::ZERO, |since| now - since);
        self.since = self.since.map(|_| now);
        std::mem::take(&mut self.untaken) + current
    }

    /// Switches the protection on, or tells it what is advised now.
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

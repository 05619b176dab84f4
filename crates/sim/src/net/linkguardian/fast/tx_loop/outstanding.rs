//! The oldest outstanding frame, as a function of time.

use crate::kernel::Train;
use lossylink_core::time::Instant;
use std::slice::Iter;

/// The number of the oldest outstanding frame, and the times at which the number changes.
#[derive(Clone, Debug)]
pub(super) struct Outstanding<'a> {
    oldest: u32,
    next: (Instant, u32),
    changes: Iter<'a, (Instant, u32)>,
}

impl<'a> Outstanding<'a> {
    /// Begins with `oldest` as the oldest outstanding frame. Each change is a time, and the oldest outstanding frame from then on.
    #[inline]
    pub(super) fn new(oldest: u32, changes: &'a [(Instant, u32)]) -> Self {
        let mut changes = changes.iter();
        let next = changes.next().copied().unwrap_or((Instant::NEVER, 0));
        Self { oldest, next, changes }
    }

    /// Returns the oldest outstanding frame at `now`, which never goes back.
    #[inline(always)]
    pub(super) fn oldest_at(&mut self, now: Instant) -> u32 {
        while now >= self.next.0 {
            self.oldest = self.next.1;
            self.next = self.changes.next().copied().unwrap_or((Instant::NEVER, 0));
        }
        self.oldest
    }

    /// Returns when the oldest outstanding frame changes next.
    #[inline]
    pub(super) const fn next_change(&self) -> Instant {
        self.next.0
    }

    /// Whether the frame of this number is outstanding at `now`, which never goes back.
    #[inline(always)]
    pub(super) fn has(&mut self, number: u32, now: Instant) -> bool {
        is_outstanding(number, self.oldest_at(now))
    }

    /// Whether `holds` is true of each oldest outstanding frame and the end of its time as the oldest.
    #[inline]
    pub(super) fn all(&self, holds: impl Fn(u32, Instant) -> bool) -> bool {
        let (mut oldest, (mut end, mut next)) = (self.oldest, self.next);
        for &(at, number) in self.changes.clone() {
            if !holds(oldest, end) {
                return false;
            }
            (oldest, end, next) = (next, at, number);
        }
        holds(oldest, end) && (end.is_never() || holds(next, Instant::NEVER))
    }

    /// Returns how many copies at the front of a train are outstanding when they come. The first copy has this number, and is
    /// outstanding.
    #[inline]
    pub(super) fn stretch(&self, train: Train, number: u32) -> u32 {
        let mut changes = self.changes.clone();
        let (mut at, mut oldest) = self.next;
        while at <= train.last() {
            let done = oldest.wrapping_sub(number);
            if done as i32 > 0 && (done > train.count || train.nth(done - 1) >= at) {
                return train.come_by(at.just_before());
            }
            (at, oldest) = changes.next().copied().unwrap_or((Instant::NEVER, 0));
        }
        train.count
    }
}

/// Whether the frame of this number is outstanding, `oldest` being the oldest outstanding frame.
#[inline]
pub(super) const fn is_outstanding(number: u32, oldest: u32) -> bool {
    number.wrapping_sub(oldest) as i32 >= 0
}

//! Acknowledgements that the looks at the copies have not reached yet.

use super::outstanding::Outstanding;
use crate::kernel::Train;
use crate::net::linkguardian::fast::wires::Acks;
use lossylink_core::time::{Duration, Instant};

/// The largest number of trains of acknowledgements that wait: chosen by the instructions that a segment of CUBIC and a frame of
/// the stress test take.
const MOST: usize = 20;

/// A train of acknowledgements, and the frames that the train frees.
#[derive(Clone, Copy, Debug)]
pub(super) struct Freed {
    /// The times at which the acknowledgements take effect.
    pub(super) train: Train,
    /// The oldest outstanding frame after the first acknowledgement, and after the last.
    pub(super) first: u32,
    pub(super) last: u32,
    /// The age of the position in the first acknowledgement, and the time from one change of the register to the next ([`Acks`]).
    held: Duration,
    step: Duration,
}

impl Freed {
    /// Visits each change of the oldest outstanding frame, which was `before`, with its time.
    #[inline]
    fn each_change(&self, before: u32, mut visit: impl FnMut(Instant, u32)) {
        if self.first != before {
            visit(self.train.first, self.first);
        }
        let (mut at, mut held, mut oldest) = (self.train.first, self.held, self.first);
        while oldest != self.last {
            at += self.train.spacing;
            held += self.train.spacing;
            if held >= self.step {
                while held >= self.step {
                    held -= self.step;
                    oldest = oldest.wrapping_add(1);
                }
                visit(at, oldest);
            }
        }
    }

    /// Returns the latest time at which the oldest outstanding frame becomes `count` more than `first`, if the train frees that
    /// many: the register has changed `count` times after `step * count - held`, and the next acknowledgement comes within one
    /// spacing.
    #[inline]
    pub(super) fn known_by(&self, count: u32) -> Instant {
        self.train.first + self.step * u64::from(count) + self.train.spacing - self.held
    }
}

/// The trains of acknowledgements that wait, and the oldest outstanding frame before them.
#[derive(Clone, Debug, Default)]
pub(super) struct Pending {
    /// The oldest outstanding frame before all trains.
    oldest: u32,
    freed: Vec<Freed>,
    /// Reused memory for the changes of the oldest outstanding frame.
    changes: Vec<(Instant, u32)>,
}

impl Pending {
    /// Builds an account without a train. Frames from number `oldest` on are outstanding.
    pub(super) const fn none(oldest: u32) -> Self {
        Self { oldest, freed: Vec::new(), changes: Vec::new() }
    }

    #[inline]
    pub(super) const fn is_full(&self) -> bool {
        self.freed.len() == MOST
    }

    /// Adds a train of acknowledgements. Frames from number `before` on are outstanding before the train, frames from number
    /// `first` on after its first acknowledgement, and frames from number `last` on after its last.
    #[inline]
    pub(super) fn add(&mut self, train: Train, before: u32, (first, last): (u32, u32), acks: &Acks) {
        debug_assert!(acks.step == Duration::ZERO || acks.held < acks.step, "the first tells of the newest");
        if self.freed.is_empty() {
            self.oldest = before;
        }
        self.freed.push(Freed { train, first, last, held: acks.held, step: acks.step });
    }

    /// Returns the oldest outstanding frame before all trains.
    #[inline]
    pub(super) const fn oldest(&self) -> u32 {
        self.oldest
    }

    /// Returns the trains, oldest first.
    #[inline]
    pub(super) fn freed(&self) -> &[Freed] {
        &self.freed
    }

    /// Returns when the last acknowledgement takes effect.
    #[inline]
    pub(super) fn last(&self) -> Option<Instant> {
        self.freed.last().map(|freed| freed.train.last())
    }

    /// Returns the oldest outstanding frame over time, from `now` on.
    #[inline]
    pub(super) fn outstanding_from(&mut self, now: Instant) -> Outstanding<'_> {
        let (oldest, changes) = self.changes_from(now);
        Outstanding::new(oldest, changes)
    }

    /// Returns the oldest outstanding frame before all trains, and its changes.
    #[inline]
    pub(super) fn changes(&mut self) -> (u32, &[(Instant, u32)]) {
        self.changes_from(Instant::ZERO)
    }

    /// Returns the oldest outstanding frame at some time up to `now`, and all later changes of the frame.
    #[inline]
    fn changes_from(&mut self, now: Instant) -> (u32, &[(Instant, u32)]) {
        let place = self.freed.iter().rposition(|freed| freed.train.first <= now).unwrap_or(0);
        let (before, behind) = self.freed.split_at(place);
        let oldest = before.last().map_or(self.oldest, |freed| freed.last);
        self.changes.clear();
        let mut newest = oldest;
        for freed in behind {
            freed.each_change(newest, |at, oldest| self.changes.push((at, oldest)));
            newest = freed.last;
        }
        (oldest, &self.changes)
    }

    /// Removes every train.
    #[inline]
    pub(super) fn clear(&mut self) {
        self.freed.clear();
    }
}

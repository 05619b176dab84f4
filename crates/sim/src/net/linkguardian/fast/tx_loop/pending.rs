//! Acknowledgements up to which copies have not been looked at yet.

use super::outstanding::Outstanding;
use crate::kernel::Train;
use crate::net::linkguardian::fast::wires::Acks;
use lossylink_core::time::{Duration, Instant};

/// So many trains of acknowledgements wait at the most: chosen by the instructions that a segment of CUBIC and a frame of the stress
/// test take.
const MOST: usize = 20;

/// Acknowledgements that take effect one behind another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Freed {
    /// When they do.
    pub(super) train: Train,
    /// The oldest outstanding frame from the first of them on, and from the last of them on.
    pub(super) first: u32,
    pub(super) last: u32,
    /// How long the register had held what the first of them says, and from one change of the register to the next ([`Acks`]).
    held: Duration,
    step: Duration,
}

impl Freed {
    /// Each change of the oldest frame, which was `before`, and when it takes effect.
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

    /// By when the oldest frame is at the latest `count` beyond that of the first acknowledgement, if they tell of so many: the next
    /// acknowledgement says what the register holds.
    #[inline]
    pub(super) fn known_by(&self, count: u32) -> Instant {
        self.train.first + self.step * u64::from(count) + self.train.spacing - self.held
    }
}

/// From when on which frames are outstanding.
#[derive(Clone, Debug, Default)]
pub(super) struct Pending {
    /// The oldest that was before all of them.
    oldest: u32,
    freed: Vec<Freed>,
    /// Memory for the changes of the oldest.
    changes: Vec<(Instant, u32)>,
}

impl Pending {
    /// None, while frames from number `oldest` on are outstanding.
    pub(super) const fn none(oldest: u32) -> Self {
        Self { oldest, freed: Vec::new(), changes: Vec::new() }
    }

    #[inline]
    pub(super) const fn is_full(&self) -> bool {
        self.freed.len() == MOST
    }

    /// Acknowledgements take effect when the train says. Frames from number `before` on were outstanding, and are those from number
    /// `first` on with the first of them, and from number `last` on with the last.
    #[inline]
    pub(super) fn add(&mut self, train: Train, before: u32, (first, last): (u32, u32), acks: &Acks) {
        debug_assert!(acks.step == Duration::ZERO || acks.held < acks.step, "the first tells of the newest");
        if self.freed.is_empty() {
            self.oldest = before;
        }
        self.freed.push(Freed { train, first, last, held: acks.held, step: acks.step });
    }

    /// The oldest frame before all of them.
    #[inline]
    pub(super) const fn oldest(&self) -> u32 {
        self.oldest
    }

    /// The trains.
    #[inline]
    pub(super) fn freed(&self) -> &[Freed] {
        &self.freed
    }

    /// When the last takes effect.
    #[inline]
    pub(super) fn last(&self) -> Option<Instant> {
        self.freed.last().map(|freed| freed.train.last())
    }

    /// Which frames are outstanding from `now` on.
    #[inline]
    pub(super) fn outstanding_from(&mut self, now: Instant) -> Outstanding<'_> {
        let (oldest, changes) = self.changes_from(now);
        Outstanding::new(oldest, changes)
    }

    /// The oldest frame before all of them, and each change of it.
    #[inline]
    pub(super) fn changes(&mut self) -> (u32, &[(Instant, u32)]) {
        self.changes_from(Instant::ZERO)
    }

    /// The same from some change on, which comes before any that takes effect behind `now`.
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

    /// None waits any more.
    #[inline]
    pub(super) fn clear(&mut self) {
        self.freed.clear();
    }
}

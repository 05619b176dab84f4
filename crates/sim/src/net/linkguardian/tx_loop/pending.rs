//! Acknowledgements up to which copies have not been looked at yet.

use lossylink_core::time::Instant;

/// So many wait at the most: chosen by the instructions that a segment of CUBIC and a frame of the stress test take.
const MOST: usize = 32;

/// From when on which frames are outstanding.
#[derive(Clone, Debug, Default)]
pub(super) struct Pending {
    /// The oldest that was before the first of the changes.
    oldest: u32,
    changes: [(Instant, u32); MOST],
    count: usize,
}

impl Pending {
    #[inline]
    pub(super) const fn is_empty(&self) -> bool {
        self.count == 0
    }

    #[inline]
    pub(super) const fn is_full(&self) -> bool {
        self.count == MOST
    }

    /// From `at` on frames from number `oldest` on are outstanding, before that those from number `before` on.
    #[inline]
    pub(super) const fn add(&mut self, at: Instant, before: u32, oldest: u32) {
        if self.count == 0 {
            self.oldest = before;
        }
        self.changes[self.count] = (at, oldest);
        self.count += 1;
    }

    /// The oldest before the changes, and these.
    #[inline]
    pub(super) fn changes(&self) -> (u32, &[(Instant, u32)]) {
        (self.oldest, &self.changes[..self.count])
    }

    /// All of them: none waits any more.
    #[inline]
    pub(super) fn take(&mut self) -> Self {
        let all = self.clone();
        self.count = 0;
        all
    }
}

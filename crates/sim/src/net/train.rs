//! Equal frames one behind another, as one: what a host sends at once, or at its own pace.

use lossylink_core::time::{Duration, Instant};

/// When `count` frames of one size come by, all of them equally far apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Train {
    /// When the first comes.
    pub first: Instant,
    /// From one to the next.
    pub spacing: Duration,
    /// How many there are, at least one.
    pub count: u32,
}

impl Train {
    /// A frame by itself.
    #[inline]
    pub const fn of_one(at: Instant) -> Self {
        Self { first: at, spacing: Duration::ZERO, count: 1 }
    }

    /// When the frame with this index comes.
    #[inline]
    pub fn nth(self, index: u32) -> Instant {
        self.first + self.spacing * u64::from(index)
    }

    /// When the last frame comes.
    #[inline]
    pub fn last(self) -> Instant {
        self.nth(self.count - 1)
    }

    /// The same frames somewhere else, where the first comes at `first`.
    #[inline]
    pub const fn from(self, first: Instant) -> Self {
        Self { first, ..self }
    }
}

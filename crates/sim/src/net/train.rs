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

    /// The first `count` frames.
    #[inline]
    pub const fn up_to(self, count: u32) -> Self {
        Self { count, ..self }
    }

    /// The frames behind the first `count`, of which there is at least one.
    #[inline]
    pub fn behind(self, count: u32) -> Self {
        Self { first: self.nth(count), count: self.count - count, ..self }
    }

    /// How many of the frames have come by `until`.
    #[inline]
    pub fn come_by(self, until: Instant) -> u32 {
        if self.last() <= until {
            return self.count;
        }
        match until.as_ps().checked_sub(self.first.as_ps()) {
            None => 0,
            Some(span) => (span / self.spacing.as_ps() + 1) as u32,
        }
    }

    /// When each begins to leave over a line that is busy until `busy_until` and takes `serialisation` for one of them;
    /// `None` if that is no train. Frames that come faster than the line sends them leave one behind the other; others
    /// leave as they came, if the first finds the line free.
    #[inline]
    pub fn starts(self, busy_until: Instant, serialisation: Duration) -> Option<Self> {
        let first = self.first.max(busy_until);
        if self.count == 1 {
            Some(self.from(first))
        } else if self.spacing <= serialisation {
            Some(Self { first, spacing: serialisation, ..self })
        } else {
            (first == self.first).then_some(self)
        }
    }
}

/// What becomes of the first frames of a train at a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// How many have been decided on.
    pub taken: u32,
    /// Those of them that are delivered: all, or all but the last.
    pub delivered: Option<Train>,
}

impl Passage {
    /// Nothing is decided.
    pub const NONE: Self = Self { taken: 0, delivered: None };
    /// The first frame is lost.
    pub const LOST: Self = Self { taken: 1, delivered: None };

    /// All of a train that is delivered.
    #[inline]
    pub const fn whole(delivered: Train) -> Self {
        Self { taken: delivered.count, delivered: Some(delivered) }
    }
}

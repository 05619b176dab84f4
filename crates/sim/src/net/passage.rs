//! What a link that decides at once says of a train.

use crate::kernel::Train;

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

//! The answer of a link that decides at once about a train of frames.

use crate::kernel::Train;

/// The fate of the first frames of a train at a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// The number of frames that have been decided on.
    pub taken: u32,
    /// The frames of these that are delivered: all, or all but the last.
    pub delivered: Option<Train>,
}

impl Passage {
    /// No frame is decided on.
    pub const NONE: Self = Self { taken: 0, delivered: None };
    /// The first frame is lost.
    pub const LOST: Self = Self { taken: 1, delivered: None };

    /// Returns the passage of a train that is delivered whole.
    #[inline]
    pub const fn whole(delivered: Train) -> Self {
        Self { taken: delivered.count, delivered: Some(delivered) }
    }
}

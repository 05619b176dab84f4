//! A stretch of a link's future, as every law of losses tells it.

/// What comes next on the link, in the law's unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    /// Units that pass.
    pub(super) clear: u64,
    /// Whether a loss follows them.
    pub(super) ends_in_loss: bool,
}

impl Run {
    /// No loss any more.
    pub(super) const FOREVER: Self = Self { clear: u64::MAX, ends_in_loss: false };
}

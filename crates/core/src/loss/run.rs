//! A run of frames up to the next loss, the form in which every law of losses gives its losses.

/// The next units on the link, and whether a loss follows them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    /// Units that pass.
    pub(super) clear: u64,
    /// Whether a loss follows the units that pass.
    pub(super) ends_in_loss: bool,
}

impl Run {
    /// A run without an end: no further loss.
    pub(super) const FOREVER: Self = Self { clear: u64::MAX, ends_in_loss: false };
}

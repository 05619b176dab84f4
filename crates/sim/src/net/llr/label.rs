//! What travels with a frame from one end to the other.

use lossylink_core::engine::llr::Number;

/// What travels with a frame. The number is in the preamble, so it takes no octets (LLR-3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Label {
    /// Nothing: the frame is not protected.
    #[default]
    Unnumbered,
    /// A number.
    Numbered(Number),
    /// A number, and a check sequence that is wrong.
    Bad(Number),
}

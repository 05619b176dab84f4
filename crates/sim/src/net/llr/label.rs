//! The label that travels with a frame from one end to the other.

use lossylink_core::engine::llr::Number;

/// The label that travels with a frame. Its number is in the preamble, so the label takes no octets (LLR-3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Label {
    /// No number: the frame is not protected.
    #[default]
    Unnumbered,
    /// The number of an intact frame.
    Numbered(Number),
    /// The number of a frame whose check sequence is wrong.
    Bad(Number),
}

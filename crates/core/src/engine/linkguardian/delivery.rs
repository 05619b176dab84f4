//! The verdict of the receiver on a numbered frame.

/// The verdict of the receiver on a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// The frame goes to the next hop now.
    Forward,
    /// The frame goes into the reorder buffer.
    Hold,
    /// The frame is dropped: its position has been forwarded or given up.
    Duplicate,
}

//! The verdict of the receiver on a numbered frame.

/// The verdict of the receiver on a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// To the next hop, now.
    Forward,
    /// Into the reorder buffer.
    Hold,
    /// Dropped: this position has been forwarded or given up.
    Duplicate,
}

//! What becomes of a numbered frame at the receiver.

/// What becomes of a frame at the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// To the next hop, now.
    Forward,
    /// Into the reorder buffer.
    Hold,
    /// Dropped: this position has been forwarded or given up.
    Duplicate,
}

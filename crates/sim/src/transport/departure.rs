//! What an end has to send at an instant, as the interface of its host sees it.

/// The next packet of an end, if there is one and it may leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Departure<P> {
    /// A packet that is formed now, whether the line is free or not: it waits in the interface's queue.
    AtOnce(P),
    /// A packet that is formed because the line is free, and occupies it.
    Formed(P),
    /// A packet is formed when the line is free; it is not, or others are before this end.
    AwaitsLine,
    /// Nothing may leave before the end is handed something, or its timer is due.
    Nothing,
}

impl<P> Departure<P> {
    /// The packet that leaves, if one does.
    #[inline]
    pub fn packet(self) -> Option<P> {
        match self {
            Self::AtOnce(packet) | Self::Formed(packet) => Some(packet),
            Self::AwaitsLine | Self::Nothing => None,
        }
    }
}

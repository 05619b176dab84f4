//! The packet that an end has to send at an instant, as the interface of its host sees it.

/// The next packet of an end, if there is one and it may leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Departure<P> {
    /// A packet that is formed now, whether the line is free or not. The packet waits in the
    /// interface's queue.
    AtOnce(P),
    /// A packet that is formed because the line is free. The packet occupies the line.
    Formed(P),
    /// A packet that will be formed when the line is free: the line is busy, or other ends are before
    /// this one.
    AwaitsLine,
    /// No packet may leave before the end is handed a packet, or its timer is due.
    Nothing,
}

impl<P> Departure<P> {
    /// Returns the packet that leaves, if there is one.
    #[inline]
    pub fn packet(self) -> Option<P> {
        match self {
            Self::AtOnce(packet) | Self::Formed(packet) => Some(packet),
            Self::AwaitsLine | Self::Nothing => None,
        }
    }
}

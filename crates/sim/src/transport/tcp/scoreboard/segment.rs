//! What the sender knows of one outstanding segment.

use super::transmissions::NONE;

/// SACKed by the receiver.
pub(super) const SACKED: u8 = 1;
/// Declared lost.
pub(super) const LOST: u8 = 2;
/// Retransmitted, and the retransmission is believed in flight.
pub(super) const RETRANSMITTED: u8 = 4;
/// Retransmitted at least once.
pub(super) const EVER_RETRANSMITTED: u8 = 8;
/// On the transmission list.
pub(super) const LISTED: u8 = 16;

/// One outstanding segment.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Segment {
    /// When it was last sent, microseconds.
    pub(in super::super) sent_us: u64,
    /// Segments delivered when it was last sent, modulo 2^32.
    pub(in super::super) delivered: u32,
    /// Slots of its neighbours on the transmission list; of the oldest the earlier one means nothing.
    pub(super) earlier: u32,
    pub(super) later: u32,
    pub(super) flags: u8,
}

impl Segment {
    pub(in super::super) const UNUSED: Self =
        Self { sent_us: 0, delivered: 0, earlier: NONE, later: NONE, flags: 0 };

    pub(in super::super) const fn is_sacked(&self) -> bool {
        self.flags & SACKED != 0
    }

    pub(in super::super) const fn is_lost(&self) -> bool {
        self.flags & LOST != 0
    }

    /// Whether a retransmission of it is believed in flight.
    pub(in super::super) const fn is_retransmitted(&self) -> bool {
        self.flags & RETRANSMITTED != 0
    }

    /// Whether it was retransmitted, tail-loss probes left out.
    pub(in super::super) const fn was_retransmitted(&self) -> bool {
        self.flags & (RETRANSMITTED | EVER_RETRANSMITTED) != 0
    }
}

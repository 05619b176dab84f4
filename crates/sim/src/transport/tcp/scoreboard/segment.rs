//! What the sender knows of one outstanding segment.

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

/// No slot: the end of the transmission list.
pub(super) const NONE: u32 = u32::MAX;

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
    /// How many new segments had left after it when it was last sent: none, unless it was sent again. More than fit are as
    /// many as fit.
    pub(super) overtaken_by: u16,
}

/// When a segment was last sent, among all transmissions of a sender: later ones are greater. Of those stamped alike, which
/// may answer several acknowledgements, the later ones follow more new segments; of those that follow as many, the first has
/// the lowest number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) struct Sent {
    /// Microseconds.
    pub(in super::super) at_us: u64,
    /// One past the new segments that had left before it.
    behind: u64,
    /// Its number.
    number: u64,
}

impl Sent {
    /// A new segment left.
    pub(in super::super) const fn new(number: u64, at_us: u64) -> Self {
        Self { at_us, behind: number, number }
    }
}

impl Segment {
    pub(in super::super) const UNUSED: Self =
        Self { sent_us: 0, delivered: 0, earlier: NONE, later: NONE, flags: 0, overtaken_by: 0 };

    /// When the segment of this number was last sent.
    pub(in super::super) const fn sent(&self, number: u64) -> Sent {
        Sent { at_us: self.sent_us, behind: number + self.overtaken_by as u64, number }
    }

    /// It left again at `now_us`, after `newer` new segments.
    pub(super) fn stamp_again(&mut self, now_us: u64, delivered: u32, newer: u64) {
        (self.sent_us, self.delivered) = (now_us, delivered);
        self.overtaken_by = u16::try_from(newer).unwrap_or(u16::MAX);
        self.flags |= EVER_RETRANSMITTED;
    }

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

//! The state of one outstanding segment, as the sender knows it.

/// Flag of a segment that the receiver SACKed.
pub(super) const SACKED: u8 = 1;
/// Flag of a segment that was declared lost.
pub(super) const LOST: u8 = 2;
/// Flag of a segment that was retransmitted, and whose retransmission is believed in flight.
pub(super) const RETRANSMITTED: u8 = 4;
/// Flag of a segment that was retransmitted at least once.
pub(super) const EVER_RETRANSMITTED: u8 = 8;
/// Flag of a segment on the transmission list.
pub(super) const LISTED: u8 = 16;

/// No slot: the end of the transmission list.
pub(super) const NONE: u32 = u32::MAX;

/// One outstanding segment.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Segment {
    /// The time when the segment was last sent, microseconds.
    pub(in super::super) sent_us: u64,
    /// Number of segments delivered when this one was last sent, modulo 2^32.
    pub(in super::super) delivered: u32,
    /// The slots of the segment's neighbours on the transmission list. The earlier slot of the oldest segment means nothing.
    pub(super) earlier: u32,
    pub(super) later: u32,
    pub(super) flags: u8,
    /// Number of new segments that had left after this one when it was last sent: zero, unless it was sent again. A greater
    /// number than fits is the greatest that fits.
    pub(super) overtaken_by: u16,
}

/// The last transmission of a segment, among all transmissions of a sender: later transmissions are greater. Of
/// transmissions with equal stamps, which may answer several acknowledgements, the later ones follow more new segments. Of
/// those that follow an equal number, the first has the lowest number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) struct Sent {
    /// The time of the transmission, microseconds.
    pub(in super::super) at_us: u64,
    /// One past the new segments that had left before it.
    behind: u64,
    /// The number of the segment.
    number: u64,
}

impl Sent {
    /// Returns the first transmission of a new segment.
    pub(in super::super) const fn new(number: u64, at_us: u64) -> Self {
        Self { at_us, behind: number, number }
    }
}

impl Segment {
    pub(in super::super) const UNUSED: Self =
        Self { sent_us: 0, delivered: 0, earlier: NONE, later: NONE, flags: 0, overtaken_by: 0 };

    /// Returns the last transmission of this segment, which has this number.
    pub(in super::super) const fn sent(&self, number: u64) -> Sent {
        Sent { at_us: self.sent_us, behind: number + self.overtaken_by as u64, number }
    }

    /// Notes that the segment left again at `now_us`, after `newer` new segments.
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

    /// Whether a retransmission of the segment is believed in flight.
    pub(in super::super) const fn is_retransmitted(&self) -> bool {
        self.flags & RETRANSMITTED != 0
    }

    /// Whether the segment was retransmitted, tail-loss probes included.
    pub(in super::super) const fn was_retransmitted(&self) -> bool {
        self.flags & (RETRANSMITTED | EVER_RETRANSMITTED) != 0
    }
}

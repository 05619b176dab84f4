//! The packets that TCP hosts exchange: segment numbers and flags in place of octets, with exact IP lengths.
//!
//! Sequence space counts segments of one full payload each; only the last segment of a flow may be shorter. No packet
//! carries payload here: a link needs its length only.

use super::config::Config;
use super::headers::{HEADERS, TIMESTAMPS_OPTION};

/// Maximum segment size, SACK permitted and window scale options of a SYN, padded, bytes.
const SYN_OPTIONS: u32 = 12;
/// Options of a SYN with timestamps, whose padding takes in the SACK permitted option, bytes.
const SYN_OPTIONS_WITH_TIMESTAMPS: u32 = 20;
/// The most SACK blocks that fit the 40 bytes of options (RFC 2018 section 3).
pub(super) const MOST_SACK_BLOCKS: usize = 4;

/// A TCP packet as a network sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packet {
    /// Connection request.
    Syn,
    /// Answer to a connection request.
    SynAck,
    /// Data, from the sender to the receiver.
    Data(Data),
    /// Acknowledgement without data.
    Ack(Ack),
}

/// One data packet: a segment, or a burst of consecutive segments under segmentation offload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data {
    /// Number of the first segment.
    pub first: u64,
    /// Payload of the packet, bytes.
    pub payload: u32,
    /// Number of segments carried; more than one only with segmentation offload.
    pub segments: u16,
    /// Whether any segment of the packet was sent before.
    pub retransmission: bool,
    /// Whether the IP header says ECN-capable (ECT).
    pub ecn_capable: bool,
    /// The congestion-window-reduced flag (RFC 3168 section 6.1.2).
    pub window_reduced: bool,
    /// Timestamp value in milliseconds, zero without the option.
    pub timestamp: u32,
}

/// One acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// The next segment expected: all before it have arrived.
    pub next: u64,
    /// Selective acknowledgements, the most recent block first, and a duplicate (D-SACK) before that block;
    /// [`Ack::blocks`] reads them.
    pub sack: SackBlocks,
    /// The ECN-echo flag (RFC 3168 section 6.1.3; RFC 8257 section 3.2).
    pub ecn_echo: bool,
    /// Whether the IP header says ECN-capable (ECT); DCTCP hosts mark every packet so.
    pub ecn_capable: bool,
    /// Timestamp echo in milliseconds, zero without the option.
    pub echo: u32,
}

/// A run of segments from `start` up to, not including, `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// The first segment of the run.
    pub start: u64,
    /// One past the last segment of the run.
    pub end: u64,
}

/// Up to four SACK blocks, kept as distances from the cumulative acknowledgement to stay small. An empty block ends the
/// list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    offsets: [(i32, i32); MOST_SACK_BLOCKS],
}

impl Packet {
    /// Returns the length of the IP packet in bytes: IP and TCP headers, options and payload.
    pub fn ip_bytes(&self, config: &Config) -> u32 {
        let options = if config.timestamps { TIMESTAMPS_OPTION } else { 0 };
        let tcp = match self {
            Self::Syn | Self::SynAck if config.timestamps => SYN_OPTIONS_WITH_TIMESTAMPS,
            Self::Syn | Self::SynAck => SYN_OPTIONS,
            Self::Data(data) => options + data.payload,
            Self::Ack(ack) => options + ack.sack.option_bytes(),
        };
        HEADERS + tcp
    }

    /// Whether a congested queue may mark the packet instead of dropping it.
    pub fn is_ecn_capable(&self) -> bool {
        match self {
            Self::Data(data) => data.ecn_capable,
            Self::Ack(ack) => ack.ecn_capable,
            Self::Syn | Self::SynAck => false,
        }
    }

    /// Moves the number of the packet on by `segments`: that of the first segment carried, or of the next segment
    /// expected.
    #[inline]
    pub const fn advance(&mut self, segments: u32) {
        match self {
            Self::Data(data) => data.first += segments as u64,
            Self::Ack(ack) => ack.next += segments as u64,
            Self::Syn | Self::SynAck => {}
        }
    }

    /// Returns how far the number of `next` is beyond this packet's, if both carry one segment, or both are
    /// acknowledgements without SACK blocks, and nothing else differs.
    #[inline]
    pub fn distance(&self, next: &Self) -> Option<u32> {
        match (self, next) {
            (Self::Data(first), Self::Data(next)) => {
                let is_alike = first.segments == 1 && Data { first: first.first, ..*next } == *first;
                let distance = next.first.checked_sub(first.first)?;
                u32::try_from(distance).ok().filter(|_| is_alike)
            }
            (Self::Ack(first), Self::Ack(next)) => {
                let flags = |ack: &Ack| (ack.ecn_echo, ack.ecn_capable, ack.echo);
                let is_alike = first.sack.is_empty() && next.sack.is_empty() && flags(first) == flags(next);
                let distance = next.next.checked_sub(first.next)?;
                u32::try_from(distance).ok().filter(|_| is_alike)
            }
            _ => None,
        }
    }

    /// Whether the packet carries payload.
    pub const fn is_data(&self) -> bool {
        matches!(self, Self::Data(_))
    }
}

impl Data {
    /// Returns one past the last segment carried.
    pub const fn end(&self) -> u64 {
        self.first + self.segments as u64
    }

    /// Returns the frames that a network card cuts from a burst, `full_payload` bytes each but the last.
    pub fn frames(self, full_payload: u32) -> impl Iterator<Item = Self> {
        (0..u32::from(self.segments)).map(move |index| Self {
            first: self.first + u64::from(index),
            payload: (self.payload - index * full_payload).min(full_payload),
            segments: 1,
            ..self
        })
    }
}

impl Ack {
    /// Returns the SACK blocks in the order of the option.
    pub fn blocks(&self) -> impl Iterator<Item = Block> + '_ {
        let number = |offset: i32| self.next.wrapping_add_signed(i64::from(offset));
        self.sack.used().map(move |&(start, end)| Block { start: number(start), end: number(end) })
    }
}

impl SackBlocks {
    /// The empty list of blocks.
    #[cfg(feature = "fast")]
    pub(super) const NONE: Self = Self { offsets: [(0, 0); MOST_SACK_BLOCKS] };

    /// Adds a block to an acknowledgement of `next`. A fifth block does not fit and is left out.
    pub fn push(&mut self, next: u64, block: Block) {
        debug_assert!(block.start < block.end, "a block holds something");
        if let Some(slot) = self.offsets.iter_mut().find(|(start, end)| start == end) {
            *slot = (distance(block.start, next), distance(block.end, next));
        }
    }

    fn used(&self) -> impl Iterator<Item = &(i32, i32)> {
        self.offsets.iter().take_while(|(start, end)| start != end)
    }

    /// Returns the number of blocks.
    pub fn len(&self) -> usize {
        self.used().count()
    }

    /// Whether there is no block.
    pub fn is_empty(&self) -> bool {
        self.offsets[0] == (0, 0)
    }

    /// Returns the length of the option with its padding, bytes (RFC 2018 section 3).
    fn option_bytes(&self) -> u32 {
        if self.is_empty() { 0 } else { 4 + 8 * self.len() as u32 }
    }
}

/// Returns `number - base`; windows are far below 2^31 segments.
fn distance(number: u64, base: u64) -> i32 {
    number.wrapping_sub(base) as i64 as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(segments: u16, payload: u32) -> Data {
        Data {
            first: 10,
            payload,
            segments,
            retransmission: false,
            ecn_capable: false,
            window_reduced: false,
            timestamp: 0,
        }
    }

    #[test]
    fn lengths_count_headers_and_options() {
        let plain = Config::default();
        let stamped = Config { timestamps: true, ..Config::default() };
        assert_eq!(Packet::Data(data(1, 1460)).ip_bytes(&plain), 1500);
        assert_eq!(Packet::Data(data(1, 1448)).ip_bytes(&stamped), 1500);
        assert_eq!(Packet::Syn.ip_bytes(&plain), 52);
        assert_eq!(Packet::SynAck.ip_bytes(&stamped), 60);
        let mut sack = SackBlocks::default();
        let ack = |sack| Packet::Ack(Ack { next: 7, sack, ecn_echo: false, ecn_capable: false, echo: 0 });
        assert_eq!(ack(sack).ip_bytes(&plain), 40);
        sack.push(7, Block { start: 9, end: 12 });
        assert_eq!(ack(sack).ip_bytes(&plain), 52);
    }

    #[test]
    fn blocks_keep_their_order_on_both_sides_of_the_acknowledgement() {
        let mut sack = SackBlocks::default();
        let next = 1 << 40;
        let duplicate = Block { start: (1 << 40) - 3, end: (1 << 40) - 2 };
        let later = Block { start: (1 << 40) + 5, end: (1 << 40) + 6 };
        sack.push(next, duplicate);
        sack.push(next, later);
        let ack = Ack { next, sack, ecn_echo: false, ecn_capable: false, echo: 0 };
        assert_eq!(ack.blocks().collect::<Vec<_>>(), [duplicate, later]);
    }

    #[test]
    fn packets_are_small() {
        assert!(size_of::<Option<Packet>>() <= 48);
    }

    #[test]
    fn a_fifth_block_does_not_fit() {
        let mut sack = SackBlocks::default();
        for index in 0..5 {
            sack.push(0, Block { start: 2 * index + 1, end: 2 * index + 2 });
        }
        assert_eq!(sack.len(), 4);
    }

    #[test]
    fn a_burst_is_cut_into_full_frames_and_a_rest() {
        let frames: Vec<_> = data(3, 3_000).frames(1460).map(|frame| (frame.first, frame.payload)).collect();
        assert_eq!(frames, [(10, 1460), (11, 1460), (12, 80)]);
    }
}

//! TCP options: maximum segment, window scale, selective ACKs, timestamps.
//!
//! Source: RFC 9293 3.2, RFC 7323 (window scale, timestamps), RFC 2018 (selective ACKs). The
//! options are written in the order and with the padding that Linux uses, every group a multiple of
//! 4 bytes. Options of other kinds are skipped.

use super::NAME;
use crate::wire::{WireError, be16, be32, demand, put16, put32, require};

const END: u8 = 0;
const NO_OPERATION: u8 = 1;
const MAXIMUM_SEGMENT: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;

/// The bytes that a header has for options.
const LEN_MAX: usize = 40;
/// The bytes of a selective-ACK block.
const BLOCK_LEN: usize = 8;
/// The bytes in front of the blocks, padding included.
const SACK_HEAD_LEN: usize = 4;

/// A run of bytes that arrived beyond the acknowledged ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlock {
    /// Sequence number of the first byte.
    pub left: u32,
    /// Sequence number of the first byte after the run.
    pub right: u32,
}

/// Up to four selective-ACK blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [SackBlock; Self::MAX],
    count: usize,
}

impl SackBlocks {
    /// The most blocks that a header has room for.
    pub const MAX: usize = 4;

    /// Returns the blocks.
    pub fn as_slice(&self) -> &[SackBlock] {
        &self.blocks[..self.count]
    }
}

/// Takes the first four blocks.
impl FromIterator<SackBlock> for SackBlocks {
    fn from_iter<I: IntoIterator<Item = SackBlock>>(blocks: I) -> Self {
        let mut taken = Self::default();
        for block in blocks.into_iter().take(Self::MAX) {
            taken.blocks[taken.count] = block;
            taken.count += 1;
        }
        taken
    }
}

/// The timestamps option.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timestamps {
    /// The sender's clock.
    pub value: u32,
    /// The clock of the other side, echoed.
    pub echo: u32,
}

/// The options of a header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpOptions {
    /// Longest segment that the sender of the header takes, in bytes.
    pub maximum_segment: Option<u16>,
    /// Number of bits by which the sender's windows are shifted.
    pub window_scale: Option<u8>,
    /// Whether the sender reads selective ACKs.
    pub sack_permitted: bool,
    /// The sender's clock and the echo of the other side's.
    pub timestamps: Option<Timestamps>,
    /// Runs of bytes that the sender of the header holds beyond the acknowledgement.
    pub sack_blocks: SackBlocks,
}

impl TcpOptions {
    /// Returns the length in bytes, a multiple of four.
    pub fn len(&self) -> usize {
        let blocks = self.sendable_blocks().len();
        let sack = if blocks == 0 { 0 } else { SACK_HEAD_LEN + BLOCK_LEN * blocks };
        self.len_without_blocks() + sack
    }

    /// Whether no option is present.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reads the bytes between the fixed header and the payload.
    ///
    /// # Errors
    /// If an option is longer than the bytes left, or has another length than its kind demands.
    pub fn parse(mut bytes: &[u8]) -> Result<Self, WireError> {
        let mut options = Self::default();
        while let [kind, rest @ ..] = bytes {
            match *kind {
                END => break,
                NO_OPERATION => bytes = rest,
                kind => {
                    require(NAME, bytes, 2)?;
                    let len = usize::from(bytes[1]);
                    demand(NAME, "option length", bytes[1], len >= 2)?;
                    require(NAME, bytes, len)?;
                    options.read(kind, &bytes[2..len])?;
                    bytes = &bytes[len..];
                }
            }
        }
        Ok(options)
    }

    /// Writes the options into `bytes`, [`len`](Self::len) of them.
    pub(super) fn emit(&self, bytes: &mut [u8]) {
        let mut writer = Writer { bytes, at: 0 };
        if let Some(size) = self.maximum_segment {
            put16(writer.option(0, MAXIMUM_SEGMENT, 2), 0, size);
        }
        if self.sack_permitted {
            // With timestamps the two make whole words together.
            let padding = if self.timestamps.is_some() { 0 } else { 2 };
            writer.option(padding, SACK_PERMITTED, 0);
        }
        if let Some(Timestamps { value, echo }) = self.timestamps {
            let padding = if self.sack_permitted { 0 } else { 2 };
            let data = writer.option(padding, TIMESTAMPS, 8);
            put32(data, 0, value);
            put32(data, 4, echo);
        }
        if let Some(shift) = self.window_scale {
            writer.option(1, WINDOW_SCALE, 1)[0] = shift;
        }
        let blocks = self.sendable_blocks();
        if !blocks.is_empty() {
            let data = writer.option(2, SACK, BLOCK_LEN * blocks.len());
            for (bytes, block) in data.chunks_exact_mut(BLOCK_LEN).zip(blocks) {
                put32(bytes, 0, block.left);
                put32(bytes, 4, block.right);
            }
        }
    }

    /// Takes in one option of `kind`.
    fn read(&mut self, kind: u8, data: &[u8]) -> Result<(), WireError> {
        let expect = |len: usize| demand(NAME, "option length", data.len() as u8 + 2, data.len() == len);
        match kind {
            MAXIMUM_SEGMENT => {
                expect(2)?;
                self.maximum_segment = Some(be16(data, 0));
            }
            WINDOW_SCALE => {
                expect(1)?;
                self.window_scale = Some(data[0]);
            }
            SACK_PERMITTED => {
                expect(0)?;
                self.sack_permitted = true;
            }
            TIMESTAMPS => {
                expect(8)?;
                self.timestamps = Some(Timestamps { value: be32(data, 0), echo: be32(data, 4) });
            }
            SACK => {
                expect((data.len() / BLOCK_LEN).max(1) * BLOCK_LEN)?;
                let block = |bytes| SackBlock { left: be32(bytes, 0), right: be32(bytes, 4) };
                self.sack_blocks = data.chunks_exact(BLOCK_LEN).map(block).collect();
            }
            _ => (),
        }
        Ok(())
    }

    fn len_without_blocks(&self) -> usize {
        let segment = if self.maximum_segment.is_some() { 4 } else { 0 };
        let scale = if self.window_scale.is_some() { 4 } else { 0 };
        let permitted_and_timestamps = match (self.sack_permitted, self.timestamps) {
            (_, Some(_)) => 12,
            (true, None) => 4,
            (false, None) => 0,
        };
        segment + scale + permitted_and_timestamps
    }

    /// Returns the blocks for which the header has room: three beside timestamps, four alone.
    fn sendable_blocks(&self) -> &[SackBlock] {
        let room = (LEN_MAX - self.len_without_blocks()).saturating_sub(SACK_HEAD_LEN) / BLOCK_LEN;
        let blocks = self.sack_blocks.as_slice();
        &blocks[..blocks.len().min(room)]
    }
}

/// A writer of options, one after the other.
struct Writer<'a> {
    bytes: &'a mut [u8],
    at: usize,
}

impl Writer<'_> {
    /// Writes `padding` no-operations, kind and length, and returns room for `data_len` bytes.
    fn option(&mut self, padding: usize, kind: u8, data_len: usize) -> &mut [u8] {
        let start = self.at + padding;
        self.bytes[self.at..start].fill(NO_OPERATION);
        self.bytes[start] = kind;
        self.bytes[start + 1] = (2 + data_len) as u8; // at most 40
        self.at = start + 2 + data_len;
        &mut self.bytes[start + 2..self.at]
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    fn bytes(options: &TcpOptions) -> Vec<u8> {
        let mut bytes = vec![0xee; options.len()];
        options.emit(&mut bytes);
        bytes
    }

    fn blocks(count: u32) -> SackBlocks {
        (0..count).map(|index| SackBlock { left: 2 * index, right: 2 * index + 1 }).collect()
    }

    /// Returns every combination that fits in a header.
    pub(in super::super) fn any_options() -> impl Strategy<Value = TcpOptions> {
        let any =
            (any::<Option<u16>>(), any::<Option<u8>>(), any::<bool>(), any::<Option<[u32; 2]>>(), 0..=4u32);
        any.prop_map(|(maximum_segment, window_scale, sack_permitted, timestamps, count)| {
            let timestamps = timestamps.map(|[value, echo]| Timestamps { value, echo });
            let sack_blocks = blocks(count);
            let mut options =
                TcpOptions { maximum_segment, window_scale, sack_permitted, timestamps, sack_blocks };
            options.sack_blocks = options.sendable_blocks().iter().copied().collect();
            options
        })
    }

    /// Timestamps and two blocks, as scapy writes them in the order of Linux.
    #[test]
    fn selective_acks_have_their_bytes() {
        let literal = [
            0x01, 0x01, 0x08, 0x0a, 0x00, 0x00, 0x00, 0x64, 0x00, 0x00, 0x00, 0xc8, 0x01, 0x01, 0x05, 0x12,
            0x00, 0x00, 0x05, 0xb5, 0x00, 0x00, 0x0b, 0x69, 0x00, 0x00, 0x11, 0x1d, 0x00, 0x00, 0x16, 0xd1,
        ];
        let held = [SackBlock { left: 1461, right: 2921 }, SackBlock { left: 4381, right: 5841 }];
        let options = TcpOptions {
            timestamps: Some(Timestamps { value: 100, echo: 200 }),
            sack_blocks: held.into_iter().collect(),
            ..TcpOptions::default()
        };
        assert_eq!(bytes(&options), literal);
        assert_eq!(TcpOptions::parse(&literal), Ok(options));
    }

    #[test]
    fn blocks_beyond_the_room_are_left_out() {
        let mut options = TcpOptions { sack_blocks: blocks(4), ..TcpOptions::default() };
        assert_eq!(options.len(), 36);
        options.timestamps = Some(Timestamps::default());
        assert_eq!(options.len(), 40);
        let read = TcpOptions::parse(&bytes(&options)).unwrap();
        assert_eq!(read.sack_blocks, blocks(3));
    }

    #[test]
    fn unknown_options_are_skipped_and_the_end_is_the_end() {
        let read = TcpOptions::parse(&[254, 3, 9, 1, 4, 2, 0, 2, 99]).unwrap();
        assert_eq!(read, TcpOptions { sack_permitted: true, ..TcpOptions::default() });
    }

    #[test]
    fn wrong_lengths_are_refused() {
        for bytes in
            [&[2, 3, 0][..], &[3, 2], &[4, 3, 0], &[5, 2], &[5, 9, 0, 0, 0, 0, 0, 0, 0], &[8, 2], &[9, 0]]
        {
            let error = TcpOptions::parse(bytes).unwrap_err();
            assert!(matches!(error, WireError::Invalid { field: "option length", .. }), "{bytes:?}: {error}");
        }
        for bytes in [&[2][..], &[2, 4, 5], &[254, 9]] {
            assert!(matches!(TcpOptions::parse(bytes), Err(WireError::Truncated { .. })), "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn options_round_trip(options in any_options()) {
            prop_assert!(options.len() <= LEN_MAX && options.len() % 4 == 0);
            prop_assert_eq!(TcpOptions::parse(&bytes(&options)), Ok(options));
        }
    }
}

//! The header of forward error correction, right after an Ethernet header with EtherType 0x081C.
//!
//! ```text
//!         0 .... 23   24   25 .. 31   32 ........... 47
//!        +----------+----+---------+--------------------+
//! data   |  block   | 0  |  index  | original EtherType |   payload
//! parity |  block   | 1  |   row   |   size   |  rows   |   coded body
//!        +----------+----+---------+--------------------+
//! ```
//!
//! The header is as long as Wharf's and at its place, but has other fields: every parity frame
//! names its own code, so that the code may change from block to block (FEC-8). The bodies are
//! described in `docs/protocols/fec.md`.

use super::ethernet::{EtherType, EthernetHeader};
use super::{WireError, be16, be24, demand, put16, put24, require};
use crate::units::Bytes;

const NAME: &str = "FEC";
/// The bit of the fourth byte that marks a parity frame (FEC-2, FEC-3).
const PARITY: u8 = 0x80;
/// The most data frames of a block (FEC-1).
pub const MAX_SIZE: u8 = 128;
/// The most parity frames of a block (FEC-1).
pub const MAX_ROWS: u8 = 32;
/// The bytes in front of each coded frame: its length and its check (FEC-4).
pub const CODED_PREFIX: usize = 6;

/// A header of forward error correction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FecHeader {
    /// Number of the block, 24 bits (FEC-9).
    pub block: u32,
    /// Role of the frame in the block.
    pub part: FecPart,
}

/// The role of a frame in its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FecPart {
    /// An original frame, whose payload follows (FEC-2).
    Data {
        /// Place of the frame among the data frames.
        index: u8,
        /// EtherType in the Ethernet header of the original frame.
        ethertype: EtherType,
    },
    /// A parity frame, whose coded body follows (FEC-3).
    Parity {
        /// Place of the frame among the parity frames.
        row: u8,
        /// Number of data frames of the block.
        size: u8,
        /// Number of parity frames of the block.
        rows: u8,
    },
}

impl FecHeader {
    /// Length in bytes.
    pub const LEN: usize = 6;
    /// The bytes by which a data frame is longer than its original.
    pub const DATA_OVERHEAD: Bytes = Bytes(Self::LEN as u64);
    /// The bytes by which a parity frame is longer than the longest frame of its block: a second
    /// Ethernet header, this header, and the prefix of the coded frame (FEC-4, FEC-20).
    pub const PARITY_OVERHEAD: Bytes = Bytes((EthernetHeader::LEN + Self::LEN + CODED_PREFIX) as u64);

    /// Reads the header and returns the bytes behind it.
    ///
    /// # Errors
    /// If the bytes are shorter than the header, or a field is out of its range.
    pub fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), WireError> {
        require(NAME, bytes, Self::LEN)?;
        let place = bytes[3] & !PARITY;
        let part = if bytes[3] & PARITY == 0 {
            FecPart::Data { index: place, ethertype: EtherType(be16(bytes, 4)) }
        } else {
            let (size, rows) = (bytes[4], bytes[5]);
            demand(NAME, "size", size, (1..=MAX_SIZE).contains(&size))?;
            demand(NAME, "rows", rows, (1..=MAX_ROWS).contains(&rows))?;
            demand(NAME, "row", place, place < rows)?;
            FecPart::Parity { row: place, size, rows }
        };
        Ok((Self { block: be24(bytes, 0), part }, &bytes[Self::LEN..]))
    }

    /// Writes the header at the start of `buffer`.
    ///
    /// # Panics
    /// If `buffer` is shorter than [`LEN`](Self::LEN), or the block number longer than 24 bits.
    pub fn emit(&self, buffer: &mut [u8]) {
        put24(buffer, 0, self.block);
        match self.part {
            FecPart::Data { index, ethertype } => {
                buffer[3] = index;
                put16(buffer, 4, ethertype.0);
            }
            FecPart::Parity { row, size, rows } => {
                buffer[3..6].copy_from_slice(&[PARITY | row, size, rows]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn emitted(header: FecHeader) -> [u8; 6] {
        let mut buffer = [0; FecHeader::LEN];
        header.emit(&mut buffer);
        buffer
    }

    // FEC-2
    #[test]
    fn a_data_header_is_its_literal_bytes() {
        let part = FecPart::Data { index: 127, ethertype: EtherType::IPV4 };
        let header = FecHeader { block: 0x01_0203, part };
        assert_eq!(emitted(header), [1, 2, 3, 0x7f, 0x08, 0x00]);
        assert_eq!(FecHeader::parse(&[1, 2, 3, 0x7f, 8, 0, 0x55]), Ok((header, &[0x55][..])));
    }

    // FEC-3
    #[test]
    fn a_parity_header_is_its_literal_bytes() {
        let header = FecHeader { block: 0xff_fffe, part: FecPart::Parity { row: 4, size: 25, rows: 5 } };
        assert_eq!(emitted(header), [0xff, 0xff, 0xfe, 0x84, 25, 5]);
        assert_eq!(FecHeader::parse(&[0xff, 0xff, 0xfe, 0x84, 25, 5]), Ok((header, &[][..])));
    }

    // FEC-3, WIRE-3
    #[test]
    fn impossible_codes_are_refused() {
        let invalid = |field, value| Err(WireError::Invalid { header: NAME, field, value });
        assert_eq!(FecHeader::parse(&[0, 0, 0, 0x80, 0, 1]), invalid("size", 0));
        assert_eq!(FecHeader::parse(&[0, 0, 0, 0x80, 129, 1]), invalid("size", 129));
        assert_eq!(FecHeader::parse(&[0, 0, 0, 0x80, 5, 0]), invalid("rows", 0));
        assert_eq!(FecHeader::parse(&[0, 0, 0, 0x80, 5, 33]), invalid("rows", 33));
        assert_eq!(FecHeader::parse(&[0, 0, 0, 0x85, 5, 5]), invalid("row", 5));
        assert!(FecHeader::parse(&[0, 0, 0, 0x9f, 128, 32]).is_ok());
    }

    #[test]
    fn a_short_header_is_refused() {
        for length in 0..FecHeader::LEN {
            let error = WireError::Truncated { header: NAME, needed: 6, available: length };
            assert_eq!(FecHeader::parse(&[0; 6][..length]), Err(error));
        }
    }

    proptest! {
        /// Every header that is read is written back as the same bytes.
        #[test]
        fn bytes_round_trip(bytes: [u8; 6]) {
            if let Ok((header, _)) = FecHeader::parse(&bytes) {
                prop_assert_eq!(emitted(header), bytes);
            }
        }
    }
}

//! The ACK header (WIRE-6): the position up to which the receiver has every frame that it did not
//! ask for.
//!
//! ```text
//!  0   1   2             3   4 ........ 7   8 ............ 23
//! +-------+-------------+---+------------+-------------------+
//! | 0   1 |is_piggybacked|era|    pad     |    leading_ack    |
//! +-------+-------------+---+------------+-------------------+
//! ```

use super::{KIND, KIND_ACK, kind_number};
use crate::wire::{WireError, be16, demand, put16, require};

pub(super) const IS_PIGGYBACKED: u8 = 0b0010_0000;
pub(super) const ERA: u8 = 0b0001_0000;

/// Bytes that start with an ACK header.
#[derive(Clone, Copy, Debug)]
pub struct AckView<'a>(&'a [u8]);

impl<'a> AckView<'a> {
    /// Checks length and kind once.
    ///
    /// # Errors
    /// If the bytes are too short or start with another kind of header.
    pub fn new_checked(bytes: &'a [u8]) -> Result<Self, WireError> {
        require("LinkGuardian ACK", bytes, AckHeader::LEN)?;
        demand("LinkGuardian ACK", "type", kind_number(bytes[0]), bytes[0] & KIND == KIND_ACK)?;
        Ok(Self(bytes))
    }

    /// Whether the ACK rides on a frame that carries other contents.
    pub fn is_piggybacked(self) -> bool {
        self.0[0] & IS_PIGGYBACKED != 0
    }

    /// Returns the era of the leading ACK.
    pub fn era(self) -> bool {
        self.0[0] & ERA != 0
    }

    /// Returns the highest sequence number seen.
    pub fn leading_ack(self) -> u16 {
        be16(self.0, 1)
    }

    /// Returns the bytes behind the header.
    pub fn rest(self) -> &'a [u8] {
        &self.0[AckHeader::LEN..]
    }
}

/// An ACK header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct AckHeader {
    /// Whether the ACK rides on a frame that carries other contents.
    pub is_piggybacked: bool,
    /// The era of the leading ACK.
    pub era: bool,
    /// The highest sequence number seen.
    pub leading_ack: u16,
}

impl AckHeader {
    /// Length in bytes.
    pub const LEN: usize = 3;

    /// Reads the header and returns the bytes behind it.
    ///
    /// # Errors
    /// If the bytes are too short or start with another kind of header.
    pub fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let view = AckView::new_checked(bytes)?;
        let header =
            Self { is_piggybacked: view.is_piggybacked(), era: view.era(), leading_ack: view.leading_ack() };
        Ok((header, view.rest()))
    }

    /// Writes the header at the start of `buffer`.
    ///
    /// # Panics
    /// If `buffer` is shorter than [`LEN`](Self::LEN).
    pub fn emit(&self, buffer: &mut [u8]) {
        let piggybacked = if self.is_piggybacked { IS_PIGGYBACKED } else { 0 };
        let era = if self.era { ERA } else { 0 };
        buffer[0] = KIND_ACK | piggybacked | era;
        put16(buffer, 1, self.leading_ack);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    // WIRE-6
    #[test]
    fn each_bit_has_its_place() {
        let none = AckHeader { leading_ack: 0xfffe, ..AckHeader::default() };
        let literal = [
            (none, 0b0100_0000),
            (AckHeader { is_piggybacked: true, ..none }, 0b0110_0000),
            (AckHeader { era: true, ..none }, 0b0101_0000),
        ];
        for (header, first) in literal {
            let mut buffer = [0xff; 3];
            header.emit(&mut buffer);
            assert_eq!(buffer, [first, 0xff, 0xfe]);
            assert_eq!(AckHeader::parse(&buffer), Ok((header, &[][..])));
        }
    }

    // WIRE-2
    #[test]
    fn the_pad_bits_are_not_looked_at() {
        let (header, _) = AckHeader::parse(&[0b0100_1111, 0, 7]).unwrap();
        assert_eq!(header, AckHeader { leading_ack: 7, ..AckHeader::default() });
    }

    // WIRE-3, WIRE-4
    #[test]
    fn other_kinds_and_short_bytes_are_refused() {
        for (first, value) in [(0x00, 0), (0x80, 2), (0xc0, 3)] {
            let error = WireError::Invalid { header: "LinkGuardian ACK", field: "type", value };
            assert_eq!(AckHeader::parse(&[first, 0, 0]), Err(error));
        }
        for length in 0..AckHeader::LEN {
            assert!(matches!(AckHeader::parse(&[0x40; 3][..length]), Err(WireError::Truncated { .. })));
        }
    }

    proptest! {
        #[test]
        fn headers_round_trip(is_piggybacked: bool, era: bool, leading_ack: u16) {
            let header = AckHeader { is_piggybacked, era, leading_ack };
            let mut buffer = [0; AckHeader::LEN];
            header.emit(&mut buffer);
            prop_assert_eq!(AckHeader::parse(&buffer), Ok((header, &[][..])));
        }
    }
}

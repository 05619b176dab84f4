//! The data header (WIRE-5): numbers a protected frame, or announces the next number in a dummy.
//!
//! ```text
//!  0   1   2   3   4    5     6        7       8 ............ 23
//! +-------+---+---+----+-----+--------+--------+----------------+
//! | 0   0 |pad|era|reTx|dummy|blocking|buffered|    sequence    |
//! +-------+---+---+----+-----+--------+--------+----------------+
//! ```
//!
//! `rx_buffered` marks frames inside a receiving switch; the bit is clear on a wire.

use super::{KIND, KIND_DATA, kind_number};
use crate::wire::{WireError, be16, demand, put16, require};

const ERA: u8 = 0b0001_0000;
const RETRANSMISSION: u8 = 0b0000_1000;
const DUMMY: u8 = 0b0000_0100;
const BLOCKING_MODE: u8 = 0b0000_0010;
const RX_BUFFERED: u8 = 0b0000_0001;

/// Bytes that start with a data header.
#[derive(Clone, Copy, Debug)]
pub struct DataView<'a>(&'a [u8]);

impl<'a> DataView<'a> {
    /// Checks length and kind once.
    ///
    /// # Errors
    /// If the bytes are too short or start with another kind of header.
    pub fn new_checked(bytes: &'a [u8]) -> Result<Self, WireError> {
        require("LinkGuardian data", bytes, DataHeader::LEN)?;
        let kind = bytes[0] & KIND;
        demand("LinkGuardian data", "type", kind_number(bytes[0]), kind == KIND_DATA)?;
        Ok(Self(bytes))
    }

    /// Returns the era of the sequence number.
    pub fn era(self) -> bool {
        self.0[0] & ERA != 0
    }

    /// Whether the frame is a copy sent again on request.
    pub fn is_retransmission(self) -> bool {
        self.0[0] & RETRANSMISSION != 0
    }

    /// Whether the frame carries only its number, which is the *next* one of the sender.
    pub fn is_dummy(self) -> bool {
        self.0[0] & DUMMY != 0
    }

    /// Whether the sender asks for ordered delivery.
    pub fn blocking_mode(self) -> bool {
        self.0[0] & BLOCKING_MODE != 0
    }

    /// Whether the frame circulates in a receiver's reorder buffer; clear on a wire.
    pub fn rx_buffered(self) -> bool {
        self.0[0] & RX_BUFFERED != 0
    }

    /// Returns the sequence number.
    pub fn sequence(self) -> u16 {
        be16(self.0, 1)
    }

    /// Returns the bytes behind the header.
    pub fn rest(self) -> &'a [u8] {
        &self.0[DataHeader::LEN..]
    }
}

/// A data header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct DataHeader {
    /// The era of the sequence number.
    pub era: bool,
    /// Whether the frame is a copy sent again on request.
    pub is_retransmission: bool,
    /// Whether the frame carries only its number, which is the *next* one of the sender.
    pub is_dummy: bool,
    /// Whether the sender asks for ordered delivery.
    pub blocking_mode: bool,
    /// Whether the frame circulates in a receiver's reorder buffer; clear on a wire.
    pub rx_buffered: bool,
    /// The sequence number.
    pub sequence: u16,
}

impl DataHeader {
    /// Length in bytes.
    pub const LEN: usize = 3;

    /// Reads the header and returns the bytes behind it.
    ///
    /// # Errors
    /// If the bytes are too short or start with another kind of header.
    pub fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let view = DataView::new_checked(bytes)?;
        let header = Self {
            era: view.era(),
            is_retransmission: view.is_retransmission(),
            is_dummy: view.is_dummy(),
            blocking_mode: view.blocking_mode(),
            rx_buffered: view.rx_buffered(),
            sequence: view.sequence(),
        };
        Ok((header, view.rest()))
    }

    /// Writes the header at the start of `buffer`.
    ///
    /// # Panics
    /// If `buffer` is shorter than [`LEN`](Self::LEN).
    pub fn emit(&self, buffer: &mut [u8]) {
        let flags = [
            (self.era, ERA),
            (self.is_retransmission, RETRANSMISSION),
            (self.is_dummy, DUMMY),
            (self.blocking_mode, BLOCKING_MODE),
            (self.rx_buffered, RX_BUFFERED),
        ];
        buffer[0] = flags.iter().filter(|(is_set, _)| *is_set).fold(KIND_DATA, |byte, (_, bit)| byte | bit);
        put16(buffer, 1, self.sequence);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    // WIRE-5
    #[test]
    fn each_bit_has_its_place() {
        let none = DataHeader { sequence: 0x1234, ..DataHeader::default() };
        let literal = [
            (none, 0b0000_0000),
            (DataHeader { era: true, ..none }, 0b0001_0000),
            (DataHeader { is_retransmission: true, ..none }, 0b0000_1000),
            (DataHeader { is_dummy: true, ..none }, 0b0000_0100),
            (DataHeader { blocking_mode: true, ..none }, 0b0000_0010),
            (DataHeader { rx_buffered: true, ..none }, 0b0000_0001),
        ];
        for (header, first) in literal {
            let mut buffer = [0xff; 3];
            header.emit(&mut buffer);
            assert_eq!(buffer, [first, 0x12, 0x34]);
            assert_eq!(DataHeader::parse(&buffer), Ok((header, &[][..])));
        }
    }

    // WIRE-2
    #[test]
    fn the_pad_bit_is_not_looked_at() {
        let (header, _) = DataHeader::parse(&[0b0010_0000, 0, 7]).unwrap();
        assert_eq!(header, DataHeader { sequence: 7, ..DataHeader::default() });
    }

    // WIRE-3, WIRE-4
    #[test]
    fn other_kinds_and_short_bytes_are_refused() {
        for (first, value) in [(0x40, 1), (0x80, 2), (0xc0, 3)] {
            let error = WireError::Invalid { header: "LinkGuardian data", field: "type", value };
            assert_eq!(DataHeader::parse(&[first, 0, 0]), Err(error));
        }
        for length in 0..DataHeader::LEN {
            assert!(matches!(DataHeader::parse(&[0; 3][..length]), Err(WireError::Truncated { .. })));
        }
    }

    proptest! {
        #[test]
        fn headers_round_trip(flags: [bool; 5], sequence: u16) {
            let [era, is_retransmission, is_dummy, blocking_mode, rx_buffered] = flags;
            let header =
                DataHeader { era, is_retransmission, is_dummy, blocking_mode, rx_buffered, sequence };
            let mut buffer = [0; DataHeader::LEN];
            header.emit(&mut buffer);
            prop_assert_eq!(DataHeader::parse(&buffer), Ok((header, &[][..])));
        }
    }
}

//! The ACK extended header: acknowledgement, "not ready", or the reason of a refusal.
//!
//! The syndrome's bits 6 and 5 tell the kind, its low five bits the value.

use crate::wire::{WireError, be24, demand, put24, require};

const NAME: &str = "RoCE AETH";
const KIND: u8 = 0b0110_0000;
const KIND_ACK: u8 = 0b0000_0000;
const KIND_NOT_READY: u8 = 0b0010_0000;
const KIND_NAK: u8 = 0b0110_0000;
const RESERVED: u8 = 0b1000_0000;
const VALUE: u8 = 0b0001_1111;

/// The reason why a request was refused, 5 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NakCode(pub u8);

impl NakCode {
    /// A packet is missing: go back to the number in the base header.
    pub const SEQUENCE_ERROR: Self = Self(0);
    /// The request is invalid.
    pub const INVALID_REQUEST: Self = Self(1);
    /// The memory key does not permit the request.
    pub const REMOTE_ACCESS_ERROR: Self = Self(2);
    /// The responder failed.
    pub const REMOTE_OPERATIONAL_ERROR: Self = Self(3);
}

/// The responder's answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syndrome {
    /// All packets up to the packet's number arrived; encoded end-to-end credits, 31 for "not
    /// used".
    Ack {
        /// Credits, 5 bits.
        credits: u8,
    },
    /// The receiver has no buffer.
    NotReady {
        /// Encoded time to wait, 5 bits.
        timer: u8,
    },
    /// The request is refused.
    Nak(NakCode),
}

impl Syndrome {
    fn from_byte(byte: u8) -> Result<Self, WireError> {
        let value = byte & VALUE;
        demand(NAME, "syndrome", byte, byte & RESERVED == 0)?;
        match byte & KIND {
            KIND_ACK => Ok(Self::Ack { credits: value }),
            KIND_NOT_READY => Ok(Self::NotReady { timer: value }),
            KIND_NAK => Ok(Self::Nak(NakCode(value))),
            _ => Err(WireError::Invalid { header: NAME, field: "syndrome", value: byte.into() }),
        }
    }

    fn byte(self) -> u8 {
        let (kind, value) = match self {
            Self::Ack { credits } => (KIND_ACK, credits),
            Self::NotReady { timer } => (KIND_NOT_READY, timer),
            Self::Nak(code) => (KIND_NAK, code.0),
        };
        assert!(value <= VALUE, "{value} does not fit in 5 bits");
        kind | value
    }
}

/// Bytes that start with an ACK extended header.
#[derive(Clone, Copy, Debug)]
pub struct AckView<'a> {
    bytes: &'a [u8],
    syndrome: Syndrome,
}

impl<'a> AckView<'a> {
    /// Checks length and syndrome once.
    ///
    /// # Errors
    /// If the bytes are too short or the syndrome is reserved.
    pub fn new_checked(bytes: &'a [u8]) -> Result<Self, WireError> {
        require(NAME, bytes, AckHeader::LEN)?;
        Ok(Self { bytes, syndrome: Syndrome::from_byte(bytes[0])? })
    }

    /// Returns the responder's answer.
    pub fn syndrome(self) -> Syndrome {
        self.syndrome
    }

    /// Returns the number of messages that the responder completed, 24 bits.
    pub fn message_sequence(self) -> u32 {
        be24(self.bytes, 1)
    }

    /// Returns the bytes behind the header.
    pub fn rest(self) -> &'a [u8] {
        &self.bytes[AckHeader::LEN..]
    }
}

/// An ACK extended header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckHeader {
    /// The responder's answer.
    pub syndrome: Syndrome,
    /// Messages that the responder completed, 24 bits.
    pub message_sequence: u32,
}

impl AckHeader {
    /// Length in bytes.
    pub const LEN: usize = 4;

    /// Reads the header and returns the bytes behind it.
    ///
    /// # Errors
    /// If the bytes are too short or the syndrome is reserved.
    pub fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let view = AckView::new_checked(bytes)?;
        let header = Self { syndrome: view.syndrome(), message_sequence: view.message_sequence() };
        Ok((header, view.rest()))
    }

    /// Writes the header at the start of `buffer`.
    ///
    /// # Panics
    /// If `buffer` is shorter than [`LEN`](Self::LEN), or a number does not fit in its field.
    pub fn emit(&self, buffer: &mut [u8]) {
        buffer[0] = self.syndrome.byte();
        put24(buffer, 1, self.message_sequence);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn literal_bytes_are_read_and_written() {
        let literal = [
            (Syndrome::Ack { credits: 31 }, 0x1f),
            (Syndrome::NotReady { timer: 14 }, 0x2e),
            (Syndrome::Nak(NakCode::SEQUENCE_ERROR), 0x60),
            (Syndrome::Nak(NakCode::REMOTE_ACCESS_ERROR), 0x62),
        ];
        for (syndrome, first) in literal {
            let header = AckHeader { syndrome, message_sequence: 0x01_0203 };
            let mut buffer = [0xee; 4];
            header.emit(&mut buffer);
            assert_eq!(buffer, [first, 1, 2, 3]);
            assert_eq!(AckHeader::parse(&buffer), Ok((header, &[][..])));
        }
    }

    #[test]
    fn malformed_bytes_are_refused() {
        for byte in [0x40, 0x5f, 0x80, 0xff] {
            let error = WireError::Invalid { header: NAME, field: "syndrome", value: byte.into() };
            assert_eq!(AckHeader::parse(&[byte, 0, 0, 0]), Err(error));
        }
        for length in 0..AckHeader::LEN {
            assert!(matches!(AckHeader::parse(&[0; 4][..length]), Err(WireError::Truncated { .. })));
        }
    }

    proptest! {
        #[test]
        fn headers_round_trip(kind in 0..3u8, value in 0..32u8, message_sequence in 0u32..1 << 24) {
            let syndrome = match kind {
                0 => Syndrome::Ack { credits: value },
                1 => Syndrome::NotReady { timer: value },
                _ => Syndrome::Nak(NakCode(value)),
            };
            let header = AckHeader { syndrome, message_sequence };
            let mut buffer = [0; AckHeader::LEN];
            header.emit(&mut buffer);
            prop_assert_eq!(AckHeader::parse(&buffer), Ok((header, &[][..])));
        }
    }
}

//! The base transport header: the kind of the packet, its queue pair, and its number.
//!
//! ```text
//!  0 ....... 7   8   9  10 11  12 . 15   16 ....................... 31
//! +-----------+----+---+------+--------+------------------------------+
//! |  opcode   | SE | M | pad  | version|        partition key         |
//! +----+---+--+----+---+------+--------+------------------------------+
//! | F  | B |   reserved   |        destination queue pair              |
//! +----+---+--------------+--------------------------------------------+
//! | A  |     reserved     |        packet sequence number              |
//! +----+------------------+--------------------------------------------+
//! ```

use crate::wire::{WireError, be16, be24, demand, put16, put24, require};

const NAME: &str = "RoCE BTH";

const SOLICITED: u8 = 0x80;
/// The bit that says that the path has migrated, or was never asked to. Adapters set it on an
/// ordinary connection.
const MIGRATED: u8 = 0x40;
const VERSION: u8 = 0x0f;
const FECN: u8 = 0x80;
const BECN: u8 = 0x40;
const ACK_REQUEST: u8 = 0x80;

/// The service and the operation of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Opcode(pub u8);

impl Opcode {
    /// Reliable connection: first packet of a send.
    pub const SEND_FIRST: Self = Self(0x00);
    /// Reliable connection: middle packet of a send.
    pub const SEND_MIDDLE: Self = Self(0x01);
    /// Reliable connection: last packet of a send.
    pub const SEND_LAST: Self = Self(0x02);
    /// Reliable connection: only packet of a send.
    pub const SEND_ONLY: Self = Self(0x04);
    /// Reliable connection: first packet of an RDMA write, followed by an RDMA header.
    pub const WRITE_FIRST: Self = Self(0x06);
    /// Reliable connection: middle packet of an RDMA write.
    pub const WRITE_MIDDLE: Self = Self(0x07);
    /// Reliable connection: last packet of an RDMA write.
    pub const WRITE_LAST: Self = Self(0x08);
    /// Reliable connection: only packet of an RDMA write, followed by an RDMA header.
    pub const WRITE_ONLY: Self = Self(0x0a);
    /// Reliable connection: an acknowledgement, followed by an ACK header.
    pub const ACKNOWLEDGE: Self = Self(0x11);
    /// Congestion notification, the feedback of DCQCN.
    pub const CONGESTION_NOTIFICATION: Self = Self(0x81);
}

/// Bytes that start with a base transport header.
#[derive(Clone, Copy, Debug)]
pub struct BaseView<'a>(&'a [u8]);

impl<'a> BaseView<'a> {
    /// Checks length and version once.
    ///
    /// # Errors
    /// If the bytes are too short or of another version.
    pub fn new_checked(bytes: &'a [u8]) -> Result<Self, WireError> {
        require(NAME, bytes, BaseHeader::LEN)?;
        let version = bytes[1] & VERSION;
        demand(NAME, "version", version, version == 0)?;
        Ok(Self(bytes))
    }

    /// Returns the kind of the packet.
    pub fn opcode(self) -> Opcode {
        Opcode(self.0[0])
    }

    /// Whether the receiver shall raise an event.
    pub fn is_solicited(self) -> bool {
        self.0[1] & SOLICITED != 0
    }

    /// Returns the bytes, 0 to 3, that pad the payload to a multiple of four.
    pub fn pad_count(self) -> u8 {
        self.0[1] >> 4 & 0b11
    }

    /// Returns the partition.
    pub fn partition_key(self) -> u16 {
        be16(self.0, 2)
    }

    /// Whether a switch on the way saw congestion.
    pub fn forward_congestion(self) -> bool {
        self.0[4] & FECN != 0
    }

    /// Whether the other direction saw congestion.
    pub fn backward_congestion(self) -> bool {
        self.0[4] & BECN != 0
    }

    /// Returns the queue pair that the packet is for, 24 bits.
    pub fn destination_queue_pair(self) -> u32 {
        be24(self.0, 5)
    }

    /// Whether the sender wants an acknowledgement.
    pub fn ack_request(self) -> bool {
        self.0[8] & ACK_REQUEST != 0
    }

    /// Returns the packet sequence number, 24 bits.
    pub fn sequence(self) -> u32 {
        be24(self.0, 9)
    }

    /// Returns the bytes behind the header.
    pub fn rest(self) -> &'a [u8] {
        &self.0[BaseHeader::LEN..]
    }
}

/// A base transport header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BaseHeader {
    /// Kind of the packet.
    pub opcode: Opcode,
    /// Whether the receiver shall raise an event.
    pub is_solicited: bool,
    /// Bytes, 0 to 3, that pad the payload to a multiple of four.
    pub pad_count: u8,
    /// The partition; 0xffff is the default one.
    pub partition_key: u16,
    /// Whether a switch on the way saw congestion.
    pub forward_congestion: bool,
    /// Whether the other direction saw congestion.
    pub backward_congestion: bool,
    /// Queue pair that the packet is for, 24 bits.
    pub destination_queue_pair: u32,
    /// Whether the sender wants an acknowledgement.
    pub ack_request: bool,
    /// Packet sequence number, 24 bits.
    pub sequence: u32,
}

impl BaseHeader {
    /// Length in bytes.
    pub const LEN: usize = 12;

    /// Reads the header and returns the bytes behind it.
    ///
    /// # Errors
    /// If the bytes are too short or of another version.
    pub fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let view = BaseView::new_checked(bytes)?;
        let header = Self {
            opcode: view.opcode(),
            is_solicited: view.is_solicited(),
            pad_count: view.pad_count(),
            partition_key: view.partition_key(),
            forward_congestion: view.forward_congestion(),
            backward_congestion: view.backward_congestion(),
            destination_queue_pair: view.destination_queue_pair(),
            ack_request: view.ack_request(),
            sequence: view.sequence(),
        };
        Ok((header, view.rest()))
    }

    /// Writes the header at the start of `buffer`.
    ///
    /// # Panics
    /// If `buffer` is shorter than [`LEN`](Self::LEN), or a number does not fit in its field.
    pub fn emit(&self, buffer: &mut [u8]) {
        assert!(self.pad_count < 4, "padding completes a word");
        let flag = |is_set: bool, bit: u8| if is_set { bit } else { 0 };
        buffer[0] = self.opcode.0;
        buffer[1] = flag(self.is_solicited, SOLICITED) | MIGRATED | self.pad_count << 4;
        put16(buffer, 2, self.partition_key);
        buffer[4] = flag(self.forward_congestion, FECN) | flag(self.backward_congestion, BECN);
        put24(buffer, 5, self.destination_queue_pair);
        buffer[8] = flag(self.ack_request, ACK_REQUEST);
        put24(buffer, 9, self.sequence);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BYTES: [u8; 12] = [0x04, 0xe0, 0xff, 0xff, 0x40, 0x00, 0x01, 0x23, 0x80, 0xab, 0xcd, 0xef];

    const HEADER: BaseHeader = BaseHeader {
        opcode: Opcode::SEND_ONLY,
        is_solicited: true,
        pad_count: 2,
        partition_key: 0xffff,
        forward_congestion: false,
        backward_congestion: true,
        destination_queue_pair: 0x123,
        ack_request: true,
        sequence: 0xab_cdef,
    };

    #[test]
    fn literal_bytes_are_read_and_written() {
        let mut buffer = [0xee; 12];
        HEADER.emit(&mut buffer);
        assert_eq!(buffer, BYTES);
        assert_eq!(BaseHeader::parse(&BYTES), Ok((HEADER, &[][..])));
    }

    #[test]
    fn malformed_bytes_are_refused() {
        let mut bytes = BYTES;
        bytes[1] |= 1;
        let error = WireError::Invalid { header: NAME, field: "version", value: 1 };
        assert_eq!(BaseHeader::parse(&bytes), Err(error));
        for length in 0..BaseHeader::LEN {
            let error = WireError::Truncated { header: NAME, needed: 12, available: length };
            assert_eq!(BaseHeader::parse(&BYTES[..length]), Err(error));
        }
    }

    proptest! {
        #[test]
        fn headers_round_trip(
            opcode: u8, flags: [bool; 4], pad_count in 0u8..4, partition_key: u16,
            numbers in prop::array::uniform2(0u32..1 << 24),
        ) {
            let [is_solicited, forward_congestion, backward_congestion, ack_request] = flags;
            let [destination_queue_pair, sequence] = numbers;
            let header = BaseHeader {
                opcode: Opcode(opcode), is_solicited, pad_count, partition_key, forward_congestion,
                backward_congestion, destination_queue_pair, ack_request, sequence,
            };
            let mut buffer = [0; BaseHeader::LEN];
            header.emit(&mut buffer);
            prop_assert_eq!(BaseHeader::parse(&buffer), Ok((header, &[][..])));
        }
    }
}

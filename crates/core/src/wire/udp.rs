//! The UDP header.
//!
//! Source: RFC 768. A checksum of zero means that the sender computed none, as RoCEv2 does.

use super::ipv4::PseudoHeader;
use super::{WireError, be16, demand, put16, require};

const NAME: &str = "UDP";

/// Bytes that start with a UDP header.
#[derive(Clone, Copy, Debug)]
pub struct UdpView<'a>(&'a [u8]);

impl<'a> UdpView<'a> {
    /// Checks the lengths and, if the datagram has a checksum, the checksum.
    ///
    /// # Errors
    /// If a length or the checksum is wrong.
    pub fn new_checked(bytes: &'a [u8], pseudo: &PseudoHeader) -> Result<Self, WireError> {
        require(NAME, bytes, UdpHeader::LEN)?;
        let length = be16(bytes, 4);
        demand(NAME, "length", length, usize::from(length) >= UdpHeader::LEN)?;
        require(NAME, bytes, length.into())?;
        let view = Self(&bytes[..length.into()]);
        let pseudo = PseudoHeader { length, ..*pseudo };
        if view.has_checksum() && pseudo.checksum(view.0) != 0 {
            return Err(WireError::Checksum { header: NAME });
        }
        Ok(view)
    }

    /// Returns the source port of the datagram.
    pub fn source_port(self) -> u16 {
        be16(self.0, 0)
    }

    /// Returns the destination port of the datagram.
    pub fn destination_port(self) -> u16 {
        be16(self.0, 2)
    }

    /// Whether the sender computed a checksum.
    pub fn has_checksum(self) -> bool {
        be16(self.0, 6) != 0
    }

    /// Returns the payload behind the header, up to the datagram's length.
    pub fn payload(self) -> &'a [u8] {
        &self.0[UdpHeader::LEN..]
    }
}

/// A UDP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UdpHeader {
    /// Source port of the datagram.
    pub source_port: u16,
    /// Destination port of the datagram.
    pub destination_port: u16,
    /// Bytes behind the header.
    pub payload_len: u16,
    /// Whether the sender computes a checksum.
    pub has_checksum: bool,
}

impl UdpHeader {
    /// Length in bytes.
    pub const LEN: usize = 8;

    /// Reads the header and returns the payload behind it.
    ///
    /// # Errors
    /// If length or checksum are wrong.
    pub fn parse<'a>(bytes: &'a [u8], pseudo: &PseudoHeader) -> Result<(Self, &'a [u8]), WireError> {
        let view = UdpView::new_checked(bytes, pseudo)?;
        let payload = view.payload();
        let header = Self {
            source_port: view.source_port(),
            destination_port: view.destination_port(),
            payload_len: payload.len() as u16, // below the 16-bit length field
            has_checksum: view.has_checksum(),
        };
        Ok((header, payload))
    }

    /// Writes the header at the start of `datagram`, whose payload is in place already: the
    /// checksum covers all of `datagram`.
    ///
    /// # Panics
    /// If `datagram` is shorter than [`LEN`](Self::LEN), or the length exceeds 65535 bytes.
    pub fn emit(&self, datagram: &mut [u8], pseudo: &PseudoHeader) {
        let length = self.payload_len.checked_add(Self::LEN as u16).expect("a datagram has at most 65535 B");
        put16(datagram, 0, self.source_port);
        put16(datagram, 2, self.destination_port);
        put16(datagram, 4, length);
        put16(datagram, 6, 0);
        if self.has_checksum {
            let checksum = PseudoHeader { length, ..*pseudo }.checksum(datagram);
            // Zero would mean that the datagram has no checksum; all ones is its equal.
            put16(datagram, 6, if checksum == 0 { 0xffff } else { checksum });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::ipv4::Protocol;
    use core::net::Ipv4Addr;
    use proptest::prelude::*;

    /// A datagram as scapy writes it, from 10.0.0.1 to 10.0.0.2.
    const BYTES: [u8; 13] = *b"\xc0\x00\x12\xb7\x00\x0d\xd5\x47hello";

    const PSEUDO: PseudoHeader = PseudoHeader {
        source: Ipv4Addr::new(10, 0, 0, 1),
        destination: Ipv4Addr::new(10, 0, 0, 2),
        protocol: Protocol::UDP,
        length: 13,
    };

    const HEADER: UdpHeader =
        UdpHeader { source_port: 49152, destination_port: 4791, payload_len: 5, has_checksum: true };

    #[test]
    fn literal_bytes_are_read_and_written() {
        let mut buffer = *b"\xee\xee\xee\xee\xee\xee\xee\xeehello";
        HEADER.emit(&mut buffer, &PSEUDO);
        assert_eq!(buffer, BYTES);
        assert_eq!(UdpHeader::parse(&BYTES, &PSEUDO), Ok((HEADER, &b"hello"[..])));
    }

    #[test]
    fn no_checksum_is_allowed() {
        let header = UdpHeader { has_checksum: false, ..HEADER };
        let mut buffer = BYTES;
        header.emit(&mut buffer, &PSEUDO);
        assert_eq!(buffer[6..8], [0, 0]);
        assert_eq!(UdpHeader::parse(&buffer, &PSEUDO), Ok((header, &b"hello"[..])));
    }

    #[test]
    fn malformed_datagrams_are_refused() {
        let with = |place: usize, byte: u8| {
            let mut bytes = BYTES;
            bytes[place] = byte;
            UdpHeader::parse(&bytes, &PSEUDO).map(|_| ())
        };
        assert_eq!(with(12, b'0'), Err(WireError::Checksum { header: NAME }));
        assert_eq!(with(5, 7), Err(WireError::Invalid { header: NAME, field: "length", value: 7 }));
        assert_eq!(with(5, 14), Err(WireError::Truncated { header: NAME, needed: 14, available: 13 }));
        for length in 0..BYTES.len() {
            let error = UdpHeader::parse(&BYTES[..length], &PSEUDO).unwrap_err();
            assert!(matches!(error, WireError::Truncated { .. }));
        }
    }

    proptest! {
        #[test]
        fn datagrams_round_trip(
            source_port: u16, destination_port: u16, has_checksum: bool,
            payload in prop::collection::vec(any::<u8>(), 0..60),
        ) {
            let header =
                UdpHeader { source_port, destination_port, payload_len: payload.len() as u16, has_checksum };
            let mut bytes = alloc::vec![0; UdpHeader::LEN];
            bytes.extend_from_slice(&payload);
            header.emit(&mut bytes, &PSEUDO);
            prop_assert_eq!(UdpHeader::parse(&bytes, &PSEUDO), Ok((header, &payload[..])));
        }
    }
}

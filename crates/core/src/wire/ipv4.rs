//! The IPv4 header, and the pseudo header that the checksums of TCP and UDP cover.
//!
//! Source: RFC 791, RFC 3168 for the ECN field, RFC 9293 3.1 for the pseudo header. Options are
//! skipped on reading and never written; fragments, which no link here makes, are refused.

use super::checksum::Checksum;
use super::{WireError, be16, demand, put16, require};
use core::net::Ipv4Addr;

const NAME: &str = "IPv4";
const VERSION: u8 = 4;
const DONT_FRAGMENT: u16 = 0x4000;
/// Mask of the more-fragments flag and the fragment offset.
const FRAGMENT: u16 = 0x3fff;
/// The 32-bit words of a header without options.
const WORDS_MIN: u8 = 5;

/// The protocol of an IP packet's payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Protocol(pub u8);

impl Protocol {
    /// TCP.
    pub const TCP: Self = Self(6);
    /// UDP.
    pub const UDP: Self = Self(17);
}

/// The explicit congestion notification field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// The transport takes no marks.
    #[default]
    NotCapable = 0,
    /// The transport takes marks: ECT(1).
    Capable1 = 1,
    /// The transport takes marks: ECT(0).
    Capable0 = 2,
    /// A queue on the path was long: CE.
    CongestionExperienced = 3,
}

impl Ecn {
    const ALL: [Self; 4] = [Self::NotCapable, Self::Capable1, Self::Capable0, Self::CongestionExperienced];
}

/// Bytes that start with an IPv4 header.
#[derive(Clone, Copy, Debug)]
pub struct Ipv4View<'a>(&'a [u8]);

impl<'a> Ipv4View<'a> {
    /// Checks version, lengths, checksum and that the packet is no fragment, once.
    ///
    /// # Errors
    /// If a check fails.
    pub fn new_checked(bytes: &'a [u8]) -> Result<Self, WireError> {
        require(NAME, bytes, Ipv4Header::LEN)?;
        let view = Self(bytes);
        demand(NAME, "version", bytes[0] >> 4, bytes[0] >> 4 == VERSION)?;
        demand(NAME, "header length", view.words(), view.words() >= WORDS_MIN)?;
        require(NAME, bytes, view.header_len())?;
        let total = view.total_len();
        demand(NAME, "total length", total, usize::from(total) >= view.header_len())?;
        require(NAME, bytes, usize::from(total))?;
        demand(NAME, "fragment", be16(bytes, 6) & FRAGMENT, be16(bytes, 6) & FRAGMENT == 0)?;
        match Checksum::new().cover(&bytes[..view.header_len()]).finish() {
            0 => Ok(view),
            _ => Err(WireError::Checksum { header: NAME }),
        }
    }

    /// Returns the differentiated services code point, 6 bits.
    pub fn dscp(self) -> u8 {
        self.0[1] >> 2
    }

    /// Returns the explicit congestion notification field.
    pub fn ecn(self) -> Ecn {
        Ecn::ALL[usize::from(self.0[1] & 0b11)]
    }

    /// Returns the identification.
    pub fn identification(self) -> u16 {
        be16(self.0, 4)
    }

    /// Whether routers must not fragment the packet.
    pub fn dont_fragment(self) -> bool {
        be16(self.0, 6) & DONT_FRAGMENT != 0
    }

    /// Returns the hops left.
    pub fn time_to_live(self) -> u8 {
        self.0[8]
    }

    /// Returns the protocol of the payload.
    pub fn protocol(self) -> Protocol {
        Protocol(self.0[9])
    }

    /// Returns the source of the packet.
    pub fn source(self) -> Ipv4Addr {
        self.address(12)
    }

    /// Returns the destination of the packet.
    pub fn destination(self) -> Ipv4Addr {
        self.address(16)
    }

    /// Returns the payload behind the header, without the padding of a short Ethernet frame.
    pub fn payload(self) -> &'a [u8] {
        &self.0[self.header_len()..usize::from(self.total_len())]
    }

    fn words(self) -> u8 {
        self.0[0] & 0x0f
    }

    fn header_len(self) -> usize {
        usize::from(self.words()) * 4
    }

    fn total_len(self) -> u16 {
        be16(self.0, 2)
    }

    fn address(self, offset: usize) -> Ipv4Addr {
        let b = &self.0[offset..offset + 4];
        Ipv4Addr::new(b[0], b[1], b[2], b[3])
    }
}

/// An IPv4 header without options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ipv4Header {
    /// Differentiated services code point, 6 bits.
    pub dscp: u8,
    /// Explicit congestion notification.
    pub ecn: Ecn,
    /// Identification.
    pub identification: u16,
    /// Whether routers must not fragment the packet.
    pub dont_fragment: bool,
    /// Hops left.
    pub time_to_live: u8,
    /// Protocol of the payload.
    pub protocol: Protocol,
    /// Source of the packet.
    pub source: Ipv4Addr,
    /// Destination of the packet.
    pub destination: Ipv4Addr,
    /// Bytes behind the header.
    pub payload_len: u16,
}

impl Ipv4Header {
    /// Length in bytes.
    pub const LEN: usize = 20;

    /// Reads the header and returns the payload behind it, without padding.
    ///
    /// # Errors
    /// If version, lengths or checksum are wrong, or the packet is a fragment.
    pub fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let view = Ipv4View::new_checked(bytes)?;
        let payload = view.payload();
        let header = Self {
            dscp: view.dscp(),
            ecn: view.ecn(),
            identification: view.identification(),
            dont_fragment: view.dont_fragment(),
            time_to_live: view.time_to_live(),
            protocol: view.protocol(),
            source: view.source(),
            destination: view.destination(),
            payload_len: payload.len() as u16, // below the 16-bit total length
        };
        Ok((header, payload))
    }

    /// Writes the header, checksum included, at the start of `buffer`.
    ///
    /// # Panics
    /// If `buffer` is shorter than [`LEN`](Self::LEN), the code point takes more than 6 bits, or
    /// header and payload together exceed 65535 bytes.
    pub fn emit(&self, buffer: &mut [u8]) {
        assert!(self.dscp < 1 << 6, "a code point has 6 bits");
        let total =
            self.payload_len.checked_add(Self::LEN as u16).expect("an IPv4 packet has at most 65535 B");
        let buffer = &mut buffer[..Self::LEN];
        buffer[0] = VERSION << 4 | WORDS_MIN;
        buffer[1] = self.dscp << 2 | self.ecn as u8;
        put16(buffer, 2, total);
        put16(buffer, 4, self.identification);
        put16(buffer, 6, if self.dont_fragment { DONT_FRAGMENT } else { 0 });
        buffer[8] = self.time_to_live;
        buffer[9] = self.protocol.0;
        put16(buffer, 10, 0);
        buffer[12..16].copy_from_slice(&self.source.octets());
        buffer[16..20].copy_from_slice(&self.destination.octets());
        put16(buffer, 10, Checksum::new().cover(buffer).finish());
    }

    /// Returns the fields that the transport's checksum covers besides the transport's own bytes.
    pub const fn pseudo_header(&self) -> PseudoHeader {
        PseudoHeader {
            source: self.source,
            destination: self.destination,
            protocol: self.protocol,
            length: self.payload_len,
        }
    }
}

/// The addresses, the protocol and the length that the checksums of TCP and UDP cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PseudoHeader {
    /// Source of the packet.
    pub source: Ipv4Addr,
    /// Destination of the packet.
    pub destination: Ipv4Addr,
    /// Protocol of the payload.
    pub protocol: Protocol,
    /// Bytes of transport header and payload.
    pub length: u16,
}

impl PseudoHeader {
    /// Returns the checksum over this pseudo header and `segment` (WIRE-11).
    ///
    /// A `segment` shorter than the length stands for itself and zeros behind it. The zeros add
    /// nothing, so a capture can leave out a payload of zeros and still be right.
    pub fn checksum(&self, segment: &[u8]) -> u16 {
        let length = self.length.to_be_bytes();
        Checksum::new()
            .cover(&self.source.octets())
            .cover(&self.destination.octets())
            .cover(&[0, self.protocol.0, length[0], length[1]])
            .cover(segment)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    /// The header as scapy writes it.
    const BYTES: [u8; 20] =
        [0x45, 0x02, 0x00, 0x3c, 0x12, 0x34, 0x40, 0x00, 0x40, 0x06, 0x14, 0x84, 10, 0, 0, 1, 10, 0, 0, 2];

    const HEADER: Ipv4Header = Ipv4Header {
        dscp: 0,
        ecn: Ecn::Capable0,
        identification: 0x1234,
        dont_fragment: true,
        time_to_live: 64,
        protocol: Protocol::TCP,
        source: Ipv4Addr::new(10, 0, 0, 1),
        destination: Ipv4Addr::new(10, 0, 0, 2),
        payload_len: 40,
    };

    /// Returns the literal packet with its payload, after `change` and with a correct checksum.
    fn packet(change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let mut bytes = BYTES.to_vec();
        bytes.resize(60, 0);
        change(&mut bytes);
        put16(&mut bytes, 10, 0);
        let header_len = bytes.len().min(usize::from(bytes[0] & 0x0f) * 4);
        let checksum = Checksum::new().cover(&bytes[..header_len]).finish();
        put16(&mut bytes, 10, checksum);
        bytes
    }

    #[test]
    fn literal_bytes_are_read_and_written() {
        let mut buffer = [0xee; 20];
        HEADER.emit(&mut buffer);
        assert_eq!(buffer, BYTES);
        assert_eq!(Ipv4Header::parse(&packet(|_| ())), Ok((HEADER, &[0; 40][..])));
    }

    #[test]
    fn options_and_padding_are_skipped() {
        let with_options = packet(|bytes| bytes[0] = 0x46);
        assert_eq!(Ipv4Header::parse(&with_options).unwrap().1.len(), 36);
        let padded = packet(|bytes| bytes.resize(70, 0));
        assert_eq!(Ipv4Header::parse(&padded).unwrap().1.len(), 40);
    }

    #[test]
    fn malformed_headers_are_refused() {
        let field = |bytes: Vec<u8>| match Ipv4Header::parse(&bytes) {
            Err(WireError::Invalid { field, .. }) => field,
            other => panic!("{other:?}"),
        };
        assert_eq!(field(packet(|bytes| bytes[0] = 0x65)), "version");
        assert_eq!(field(packet(|bytes| bytes[0] = 0x44)), "header length");
        assert_eq!(field(packet(|bytes| bytes[3] = 19)), "total length");
        assert_eq!(field(packet(|bytes| bytes[6] = 0x20)), "fragment");
        assert_eq!(field(packet(|bytes| bytes[7] = 1)), "fragment");
        let mut corrupt = packet(|_| ());
        corrupt[8] -= 1;
        assert_eq!(Ipv4Header::parse(&corrupt), Err(WireError::Checksum { header: NAME }));
        for length in 0..60 {
            let error = Ipv4Header::parse(&packet(|_| ())[..length]).unwrap_err();
            assert!(matches!(error, WireError::Truncated { .. }), "{length} B: {error}");
        }
    }

    proptest! {
        #[test]
        fn headers_round_trip(
            dscp in 0u8..64, ecn in 0usize..4, identification: u16, dont_fragment: bool, time_to_live: u8,
            protocol: u8, source: u32, destination: u32, payload_len in 0u16..200,
        ) {
            let header = Ipv4Header {
                dscp,
                ecn: Ecn::ALL[ecn],
                identification,
                dont_fragment,
                time_to_live,
                protocol: Protocol(protocol),
                source: source.into(),
                destination: destination.into(),
                payload_len,
            };
            let mut bytes = alloc::vec![0; Ipv4Header::LEN + usize::from(payload_len)];
            header.emit(&mut bytes);
            let payload = &bytes[Ipv4Header::LEN..];
            prop_assert_eq!(Ipv4Header::parse(&bytes), Ok((header, payload)));
        }
    }
}

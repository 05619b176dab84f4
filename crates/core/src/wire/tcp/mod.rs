//! The TCP header.
//!
//! Source: RFC 9293; RFC 3168 for ECE and CWR. The urgent pointer is written as zero and not looked
//! at, because no program here sends urgent data.

mod flags;
mod options;

pub use flags::TcpFlags;
pub use options::{SackBlock, SackBlocks, TcpOptions, Timestamps};

use super::ipv4::PseudoHeader;
use super::{WireError, be16, be32, demand, put16, put32, require};

const NAME: &str = "TCP";
/// Words of 32 bits in a header without options.
const WORDS_MIN: u8 = 5;

/// Bytes that hold a TCP segment, from its header to its end.
#[derive(Clone, Copy, Debug)]
pub struct TcpView<'a>(&'a [u8]);

impl<'a> TcpView<'a> {
    /// Checks the lengths and the checksum once; the options are read by
    /// [`options`](Self::options).
    ///
    /// # Errors
    /// If a length or the checksum is wrong.
    pub fn new_checked(segment: &'a [u8], pseudo: &PseudoHeader) -> Result<Self, WireError> {
        require(NAME, segment, TcpHeader::LEN_MIN)?;
        let words = segment[12] >> 4;
        demand(NAME, "data offset", words, words >= WORDS_MIN)?;
        let view = Self(segment);
        require(NAME, segment, view.header_len())?;
        require(NAME, segment, pseudo.length.into())?;
        match pseudo.checksum(segment) {
            0 => Ok(view),
            _ => Err(WireError::Checksum { header: NAME }),
        }
    }

    /// Returns the source port of the segment.
    pub fn source_port(self) -> u16 {
        be16(self.0, 0)
    }

    /// Returns the destination port of the segment.
    pub fn destination_port(self) -> u16 {
        be16(self.0, 2)
    }

    /// Returns the sequence number of the first byte.
    pub fn sequence(self) -> u32 {
        be32(self.0, 4)
    }

    /// Returns the sequence number of the next byte expected from the other side.
    pub fn acknowledgement(self) -> u32 {
        be32(self.0, 8)
    }

    /// Returns the flags.
    pub fn flags(self) -> TcpFlags {
        TcpFlags::from_bits(self.0[13])
    }

    /// Returns the receive window, not scaled.
    pub fn window(self) -> u16 {
        be16(self.0, 14)
    }

    /// Returns the options.
    ///
    /// # Errors
    /// If their lengths contradict each other.
    pub fn options(self) -> Result<TcpOptions, WireError> {
        TcpOptions::parse(&self.0[TcpHeader::LEN_MIN..self.header_len()])
    }

    /// Returns the payload behind the header.
    pub fn payload(self) -> &'a [u8] {
        &self.0[self.header_len()..]
    }

    fn header_len(self) -> usize {
        usize::from(self.0[12] >> 4) * 4
    }
}

/// A TCP header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpHeader {
    /// Source port of the segment.
    pub source_port: u16,
    /// Destination port of the segment.
    pub destination_port: u16,
    /// Sequence number of the first byte.
    pub sequence: u32,
    /// Sequence number of the next byte expected from the other side.
    pub acknowledgement: u32,
    /// The flags.
    pub flags: TcpFlags,
    /// The receive window, not scaled.
    pub window: u16,
    /// The options.
    pub options: TcpOptions,
}

impl TcpHeader {
    /// Length in bytes without options.
    pub const LEN_MIN: usize = 20;

    /// Returns the length in bytes with these options.
    pub fn header_len(&self) -> usize {
        Self::LEN_MIN + self.options.len()
    }

    /// Reads the header of `segment` and returns the payload behind it.
    ///
    /// # Errors
    /// If lengths, checksum or options are wrong.
    pub fn parse<'a>(segment: &'a [u8], pseudo: &PseudoHeader) -> Result<(Self, &'a [u8]), WireError> {
        let view = TcpView::new_checked(segment, pseudo)?;
        let header = Self {
            source_port: view.source_port(),
            destination_port: view.destination_port(),
            sequence: view.sequence(),
            acknowledgement: view.acknowledgement(),
            flags: view.flags(),
            window: view.window(),
            options: view.options()?,
        };
        Ok((header, view.payload()))
    }

    /// Writes the header at the start of `segment`, whose payload is in place already: the
    /// checksum covers all of `segment`.
    ///
    /// # Panics
    /// If `segment` is shorter than [`header_len`](Self::header_len).
    pub fn emit(&self, segment: &mut [u8], pseudo: &PseudoHeader) {
        let len = self.header_len();
        put16(segment, 0, self.source_port);
        put16(segment, 2, self.destination_port);
        put32(segment, 4, self.sequence);
        put32(segment, 8, self.acknowledgement);
        segment[12] = ((len / 4) as u8) << 4; // at most 60 bytes
        segment[13] = self.flags.bits();
        put16(segment, 14, self.window);
        put32(segment, 16, 0); // checksum and urgent pointer
        self.options.emit(&mut segment[Self::LEN_MIN..len]);
        put16(segment, 16, pseudo.checksum(segment));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::ipv4::Protocol;
    use core::net::Ipv4Addr;
    use proptest::prelude::*;

    /// A connection request from 10.0.0.1 to 10.0.0.2, as scapy writes it.
    const SYN: [u8; 32] = [
        0x9c, 0x40, 0x13, 0x89, 0x01, 0x02, 0x03, 0x04, 0x00, 0x00, 0x00, 0x00, 0x80, 0xc2, 0xfa, 0xf0, 0xab,
        0x8e, 0x00, 0x00, 0x02, 0x04, 0x05, 0xb4, 0x01, 0x01, 0x04, 0x02, 0x01, 0x03, 0x03, 0x07,
    ];

    fn pseudo(length: usize) -> PseudoHeader {
        PseudoHeader {
            source: Ipv4Addr::new(10, 0, 0, 1),
            destination: Ipv4Addr::new(10, 0, 0, 2),
            protocol: Protocol::TCP,
            length: length as u16,
        }
    }

    fn syn() -> TcpHeader {
        TcpHeader {
            source_port: 40000,
            destination_port: 5001,
            sequence: 0x0102_0304,
            acknowledgement: 0,
            flags: TcpFlags::SYN | TcpFlags::ECE | TcpFlags::CWR,
            window: 64240,
            options: TcpOptions {
                maximum_segment: Some(1460),
                window_scale: Some(7),
                sack_permitted: true,
                ..TcpOptions::default()
            },
        }
    }

    #[test]
    fn a_request_has_its_bytes() {
        let mut buffer = [0xee; SYN.len()];
        syn().emit(&mut buffer, &pseudo(SYN.len()));
        assert_eq!(buffer, SYN);
        assert_eq!(TcpHeader::parse(&SYN, &pseudo(SYN.len())), Ok((syn(), &[][..])));
    }

    // WIRE-11
    #[test]
    fn a_payload_of_zeros_may_stay_outside() {
        let header = TcpHeader { flags: TcpFlags::ACK, ..TcpHeader::default() };
        let pseudo = pseudo(20 + 1460);
        let mut whole = [0; 20 + 1460];
        header.emit(&mut whole, &pseudo);
        let mut cut = [0; 20];
        header.emit(&mut cut, &pseudo);
        assert_eq!(whole[..20], cut);
    }

    #[test]
    fn malformed_segments_are_refused() {
        let with = |place: usize, byte: u8| {
            let mut bytes = SYN;
            bytes[place] = byte;
            TcpHeader::parse(&bytes, &pseudo(SYN.len())).unwrap_err()
        };
        assert_eq!(with(0, 0), WireError::Checksum { header: NAME });
        assert_eq!(with(12, 0x40), WireError::Invalid { header: NAME, field: "data offset", value: 4 });
        assert_eq!(with(12, 0x90), WireError::Truncated { header: NAME, needed: 36, available: 32 });
        for length in 0..SYN.len() {
            let error = TcpHeader::parse(&SYN[..length], &pseudo(SYN.len())).unwrap_err();
            assert!(matches!(error, WireError::Truncated { .. }));
        }
    }

    proptest! {
        #[test]
        fn segments_round_trip(
            ports: [u16; 2], numbers: [u32; 2], flags: u8, window: u16, options in options::tests::any_options(),
            payload in prop::collection::vec(any::<u8>(), 0..60),
        ) {
            let header = TcpHeader {
                source_port: ports[0],
                destination_port: ports[1],
                sequence: numbers[0],
                acknowledgement: numbers[1],
                flags: TcpFlags::from_bits(flags),
                window,
                options,
            };
            let mut segment = alloc::vec![0; header.header_len()];
            segment.extend_from_slice(&payload);
            let pseudo = pseudo(segment.len());
            header.emit(&mut segment, &pseudo);
            prop_assert_eq!(TcpHeader::parse(&segment, &pseudo), Ok((header, &payload[..])));
        }
    }
}

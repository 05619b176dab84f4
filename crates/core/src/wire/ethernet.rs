//! The Ethernet II header: destination, source, EtherType.
//!
//! Source: IEEE 802.3, 3.2. Left out: VLAN tags, which no link here carries, and the reading of
//! the last field as a length (values below 0x0600), which is left to the caller.

use super::{WireError, be16, put16, require};
use core::fmt;

/// A 48-bit station address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MacAddress(pub [u8; 6]);

impl MacAddress {
    /// The address of all stations.
    pub const BROADCAST: Self = Self([0xff; 6]);
    /// The neighbour at the other end of the link, for MAC control frames; source: IEEE 802.3, 31A.
    pub const MAC_CONTROL: Self = Self([0x01, 0x80, 0xc2, 0x00, 0x00, 0x01]);

    /// Whether the address names a group of stations.
    pub const fn is_multicast(self) -> bool {
        self.0[0] & 1 == 1
    }
}

impl fmt::Display for MacAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

/// The kind of the payload behind an Ethernet header, or behind a LinkGuardian header in front of a
/// payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EtherType(pub u16);

impl EtherType {
    /// IP version 4.
    pub const IPV4: Self = Self(0x0800);
    /// Address resolution.
    pub const ARP: Self = Self(0x0806);
    /// Forward error correction: a frame of a protected block.
    pub const FEC: Self = Self(0x081c);
    /// IP version 6.
    pub const IPV6: Self = Self(0x86dd);
    /// MAC control, for instance pauses.
    pub const MAC_CONTROL: Self = Self(0x8808);
    /// Link layer discovery.
    pub const LLDP: Self = Self(0x88cc);
    /// LinkGuardian; the value that the published switch program uses.
    pub const LINKGUARDIAN: Self = Self(0xabcd);
}

impl fmt::Display for EtherType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{:04x}", self.0)
    }
}

/// Bytes that hold at least an Ethernet header.
#[derive(Clone, Copy, Debug)]
pub struct EthernetView<'a>(&'a [u8]);

impl<'a> EthernetView<'a> {
    /// Checks the length once, so that no accessor has to.
    ///
    /// # Errors
    /// If the bytes are shorter than the header.
    pub fn new_checked(bytes: &'a [u8]) -> Result<Self, WireError> {
        require("Ethernet", bytes, EthernetHeader::LEN)?;
        Ok(Self(bytes))
    }

    /// Returns the destination of the frame.
    pub fn destination(self) -> MacAddress {
        self.address(0)
    }

    /// Returns the source of the frame.
    pub fn source(self) -> MacAddress {
        self.address(6)
    }

    /// Returns the kind of the payload.
    pub fn ethertype(self) -> EtherType {
        EtherType(be16(self.0, 12))
    }

    /// Returns the bytes behind the header, padding included.
    pub fn payload(self) -> &'a [u8] {
        &self.0[EthernetHeader::LEN..]
    }

    fn address(self, offset: usize) -> MacAddress {
        let mut address = [0; 6];
        address.copy_from_slice(&self.0[offset..offset + 6]);
        MacAddress(address)
    }
}

/// An Ethernet header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EthernetHeader {
    /// Destination of the frame.
    pub destination: MacAddress,
    /// Source of the frame.
    pub source: MacAddress,
    /// Kind of the payload.
    pub ethertype: EtherType,
}

impl EthernetHeader {
    /// Length in bytes.
    pub const LEN: usize = 14;

    /// Reads the header and returns the bytes behind it.
    ///
    /// # Errors
    /// If the bytes are shorter than the header.
    pub fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let view = EthernetView::new_checked(bytes)?;
        let header =
            Self { destination: view.destination(), source: view.source(), ethertype: view.ethertype() };
        Ok((header, view.payload()))
    }

    /// Writes the header at the start of `buffer`.
    ///
    /// # Panics
    /// If `buffer` is shorter than [`LEN`](Self::LEN).
    pub fn emit(&self, buffer: &mut [u8]) {
        buffer[0..6].copy_from_slice(&self.destination.0);
        buffer[6..12].copy_from_slice(&self.source.0);
        put16(buffer, 12, self.ethertype.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use proptest::prelude::*;

    const BYTES: [u8; 16] =
        [0x02, 0, 0, 0, 0, 0x0b, 0x02, 0, 0, 0, 0, 0x0a, 0xab, 0xcd, /* payload */ 0x55, 0xaa];

    const HEADER: EthernetHeader = EthernetHeader {
        destination: MacAddress([2, 0, 0, 0, 0, 0x0b]),
        source: MacAddress([2, 0, 0, 0, 0, 0x0a]),
        ethertype: EtherType::LINKGUARDIAN,
    };

    #[test]
    fn literal_bytes_are_read() {
        assert_eq!(EthernetHeader::parse(&BYTES), Ok((HEADER, &[0x55, 0xaa][..])));
    }

    #[test]
    fn literal_bytes_are_written() {
        let mut buffer = [0; 14];
        HEADER.emit(&mut buffer);
        assert_eq!(buffer, BYTES[..14]);
    }

    #[test]
    fn a_short_header_is_refused() {
        for length in 0..EthernetHeader::LEN {
            let error = WireError::Truncated { header: "Ethernet", needed: 14, available: length };
            assert_eq!(EthernetHeader::parse(&BYTES[..length]), Err(error));
        }
    }

    #[test]
    fn addresses_read_as_usual() {
        assert_eq!(MacAddress::MAC_CONTROL.to_string(), "01:80:c2:00:00:01");
        assert!(MacAddress::MAC_CONTROL.is_multicast() && !HEADER.source.is_multicast());
        assert_eq!(EtherType::FEC.to_string(), "0x081c");
    }

    proptest! {
        #[test]
        fn headers_round_trip(destination: [u8; 6], source: [u8; 6], ethertype: u16) {
            let header = EthernetHeader {
                destination: MacAddress(destination),
                source: MacAddress(source),
                ethertype: EtherType(ethertype),
            };
            let mut buffer = [0; EthernetHeader::LEN];
            header.emit(&mut buffer);
            prop_assert_eq!(EthernetHeader::parse(&buffer), Ok((header, &[][..])));
        }
    }
}

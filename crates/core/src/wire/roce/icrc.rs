//! The invariant CRC at the end of a RoCEv2 packet.
//!
//! The invariant CRC is Ethernet's CRC-32 over eight octets of ones, then the packet from its IPv4
//! header on, with every field that a router may change replaced by ones. Source: InfiniBand
//! architecture specification, annex A17.

use crate::wire::ipv4::Ipv4Header;
use crate::wire::udp::UdpHeader;

/// The length of the CRC in bytes.
pub const ICRC_LEN: usize = 4;

/// Octets of ones in front, where InfiniBand has its local route header.
const FRONT: [u8; 8] = [0xff; 8];
/// Ethernet's polynomial, lowest bit first.
const POLYNOMIAL: u32 = 0xedb8_8320;
/// The places of octets that count as ones: type of service, time to live and checksum of IPv4;
/// checksum of UDP; the reserved octet, with its congestion bits, of the base header.
const MASKED: [usize; 7] =
    [1, 8, 10, 11, Ipv4Header::LEN + 6, Ipv4Header::LEN + 7, Ipv4Header::LEN + UdpHeader::LEN + 4];
/// The number of octets up to the last place in [`MASKED`].
const HEAD_LEN: usize = Ipv4Header::LEN + UdpHeader::LEN + 5;

/// Returns the CRC of `packet`, which starts with an IPv4 header without options and ends before
/// the CRC. The bytes of the CRC are in the order of the wire.
///
/// # Panics
/// If the packet is shorter than its headers.
pub fn invariant_crc(packet: &[u8]) -> [u8; ICRC_LEN] {
    let (head, tail) = packet.split_at(HEAD_LEN);
    let mut masked = [0; HEAD_LEN];
    masked.copy_from_slice(head);
    for place in MASKED {
        masked[place] = 0xff;
    }
    let register = [&FRONT[..], &masked, tail].into_iter().fold(u32::MAX, cover);
    (!register).to_le_bytes()
}

/// Runs `bytes` through the register.
fn cover(register: u32, bytes: &[u8]) -> u32 {
    bytes.iter().fold(register, |register, byte| {
        let index = (register ^ u32::from(*byte)) & 0xff;
        TABLE[index as usize] ^ register >> 8
    })
}

/// The register after each byte value.
const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut register = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            register = if register & 1 == 1 { register >> 1 ^ POLYNOMIAL } else { register >> 1 };
            bit += 1;
        }
        table[byte] = register;
        byte += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    /// The check value that every catalogue of CRCs lists for CRC-32.
    #[test]
    fn the_register_is_that_of_ethernet() {
        assert_eq!(!cover(u32::MAX, b"123456789"), 0xcbf4_3926);
    }

    /// A send and an acknowledgement with their CRCs, as scapy writes them.
    const SEND: [u8; 48] = [
        0x45, 0x02, 0x00, 0x30, 0x12, 0x34, 0x40, 0x00, 0x40, 0x11, 0x14, 0x85, 10, 0, 0, 1, 10, 0, 0, 2,
        0xc0, 0x00, 0x12, 0xb7, 0x00, 0x1c, 0x00, 0x00, 0x04, 0x80, 0xff, 0xff, 0x00, 0x00, 0x01, 0x23, 0x80,
        0xab, 0xcd, 0xef, 0x64, 0x61, 0x74, 0x61, 0x2a, 0x60, 0x9c, 0x2b,
    ];
    const ACKNOWLEDGE: [u8; 48] = [
        0x45, 0x02, 0x00, 0x30, 0x12, 0x34, 0x40, 0x00, 0x40, 0x11, 0x14, 0x85, 10, 0, 0, 1, 10, 0, 0, 2,
        0xc0, 0x00, 0x12, 0xb7, 0x00, 0x1c, 0x00, 0x00, 0x11, 0x00, 0xff, 0xff, 0x00, 0x00, 0x00, 0x12, 0x00,
        0x00, 0x00, 0x05, 0x1f, 0x00, 0x00, 0x03, 0xe0, 0x26, 0xac, 0xeb,
    ];

    #[test]
    fn whole_packets_have_their_crc() {
        for packet in [SEND, ACKNOWLEDGE] {
            assert_eq!(invariant_crc(&packet[..44]), packet[44..]);
        }
    }

    #[test]
    fn routers_change_nothing_of_it_and_corruption_does() {
        let mut routed = SEND;
        routed[8] -= 1; // time to live
        routed[1] |= 0b11; // a congestion mark
        assert_eq!(invariant_crc(&routed[..44]), SEND[44..]);
        routed[43] ^= 1;
        assert_ne!(invariant_crc(&routed[..44]), SEND[44..]);
    }
}

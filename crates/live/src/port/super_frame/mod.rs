//! Super-frames: many frames of one conversation that cross the edge of a host as one packet of up to 64 KB.
//!
//! A super-frame costs a host as much work as one packet. [`cut`] makes frames of a super-frame that a host sends, [`join`]
//! makes a super-frame of frames that a host is to receive. On the link there are no super-frames.

mod cut;
mod join;

pub(super) use cut::SuperFrame;
pub(super) use join::{Joiner, Packet, write_whole};

use super::ETHERNET_BYTES;
use super::unfinished::OFFLOAD_HEADER_BYTES;
use lossylink_core::wire::checksum::Checksum;
use lossylink_core::wire::ipv4::Protocol;

const IPV4: [u8; 2] = [0x08, 0x00];
const IPV6: [u8; 2] = [0x86, 0xDD];
/// Tags of IEEE 802.1Q and 802.1ad, which stand in front of the EtherType.
const TAGS: [[u8; 2]; 2] = [[0x81, 0x00], [0x88, 0xA8]];
const TAG_BYTES: usize = 4;
const IPV4_BYTES: usize = 20;
const IPV6_BYTES: usize = 40;
const TCP_BYTES: usize = 20;
const UDP_BYTES: usize = 8;
/// Offset of the checksum in a TCP header.
const TCP_CHECKSUM: usize = 16;
/// Offset of the checksum in a UDP header.
const UDP_CHECKSUM: usize = 6;

/// The longest super-frame: a packet of 64 KB, a header with two tags, and the offload header in front.
pub(super) const LONGEST: usize = (1 << 16) + ETHERNET_BYTES + 2 * TAG_BYTES + OFFLOAD_HEADER_BYTES;

/// The offsets of the parts of a TCP segment or a UDP datagram in its frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    network: usize,
    is_ipv6: bool,
    transport: usize,
    is_tcp: bool,
    payload: usize,
}

impl Layout {
    /// Finds the parts; `None` for a frame of another protocol, and for one with IPv6 extension headers.
    fn find(frame: &[u8]) -> Option<Self> {
        let mut network = ETHERNET_BYTES;
        while TAGS.iter().any(|tag| frame.get(network - 2..network) == Some(tag)) {
            network += TAG_BYTES;
        }
        let ethertype = frame.get(network - 2..network)?;
        let ip = frame.get(network..)?;
        let (is_ipv6, header_bytes, protocol) = if ethertype == IPV4 && ip.len() >= IPV4_BYTES {
            (false, usize::from(ip[0] & 0x0F) * 4, ip[9])
        } else if ethertype == IPV6 && ip.len() >= IPV6_BYTES {
            (true, IPV6_BYTES, ip[6])
        } else {
            return None;
        };
        let is_tcp = match Protocol(protocol) {
            Protocol::TCP => true,
            Protocol::UDP => false,
            _ => return None,
        };
        let transport = network + header_bytes;
        let segment = frame.get(transport..)?;
        let transport_bytes = match is_tcp {
            true => usize::from(segment.get(12)? >> 4) * 4,
            false => UDP_BYTES,
        };
        let is_sound = header_bytes >= IPV4_BYTES
            && transport_bytes >= if is_tcp { TCP_BYTES } else { UDP_BYTES }
            && segment.len() >= transport_bytes;
        let payload = transport + transport_bytes;
        is_sound.then_some(Self { network, is_ipv6, transport, is_tcp, payload })
    }

    /// Returns the checksum over the pseudo header: addresses, protocol, length (RFC 9293, 3.1; RFC 8200, 8.1).
    fn pseudo_header(self, ip: &[u8], transport_bytes: usize) -> Checksum {
        let addresses = if self.is_ipv6 { &ip[8..40] } else { &ip[12..20] };
        let protocol = if self.is_tcp { Protocol::TCP } else { Protocol::UDP };
        Checksum::new()
            .cover(addresses)
            .cover(&[0, protocol.0])
            .cover(&(transport_bytes as u16).to_be_bytes())
    }

    /// Writes the length of an IP packet with `transport_bytes` bytes behind its header, and adds `ahead` to its
    /// identification.
    fn mend_network(self, ip: &mut [u8], transport_bytes: usize, ahead: usize) {
        if self.is_ipv6 {
            return put(ip, 4, transport_bytes as u16);
        }
        put(ip, 2, (self.transport - self.network + transport_bytes) as u16);
        let identification = get(ip, 4);
        put(ip, 4, identification.wrapping_add(ahead as u16));
        put(ip, 10, 0);
        let checksum = Checksum::new().cover(&ip[..self.transport - self.network]).finish();
        put(ip, 10, checksum);
    }
}

fn get(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn put(bytes: &mut [u8], at: usize, value: u16) {
    bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

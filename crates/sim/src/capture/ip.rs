//! The IP packets that the simulator's TCP packets and generated frames stand for.
//!
//! The simulator counts TCP sequence space in segments and carries no payload: here segments become octets, and the payload
//! zeros. Initial sequence numbers are zero. Left out: connections are not closed, and an ACK's own timestamp is its echo,
//! because the simulator has none.

use crate::net::{Direction, Ecn, Frame};
use crate::transport::tcp;
use crate::world::network::Addressed;
use crate::world::protocol::TcpPacket;
use lossylink_core::wire::ipv4::{self, Ipv4Header, Protocol};
use lossylink_core::wire::tcp::{SackBlock, TcpFlags, TcpHeader, TcpOptions, Timestamps};
use lossylink_core::wire::udp::UdpHeader;
use std::net::Ipv4Addr;

/// The sending host; source: the artifact's h4.
const NEAR: Ipv4Addr = Ipv4Addr::new(10, 2, 2, 1);
/// The receiving host; source: the artifact's h8.
const FAR: Ipv4Addr = Ipv4Addr::new(10, 2, 2, 2);
/// The hop limit of packets; switches of the artifact's path do not route.
const TIME_TO_LIVE: u8 = 64;
/// The receiver's port: "discard" (RFC 863), because nobody looks at the payload.
const FAR_PORT: u16 = 9;
/// The first of the sender's ports, and the number of its ports (RFC 6335 section 6).
pub(super) const NEAR_PORTS: (u16, u64) = (49_152, 16_384);
/// The window in the headers. With [`WINDOW_SCALE`] no flow fills this window: the simulator has no flow control.
const WINDOW: u16 = u16::MAX;
/// The largest scale (RFC 7323 section 2.2).
const WINDOW_SCALE: u8 = 14;
/// The longest IP packet less its header; a burst that crosses whole may need all of it.
const PAYLOAD_MAX: u32 = u16::MAX as u32 - Ipv4Header::LEN as u32;

/// A writer of the IP packets that frames with the payload `P` carry.
pub trait Carries<P> {
    /// Writes the packet's headers at the start of `buffer`, whose bytes are zero. The bytes behind the headers stay zero.
    fn emit(&self, direction: Direction, frame: &Frame<P>, buffer: &mut [u8]);

    /// Announces that the frames to come belong to the flow with this number.
    fn begin_flow(&mut self, _number: u64) {}
}

/// TCP connections of one kind; each flow has a source port of its own.
#[derive(Clone, Debug)]
pub struct TcpConnections {
    config: tcp::Config,
    /// Octets of a flow, unless it is endless.
    flow_bytes: Option<u64>,
    flow: u64,
}

impl TcpConnections {
    /// Builds connections with these settings, each of which carries `flow_bytes`.
    pub fn new(config: tcp::Config, flow_bytes: Option<u64>) -> Self {
        Self { config, flow_bytes, flow: 0 }
    }

    /// Returns the sequence number of a segment's first octet; the SYN has number zero.
    fn sequence(&self, segment: u64) -> u32 {
        let octet = segment * u64::from(self.config.payload_bytes());
        (1 + self.flow_bytes.map_or(octet, |end| octet.min(end))) as u32 // numbers wrap
    }

    fn header(&self, direction: Direction, packet: &TcpPacket) -> TcpHeader {
        let timestamps = |value, echo| self.config.timestamps.then_some(Timestamps { value, echo });
        let mut header = TcpHeader { window: WINDOW, flags: TcpFlags::ACK, ..TcpHeader::default() };
        match &packet.0 {
            tcp::Packet::Syn => {
                header.flags = TcpFlags::SYN | self.ecn_flags(TcpFlags::ECE | TcpFlags::CWR);
                header.options = self.handshake_options();
            }
            tcp::Packet::SynAck => {
                header.flags = TcpFlags::SYN | TcpFlags::ACK | self.ecn_flags(TcpFlags::ECE);
                header.acknowledgement = 1;
                header.options = self.handshake_options();
            }
            tcp::Packet::Data(data) => {
                (header.sequence, header.acknowledgement) = (self.sequence(data.first), 1);
                header.flags = header.flags | flag(data.window_reduced, TcpFlags::CWR);
                header.options.timestamps = timestamps(data.timestamp, 0);
            }
            tcp::Packet::Ack(ack) => {
                header.sequence = 1;
                // The handshake's last ACK goes forward and acknowledges the other SYN.
                let next = if direction == Direction::Forward { 0 } else { ack.next };
                header.acknowledgement = self.sequence(next);
                header.flags = header.flags | flag(ack.ecn_echo, TcpFlags::ECE);
                header.options.timestamps = timestamps(ack.echo, ack.echo);
                let block = |block: tcp::Block| SackBlock {
                    left: self.sequence(block.start),
                    right: self.sequence(block.end),
                };
                header.options.sack_blocks = ack.blocks().map(block).collect();
            }
        }
        header
    }

    fn handshake_options(&self) -> TcpOptions {
        let announced = self.config.mss_bytes.min(u32::from(u16::MAX)) as u16;
        TcpOptions {
            maximum_segment: Some(announced),
            window_scale: Some(WINDOW_SCALE),
            sack_permitted: true,
            timestamps: self.config.timestamps.then_some(Timestamps::default()),
            ..TcpOptions::default()
        }
    }

    fn ecn_flags(&self, flags: TcpFlags) -> TcpFlags {
        flag(self.config.uses_ecn(), flags)
    }
}

impl Carries<Addressed<TcpPacket>> for TcpConnections {
    fn emit(&self, direction: Direction, frame: &Frame<Addressed<TcpPacket>>, buffer: &mut [u8]) {
        let Addressed { conversation, packet, .. } = &frame.payload;
        let near_port = near_port(self.flow + u64::from(*conversation));
        let ports = in_direction(direction, near_port, FAR_PORT);
        let header =
            TcpHeader { source_port: ports.0, destination_port: ports.1, ..self.header(direction, packet) };
        let payload = packet.0.ip_bytes(&self.config) - Ipv4Header::LEN as u32;
        let ip = ip_header(direction, frame.ecn, Protocol::TCP, payload);
        ip.emit(buffer);
        header.emit(&mut buffer[Ipv4Header::LEN..], &ip.pseudo_header());
    }

    fn begin_flow(&mut self, number: u64) {
        self.flow = number;
    }
}

/// The frames of a packet generator: UDP datagrams that start with the frame's number.
#[derive(Clone, Copy, Debug, Default)]
pub struct NumberedDatagrams;

impl Carries<u64> for NumberedDatagrams {
    fn emit(&self, direction: Direction, frame: &Frame<u64>, buffer: &mut [u8]) {
        let payload = ethernet_payload(frame.octets) - Ipv4Header::LEN as u32;
        let ip = ip_header(direction, frame.ecn, Protocol::UDP, payload);
        let (source_port, destination_port) = in_direction(direction, near_port(0), FAR_PORT);
        let payload_len = ip.payload_len - UdpHeader::LEN as u16;
        let udp = UdpHeader { source_port, destination_port, payload_len, has_checksum: true };
        ip.emit(buffer);
        let datagram = &mut buffer[Ipv4Header::LEN..];
        datagram[UdpHeader::LEN..][..8].copy_from_slice(&frame.payload.to_be_bytes());
        udp.emit(datagram, &ip.pseudo_header());
    }
}

/// Returns the octets behind the Ethernet header of a frame that takes `octets` on the wire.
fn ethernet_payload(octets: u32) -> u32 {
    use crate::net::frame::{ETHERNET_OCTETS, FCS_OCTETS, GAP_OCTETS};
    octets - GAP_OCTETS - FCS_OCTETS - ETHERNET_OCTETS
}

pub(super) fn ip_header(direction: Direction, ecn: Ecn, protocol: Protocol, payload: u32) -> Ipv4Header {
    let (source, destination) = in_direction(direction, NEAR, FAR);
    Ipv4Header {
        dscp: 0,
        ecn: match ecn {
            Ecn::NotCapable => ipv4::Ecn::NotCapable,
            Ecn::Capable => ipv4::Ecn::Capable0,
            Ecn::Experienced => ipv4::Ecn::CongestionExperienced,
        },
        identification: 0, // of no meaning in a packet that is never fragmented (RFC 6864)
        dont_fragment: true,
        time_to_live: TIME_TO_LIVE,
        protocol,
        source,
        destination,
        payload_len: payload.min(PAYLOAD_MAX) as u16,
    }
}

/// Returns source and destination of a frame in this direction.
fn in_direction<T>(direction: Direction, near: T, far: T) -> (T, T) {
    match direction {
        Direction::Forward => (near, far),
        Direction::Backward => (far, near),
    }
}

fn near_port(number: u64) -> u16 {
    NEAR_PORTS.0 + (number % NEAR_PORTS.1) as u16
}

fn flag(is_set: bool, flags: TcpFlags) -> TcpFlags {
    if is_set { flags } else { TcpFlags::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::tcp::{Ack, Block, Config, CongestionControl, Data, Packet, SackBlocks};
    use crate::world::Protocol as _;

    /// All of the headers that follow were written by an independent program from the RFCs.
    const DATA: [u8; 40] = [
        0x45, 0x02, 0x05, 0xdc, 0x00, 0x00, 0x40, 0x00, 0x40, 0x06, 0x1d, 0x14, 0x0a, 0x02, 0x02, 0x01, 0x0a,
        0x02, 0x02, 0x02, 0xc0, 0x07, 0x00, 0x09, 0x00, 0x00, 0x11, 0x1d, 0x00, 0x00, 0x00, 0x01, 0x50, 0x10,
        0xff, 0xff, 0xc0, 0xeb, 0x00, 0x00,
    ];
    const SYN: [u8; 52] = [
        0x45, 0x00, 0x00, 0x34, 0x00, 0x00, 0x40, 0x00, 0x40, 0x06, 0x22, 0xbe, 0x0a, 0x02, 0x02, 0x01, 0x0a,
        0x02, 0x02, 0x02, 0xc0, 0x00, 0x00, 0x09, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x80, 0xc2,
        0xff, 0xff, 0x96, 0x3a, 0x00, 0x00, 0x02, 0x04, 0x05, 0xb4, 0x01, 0x01, 0x04, 0x02, 0x01, 0x03, 0x03,
        0x0e,
    ];
    const SACK: [u8; 52] = [
        0x45, 0x02, 0x00, 0x34, 0x00, 0x00, 0x40, 0x00, 0x40, 0x06, 0x22, 0xbc, 0x0a, 0x02, 0x02, 0x02, 0x0a,
        0x02, 0x02, 0x01, 0x00, 0x09, 0xc0, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x16, 0xd1, 0x80, 0x50,
        0xff, 0xff, 0x46, 0x29, 0x00, 0x00, 0x01, 0x01, 0x05, 0x0a, 0x00, 0x00, 0x1c, 0x85, 0x00, 0x00, 0x27,
        0xed,
    ];
    const DATAGRAM: [u8; 36] = [
        0x45, 0x00, 0x05, 0xdc, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0x1d, 0x0b, 0x0a, 0x02, 0x02, 0x01, 0x0a,
        0x02, 0x02, 0x02, 0xc0, 0x00, 0x00, 0x09, 0x05, 0xc8, 0x1b, 0x4c, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x01, 0x02,
    ];

    fn dctcp() -> Config {
        Config { congestion_control: CongestionControl::Dctcp, ..Config::default() }
    }

    fn headers(connections: &TcpConnections, direction: Direction, packet: Packet) -> [u8; 80] {
        let protocol = crate::world::Tcp { config: connections.config.clone(), cuts_bursts: true };
        let frame = protocol.frame(TcpPacket(packet));
        let payload = Addressed { packet: frame.payload, ..Addressed::default() };
        let mut buffer = [0; 80];
        connections.emit(direction, &Frame { octets: frame.octets, ecn: frame.ecn, payload }, &mut buffer);
        buffer
    }

    #[test]
    fn a_segment_has_the_octets_of_its_number_and_the_port_of_its_flow() {
        let mut connections = TcpConnections::new(dctcp(), Some(24_387));
        Carries::<Addressed<TcpPacket>>::begin_flow(&mut connections, 7);
        let data = Data {
            first: 3,
            payload: 1460,
            segments: 1,
            retransmission: false,
            ecn_capable: true,
            window_reduced: false,
            timestamp: 0,
        };
        let bytes = headers(&connections, Direction::Forward, Packet::Data(data));
        assert_eq!((&bytes[..40], &bytes[40..]), (&DATA[..], &[0; 40][..]));
    }

    #[test]
    fn a_request_asks_for_congestion_marks_under_dctcp() {
        let connections = TcpConnections::new(dctcp(), None);
        let bytes = headers(&connections, Direction::Forward, Packet::Syn);
        assert_eq!(bytes[..52], SYN);
    }

    #[test]
    fn selective_acknowledgements_name_octets() {
        let connections = TcpConnections::new(dctcp(), None);
        let mut sack = SackBlocks::default();
        sack.push(4, Block { start: 5, end: 7 });
        let ack = Ack { next: 4, sack, ecn_echo: true, ecn_capable: true, echo: 0 };
        let bytes = headers(&connections, Direction::Backward, Packet::Ack(ack));
        assert_eq!(bytes[..52], SACK);
    }

    #[test]
    fn the_last_acknowledgement_ends_with_the_flow() {
        let connections = TcpConnections::new(dctcp(), Some(24_387));
        assert_eq!(connections.sequence(16), 1 + 16 * 1460);
        assert_eq!(connections.sequence(17), 1 + 24_387);
        let endless = TcpConnections::new(dctcp(), None);
        assert_eq!(endless.sequence(1 << 32), 1, "numbers wrap");
    }

    #[test]
    fn a_generated_frame_starts_with_its_number() {
        let frame = Frame::of_frame_bytes(1514, Ecn::NotCapable, 258);
        let mut buffer = [0; 80];
        NumberedDatagrams.emit(Direction::Forward, &frame, &mut buffer);
        assert_eq!((&buffer[..36], &buffer[36..]), (&DATAGRAM[..], &[0; 44][..]));
    }
}

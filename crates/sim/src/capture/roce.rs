//! The RoCEv2 packets that the simulator's RDMA packets stand for.
//!
//! Each conversation is a reliable connection of its own. Left out: message numbers, memory keys and addresses, which the
//! simulator does not have and which are zero; the invariant check of a packet that the capture cuts before its end. A selective
//! NAK is the simulator's own (RDMA-20): a NAK whose header is followed by four bytes with the number of the packet that arrived.

use super::ip::{Carries, NEAR_PORTS, ip_header};
use crate::net::{Direction, Frame};
use crate::transport::rdma::{Packet, Place, Psn, Verb};
use crate::world::network::Addressed;
use lossylink_core::wire::ipv4::{Ipv4Header, Protocol};
use lossylink_core::wire::roce::{
    AckHeader, BaseHeader, ICRC_LEN, NakCode, Opcode, RdmaHeader, Syndrome, UDP_PORT, invariant_crc,
};
use lossylink_core::wire::udp::UdpHeader;

/// Queue pairs of the two ends of the first connection, any beyond the reserved 0 and 1. The queue pairs of the next connection
/// are two further.
const NEAR_QUEUE_PAIR: u32 = 0x11;
const FAR_QUEUE_PAIR: u32 = 0x12;
/// The default partition (InfiniBand 10.9.1).
const PARTITION_KEY: u16 = 0xffff;
/// Credits are not used (InfiniBand 9.7.5.1.4).
const NO_CREDITS: u8 = 31;
/// Bytes in front of the headers that follow the base header.
const BASE_END: usize = Ipv4Header::LEN + UdpHeader::LEN + BaseHeader::LEN;
/// READ opcodes of a reliable connection (InfiniBand table 38).
const READ_REQUEST: Opcode = Opcode(0x0c);
const READ_RESPONSES: [Opcode; 4] = [Opcode(0x0d), Opcode(0x0e), Opcode(0x0f), Opcode(0x10)];
const WRITES: [Opcode; 4] =
    [Opcode::WRITE_FIRST, Opcode::WRITE_MIDDLE, Opcode::WRITE_LAST, Opcode::WRITE_ONLY];
const SENDS: [Opcode; 4] = [Opcode::SEND_FIRST, Opcode::SEND_MIDDLE, Opcode::SEND_LAST, Opcode::SEND_ONLY];

/// A reliable connection that carries messages of one length.
#[derive(Clone, Copy, Debug)]
pub struct RdmaConnection {
    message_len: u32,
}

/// The headers of a packet beside its base header.
enum Extension {
    None,
    Rdma(u32),
    Ack(Syndrome),
    SelectiveNak(Psn),
}

impl RdmaConnection {
    /// Builds a connection for messages of `message_bytes`.
    pub fn new(message_bytes: u64) -> Self {
        Self { message_len: message_bytes.min(u32::MAX.into()) as u32 }
    }

    /// Returns the opcode, the number, and the headers that follow.
    fn describe(&self, packet: &Packet) -> (Opcode, Psn, Extension) {
        let nak = Extension::Ack(Syndrome::Nak(NakCode::SEQUENCE_ERROR));
        match *packet {
            Packet::Request(request) => match request.verb {
                Verb::Write if request.place.is_first() => {
                    (at(WRITES, request.place), request.psn, Extension::Rdma(self.message_len))
                }
                Verb::Write => (at(WRITES, request.place), request.psn, Extension::None),
                Verb::Send => (at(SENDS, request.place), request.psn, Extension::None),
            },
            Packet::ReadRequest(read) => (READ_REQUEST, read.psn, Extension::Rdma(read.bytes)),
            Packet::ReadResponse(data) => {
                let is_middle = data.place == Place::Middle;
                let extension = if is_middle { Extension::None } else { acknowledged() };
                (at(READ_RESPONSES, data.place), data.psn, extension)
            }
            Packet::Ack { psn } => (Opcode::ACKNOWLEDGE, psn, acknowledged()),
            Packet::Nak { expected } => (Opcode::ACKNOWLEDGE, expected, nak),
            Packet::SelectiveNak { expected, received } => {
                (Opcode::ACKNOWLEDGE, expected, Extension::SelectiveNak(received))
            }
            Packet::Cnp => (Opcode::CONGESTION_NOTIFICATION, Psn::of(0), Extension::None),
        }
    }
}

impl Carries<Addressed<Packet>> for RdmaConnection {
    fn emit(&self, direction: Direction, frame: &Frame<Addressed<Packet>>, buffer: &mut [u8]) {
        let packet = &frame.payload.packet;
        let length = packet.ip_bytes() as usize;
        let ip = ip_header(direction, frame.ecn, Protocol::UDP, (length - Ipv4Header::LEN) as u32);
        ip.emit(buffer);
        let udp = UdpHeader {
            source_port: NEAR_PORTS.0,
            destination_port: UDP_PORT,
            payload_len: ip.payload_len - UdpHeader::LEN as u16,
            has_checksum: false,
        };
        udp.emit(&mut buffer[Ipv4Header::LEN..], &ip.pseudo_header());
        let (opcode, psn, extension) = self.describe(packet);
        let connection = frame.payload.conversation;
        base_header(direction, connection, packet, (opcode, psn))
            .emit(&mut buffer[Ipv4Header::LEN + UdpHeader::LEN..]);
        extension.emit(&mut buffer[BASE_END..]);
        if length <= buffer.len() {
            let (covered, check) = buffer[..length].split_at_mut(length - ICRC_LEN);
            check.copy_from_slice(&invariant_crc(covered));
        }
    }
}

impl Extension {
    fn emit(&self, buffer: &mut [u8]) {
        let ack = |syndrome| AckHeader { syndrome, message_sequence: 0 };
        match *self {
            Self::None => {}
            Self::Rdma(message_len) => {
                RdmaHeader { virtual_address: 0, remote_key: 0, message_len }.emit(buffer);
            }
            Self::Ack(syndrome) => ack(syndrome).emit(buffer),
            Self::SelectiveNak(received) => {
                ack(Syndrome::Nak(NakCode::SEQUENCE_ERROR)).emit(buffer);
                buffer[AckHeader::LEN..][..4].copy_from_slice(&received.value().to_be_bytes());
            }
        }
    }
}

fn base_header(
    direction: Direction,
    connection: u32,
    packet: &Packet,
    (opcode, psn): (Opcode, Psn),
) -> BaseHeader {
    let payload = match packet {
        Packet::Request(request) => request.payload,
        Packet::ReadResponse(data) => data.payload,
        _ => 0,
    };
    BaseHeader {
        opcode,
        is_solicited: false,
        pad_count: (payload.next_multiple_of(4) - payload) as u8, // at most 3
        partition_key: PARTITION_KEY,
        forward_congestion: false,
        backward_congestion: matches!(packet, Packet::Cnp),
        destination_queue_pair: 2 * connection
            + match direction {
                Direction::Forward => FAR_QUEUE_PAIR,
                Direction::Backward => NEAR_QUEUE_PAIR,
            },
        ack_request: matches!(packet, Packet::Request(request) if request.ack_request),
        sequence: psn.value(),
    }
}

const fn acknowledged() -> Extension {
    Extension::Ack(Syndrome::Ack { credits: NO_CREDITS })
}

/// Returns the opcode of a place among those of first, middle, last and only packets.
const fn at(opcodes: [Opcode; 4], place: Place) -> Opcode {
    match place {
        Place::First => opcodes[0],
        Place::Middle => opcodes[1],
        Place::Last => opcodes[2],
        Place::Only => opcodes[3],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::Ecn;
    use crate::transport::rdma::Request;
    use lossylink_core::wire::udp::UdpView;

    fn bytes(direction: Direction, packet: Packet) -> [u8; 104] {
        let mut buffer = [0; 104];
        let payload = Addressed { packet, ..Addressed::default() };
        let frame = Frame::of_ip_bytes(packet.ip_bytes(), Ecn::Capable, payload);
        RdmaConnection::new(24_387).emit(direction, &frame, &mut buffer);
        buffer
    }

    #[test]
    fn an_acknowledgement_has_its_headers_and_its_check() {
        let buffer = bytes(Direction::Backward, Packet::Ack { psn: Psn::of(9) });
        let (ip, datagram) = Ipv4Header::parse(&buffer[..48]).unwrap();
        let udp = UdpView::new_checked(datagram, &ip.pseudo_header()).unwrap();
        assert_eq!((udp.destination_port(), udp.has_checksum()), (4791, false));
        let transport = [0x11, 0x40, 0xff, 0xff, 0, 0, 0, 0x11, 0, 0, 0, 9, 0x1f, 0, 0, 0];
        assert_eq!(udp.payload()[..16], transport);
        assert_eq!(udp.payload()[16..], invariant_crc(&buffer[..44]));
    }

    #[test]
    fn every_connection_has_queue_pairs_of_its_own() {
        let packet = Packet::Ack { psn: Psn::of(9) };
        let payload = Addressed { packet, conversation: 3, ..Addressed::default() };
        let mut buffer = [0; 104];
        let frame = Frame::of_ip_bytes(packet.ip_bytes(), Ecn::NotCapable, payload);
        RdmaConnection::new(1).emit(Direction::Backward, &frame, &mut buffer);
        assert_eq!(buffer[33..36], [0, 0, 0x11 + 6]);
    }

    #[test]
    fn the_first_packet_of_a_write_says_how_long_it_is() {
        let request = Request {
            psn: Psn::of(7),
            verb: Verb::Write,
            place: Place::First,
            ack_request: true,
            payload: 1024,
        };
        let buffer = bytes(Direction::Forward, Packet::Request(request));
        let transport = [0x06, 0x40, 0xff, 0xff, 0, 0, 0, 0x12, 0x80, 0, 0, 7];
        assert_eq!(buffer[28..40], transport);
        assert_eq!(buffer[40..56], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x5f, 0x43]);
        assert_eq!(buffer[56..], [0; 48], "the payload, whose check lies behind the cut");
    }

    #[test]
    fn a_selective_nak_names_what_arrived() {
        let nak = Packet::SelectiveNak { expected: Psn::of(3), received: Psn::of(5) };
        let buffer = bytes(Direction::Backward, nak);
        assert_eq!(buffer[39..48], [3, 0x60, 0, 0, 0, 0, 0, 0, 5]);
    }
}

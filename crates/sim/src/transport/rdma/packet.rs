//! The packets that the two ends exchange: numbers and lengths in place of octets, with exact IP lengths.
//!
//! No packet carries payload here: a link needs its length only.

use super::psn::{HALF, Psn};
use crate::net::Payload;

/// IPv4 header without options (RFC 791), bytes.
const IP_HEADER: u32 = 20;
/// UDP header (RFC 768), bytes.
const UDP_HEADER: u32 = 8;
/// Base transport header (InfiniBand 9.2), bytes.
const BASE_HEADER: u32 = 12;
/// RDMA extended transport header: address, key, length (InfiniBand 9.3.3), bytes.
const RDMA_HEADER: u32 = 16;
/// ACK extended transport header: syndrome and message number (InfiniBand 9.3.5), bytes.
const ACK_HEADER: u32 = 4;
/// Invariant check (InfiniBand 7.8.1, annex A17.3.3), bytes.
const INVARIANT_CHECK: u32 = 4;
/// Reserved bytes of a congestion notification packet (annex A17.9.3).
const NOTIFICATION_BODY: u32 = 16;
/// Second sequence number of a selective NAK, this model's own extension (RDMA-20), bytes.
const SELECTIVE_EXTENSION: u32 = 4;
/// Payloads are padded to a multiple of this many bytes (InfiniBand 9.2.4, pad count).
const PAD: u32 = 4;

/// A RoCEv2 packet as a network sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Packet {
    /// A packet of a WRITE or SEND message, requester to responder.
    Request(Request),
    /// A READ request, requester to responder.
    ReadRequest(ReadRequest),
    /// A packet of the data that a READ asked for, responder to requester.
    ReadResponse(ReadResponse),
    /// An acknowledgement: every request up to and including `psn` was executed.
    Ack {
        /// The last request acknowledged.
        psn: Psn,
    },
    /// A PSN sequence error: `expected` is missing, and all requests before it were executed.
    Nak {
        /// The sequence number for which the responder waits.
        expected: Psn,
    },
    /// Selective repeat's report of one packet kept out of order.
    SelectiveNak {
        /// The first missing sequence number; all requests before it were executed.
        expected: Psn,
        /// The sequence number of the packet that arrived.
        received: Psn,
    },
    /// A congestion notification, to the end that sent the marked packet.
    #[default]
    Cnp,
}

/// One packet of a WRITE or SEND message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Sequence number of the packet.
    pub psn: Psn,
    /// Kind of the message.
    pub verb: Verb,
    /// Place of the packet in the message.
    pub place: Place,
    /// Whether the requester asks for an acknowledgement (the AckReq bit).
    pub ack_request: bool,
    /// Payload of the packet, bytes.
    pub payload: u16,
}

/// A request for data, which takes one sequence number for each response packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadRequest {
    /// Sequence number of the request and of the first response.
    pub psn: Psn,
    /// Number of bytes that are asked for.
    pub bytes: u32,
}

/// One packet of requested data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadResponse {
    /// Sequence number of the packet.
    pub psn: Psn,
    /// Place of the packet in the response.
    pub place: Place,
    /// Payload of the packet, bytes.
    pub payload: u16,
}

/// The kinds of messages that carry data toward the responder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// RDMA WRITE.
    Write,
    /// SEND.
    Send,
}

/// The place of a packet in its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The first of several packets.
    First,
    /// A packet that is neither first nor last.
    Middle,
    /// The last of several packets.
    Last,
    /// The only packet of a message.
    Only,
}

impl Place {
    /// Returns the place of a packet that starts a message or not, and ends it or not.
    #[inline]
    pub const fn new(is_first: bool, is_last: bool) -> Self {
        match (is_first, is_last) {
            (true, true) => Self::Only,
            (true, false) => Self::First,
            (false, true) => Self::Last,
            (false, false) => Self::Middle,
        }
    }

    /// Whether a message starts with the packet.
    #[inline]
    pub const fn is_first(self) -> bool {
        matches!(self, Self::First | Self::Only)
    }

    /// Whether a message ends with the packet.
    #[inline]
    pub const fn is_last(self) -> bool {
        matches!(self, Self::Last | Self::Only)
    }
}

impl Packet {
    /// Returns the length of the IP packet in bytes: all headers, padded payload and invariant check (RDMA-1).
    #[inline]
    pub const fn ip_bytes(&self) -> u32 {
        let body = match self {
            Self::Request(request) => {
                let has_address = request.place.is_first() && matches!(request.verb, Verb::Write);
                padded(request.payload) + if has_address { RDMA_HEADER } else { 0 }
            }
            Self::ReadRequest(_) => RDMA_HEADER,
            Self::ReadResponse(response) => {
                let has_syndrome = !matches!(response.place, Place::Middle);
                padded(response.payload) + if has_syndrome { ACK_HEADER } else { 0 }
            }
            Self::Ack { .. } | Self::Nak { .. } => ACK_HEADER,
            Self::SelectiveNak { .. } => ACK_HEADER + SELECTIVE_EXTENSION,
            Self::Cnp => NOTIFICATION_BODY,
        };
        IP_HEADER + UDP_HEADER + BASE_HEADER + body + INVARIANT_CHECK
    }

    /// Whether the packet carries payload.
    pub const fn is_data(&self) -> bool {
        matches!(self, Self::Request(_) | Self::ReadResponse(_))
    }
}

impl Request {
    /// Whether the packet stands in the middle of a message and asks for no acknowledgement, so that packets of its kind
    /// may stand around it.
    pub(super) const fn is_plain(&self) -> bool {
        matches!(self.place, Place::Middle) && !self.ack_request
    }
}

impl Payload for Packet {
    /// Moves the number of a packet in the middle of a message on, by `count` times `step`.
    fn follow(&mut self, count: u32, step: u32) {
        if let Self::Request(request) = self {
            request.psn = request.psn.ahead(count * step);
        }
    }

    /// Returns by how much the number of `next` is ahead of this packet's, if both are in the middle of a message and
    /// differ in nothing else.
    fn distance(&self, next: &Self, _count: u32) -> Option<u32> {
        let (Self::Request(first), Self::Request(next)) = (self, next) else { return None };
        let distance = next.psn.steps_from(first.psn);
        let is_alike = first.is_plain() && *next == Request { psn: next.psn, ..*first };
        (is_alike && u64::from(distance) <= HALF).then_some(distance)
    }
}

/// Returns the length of a payload with its padding, bytes.
const fn padded(payload: u16) -> u32 {
    (payload as u32).next_multiple_of(PAD)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PSN: Psn = Psn::of(9);

    fn request(verb: Verb, place: Place, payload: u16) -> u32 {
        Packet::Request(Request { psn: PSN, verb, place, ack_request: false, payload }).ip_bytes()
    }

    fn response(place: Place, payload: u16) -> u32 {
        Packet::ReadResponse(ReadResponse { psn: PSN, place, payload }).ip_bytes()
    }

    // RDMA-1
    #[test]
    fn lengths_count_every_header() {
        assert_eq!(request(Verb::Write, Place::First, 1024), 1084);
        assert_eq!(request(Verb::Write, Place::Middle, 1024), 1068);
        assert_eq!(request(Verb::Write, Place::Only, 8), 68);
        assert_eq!(request(Verb::Send, Place::First, 1024), 1068);
        assert_eq!(response(Place::First, 1024), 1072);
        assert_eq!(response(Place::Middle, 1024), 1068);
        assert_eq!(Packet::ReadRequest(ReadRequest { psn: PSN, bytes: 1 << 20 }).ip_bytes(), 60);
        assert_eq!(Packet::Ack { psn: PSN }.ip_bytes(), 48);
        assert_eq!(Packet::Nak { expected: PSN }.ip_bytes(), 48);
        assert_eq!(Packet::SelectiveNak { expected: PSN, received: PSN }.ip_bytes(), 52);
        assert_eq!(Packet::Cnp.ip_bytes(), 60);
    }

    // RDMA-1
    #[test]
    fn payloads_are_padded_to_words() {
        assert_eq!(request(Verb::Write, Place::Last, 835), 880);
        assert_eq!(response(Place::Last, 1), 52);
        assert_eq!(request(Verb::Send, Place::Only, 0), 44);
    }

    #[test]
    fn a_packet_is_small() {
        assert!(size_of::<Packet>() <= 16);
    }
}

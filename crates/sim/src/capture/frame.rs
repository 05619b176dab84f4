//! Whole frames: the Ethernet header, the headers of a protection, and the packet of the hosts.
//!
//! Bytes are those of `docs/protocols/wire.md`, not of the simulator's timing: a frame that LinkGuardian protects grows by 5 B,
//! while the simulator times it with the published 3 B.

use super::Carries;
use crate::net::Frame;
use crate::net::frame::{FCS_OCTETS, GAP_OCTETS};
use crate::net::tap::{Content, Direction, Headers, Neighbour};
use lossylink_core::wire::ethernet::{EtherType, EthernetHeader, MacAddress};

/// Bytes of a frame that are kept: all headers, and the first of the payload's zeros. The longest headers are 14 of Ethernet, 10
/// of LinkGuardian, 20 of IP and 60 of TCP.
pub const SNAP_BYTES: usize = 128;

/// Locally administered addresses: the last octet is the number in the artifact's name, the one
/// before it 1 for a switch.
const NEAR_HOST: MacAddress = MacAddress([2, 0, 0, 0, 0, 4]);
const FAR_HOST: MacAddress = MacAddress([2, 0, 0, 0, 0, 8]);
const NEAR_SWITCH: MacAddress = MacAddress([2, 0, 0, 0, 1, 2]);
const FAR_SWITCH: MacAddress = MacAddress([2, 0, 0, 0, 1, 6]);

/// The start of a frame, and the length of the whole frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameBytes {
    start: [u8; SNAP_BYTES],
    /// Bytes of the whole frame, without its check sequence.
    pub length: u32,
}

impl FrameBytes {
    /// Returns the bytes of the frame that are kept.
    pub fn kept(&self) -> &[u8] {
        &self.start[..SNAP_BYTES.min(self.length as usize)]
    }
}

/// Returns the bytes of a frame.
pub fn bytes<P>(content: &Content<P>, direction: Direction, carries: &impl Carries<P>) -> FrameBytes {
    match content {
        Content::Bare(frame) => of_hosts(EtherType::IPV4, &[], direction, frame, carries),
        Content::Behind(headers, frame) => {
            of_hosts(headers.ethertype, headers.octets(), direction, frame, carries)
        }
        Content::Own { headers, to, octets } => between_switches(headers, *to, *octets, direction),
    }
}

/// Returns the bytes of a frame of the hosts, with `headers` between Ethernet's header and the packet.
fn of_hosts<P>(
    ethertype: EtherType,
    headers: &[u8],
    direction: Direction,
    frame: &Frame<P>,
    carries: &impl Carries<P>,
) -> FrameBytes {
    let (source, destination) = match direction {
        Direction::Forward => (NEAR_HOST, FAR_HOST),
        Direction::Backward => (FAR_HOST, NEAR_HOST),
    };
    let mut start = begin(EthernetHeader { destination, source, ethertype }, headers);
    carries.emit(direction, frame, &mut start[EthernetHeader::LEN + headers.len()..]);
    FrameBytes { start, length: length(frame.octets) + headers.len() as u32 }
}

/// Returns the bytes of a frame that carries nothing but the headers of a protection.
fn between_switches(headers: &Headers, to: Neighbour, octets: u32, direction: Direction) -> FrameBytes {
    let (source, switch) = match direction {
        Direction::Forward => (NEAR_SWITCH, FAR_SWITCH),
        Direction::Backward => (FAR_SWITCH, NEAR_SWITCH),
    };
    let destination = match to {
        Neighbour::Switch => switch,
        Neighbour::Anyone => MacAddress::MAC_CONTROL,
    };
    let ethernet = EthernetHeader { destination, source, ethertype: headers.ethertype };
    FrameBytes { start: begin(ethernet, headers.octets()), length: length(octets) }
}

/// Returns an Ethernet header, `headers` behind it, and zeros.
fn begin(ethernet: EthernetHeader, headers: &[u8]) -> [u8; SNAP_BYTES] {
    let mut start = [0; SNAP_BYTES];
    ethernet.emit(&mut start);
    start[EthernetHeader::LEN..EthernetHeader::LEN + headers.len()].copy_from_slice(headers);
    start
}

/// Returns the bytes of a frame without its check sequence, from its octets on the wire.
const fn length(octets: u32) -> u32 {
    octets - GAP_OCTETS - FCS_OCTETS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::NumberedDatagrams;
    use crate::net::Ecn;
    use crate::net::frame::MINIMUM_OCTETS;

    /// Checks the beginning of a whole frame, which is all of a control frame but its padding.
    fn assert_begins(content: &Content<u64>, direction: Direction, beginning: &[u8], length: u32) {
        let frame = bytes(content, direction, &NumberedDatagrams);
        assert_eq!(&frame.kept()[..beginning.len()], beginning);
        assert_eq!(frame.length, length);
        assert_eq!(frame.kept().len(), SNAP_BYTES.min(length as usize));
    }

    fn headers(octets: &[u8]) -> Headers {
        Headers::new(EtherType(0xabcd), |buffer| {
            buffer[..octets.len()].copy_from_slice(octets);
            octets.len()
        })
    }

    // WIRE-9, WIRE-10
    #[test]
    fn frames_of_a_protection_go_from_switch_to_switch() {
        let own = |to| Content::Own { headers: headers(&[0x16, 1, 2]), to, octets: MINIMUM_OCTETS };
        let there = [2, 0, 0, 0, 1, 6, 2, 0, 0, 0, 1, 2, 0xab, 0xcd, 0x16, 1, 2, 0];
        assert_begins(&own(Neighbour::Switch), Direction::Forward, &there, 60);
        let back = [2, 0, 0, 0, 1, 2, 2, 0, 0, 0, 1, 6, 0xab, 0xcd, 0x16, 1, 2, 0];
        assert_begins(&own(Neighbour::Switch), Direction::Backward, &back, 60);
        let anyone = [1, 0x80, 0xc2, 0, 0, 1, 2, 0, 0, 0, 1, 6, 0xab, 0xcd, 0x16, 1, 2, 0];
        assert_begins(&own(Neighbour::Anyone), Direction::Backward, &anyone, 60);
    }

    // WIRE-5, WIRE-6, WIRE-8
    #[test]
    fn headers_stand_in_front_of_what_they_protect() {
        let frame = Frame::of_frame_bytes(1514, Ecn::NotCapable, 7);
        let hosts = [2, 0, 0, 0, 0, 8, 2, 0, 0, 0, 0, 4];
        let bare = [&hosts[..], &[8, 0, 0x45]].concat();
        assert_begins(&Content::Bare(frame), Direction::Forward, &bare, 1514);
        let behind = Content::Behind(headers(&[0x12, 1, 2, 8, 0]), frame);
        let expected = [&hosts[..], &[0xab, 0xcd, 0x12, 1, 2, 8, 0, 0x45]].concat();
        assert_begins(&behind, Direction::Forward, &expected, 1519);
    }

    // WIRE-6, WIRE-8
    #[test]
    fn a_short_frame_keeps_its_padding_behind_headers() {
        let frame = Frame::of_frame_bytes(54, Ecn::NotCapable, 7);
        let hosts = [2, 0, 0, 0, 0, 4, 2, 0, 0, 0, 0, 8];
        let expected = [&hosts[..], &[0xab, 0xcd, 0x70, 1, 2, 8, 0, 0x45]].concat();
        let behind = Content::Behind(headers(&[0x70, 1, 2, 8, 0]), frame);
        assert_begins(&behind, Direction::Backward, &expected, 65);
    }
}

//! Whole frames: Ethernet, LinkGuardian's headers (WIRE-4 to WIRE-9), pauses (WIRE-10).
//!
//! Bytes are those of `docs/protocols/wire.md`, not of the simulator's timing: a protected frame
//! is 5 B longer than it came, while the simulator times it with the published 3 B.

use super::Carries;
use crate::net::frame::{FCS_OCTETS, GAP_OCTETS};
use crate::net::tap::{Content, Direction};
use lossylink_core::engine::linkguardian::{Notification, PauseRequest, Position};
use lossylink_core::wire::MINIMUM_FRAME;
use lossylink_core::wire::ethernet::{EtherType, EthernetHeader, MacAddress};
use lossylink_core::wire::linkguardian::{
    AckHeader, Content as Inner, DataHeader, LinkGuardianFrame, LossNotification,
};
use lossylink_core::wire::pfc::{LINKGUARDIAN_CLASS, PauseFrame, QUANTA_MAX};

/// Bytes kept of a frame: all headers, and the first of the payload's zeros. The longest headers
/// are 14 of Ethernet, 10 of LinkGuardian, 20 of IP and 60 of TCP.
pub const SNAP_BYTES: usize = 128;

/// Locally administered addresses: the last octet is the number in the artifact's name, the one
/// before it 1 for a switch.
const NEAR_HOST: MacAddress = MacAddress([2, 0, 0, 0, 0, 4]);
const FAR_HOST: MacAddress = MacAddress([2, 0, 0, 0, 0, 8]);
const NEAR_SWITCH: MacAddress = MacAddress([2, 0, 0, 0, 1, 2]);
const FAR_SWITCH: MacAddress = MacAddress([2, 0, 0, 0, 1, 6]);

/// The start of a frame, and how long the whole is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameBytes {
    start: [u8; SNAP_BYTES],
    /// Bytes of the whole frame, without its check sequence.
    pub length: u32,
}

impl FrameBytes {
    /// What is kept of the frame.
    pub fn kept(&self) -> &[u8] {
        &self.start[..SNAP_BYTES.min(self.length as usize)]
    }
}

/// The bytes of a frame; `ordered` is what a protected frame says about its delivery.
pub fn bytes<P>(
    content: &Content<P>,
    direction: Direction,
    ordered: bool,
    carries: &impl Carries<P>,
) -> FrameBytes {
    let data = |position, is_retransmission| data_header(position, is_retransmission, ordered);
    match content {
        Content::Bare(frame) => {
            let mut bytes = begin(direction, EtherType::IPV4);
            carries.emit(direction, frame, &mut bytes.start[EthernetHeader::LEN..]);
            FrameBytes { length: frame.octets - GAP_OCTETS - FCS_OCTETS, ..bytes }
        }
        Content::Acknowledging(frame, leading) => {
            let ack = ack_header(*leading, true);
            around(LinkGuardianFrame::Unprotected { ack, content: IP }, direction, frame, carries)
        }
        Content::Protected(frame, position) => {
            let header = data(*position, false);
            around(
                LinkGuardianFrame::Data { ack: None, data: header, content: IP },
                direction,
                frame,
                carries,
            )
        }
        Content::Copy(frame, position) => {
            let header = data(*position, true);
            around(
                LinkGuardianFrame::Data { ack: None, data: header, content: IP },
                direction,
                frame,
                carries,
            )
        }
        Content::Dummy(next) => {
            let header = DataHeader { is_dummy: true, ..data(*next, false) };
            alone(LinkGuardianFrame::Dummy(header), direction)
        }
        Content::Ack(leading) => alone(LinkGuardianFrame::Ack(ack_header(*leading, false)), direction),
        Content::Notification(notification) => {
            alone(LinkGuardianFrame::Notification(wire_notification(notification)), direction)
        }
        Content::Pause(request) => pause(*request, direction),
    }
}

/// What LinkGuardian's headers stand in front of; the bytes themselves are written apart.
const IP: Inner<'static> = Inner { ethertype: EtherType::IPV4, payload: &[] };

/// A frame with LinkGuardian's headers between Ethernet's and what it carries.
fn around<P>(
    headers: LinkGuardianFrame<'_>,
    direction: Direction,
    frame: &crate::net::Frame<P>,
    carries: &impl Carries<P>,
) -> FrameBytes {
    let mut bytes = begin(direction, EtherType::LINKGUARDIAN);
    let added = headers.emit_headers(&mut bytes.start[EthernetHeader::LEN..]);
    carries.emit(direction, frame, &mut bytes.start[EthernetHeader::LEN + added..]);
    FrameBytes { length: frame.octets - GAP_OCTETS - FCS_OCTETS + added as u32, ..bytes }
}

/// A frame that carries nothing but LinkGuardian's header, from switch to switch.
fn alone(headers: LinkGuardianFrame<'_>, direction: Direction) -> FrameBytes {
    let mut bytes = minimum(direction, between_switches(direction).1, EtherType::LINKGUARDIAN);
    headers.emit_headers(&mut bytes.start[EthernetHeader::LEN..]);
    bytes
}

fn pause(request: PauseRequest, direction: Direction) -> FrameBytes {
    let quanta = match request {
        PauseRequest::Pause => QUANTA_MAX,
        PauseRequest::Resume => 0,
    };
    let mut bytes = minimum(direction, MacAddress::MAC_CONTROL, EtherType::MAC_CONTROL);
    PauseFrame::for_class(LINKGUARDIAN_CLASS, quanta).emit(&mut bytes.start[EthernetHeader::LEN..]);
    bytes
}

/// An Ethernet header between the hosts, and zeros.
fn begin(direction: Direction, ethertype: EtherType) -> FrameBytes {
    let (source, destination) = match direction {
        Direction::Forward => (NEAR_HOST, FAR_HOST),
        Direction::Backward => (FAR_HOST, NEAR_HOST),
    };
    zeros(EthernetHeader { destination, source, ethertype })
}

/// An Ethernet header from one switch of the link, and zeros up to the minimum length.
fn minimum(direction: Direction, destination: MacAddress, ethertype: EtherType) -> FrameBytes {
    zeros(EthernetHeader { destination, source: between_switches(direction).0, ethertype })
}

fn zeros(header: EthernetHeader) -> FrameBytes {
    let mut start = [0; SNAP_BYTES];
    header.emit(&mut start);
    FrameBytes { start, length: MINIMUM_FRAME.0 as u32 }
}

/// Source and destination of a control frame.
const fn between_switches(direction: Direction) -> (MacAddress, MacAddress) {
    match direction {
        Direction::Forward => (NEAR_SWITCH, FAR_SWITCH),
        Direction::Backward => (FAR_SWITCH, NEAR_SWITCH),
    }
}

fn data_header(position: Position, is_retransmission: bool, ordered: bool) -> DataHeader {
    DataHeader {
        era: position.era(),
        is_retransmission,
        blocking_mode: ordered,
        sequence: position.number(),
        ..DataHeader::default()
    }
}

fn ack_header(leading: Position, is_piggybacked: bool) -> AckHeader {
    AckHeader { is_piggybacked, era: leading.era(), leading_ack: leading.number() }
}

fn wire_notification(notification: &Notification) -> LossNotification {
    LossNotification {
        era: notification.leading.era(),
        leading_ack: notification.leading.number(),
        hole_size: notification.hole_size,
        first_lost: notification.first_lost.number(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::NumberedDatagrams;
    use crate::net::{Ecn, Frame};

    const POSITION: Position = Position::new(0x0102, true);

    fn bytes_of(content: &Content<u64>, direction: Direction) -> FrameBytes {
        bytes(content, direction, true, &NumberedDatagrams)
    }

    /// The beginning of a whole frame, which is all of a control frame but its padding.
    fn assert_begins(frame: FrameBytes, beginning: &[u8], length: u32) {
        assert_eq!(&frame.kept()[..beginning.len()], beginning);
        assert_eq!(frame.length, length);
        assert_eq!(frame.kept().len(), SNAP_BYTES.min(length as usize));
    }

    // WIRE-9
    #[test]
    fn control_frames_go_from_switch_to_switch() {
        let notification = Notification {
            leading: Position::new(10, false),
            first_lost: Position::new(9, false),
            hole_size: 1,
        };
        let back: [u8; 14] = [2, 0, 0, 0, 1, 2, 2, 0, 0, 0, 1, 6, 0xab, 0xcd];
        let there: [u8; 14] = [2, 0, 0, 0, 1, 6, 2, 0, 0, 0, 1, 2, 0xab, 0xcd];
        type Case<'a> = (Content<u64>, Direction, [u8; 14], &'a [u8]);
        let literal: [Case<'_>; 3] = [
            (Content::Dummy(POSITION), Direction::Forward, there, &[0x16, 1, 2]),
            (Content::Ack(POSITION), Direction::Backward, back, &[0x50, 1, 2]),
            (Content::Notification(notification), Direction::Backward, back, &[0x80, 0, 10, 1, 0, 9]),
        ];
        for (content, direction, ethernet, header) in literal {
            let frame = bytes_of(&content, direction);
            assert_begins(frame, &[&ethernet[..], header].concat(), 60);
            assert!(frame.kept()[14 + header.len()..].iter().all(|byte| *byte == 0));
        }
    }

    // WIRE-10
    #[test]
    fn pauses_are_for_class_one_of_the_neighbour() {
        let ethernet = [1, 0x80, 0xc2, 0, 0, 1, 2, 0, 0, 0, 1, 6, 0x88, 0x08];
        let pause = [&ethernet[..], &[1, 1, 0, 2, 0, 0, 0xff, 0xff, 0, 0]].concat();
        let resume = [&ethernet[..], &[1, 1, 0, 2, 0, 0, 0, 0, 0, 0]].concat();
        assert_begins(bytes_of(&Content::Pause(PauseRequest::Pause), Direction::Backward), &pause, 60);
        assert_begins(bytes_of(&Content::Pause(PauseRequest::Resume), Direction::Backward), &resume, 60);
    }

    // WIRE-5, WIRE-6, WIRE-8
    #[test]
    fn headers_stand_in_front_of_what_they_protect() {
        let frame = Frame::of_frame_bytes(1514, Ecn::NotCapable, 7);
        let hosts = [2, 0, 0, 0, 0, 8, 2, 0, 0, 0, 0, 4];
        let literal: [(Content<u64>, &[u8], u32); 3] = [
            (Content::Bare(frame), &[8, 0, 0x45], 1514),
            (Content::Protected(frame, POSITION), &[0xab, 0xcd, 0x12, 1, 2, 8, 0, 0x45], 1519),
            (Content::Copy(frame, POSITION), &[0xab, 0xcd, 0x1a, 1, 2, 8, 0, 0x45], 1519),
        ];
        for (content, expected, length) in literal {
            assert_begins(bytes_of(&content, Direction::Forward), &[&hosts[..], expected].concat(), length);
        }
    }

    // WIRE-6, WIRE-8
    #[test]
    fn a_short_frame_keeps_its_padding_behind_a_piggy_backed_ack() {
        let frame = Frame::of_frame_bytes(54, Ecn::NotCapable, 7);
        let hosts = [2, 0, 0, 0, 0, 4, 2, 0, 0, 0, 0, 8];
        let content = Content::Acknowledging(frame, POSITION);
        let expected = [&hosts[..], &[0xab, 0xcd, 0x70, 1, 2, 8, 0, 0x45]].concat();
        assert_begins(bytes_of(&content, Direction::Backward), &expected, 65);
    }
}

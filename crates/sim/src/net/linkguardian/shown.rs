//! The bytes that a tap sees of LinkGuardian: headers (WIRE-4 to WIRE-9) and pauses (WIRE-10).

use super::frames::ControlFrame;
use crate::net::Frame;
use crate::net::frame::MINIMUM_OCTETS;
use crate::net::tap::{Content, Headers, Neighbour};
use lossylink_core::engine::linkguardian::{Notification, PauseRequest, Position};
use lossylink_core::wire::ethernet::EtherType;
use lossylink_core::wire::linkguardian::{
    AckHeader, Content as Inner, DataHeader, LinkGuardianFrame, LossNotification,
};
use lossylink_core::wire::pfc::{LINKGUARDIAN_CLASS, PauseFrame, QUANTA_MAX};

/// The content behind the headers, which the tap writes itself.
const IP: Inner<'static> = Inner { ethertype: EtherType::IPV4, payload: &[] };

/// Returns a protected frame, which asks for delivery in order if `ordered`.
pub(super) fn data<P>(
    frame: Frame<P>,
    position: Position,
    is_retransmission: bool,
    ordered: bool,
) -> Content<P> {
    let data = data_header(position, is_retransmission, ordered);
    Content::Behind(headers(LinkGuardianFrame::Data { ack: None, data, content: IP }), frame)
}

/// Returns a frame of the unprotected direction on which an ACK rides.
pub(super) fn acknowledging<P>(frame: Frame<P>, leading: Position) -> Content<P> {
    let ack = ack_header(leading, true);
    Content::Behind(headers(LinkGuardianFrame::Unprotected { ack, content: IP }), frame)
}

/// Returns a dummy that announces the next position.
pub(super) fn dummy<P>(next: Position, ordered: bool) -> Content<P> {
    let header = DataHeader { is_dummy: true, ..data_header(next, false, ordered) };
    alone(LinkGuardianFrame::Dummy(header))
}

/// Returns a control frame from the receiver to the sender.
pub(super) fn control<P>(frame: &ControlFrame) -> Content<P> {
    match frame {
        ControlFrame::Ack(leading) => ack(*leading),
        ControlFrame::Notification(lost) => notification(lost),
        ControlFrame::Pause(request) => pause(*request),
    }
}

/// Returns an explicit ACK.
fn ack<P>(leading: Position) -> Content<P> {
    alone(LinkGuardianFrame::Ack(ack_header(leading, false)))
}

/// Returns a loss notification.
fn notification<P>(notification: &Notification) -> Content<P> {
    alone(LinkGuardianFrame::Notification(LossNotification {
        era: notification.leading.era(),
        leading_ack: notification.leading.number(),
        hole_size: notification.hole_size,
        first_lost: notification.first_lost.number(),
    }))
}

/// Returns a pause frame, or a resume.
fn pause<P>(request: PauseRequest) -> Content<P> {
    let quanta = match request {
        PauseRequest::Pause => QUANTA_MAX,
        PauseRequest::Resume => 0,
    };
    let headers = Headers::new(EtherType::MAC_CONTROL, |buffer| {
        PauseFrame::for_class(LINKGUARDIAN_CLASS, quanta).emit(buffer);
        PauseFrame::LEN
    });
    Content::Own { headers, to: Neighbour::Anyone, octets: MINIMUM_OCTETS }
}

fn alone<P>(frame: LinkGuardianFrame<'_>) -> Content<P> {
    Content::Own { headers: headers(frame), to: Neighbour::Switch, octets: MINIMUM_OCTETS }
}

fn headers(frame: LinkGuardianFrame<'_>) -> Headers {
    Headers::new(EtherType::LINKGUARDIAN, |buffer| frame.emit_headers(buffer))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::Ecn;

    const POSITION: Position = Position::new(0x0102, true);

    /// Returns the octets behind the EtherType, and the octets on the wire of a frame of LinkGuardian's own.
    fn own(content: Content<u64>) -> (Vec<u8>, Neighbour, u32) {
        match content {
            Content::Own { headers, to, octets } => (headers.octets().to_vec(), to, octets),
            other => panic!("not of LinkGuardian itself: {other:?}"),
        }
    }

    // WIRE-9
    #[test]
    fn control_frames_are_their_literal_bytes() {
        let lost = Notification {
            leading: Position::new(10, false),
            first_lost: Position::new(9, false),
            hole_size: 1,
        };
        let literal: [(Content<u64>, &[u8]); 3] = [
            (dummy(POSITION, true), &[0x16, 1, 2]),
            (ack(POSITION), &[0x50, 1, 2]),
            (notification(&lost), &[0x80, 0, 10, 1, 0, 9]),
        ];
        for (content, octets) in literal {
            assert_eq!(own(content), (octets.to_vec(), Neighbour::Switch, 84));
        }
    }

    // WIRE-10
    #[test]
    fn pauses_are_for_class_one_of_the_neighbour() {
        let (pause, to, octets) = own(pause(PauseRequest::Pause));
        assert_eq!(
            (&pause[..10], to, octets),
            (&[1, 1, 0, 2, 0, 0, 0xff, 0xff, 0, 0][..], Neighbour::Anyone, 84)
        );
        let (resume, ..) = own(super::pause(PauseRequest::Resume));
        assert_eq!(resume[..10], [1, 1, 0, 2, 0, 0, 0, 0, 0, 0]);
    }

    // WIRE-5, WIRE-6, WIRE-8
    #[test]
    fn headers_say_what_they_stand_in_front_of() {
        let frame = Frame::of_frame_bytes(1514, Ecn::NotCapable, 7);
        let literal: [(Content<u64>, &[u8]); 3] = [
            (data(frame, POSITION, false, true), &[0x12, 1, 2, 8, 0]),
            (data(frame, POSITION, true, true), &[0x1a, 1, 2, 8, 0]),
            (acknowledging(frame, POSITION), &[0x70, 1, 2, 8, 0]),
        ];
        for (content, octets) in literal {
            let Content::Behind(headers, behind) = content else {
                panic!("a frame of the hosts: {content:?}")
            };
            assert_eq!((headers.octets(), headers.ethertype), (octets, EtherType::LINKGUARDIAN));
            assert_eq!(behind, frame);
        }
    }
}

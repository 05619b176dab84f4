//! Frames of LinkGuardian on the link: its headers behind the Ethernet header, the session's tag at the end.
//!
//! ```text
//! | addresses | ABCD | LinkGuardian headers | EtherType | payload | padding | tag |
//!     12 B       2 B        3, 6 or 8 B         2 B                  to 60 B   4 B
//! ```

use super::super::Frame;
use super::super::envelope::{self, ETHERTYPE, Seal, TAG};
use crate::wire::ethernet::{EtherType, EthernetHeader};
use crate::wire::linkguardian::{Content, LinkGuardianFrame};

/// Bytes of the longest headers: a piggy-backed ACK, the data header, the original EtherType.
const HEADERS: usize = LinkGuardianFrame::ACK_OVERHEAD + LinkGuardianFrame::DATA_OVERHEAD;
/// By how much a protected frame is longer than its original (G-4).
pub(super) const HEADROOM: usize = HEADERS + TAG;

/// What a frame from the LAN carries, EtherType and payload.
///
/// # Panics
/// If the frame is shorter than an Ethernet header.
pub(super) fn content(frame: &[u8]) -> Content<'_> {
    let ethertype = envelope::ethertype(frame).expect("a frame from the LAN has an Ethernet header");
    Content { ethertype, payload: &frame[EthernetHeader::LEN..] }
}

/// Writes a protected frame into `out`: the addresses of `original`, then what `inner` says.
pub(super) fn write(out: &mut Frame, original: &[u8], inner: &LinkGuardianFrame<'_>, seal: Seal) {
    out.clear();
    out.extend_from_slice(&original[..ETHERTYPE]);
    write_rest(out, inner, seal);
}

/// Writes a frame that carries nothing of the LAN: a dummy, an ACK, a loss notification.
pub(super) fn write_control(out: &mut Frame, inner: &LinkGuardianFrame<'_>, seal: Seal) {
    envelope::control_header(out, EtherType::LINKGUARDIAN);
    out.truncate(ETHERTYPE);
    write_rest(out, inner, seal);
}

fn write_rest(out: &mut Frame, inner: &LinkGuardianFrame<'_>, seal: Seal) {
    out.extend_from_slice(&EtherType::LINKGUARDIAN.0.to_be_bytes());
    let mut headers = [0; HEADERS];
    let length = inner.emit_headers(&mut headers);
    out.extend_from_slice(&headers[..length]);
    out.extend_from_slice(inner.payload());
    seal.finish(out, length);
}

#[cfg(test)]
mod tests {
    use super::super::super::envelope::{Key, Origin, body, restore};
    use super::*;
    use crate::wire::MINIMUM_FRAME;
    use crate::wire::linkguardian::DataHeader;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    const SHORTEST: usize = MINIMUM_FRAME.0 as usize;

    /// The keys of a link whose two directions are told apart by `sender` and `receiver`.
    fn seal(sender: u32, receiver: u32) -> Seal {
        Seal::new(Key::new(sender, receiver, 7), Key::new(receiver, sender, 7), None)
    }

    fn sealed(original: &[u8], seal: Seal) -> Frame {
        let data = DataHeader { sequence: 7, ..DataHeader::default() };
        let inner = LinkGuardianFrame::Data { ack: None, data, content: content(original) };
        let mut out = Vec::new();
        write(&mut out, original, &inner, seal);
        out
    }

    fn is_genuine(frame: &[u8], seal: Seal) -> bool {
        seal.origin(frame, LinkGuardianFrame::DATA_OVERHEAD) == Origin::Session
    }

    proptest! {
        // G-2, G-4
        #[test]
        fn a_frame_comes_out_as_it_went_in(original in proptest::collection::vec(any::<u8>(), 14..1600)) {
            let frame = sealed(&original, seal(1, 2));
            prop_assert!(frame.len() >= SHORTEST);
            prop_assert!(frame.len() <= (original.len() + HEADROOM).max(SHORTEST));
            prop_assert!(is_genuine(&frame, seal(2, 1)));
            let LinkGuardianFrame::Data { content, .. } =
                LinkGuardianFrame::parse(body(&frame).unwrap()).unwrap() else { panic!("data went in") };
            let mut out = Vec::new();
            restore(&mut out, &frame, content.ethertype, content.payload);
            prop_assert_eq!(&out[..original.len()], &original[..]);
            // Only padding may follow, and only on frames that Ethernet would have padded.
            prop_assert!(out[original.len()..].iter().all(|byte| *byte == 0));
            prop_assert!(out.len() == original.len() || frame.len() == SHORTEST);
        }
    }

    // G-3
    #[test]
    fn another_session_and_another_length_fail() {
        let original = [0x11; 100];
        let mut frame = sealed(&original, seal(1, 2));
        assert!(is_genuine(&frame, seal(2, 1)));
        assert!(!is_genuine(&frame, seal(1, 2)));
        assert!(!is_genuine(&frame, seal(3, 1)));
        frame[EthernetHeader::LEN + 1] ^= 1;
        assert!(!is_genuine(&frame, seal(2, 1)));
        frame[EthernetHeader::LEN + 1] ^= 1;
        frame.push(0);
        assert!(!is_genuine(&frame, seal(2, 1)));
    }
}

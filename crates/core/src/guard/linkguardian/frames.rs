//! Frames of LinkGuardian on the link: its headers behind the Ethernet header, the seal at the end.
//!
//! ```text
//! | addresses | ABCD | LinkGuardian headers | EtherType | payload | padding | seal |
//!     12 B       2 B        3, 6 or 8 B         2 B                  to 60 B
//! ```

use super::super::envelope::{self, ETHERTYPE};
use super::super::{Frame, Seal};
use crate::wire::ethernet::{EtherType, EthernetHeader};
use crate::wire::linkguardian::{Content, LinkGuardianFrame};

/// The bytes of the longest headers: a piggy-backed ACK, the data header, the original EtherType. A
/// protected frame is longer than its original by these bytes before it is sealed (G-4).
pub(super) const HEADROOM: usize = LinkGuardianFrame::ACK_OVERHEAD + LinkGuardianFrame::DATA_OVERHEAD;

/// Returns the contents of a frame from the LAN: EtherType and payload.
///
/// # Panics
/// If the frame is shorter than an Ethernet header.
pub(super) fn content(frame: &[u8]) -> Content<'_> {
    let ethertype = envelope::ethertype(frame).expect("a frame from the LAN has an Ethernet header");
    Content { ethertype, payload: &frame[EthernetHeader::LEN..] }
}

/// Writes a protected frame into `out`: the addresses of `original`, then headers and payload of `inner`.
pub(super) fn write(out: &mut Frame, original: &[u8], inner: &LinkGuardianFrame<'_>, seal: &mut Seal) {
    out.clear();
    out.extend_from_slice(&original[..ETHERTYPE]);
    write_rest(out, inner, seal);
}

/// Writes a frame without contents of the LAN: a dummy, an ACK, a loss notification.
pub(super) fn write_control(out: &mut Frame, inner: &LinkGuardianFrame<'_>, seal: &mut Seal) {
    envelope::control_header(out, EtherType::LINKGUARDIAN);
    out.truncate(ETHERTYPE);
    write_rest(out, inner, seal);
}

fn write_rest(out: &mut Frame, inner: &LinkGuardianFrame<'_>, seal: &mut Seal) {
    out.extend_from_slice(&EtherType::LINKGUARDIAN.0.to_be_bytes());
    let mut headers = [0; HEADROOM];
    let length = inner.emit_headers(&mut headers);
    out.extend_from_slice(&headers[..length]);
    out.extend_from_slice(inner.payload());
    seal.finish(out, length);
}

#[cfg(test)]
mod tests {
    use super::super::super::Origin;
    use super::super::super::envelope::restore;
    use super::super::super::seal::{Names, trailer};
    use super::*;
    use crate::wire::MINIMUM_FRAME;
    use crate::wire::linkguardian::DataHeader;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    const SHORTEST: usize = MINIMUM_FRAME.0 as usize;

    proptest! {
        // G-2, G-4
        #[test]
        fn a_frame_comes_out_as_it_went_in(original in proptest::collection::vec(any::<u8>(), 14..1600)) {
            let mut near = Seal::new(None, Names { ours: 1, theirs: 2, session: 7 });
            let mut far = Seal::new(None, Names { ours: 2, theirs: 1, session: 7 });
            let data = DataHeader { sequence: 7, ..DataHeader::default() };
            let inner = LinkGuardianFrame::Data { ack: None, data, content: content(&original) };
            let mut frame = Vec::new();
            write(&mut frame, &original, &inner, &mut near);
            prop_assert!(frame.len() >= SHORTEST);
            prop_assert!(frame.len() <= (original.len() + HEADROOM + trailer(false)).max(SHORTEST));
            prop_assert_eq!(far.origin(&frame, LinkGuardianFrame::DATA_OVERHEAD), Origin::Session);
            let LinkGuardianFrame::Data { content, .. } =
                LinkGuardianFrame::parse(far.body(&frame).unwrap()).unwrap() else { panic!("data went in") };
            let mut out = Vec::new();
            restore(&mut out, &frame, content.ethertype, content.payload);
            prop_assert_eq!(&out[..original.len()], &original[..]);
            // Only padding may follow, and only on frames that Ethernet would have padded.
            prop_assert!(out[original.len()..].iter().all(|byte| *byte == 0));
            prop_assert!(out.len() == original.len() || frame.len() == SHORTEST);
        }
    }
}

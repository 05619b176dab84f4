//! Frames on the protected link: LinkGuardian headers behind the Ethernet header, a session tag at the end.
//!
//! ```text
//! | addresses | ABCD | LinkGuardian headers | EtherType | payload | padding | tag |
//!     12 B       2 B        3, 6 or 8 B         2 B                  to 60 B   4 B
//! ```
//!
//! The tag mixes the session's key with the headers and the length. A frame with our EtherType that
//! is garbage, or stems from an earlier session, fails the comparison but for one chance in 2^32
//! (G-3). It is no protection against an attacker who reads the link.

use super::Frame;
use crate::wire::ethernet::{EtherType, EthernetHeader, MacAddress};
use crate::wire::linkguardian::{Content, LinkGuardianFrame};

/// Bytes of the session tag.
pub(super) const TAG: usize = 4;
/// Bytes of the longest headers: a piggy-backed ACK, the data header, the original EtherType.
const HEADERS: usize = LinkGuardianFrame::ACK_OVERHEAD + LinkGuardianFrame::DATA_OVERHEAD;
/// By how much a protected frame is longer than its original: what the link's MTU must exceed the
/// LAN's by (G-4).
pub const HEADROOM: usize = HEADERS + TAG;
/// The shortest Ethernet frame without FCS. Frames are padded to it before the tag goes on, for a
/// network card that pads would put its zeros behind the tag (G-4).
const SHORTEST: usize = 60;
/// Where the EtherType stands.
const ETHERTYPE: usize = 12;
/// "Nearest bridge" group address: no bridge forwards it (IEEE 802.1Q, table 8-1).
const NEAREST_BRIDGE: MacAddress = MacAddress([0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e]);
/// A locally administered address for frames that the guards send each other.
const GUARD: MacAddress = MacAddress([0x02, 0x4c, 0x47, 0x00, 0x00, 0x01]);

/// The key of one direction of a session, from the identities of its sender and its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key(u64);

impl Key {
    pub(super) fn new(sender: u32, receiver: u32) -> Self {
        Self(mix(u64::from(sender) << 32 | u64::from(receiver)))
    }

    /// The tag of a frame of `length` bytes whose LinkGuardian headers begin `headers`.
    fn tag(self, headers: &[u8], length: usize) -> [u8; TAG] {
        let words = headers.chunks(8).map(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_be_bytes(word)
        });
        let hash = words.fold(self.0 ^ length as u64, |hash, word| mix(hash ^ word));
        ((hash >> 32) as u32).to_be_bytes()
    }
}

/// The finaliser of SplitMix64: every input bit reaches every output bit.
fn mix(mut word: u64) -> u64 {
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// The EtherType of a frame; `None` when it ends before it.
pub(super) fn ethertype(frame: &[u8]) -> Option<EtherType> {
    let bytes = frame.get(ETHERTYPE..EthernetHeader::LEN)?;
    Some(EtherType(u16::from_be_bytes([bytes[0], bytes[1]])))
}

/// What a frame from the LAN carries, EtherType and payload.
///
/// # Panics
/// If the frame is shorter than an Ethernet header.
pub(super) fn content(frame: &[u8]) -> Content<'_> {
    let ethertype = ethertype(frame).expect("a frame from the LAN has an Ethernet header");
    Content { ethertype, payload: &frame[EthernetHeader::LEN..] }
}

/// Writes a protected frame into `out`: the addresses of `original`, then what `inner` says.
pub(super) fn seal(out: &mut Frame, original: &[u8], inner: &LinkGuardianFrame<'_>, key: Key) {
    out.clear();
    out.extend_from_slice(&original[..ETHERTYPE]);
    seal_rest(out, inner, key);
}

/// Writes a frame that carries nothing of the LAN: a dummy, an ACK, a loss notification.
pub(super) fn seal_control(out: &mut Frame, inner: &LinkGuardianFrame<'_>, key: Key) {
    control_header(out, EtherType::LINKGUARDIAN);
    out.truncate(ETHERTYPE);
    seal_rest(out, inner, key);
}

/// Writes the Ethernet header of a frame from guard to guard.
pub(super) fn control_header(out: &mut Frame, ethertype: EtherType) {
    out.clear();
    out.resize(EthernetHeader::LEN, 0);
    EthernetHeader { destination: NEAREST_BRIDGE, source: GUARD, ethertype }.emit(out);
}

fn seal_rest(out: &mut Frame, inner: &LinkGuardianFrame<'_>, key: Key) {
    out.extend_from_slice(&EtherType::LINKGUARDIAN.0.to_be_bytes());
    let mut headers = [0; HEADERS];
    let length = inner.emit_headers(&mut headers);
    out.extend_from_slice(&headers[..length]);
    out.extend_from_slice(inner.payload());
    finish(out, key, length);
}

/// Pads and tags a frame whose first `headers` bytes behind the Ethernet header count.
pub(super) fn finish(out: &mut Frame, key: Key, headers: usize) {
    out.resize(out.len().max(SHORTEST - TAG), 0);
    let start = EthernetHeader::LEN;
    let tag = key.tag(&out[start..start + headers], out.len());
    out.extend_from_slice(&tag);
}

/// What stands between the Ethernet header and the tag; `None` when the frame is too short for both.
pub(super) fn body(frame: &[u8]) -> Option<&[u8]> {
    frame.get(EthernetHeader::LEN..frame.len().checked_sub(TAG)?)
}

/// Whether the tag of a frame with `headers` bytes of headers belongs to this key.
pub(super) fn is_genuine(frame: &[u8], headers: usize, key: Key) -> bool {
    let Some(body) = body(frame) else { return false };
    let Some(headers) = body.get(..headers) else { return false };
    let tagged = frame.len() - TAG;
    key.tag(headers, tagged) == frame[tagged..]
}

/// Writes the original frame into `out`: the addresses of `frame`, then what it carried (G-2).
pub(super) fn unseal(out: &mut Frame, frame: &[u8], content: Content<'_>) {
    out.clear();
    out.extend_from_slice(&frame[..ETHERTYPE]);
    out.extend_from_slice(&content.ethertype.0.to_be_bytes());
    out.extend_from_slice(content.payload);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::linkguardian::DataHeader;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    fn sealed(original: &[u8], key: Key) -> Frame {
        let data = DataHeader { sequence: 7, ..DataHeader::default() };
        let inner = LinkGuardianFrame::Data { ack: None, data, content: content(original) };
        let mut out = Vec::new();
        seal(&mut out, original, &inner, key);
        out
    }

    proptest! {
        // G-2, G-4
        #[test]
        fn a_frame_comes_out_as_it_went_in(original in proptest::collection::vec(any::<u8>(), 14..1600)) {
            let key = Key::new(1, 2);
            let frame = sealed(&original, key);
            prop_assert!(frame.len() >= SHORTEST);
            prop_assert!(frame.len() <= (original.len() + HEADROOM).max(SHORTEST));
            prop_assert!(is_genuine(&frame, LinkGuardianFrame::DATA_OVERHEAD, key));
            let LinkGuardianFrame::Data { content, .. } =
                LinkGuardianFrame::parse(body(&frame).unwrap()).unwrap() else { panic!("data went in") };
            let mut out = Vec::new();
            unseal(&mut out, &frame, content);
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
        let key = Key::new(1, 2);
        let mut frame = sealed(&original, key);
        let headers = LinkGuardianFrame::DATA_OVERHEAD;
        assert!(is_genuine(&frame, headers, key));
        assert!(!is_genuine(&frame, headers, Key::new(2, 1)));
        assert!(!is_genuine(&frame, headers, Key::new(1, 3)));
        frame[EthernetHeader::LEN + 1] ^= 1;
        assert!(!is_genuine(&frame, headers, key));
        frame[EthernetHeader::LEN + 1] ^= 1;
        frame.push(0);
        assert!(!is_genuine(&frame, headers, key));
    }

    #[test]
    fn short_frames_have_no_body() {
        assert_eq!(body(&[0; 17]), None);
        assert_eq!(body(&[0; 18]), Some(&[][..]));
        assert_eq!(ethertype(&[0; 13]), None);
    }
}

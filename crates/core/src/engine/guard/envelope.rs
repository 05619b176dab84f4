//! What every frame of the guards has in common: an EtherType of theirs, and the session's tag at the end.
//!
//! ```text
//! | addresses | EtherType | headers of the line protocol | ... | padding | tag |
//!     12 B        2 B                                             to 60 B   4 B
//! ```
//!
//! The tag mixes the session's key with the headers and the length. A frame with our EtherType that
//! is garbage, or stems from an earlier session, fails the comparison but for one chance in 2^32
//! (G-3). It is no protection against an attacker who reads the link.

use super::Frame;
use crate::wire::MINIMUM_FRAME;
use crate::wire::ethernet::{EtherType, EthernetHeader, MacAddress};

/// Bytes of the session tag.
pub const TAG: usize = 4;
/// Frames are padded to Ethernet's shortest before the tag goes on, for a network card that pads would
/// put its zeros behind the tag (G-4).
const SHORTEST: usize = MINIMUM_FRAME.0 as usize;
/// Where the EtherType stands: behind the two addresses.
pub const ETHERTYPE: usize = 12;
/// "Nearest bridge" group address: no bridge forwards it (IEEE 802.1Q, table 8-1).
const NEAREST_BRIDGE: MacAddress = MacAddress([0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e]);
/// A locally administered address for frames that the guards send each other.
const GUARD: MacAddress = MacAddress([0x02, 0x4c, 0x47, 0x00, 0x00, 0x01]);

/// The key of one direction of a session, from the identities of its sender and its receiver and the session's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key(u64);

impl Key {
    pub(super) fn new(sender: u32, receiver: u32, session: u32) -> Self {
        Self(mix(mix(u64::from(sender) << 32 | u64::from(receiver)) ^ u64::from(session)))
    }

    /// The tag of a frame of `length` bytes whose headers are `headers`.
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
pub fn ethertype(frame: &[u8]) -> Option<EtherType> {
    let bytes = frame.get(ETHERTYPE..EthernetHeader::LEN)?;
    Some(EtherType(u16::from_be_bytes([bytes[0], bytes[1]])))
}

/// Where the tag of a frame is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// This session: the frame means what it says.
    Session,
    /// The session before: its contents count, its numbers do not (G-6).
    Former,
    /// Neither: garbage (G-3).
    Foreign,
}

/// The keys of a session, in the hands of a line protocol: it tags what leaves and knows what arrives.
#[derive(Clone, Copy, Debug)]
pub struct Seal {
    sending: Key,
    receiving: Key,
    former: Option<Key>,
}

impl Seal {
    pub(super) fn new(sending: Key, receiving: Key, former: Option<Key>) -> Self {
        Self { sending, receiving, former }
    }

    /// Pads and tags a frame whose first `headers` bytes behind the Ethernet header count.
    pub fn finish(&self, out: &mut Frame, headers: usize) {
        finish(out, self.sending, headers);
    }

    /// Where the tag of a frame with `headers` bytes of headers is from.
    pub fn origin(&self, frame: &[u8], headers: usize) -> Origin {
        if is_genuine(frame, headers, self.receiving) {
            Origin::Session
        } else if self.former.is_some_and(|key| is_genuine(frame, headers, key)) {
            Origin::Former
        } else {
            Origin::Foreign
        }
    }
}

/// Writes the Ethernet header of a frame from guard to guard.
pub fn control_header(out: &mut Frame, ethertype: EtherType) {
    out.clear();
    out.resize(EthernetHeader::LEN, 0);
    EthernetHeader { destination: NEAREST_BRIDGE, source: GUARD, ethertype }.emit(out);
}

/// Pads and tags a frame whose first `headers` bytes behind the Ethernet header count.
pub(super) fn finish(out: &mut Frame, key: Key, headers: usize) {
    out.resize(out.len().max(SHORTEST - TAG), 0);
    let start = EthernetHeader::LEN;
    let tag = key.tag(&out[start..start + headers], out.len());
    out.extend_from_slice(&tag);
}

/// What stands between the Ethernet header and the tag; `None` when the frame is too short for both.
pub fn body(frame: &[u8]) -> Option<&[u8]> {
    frame.get(EthernetHeader::LEN..frame.len().checked_sub(TAG)?)
}

/// Writes the original frame into `out`: the addresses of `frame`, then what it carried (G-2).
///
/// # Panics
/// If `frame` is shorter than two addresses.
pub fn restore(out: &mut Frame, frame: &[u8], ethertype: EtherType, payload: &[u8]) {
    out.clear();
    out.extend_from_slice(&frame[..ETHERTYPE]);
    out.extend_from_slice(&ethertype.0.to_be_bytes());
    out.extend_from_slice(payload);
}

/// Whether the tag of a frame with `headers` bytes of headers belongs to this key.
pub(super) fn is_genuine(frame: &[u8], headers: usize, key: Key) -> bool {
    let Some(body) = body(frame) else { return false };
    let Some(headers) = body.get(..headers) else { return false };
    let tagged = frame.len() - TAG;
    key.tag(headers, tagged) == frame[tagged..]
}

#[cfg(test)]
mod tests {
    use super::*;

    // G-3, G-6
    #[test]
    fn a_tag_is_of_this_session_the_one_before_or_none() {
        let near = Seal::new(Key::new(1, 2, 7), Key::new(2, 1, 7), None);
        let far = |former| Seal::new(Key::new(2, 1, 7), Key::new(1, 2, 7), former);
        let mut frame = alloc::vec![0x11; 80];
        near.finish(&mut frame, 6);
        assert_eq!(far(None).origin(&frame, 6), Origin::Session);
        let later = Seal::new(Key::new(2, 3, 7), Key::new(3, 2, 7), Some(Key::new(1, 2, 7)));
        assert_eq!(later.origin(&frame, 6), Origin::Former);
        let unrelated = Seal::new(Key::new(2, 3, 7), Key::new(3, 2, 7), None);
        assert_eq!(unrelated.origin(&frame, 6), Origin::Foreign);
        frame[EthernetHeader::LEN] ^= 1;
        assert_eq!(far(None).origin(&frame, 6), Origin::Foreign);
    }

    #[test]
    fn short_frames_have_no_body() {
        assert_eq!(body(&[0; 17]), None);
        assert_eq!(body(&[0; 18]), Some(&[][..]));
        assert_eq!(ethertype(&[0; 13]), None);
    }
}

//! What two guards tell each other whatever protects the link: who they are, how they protect, when to pause.
//!
//! ```text
//! | magic 2 | version 1 | kind 1 | identity 4 | peer 4 | protection 3 | sent 3 | received 3 | time 8 |
//! ```
//!
//! The octets of `protection` are `Protection::to_hello`; those of `sent` and `received` belong to the
//! line protocols of the two directions.
//!
//! The frames have the EtherType for local experiments of IEEE 802 and end with a tag, like all ours.

use super::Frame;
use super::envelope::{self, Key};
use super::line::HelloOctets;
use crate::protection::Protection;
use crate::wire::ethernet::EtherType;

/// The EtherType of frames from guard to guard: IEEE 802 local experimental 1.
pub(super) const ETHERTYPE: EtherType = EtherType(0x88b5);
/// "LG".
const MAGIC: [u8; 2] = *b"LG";
/// Changes with the layout.
const VERSION: u8 = 1;
/// Bytes of a message.
const LENGTH: usize = 29;
/// The key of messages that belong to no session yet.
const KEY: (u32, u32) = (0x4c6f_7373, 0x794c_696e);

/// What a message is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Sent from time to time; to be answered.
    Hello,
    /// The answer, with the time of the question.
    Reply,
    /// The reorder buffer of this end is filling: stop sending for a while.
    Pause,
    /// Go on.
    Resume,
}

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hello {
    pub(super) kind: Kind,
    /// Who sends; drawn anew for every session.
    pub(super) identity: u32,
    /// Whom the sender has heard of; zero is nobody.
    pub(super) peer: u32,
    /// How the sender protects what it sends.
    pub(super) protection: Protection,
    /// How far the sender has sent, for the receiving end of its protection (G-9).
    pub(super) sent: HelloOctets,
    /// How far the sender has received, for the sending end of its peer's protection (G-9).
    pub(super) received: HelloOctets,
    /// The asker's clock, given back in a reply.
    pub(super) time: u64,
}

impl Hello {
    /// Writes the frame.
    pub(super) fn write(&self, out: &mut Frame) {
        envelope::control_header(out, ETHERTYPE);
        out.extend_from_slice(&MAGIC);
        out.extend_from_slice(&[VERSION, self.kind as u8]);
        out.extend_from_slice(&self.identity.to_be_bytes());
        out.extend_from_slice(&self.peer.to_be_bytes());
        for octets in [self.protection.to_hello(), self.sent, self.received] {
            out.extend_from_slice(&octets);
        }
        out.extend_from_slice(&self.time.to_be_bytes());
        envelope::finish(out, Key::new(KEY.0, KEY.1), LENGTH);
    }

    /// Reads a frame whose EtherType is ours; `None` when it is not such a message.
    pub(super) fn read(frame: &[u8]) -> Option<Self> {
        if !envelope::is_genuine(frame, LENGTH, Key::new(KEY.0, KEY.1)) {
            return None;
        }
        let bytes: &[u8; LENGTH] = envelope::body(frame)?.first_chunk()?;
        if bytes[..2] != MAGIC || bytes[2] != VERSION {
            return None;
        }
        let kind = match bytes[3] {
            0 => Kind::Hello,
            1 => Kind::Reply,
            2 => Kind::Pause,
            3 => Kind::Resume,
            _ => return None,
        };
        Some(Self {
            kind,
            identity: word(bytes, 4),
            peer: word(bytes, 8),
            protection: Protection::from_hello(octets(bytes, 12))?,
            sent: octets(bytes, 15),
            received: octets(bytes, 18),
            time: u64::from(word(bytes, 21)) << 32 | u64::from(word(bytes, 25)),
        })
    }
}

fn word(bytes: &[u8; LENGTH], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn octets(bytes: &[u8; LENGTH], at: usize) -> [u8; 3] {
    [bytes[at], bytes[at + 1], bytes[at + 2]]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protection::LinkGuardian;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    fn hello() -> Hello {
        Hello {
            kind: Kind::Reply,
            identity: 0x0102_0304,
            peer: 9,
            protection: Protection::LinkGuardian(LinkGuardian::ORDERED),
            sent: [1, 255, 255],
            received: [0, 0, 5],
            time: 1 << 40,
        }
    }

    // G-5
    #[test]
    fn a_message_comes_out_as_it_went_in() {
        let mut frame = Vec::new();
        hello().write(&mut frame);
        assert_eq!(frame.len(), 60);
        assert_eq!(Hello::read(&frame), Some(hello()));
    }

    // G-3, G-5
    #[test]
    fn a_damaged_message_is_none() {
        let mut frame = Vec::new();
        hello().write(&mut frame);
        for at in 14..14 + LENGTH {
            let mut damaged = frame.clone();
            damaged[at] ^= 0x40;
            assert_eq!(Hello::read(&damaged), None, "byte {at}");
        }
    }

    // G-5: a guard of another version may protect in a way that this one has not heard of.
    #[test]
    fn a_message_with_an_unknown_protection_is_none() {
        let mut frame = Vec::new();
        hello().write(&mut frame);
        frame[14 + 12] = 99;
        frame.truncate(14 + LENGTH);
        envelope::finish(&mut frame, Key::new(KEY.0, KEY.1), LENGTH);
        assert_eq!(Hello::read(&frame), None);
        frame[14 + 12] = 1;
        frame.truncate(14 + LENGTH);
        envelope::finish(&mut frame, Key::new(KEY.0, KEY.1), LENGTH);
        assert_eq!(Hello::read(&frame), Some(hello()));
    }

    proptest! {
        // G-3
        #[test]
        fn garbage_is_none(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            prop_assert_eq!(Hello::read(&bytes), None);
        }
    }
}

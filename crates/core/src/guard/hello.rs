//! The messages of two guards, under any protection: identities, protections, and pauses.
//!
//! ```text
//! | magic 2 | version 1 | kind 1 | identity 4 | peer 4 | session 4 | number 4 | nonce 4 | echo 4 |
//! | protection 3 | sent 3 | received 3 | longest 2 | widest 2 | tally 8 | account 16 |
//! ```
//!
//! The octets of `protection` are `Protection::to_hello`; those of `sent` and `received` belong to the
//! line protocols of the two directions.
//!
//! The frames have the EtherType for local experiments of IEEE 802 and end with a seal, as all frames of
//! guards do.

use super::Frame;
use super::account::Tally;
use super::envelope;
use super::line::HelloOctets;
use super::seal::MessageSeal;
use crate::protection::Protection;
use crate::wire::ethernet::{EtherType, EthernetHeader};

/// The EtherType of frames from guard to guard: IEEE 802 local experimental 1.
pub(super) const ETHERTYPE: EtherType = EtherType(0x88b5);
/// The first two bytes of a message: "LG".
const MAGIC: [u8; 2] = *b"LG";
/// The version of the protocol, which changes with the layout.
const VERSION: u8 = 3;
/// The bytes of a message.
const LENGTH: usize = 65;

/// The purpose of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A hello, sent at intervals; to be answered.
    Hello,
    /// The answer to a hello, with the nonce of the hello.
    Reply,
    /// The reorder buffer of this end is filling: stop sending for a while.
    Pause,
    /// Go on sending.
    Resume,
}

/// The reason why a frame is no message to this guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The frame is no message of any guard.
    Garbage,
    /// The frame looks like a message of this other version of the protocol.
    OtherVersion(u8),
    /// The frame looks like a message that was sealed with another secret, or was damaged.
    OtherSeal,
}

/// A message from guard to guard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hello {
    pub(super) kind: Kind,
    /// The identity of the sender, drawn when the sender starts.
    pub(super) identity: u32,
    /// The identity of the receiver; zero is any guard on the link.
    pub(super) peer: u32,
    /// The session in which the sender is with this peer; zero is none.
    pub(super) session: u32,
    /// How many messages the sender has sent, this one included.
    pub(super) number: u32,
    /// A number to be given back, so that the sender knows that a message with it was sent after this one.
    pub(super) nonce: u32,
    /// The peer's newest nonce; zero is none.
    pub(super) echo: u32,
    /// The protection of the frames that the sender sends.
    pub(super) protection: Protection,
    /// The position up to which the sender has sent, for the receiving end of its protection (G-9).
    pub(super) sent: HelloOctets,
    /// The position up to which the sender has received, for the sending end of its peer's protection (G-9).
    pub(super) received: HelloOctets,
    /// The longest frame of the sender's LAN, in bytes.
    pub(super) longest: u16,
    /// The longest message that the sender has received from this peer lately, in bytes (G-32).
    pub(super) widest: u16,
    /// The frames that the sender has put on the link before this message (G-33).
    pub(super) tally: Tally,
    /// The account of the peer's frames, as the sender counts them (G-33).
    pub(super) account: [u32; 4],
}

impl Hello {
    /// Writes the frame, of at least `least` bytes.
    pub(super) fn write(&self, out: &mut Frame, seal: &MessageSeal, least: usize) {
        envelope::control_header(out, ETHERTYPE);
        out.extend_from_slice(&MAGIC);
        out.extend_from_slice(&[VERSION, self.kind as u8]);
        for word in [self.identity, self.peer, self.session, self.number, self.nonce, self.echo] {
            out.extend_from_slice(&word.to_be_bytes());
        }
        for octets in [self.protection.to_hello(), self.sent, self.received] {
            out.extend_from_slice(&octets);
        }
        out.extend_from_slice(&self.longest.to_be_bytes());
        out.extend_from_slice(&self.widest.to_be_bytes());
        let [frames, lost, contents, missing] = self.account;
        for word in [self.tally.frames, self.tally.contents, frames, lost, contents, missing] {
            out.extend_from_slice(&word.to_be_bytes());
        }
        seal.finish(out, LENGTH, least);
    }

    /// Reads a frame whose EtherType is [`ETHERTYPE`].
    pub(super) fn read(frame: &[u8], seal: &MessageSeal) -> Result<Self, Refusal> {
        let bytes: &[u8; LENGTH] =
            frame.get(EthernetHeader::LEN..).and_then(<[u8]>::first_chunk).ok_or(Refusal::Garbage)?;
        if bytes[..2] != MAGIC {
            return Err(Refusal::Garbage);
        }
        if bytes[2] != VERSION {
            return Err(Refusal::OtherVersion(bytes[2]));
        }
        if !seal.is_genuine(frame, LENGTH) {
            return Err(Refusal::OtherSeal);
        }
        Self::parse(bytes).ok_or(Refusal::Garbage)
    }

    fn parse(bytes: &[u8; LENGTH]) -> Option<Self> {
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
            session: word(bytes, 12),
            number: word(bytes, 16),
            nonce: word(bytes, 20),
            echo: word(bytes, 24),
            protection: Protection::from_hello(octets(bytes, 28))?,
            sent: octets(bytes, 31),
            received: octets(bytes, 34),
            longest: half(bytes, 37),
            widest: half(bytes, 39),
            tally: Tally { frames: word(bytes, 41), contents: word(bytes, 45) },
            account: [49, 53, 57, 61].map(|at| word(bytes, at)),
        })
    }
}

fn word(bytes: &[u8; LENGTH], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn half(bytes: &[u8; LENGTH], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn octets(bytes: &[u8; LENGTH], at: usize) -> [u8; 3] {
    [bytes[at], bytes[at + 1], bytes[at + 2]]
}

#[cfg(test)]
mod tests {
    use super::super::secret::Secret;
    use super::*;
    use crate::protection::LinkGuardian;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    fn hello() -> Hello {
        Hello {
            kind: Kind::Reply,
            identity: 0x0102_0304,
            peer: 9,
            session: 3,
            number: 70_000,
            nonce: 0xdead_beef,
            echo: 0x8000_0001,
            protection: Protection::LinkGuardian(LinkGuardian::ORDERED),
            sent: [1, 255, 255],
            received: [0, 0, 5],
            longest: 1514,
            widest: 9038,
            tally: Tally { frames: u32::MAX, contents: 77 },
            account: [1, 2, 3, 0x0405_0607],
        }
    }

    fn open() -> MessageSeal {
        MessageSeal::new(None)
    }

    fn sealed(byte: u8) -> MessageSeal {
        MessageSeal::new(Secret::new(&[byte; 16]).as_ref())
    }

    fn written(seal: &MessageSeal) -> Frame {
        let mut frame = Vec::new();
        hello().write(&mut frame, seal, 0);
        frame
    }

    // G-5, G-27
    #[test]
    fn a_message_comes_out_as_it_went_in() {
        for (seal, length) in [(open(), 83), (sealed(1), 87)] {
            let frame = written(&seal);
            assert_eq!(frame.len(), length);
            assert_eq!(Hello::read(&frame, &seal), Ok(hello()));
            let mut long = Vec::new();
            hello().write(&mut long, &seal, 1538);
            assert_eq!((long.len(), Hello::read(&long, &seal)), (1538, Ok(hello())));
            assert_eq!(Hello::read(&long[..1537], &seal), Err(Refusal::OtherSeal));
        }
    }

    // G-3, G-5
    #[test]
    fn a_damaged_message_is_none() {
        for seal in [open(), sealed(1)] {
            let frame = written(&seal);
            for at in 14..14 + LENGTH {
                let mut damaged = frame.clone();
                damaged[at] ^= 0x40;
                let refusal = match at - 14 {
                    0 | 1 => Refusal::Garbage,
                    2 => Refusal::OtherVersion(VERSION ^ 0x40),
                    _ => Refusal::OtherSeal,
                };
                assert_eq!(Hello::read(&damaged, &seal), Err(refusal), "byte {at}");
            }
        }
    }

    // G-27
    #[test]
    fn a_message_under_another_secret_or_none_is_told_from_garbage() {
        for (seal, other) in [(open(), sealed(1)), (sealed(1), open()), (sealed(1), sealed(2))] {
            assert_eq!(Hello::read(&written(&seal), &other), Err(Refusal::OtherSeal));
        }
    }

    // G-5: a guard of another version may have a protection that this version does not know.
    #[test]
    fn a_message_with_an_unknown_protection_is_none() {
        let mut frame = written(&open());
        for (family, is_known) in [(99, false), (1, true)] {
            frame[14 + 28] = family;
            frame.truncate(14 + LENGTH);
            open().finish(&mut frame, LENGTH, 0);
            assert_eq!(Hello::read(&frame, &open()).is_ok(), is_known);
        }
    }

    proptest! {
        // G-3
        #[test]
        fn garbage_is_none(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(Hello::read(&bytes, &open()).is_err());
        }
    }
}

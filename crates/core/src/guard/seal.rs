//! The seal at the end of every frame from guard to guard: it tells that the frame is genuine, of this session, and
//! new.
//!
//! ```text
//! without a secret                                    with a secret (G-27, G-28)
//! | ... headers ... | padding | tag |                 | ... headers ... | padding | count | tag |
//!                     to 60 B   4 B                                       to 60 B    4 B    8 B
//! ```
//!
//! Without a secret the tag mixes the session's names with the headers and the length. Garbage and frames of an
//! earlier session fail but for one chance in 2^32 (G-3), but the tag is no protection against an attacker who
//! reads the link. With a secret the tag is SipHash-2-4 under a key of the session and the direction, of headers,
//! length and the count of frames, and no count is taken twice. The part of a frame behind its headers is not
//! sealed.

use super::Frame;
use super::replay::ReplayWindow;
use super::secret::Secret;
use crate::wire::MINIMUM_FRAME;
use crate::wire::ethernet::EthernetHeader;
use core::fmt;
use core::hash::Hasher;
use siphasher::sip::SipHasher24;

/// The length to which frames are padded before the tag goes on: Ethernet's shortest. A network card that pads
/// would otherwise put its zeros behind the tag (G-4).
const SHORTEST: usize = MINIMUM_FRAME.0 as usize;
/// Bytes of a tag without a secret.
const PUBLIC_TAG: usize = 4;
/// Bytes of a tag under a secret key.
const SECRET_TAG: usize = 8;
/// Bytes of the count of frames under a secret key.
const COUNT: usize = 4;
/// Bytes of count and tag behind a frame that is sealed whole (RT-2).
pub(crate) const WHOLE_SEAL: usize = COUNT + SECRET_TAG;
/// The names in the public key of messages, which belong to no session.
const MESSAGES: Names = Names { ours: 0x4c6f_7373, theirs: 0x794c_696e, session: 0 };

/// The identities of both guards, and the number of their session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Names {
    pub(super) ours: u32,
    pub(super) theirs: u32,
    pub(super) session: u32,
}

impl Names {
    /// Returns the names as the other end has them.
    pub(super) fn swapped(self) -> Self {
        Self { ours: self.theirs, theirs: self.ours, ..self }
    }
}

/// The key of one direction of a session, or of messages.
#[derive(Clone, Copy)]
enum Key {
    /// A key made of names that everybody may know.
    Public(u64),
    /// A key made of a secret.
    Secret(SipHasher24),
}

impl Key {
    /// Returns the key of the frames that `names.ours` sends in a session.
    fn of_frames(secret: Option<&Secret>, names: Names) -> Self {
        let Names { ours, theirs, session } = names;
        match secret {
            None => Self::Public(mix(mix(u64::from(ours) << 32 | u64::from(theirs)) ^ u64::from(session))),
            Some(secret) => {
                let names = [ours.to_be_bytes(), theirs.to_be_bytes(), session.to_be_bytes()];
                let words = [b"frames", names[0].as_slice(), names[1].as_slice(), names[2].as_slice()];
                Self::Secret(SipHasher24::new_with_key(&secret.key(&words)))
            }
        }
    }

    /// Returns the key of messages.
    fn of_messages(secret: Option<&Secret>) -> Self {
        match secret {
            None => Self::of_frames(None, MESSAGES),
            Some(secret) => Self::Secret(SipHasher24::new_with_key(&secret.key(&[b"messages"]))),
        }
    }

    /// Returns the tag of a frame of `length` bytes whose headers are `headers`. Its first [`Key::tag_len`] bytes
    /// are used.
    fn tag(&self, count: u64, headers: &[u8], length: usize) -> [u8; SECRET_TAG] {
        match self {
            Self::Public(key) => {
                let words = headers.chunks(8).map(|chunk| {
                    let mut word = [0; 8];
                    word[..chunk.len()].copy_from_slice(chunk);
                    u64::from_be_bytes(word)
                });
                words.fold(key ^ length as u64, |hash, word| mix(hash ^ word)).to_be_bytes()
            }
            Self::Secret(hasher) => {
                let mut hasher = *hasher;
                hasher.write(&count.to_be_bytes());
                hasher.write(&(length as u64).to_be_bytes());
                hasher.write(headers);
                hasher.finish().to_be_bytes()
            }
        }
    }

    fn tag_len(&self) -> usize {
        match self {
            Self::Public(_) => PUBLIC_TAG,
            Self::Secret(_) => SECRET_TAG,
        }
    }

    fn count_len(&self) -> usize {
        match self {
            Self::Public(_) => 0,
            Self::Secret(_) => COUNT,
        }
    }

    /// Whether `tag` is the tag of this count, these headers and this length. The bytes are compared as one word,
    /// so that the time does not tell one byte from another.
    fn is_tag(&self, tag: &[u8], count: u64, headers: &[u8], length: usize) -> bool {
        let (mut said, mut right) = ([0; SECRET_TAG], self.tag(count, headers, length));
        said[..tag.len()].copy_from_slice(tag);
        right[tag.len()..].fill(0);
        u64::from_be_bytes(said) == u64::from_be_bytes(right)
    }
}

/// Prints the kind of the key only, never the key.
impl fmt::Debug for Key {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Public(_) => "Public(..)",
            Self::Secret(_) => "Secret(..)",
        })
    }
}

/// Mixes a word by the finaliser of SplitMix64: every input bit reaches every output bit.
fn mix(mut word: u64) -> u64 {
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// Returns by how many bytes a seal makes a frame longer.
pub(super) fn trailer(is_secret: bool) -> usize {
    if is_secret { COUNT + SECRET_TAG } else { PUBLIC_TAG }
}

/// Returns the bytes between the Ethernet header and a trailer; `None` when the frame is too short for both.
fn between(frame: &[u8], trailer: usize) -> Option<&[u8]> {
    frame.get(EthernetHeader::LEN..frame.len().checked_sub(trailer)?)
}

/// Returns the first `length` bytes behind the Ethernet header.
fn headers(frame: &[u8], length: usize) -> &[u8] {
    &frame[EthernetHeader::LEN..EthernetHeader::LEN + length]
}

/// The session of a frame with a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The present session: the whole frame counts.
    Session,
    /// The session before: the frame's contents count, its numbers do not (G-6).
    Former,
    /// The present session or the one before, but the frame has arrived before (G-28).
    Repeated,
    /// Neither session: garbage (G-3).
    Foreign,
}

/// The receiving half of a session.
#[derive(Clone, Debug)]
struct Receiving {
    key: Key,
    window: ReplayWindow,
}

impl Receiving {
    fn new(key: Key) -> Self {
        Self { key, window: ReplayWindow::new() }
    }

    /// Takes in a frame. Returns whether it is new; `None` when it is not genuine.
    fn take(&mut self, frame: &[u8], header_len: usize) -> Option<bool> {
        let (tag_len, count_len) = (self.key.tag_len(), self.key.count_len());
        let body = between(frame, tag_len + count_len).filter(|body| body.len() >= header_len)?;
        let length = EthernetHeader::LEN + body.len();
        let (count, tag) = frame[length..].split_at(count_len);
        let low = count.iter().fold(0, |low, byte| low << 8 | u32::from(*byte));
        let number = self.window.extend(low);
        if !self.key.is_tag(tag, number, headers(frame, header_len), length) {
            return None;
        }
        if tag_len == PUBLIC_TAG {
            return Some(true);
        }
        let is_new = self.window.is_new(number);
        if is_new {
            self.window.note(number);
        }
        Some(is_new)
    }
}

/// The keys of a session, lent to a line protocol, which seals the frames that leave and checks those that arrive.
#[derive(Clone, Debug)]
pub struct Seal {
    names: Names,
    sending: Key,
    /// How many frames were sealed in the session.
    sealed: u64,
    receiving: Receiving,
    former: Option<Receiving>,
}

impl Seal {
    pub(super) fn new(secret: Option<&Secret>, names: Names) -> Self {
        Self {
            names,
            sending: Key::of_frames(secret, names),
            sealed: 0,
            receiving: Receiving::new(Key::of_frames(secret, names.swapped())),
            former: None,
        }
    }

    /// Seals by a new session from now on. Late frames of the session before are still recognised.
    pub(super) fn rename(&mut self, secret: Option<&Secret>, names: Names) {
        if names == self.names {
            return;
        }
        let before = core::mem::replace(self, Self::new(secret, names));
        self.former = Some(before.receiving);
    }

    /// Pads and seals a frame. The seal covers the first `header_len` bytes behind the Ethernet header.
    pub fn finish(&mut self, out: &mut Frame, header_len: usize) {
        let (tag_len, count_len) = (self.sending.tag_len(), self.sending.count_len());
        out.resize(out.len().max(SHORTEST - tag_len - count_len), 0);
        let tag = self.sending.tag(self.sealed, headers(out, header_len), out.len());
        out.extend_from_slice(&(self.sealed as u32).to_be_bytes()[COUNT - count_len..]);
        out.extend_from_slice(&tag[..tag_len]);
        self.sealed += 1;
    }

    /// Pads and seals a whole frame, contents included (RT-3).
    pub fn finish_whole(&mut self, out: &mut Frame) {
        let trailer = self.trailer();
        out.resize(out.len().max(SHORTEST - trailer), 0);
        self.finish(out, out.len() - EthernetHeader::LEN);
    }

    /// Returns the origin of a frame that is sealed whole (RT-3).
    pub fn origin_whole(&mut self, frame: &[u8]) -> Origin {
        let Some(body) = self.body(frame) else { return Origin::Foreign };
        let header_len = body.len();
        self.origin(frame, header_len)
    }

    /// Returns the bytes of count and tag at the end of a frame.
    fn trailer(&self) -> usize {
        self.sending.tag_len() + self.sending.count_len()
    }

    /// Returns the origin of a frame with `header_len` bytes of headers. A genuine frame counts as arrived from
    /// then on.
    pub fn origin(&mut self, frame: &[u8], header_len: usize) -> Origin {
        let known = |receiving: &mut Receiving, origin| {
            let is_new = receiving.take(frame, header_len)?;
            Some(if is_new { origin } else { Origin::Repeated })
        };
        known(&mut self.receiving, Origin::Session)
            .or_else(|| self.former.as_mut().and_then(|former| known(former, Origin::Former)))
            .unwrap_or(Origin::Foreign)
    }

    /// Returns the frame without its trailer; `None` when the frame is shorter than an Ethernet header and a
    /// trailer.
    pub fn opened<'a>(&self, frame: &'a [u8]) -> Option<&'a [u8]> {
        between(frame, self.trailer()).map(|body| &frame[..EthernetHeader::LEN + body.len()])
    }

    /// Returns the bytes between the Ethernet header and the trailer; `None` when the frame is too short for both.
    pub fn body<'a>(&self, frame: &'a [u8]) -> Option<&'a [u8]> {
        Some(&self.opened(frame)?[EthernetHeader::LEN..])
    }
}

/// The key of messages from guard to guard, which belong to no session and have numbers of their own.
#[derive(Clone, Debug)]
pub(super) struct MessageSeal(Key);

impl MessageSeal {
    pub(super) fn new(secret: Option<&Secret>) -> Self {
        Self(Key::of_messages(secret))
    }

    /// Pads a message to `least` bytes and seals it. The seal covers its first `header_len` bytes behind the
    /// Ethernet header.
    pub(super) fn finish(&self, out: &mut Frame, header_len: usize, least: usize) {
        let tag_len = self.0.tag_len();
        out.resize(out.len().max(least.max(SHORTEST) - tag_len), 0);
        let tag = self.0.tag(0, headers(out, header_len), out.len());
        out.extend_from_slice(&tag[..tag_len]);
    }

    /// Whether a message of `header_len` bytes bears the seal of this key.
    pub(super) fn is_genuine(&self, frame: &[u8], header_len: usize) -> bool {
        let body = between(frame, self.0.tag_len()).filter(|body| body.len() >= header_len);
        body.is_some_and(|body| {
            let length = EthernetHeader::LEN + body.len();
            self.0.is_tag(&frame[length..], 0, headers(frame, header_len), length)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    const NEAR: Names = Names { ours: 1, theirs: 2, session: 7 };
    const HEADERS: usize = 6;

    fn secret(byte: u8) -> Secret {
        Secret::new(&[byte; 32]).unwrap()
    }

    fn frame(seal: &mut Seal) -> Frame {
        let mut frame = alloc::vec![0x11; 80];
        seal.finish(&mut frame, HEADERS);
        frame
    }

    // G-3, G-6
    #[test]
    fn a_frame_is_of_this_session_the_one_before_or_none() {
        for secret in [None, Some(&secret(1))] {
            let (mut near, mut far) = (Seal::new(secret, NEAR), Seal::new(secret, NEAR.swapped()));
            let frames = [(); 4].map(|()| frame(&mut near));
            assert_eq!(far.origin(&frames[0], HEADERS), Origin::Session);
            far.rename(secret, Names { session: 9, ..NEAR.swapped() });
            assert_eq!(far.origin(&frames[1], HEADERS), Origin::Former);
            near.rename(secret, Names { session: 9, ..NEAR });
            assert_eq!(far.origin(&frame(&mut near), HEADERS), Origin::Session);
            far.rename(secret, Names { session: 10, ..NEAR.swapped() });
            assert_eq!(far.origin(&frames[2], HEADERS), Origin::Foreign);
            assert_eq!(near.origin(&frames[3], HEADERS), Origin::Foreign, "it is our own");
        }
    }

    // G-28
    #[test]
    fn with_a_secret_nothing_counts_twice() {
        let secret = secret(1);
        let (mut near, mut far) = (Seal::new(Some(&secret), NEAR), Seal::new(Some(&secret), NEAR.swapped()));
        let frames = [(); 3].map(|()| frame(&mut near));
        assert_eq!(far.origin(&frames[1], HEADERS), Origin::Session);
        assert_eq!(far.origin(&frames[1], HEADERS), Origin::Repeated);
        assert_eq!(far.origin(&frames[0], HEADERS), Origin::Session);
        far.rename(Some(&secret), Names { session: 8, ..NEAR.swapped() });
        assert_eq!(far.origin(&frames[0], HEADERS), Origin::Repeated);
        assert_eq!(far.origin(&frames[2], HEADERS), Origin::Former);
        assert_eq!(far.origin(&frames[2], HEADERS), Origin::Repeated);
    }

    // G-27
    #[test]
    fn another_secret_and_none_are_foreign() {
        let secrets = [None, Some(secret(1)), Some(secret(2))];
        for (sent, sender) in secrets.iter().enumerate() {
            for (read, receiver) in secrets.iter().enumerate() {
                let sealed = frame(&mut Seal::new(sender.as_ref(), NEAR));
                let origin = Seal::new(receiver.as_ref(), NEAR.swapped()).origin(&sealed, HEADERS);
                assert_eq!(origin == Origin::Session, sent == read);
            }
        }
    }

    // G-3, G-27
    #[test]
    fn whatever_is_sealed_cannot_be_changed() {
        for secret in [None, Some(&secret(1))] {
            let sealed = frame(&mut Seal::new(secret, NEAR));
            let trailer = trailer(secret.is_some());
            let seal = Seal::new(secret, NEAR.swapped());
            assert_eq!(seal.body(&sealed).map(<[u8]>::len), Some(80 - EthernetHeader::LEN));
            assert_eq!(sealed.len(), 80 + trailer);
            let header = EthernetHeader::LEN..EthernetHeader::LEN + HEADERS;
            for at in header.chain(80..80 + trailer) {
                let mut changed = sealed.clone();
                changed[at] ^= 1;
                assert_eq!(seal.clone().origin(&changed, HEADERS), Origin::Foreign, "byte {at}");
            }
            let mut longer = sealed.clone();
            longer.insert(40, 0);
            assert_eq!(seal.clone().origin(&longer, HEADERS), Origin::Foreign);
        }
    }

    proptest! {
        // G-3: a frame that is too short for its parts is not read beyond its end.
        #[test]
        fn garbage_is_foreign(bytes in proptest::collection::vec(any::<u8>(), 0..100), with in any::<bool>()) {
            let secret = with.then(|| secret(1));
            prop_assert_eq!(Seal::new(secret.as_ref(), NEAR).origin(&bytes, HEADERS), Origin::Foreign);
            prop_assert!(!MessageSeal::new(secret.as_ref()).is_genuine(&bytes, HEADERS));
        }
    }

    // G-28: a link on which more than 2^32 frames pass in a session.
    #[test]
    fn counts_go_on_behind_four_bytes() {
        let secret = secret(1);
        let (mut near, mut far) = (Seal::new(Some(&secret), NEAR), Seal::new(Some(&secret), NEAR.swapped()));
        let mut recorded = Vec::new();
        for step in 0..8u64 {
            near.sealed = step << 30;
            recorded.push(frame(&mut near));
            assert_eq!(far.origin(&recorded[step as usize], HEADERS), Origin::Session);
        }
        assert_eq!(
            far.origin(&recorded[3], HEADERS),
            Origin::Foreign,
            "its count is that of the seventh by now"
        );
        assert_eq!(far.origin(&recorded[7], HEADERS), Origin::Repeated);
    }
}

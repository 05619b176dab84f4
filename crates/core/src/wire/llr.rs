//! Link-level retry on the wire: the control ordered set, and the header of frames on a live link.
//!
//! ```text
//!         0 ..... 7   8 .. 11   12 ....... 31   32 ........ 47   48 .... 63
//!        +----------+---------+---------------+----------------+-----------+
//! set    |   kind   |   pad   |    number     |      data      |    pad    |
//! shim   | flags  0 |   pad   |    number     |    EtherType   |   payload
//!        +----------+---------+---------------+----------------+
//! ```
//!
//! Ultra Ethernet carries the number in the preamble and the control set in the line code. Of the
//! control set only its length and the four kinds are known; the places of the fields are ours
//! (LLR-21). The programs on a live link can set neither preamble nor line code. There both travel in
//! frames with an EtherType of their own, and the first octet tells them apart (LLR-22).

use super::ethernet::EtherType;
use super::{WireError, be16, be24, demand, put16, put24, require};

const SET: &str = "LLR control set";
const SHIM: &str = "LLR shim";
/// The EtherType of control sets and numbered frames on a live link: the second value that IEEE 802
/// sets aside for local experiments; the first is the guard's.
pub const ETHERTYPE: EtherType = EtherType(0x88b6);
/// Mask of the 20 bits of a number.
const NUMBER: u32 = (1 << 20) - 1;
/// Mask of the low bits of the first octet, where a control set has its kind, and a shim has zero
/// (LLR-22).
const KIND: u8 = 0x0f;
/// The bit that marks a frame that is sent again.
const IS_REPLAY: u8 = 0x80;
/// The bit that marks a frame that was poisoned upstream.
const IS_POISONED: u8 = 0x40;

/// The kind of a control set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum ControlKind {
    /// Every frame up to the number has arrived.
    Ack = 0x01,
    /// Every frame up to the number has arrived, and the next one is missing.
    Nack = 0x02,
    /// Numbering starts.
    Init = 0x03,
    /// The receiver is ready for the numbers of an INIT.
    InitEcho = 0x04,
}

impl ControlKind {
    /// Returns the kind that `octet` stands for.
    const fn of(octet: u8) -> Option<Self> {
        match octet {
            0x01 => Some(Self::Ack),
            0x02 => Some(Self::Nack),
            0x03 => Some(Self::Init),
            0x04 => Some(Self::InitEcho),
            _ => None,
        }
    }
}

/// Bytes that hold a control set.
#[derive(Clone, Copy, Debug)]
pub struct ControlView<'a>(&'a [u8], ControlKind);

impl<'a> ControlView<'a> {
    /// Checks length and kind once.
    ///
    /// # Errors
    /// If the bytes are too short, or of an unknown kind.
    pub fn new_checked(bytes: &'a [u8]) -> Result<Self, WireError> {
        require(SET, bytes, ControlSet::LEN)?;
        let kind = ControlKind::of(bytes[0]);
        let unknown = WireError::Invalid { header: SET, field: "kind", value: u32::from(bytes[0]) };
        kind.map(|kind| Self(bytes, kind)).ok_or(unknown)
    }

    /// Returns the kind of the control set.
    pub const fn kind(self) -> ControlKind {
        self.1
    }

    /// Returns the number.
    pub fn number(self) -> u32 {
        be24(self.0, 1) & NUMBER
    }

    /// Returns the data of an INIT or its echo.
    pub fn data(self) -> u16 {
        be16(self.0, 4)
    }
}

/// A control ordered set (LLR-21).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ControlSet {
    /// Kind of the control set.
    pub kind: ControlKind,
    /// A number of 20 bits.
    pub number: u32,
    /// The data of an INIT or its echo; zero otherwise.
    pub data: u16,
}

impl ControlSet {
    /// Length in bytes.
    pub const LEN: usize = 8;

    /// Reads a control set. The bytes behind it are padding.
    ///
    /// # Errors
    /// If the bytes are too short, or of an unknown kind.
    pub fn parse(bytes: &[u8]) -> Result<Self, WireError> {
        let view = ControlView::new_checked(bytes)?;
        Ok(Self { kind: view.kind(), number: view.number(), data: view.data() })
    }

    /// Writes the control set at the start of `buffer`.
    ///
    /// # Panics
    /// If `buffer` is shorter than [`LEN`](Self::LEN), or the number longer than 20 bits.
    pub fn emit(&self, buffer: &mut [u8]) {
        buffer[0] = self.kind as u8;
        put_number(buffer, self.number);
        put16(buffer, 4, self.data);
        put16(buffer, 6, 0);
    }
}

/// Bytes that start with a shim.
#[derive(Clone, Copy, Debug)]
pub struct ShimView<'a>(&'a [u8]);

impl<'a> ShimView<'a> {
    /// Checks length and kind once.
    ///
    /// # Errors
    /// If the bytes are too short, or start with a control set.
    pub fn new_checked(bytes: &'a [u8]) -> Result<Self, WireError> {
        require(SHIM, bytes, Shim::LEN)?;
        demand(SHIM, "kind", bytes[0] & KIND, bytes[0] & KIND == 0)?;
        Ok(Self(bytes))
    }

    /// Whether the frame is sent again.
    pub fn is_replay(self) -> bool {
        self.0[0] & IS_REPLAY != 0
    }

    /// Whether the frame was poisoned upstream.
    pub fn is_poisoned(self) -> bool {
        self.0[0] & IS_POISONED != 0
    }

    /// Returns the number of the frame.
    pub fn number(self) -> u32 {
        be24(self.0, 1) & NUMBER
    }

    /// Returns the EtherType in the Ethernet header of the original frame.
    pub fn ethertype(self) -> EtherType {
        EtherType(be16(self.0, 4))
    }

    /// Returns the payload behind the shim.
    pub fn payload(self) -> &'a [u8] {
        &self.0[Shim::LEN..]
    }
}

/// The header of a numbered frame on a live link, in place of its preamble (LLR-22).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shim {
    /// Whether the frame is sent again. The bit is for observers; the receiver does not look at it.
    pub is_replay: bool,
    /// Whether the frame was poisoned upstream.
    pub is_poisoned: bool,
    /// A number of 20 bits.
    pub number: u32,
    /// EtherType in the Ethernet header of the original frame.
    pub ethertype: EtherType,
}

impl Shim {
    /// Length in bytes.
    pub const LEN: usize = 6;

    /// Reads the shim and returns the payload behind it.
    ///
    /// # Errors
    /// If the bytes are too short, or start with a control set.
    pub fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let view = ShimView::new_checked(bytes)?;
        let shim = Self {
            is_replay: view.is_replay(),
            is_poisoned: view.is_poisoned(),
            number: view.number(),
            ethertype: view.ethertype(),
        };
        Ok((shim, view.payload()))
    }

    /// Writes the shim at the start of `buffer`.
    ///
    /// # Panics
    /// If `buffer` is shorter than [`LEN`](Self::LEN), or the number longer than 20 bits.
    pub fn emit(&self, buffer: &mut [u8]) {
        let replay = if self.is_replay { IS_REPLAY } else { 0 };
        let poisoned = if self.is_poisoned { IS_POISONED } else { 0 };
        buffer[0] = replay | poisoned;
        put_number(buffer, self.number);
        put16(buffer, 4, self.ethertype.0);
    }
}

/// The forms of a frame with [`ETHERTYPE`], behind its Ethernet header (LLR-22).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LlrFrame<'a> {
    /// A numbered frame, with its payload.
    Data(Shim, &'a [u8]),
    /// A control set.
    Control(ControlSet),
}

impl<'a> LlrFrame<'a> {
    /// Reads a numbered frame or a control set.
    ///
    /// # Errors
    /// If the bytes are too short, or of an unknown kind.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, WireError> {
        if bytes.first().is_some_and(|octet| octet & KIND != 0) {
            return ControlSet::parse(bytes).map(Self::Control);
        }
        Shim::parse(bytes).map(|(shim, payload)| Self::Data(shim, payload))
    }
}

/// Writes a number at its place, which control set and shim have in common.
fn put_number(buffer: &mut [u8], number: u32) {
    assert!(number <= NUMBER, "{number} does not fit in 20 bits");
    put24(buffer, 1, number);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn set(kind: ControlKind, number: u32, data: u16) -> ([u8; 8], ControlSet) {
        let set = ControlSet { kind, number, data };
        let mut buffer = [0xff; 8];
        set.emit(&mut buffer);
        (buffer, set)
    }

    const fn shim(number: u32, ethertype: EtherType) -> Shim {
        Shim { is_replay: false, is_poisoned: false, number, ethertype }
    }

    // LLR-21
    #[test]
    fn control_sets_are_their_literal_bytes() {
        let literal = [
            (set(ControlKind::Ack, 0x1_2345, 0), [1, 0x01, 0x23, 0x45, 0, 0, 0, 0]),
            (set(ControlKind::Nack, 0xf_ffff, 0), [2, 0x0f, 0xff, 0xff, 0, 0, 0, 0]),
            (set(ControlKind::Init, 7, 0xbeef), [3, 0, 0, 7, 0xbe, 0xef, 0, 0]),
            (set(ControlKind::InitEcho, 7, 0xbeef), [4, 0, 0, 7, 0xbe, 0xef, 0, 0]),
        ];
        for ((bytes, set), expected) in literal {
            assert_eq!(bytes, expected);
            assert_eq!(ControlSet::parse(&bytes), Ok(set));
        }
    }

    // LLR-22
    #[test]
    fn a_shim_is_its_literal_bytes() {
        let shim = shim(0xa_bcde, EtherType::IPV4);
        let replay = Shim { is_replay: true, ..shim };
        let poisoned = Shim { is_poisoned: true, ..shim };
        for (shim, first) in [(shim, 0), (replay, 0x80), (poisoned, 0x40)] {
            let mut buffer = [0xff; 6];
            shim.emit(&mut buffer);
            assert_eq!(buffer, [first, 0x0a, 0xbc, 0xde, 0x08, 0x00]);
            assert_eq!(Shim::parse(&buffer), Ok((shim, &[][..])));
        }
    }

    // LLR-22
    #[test]
    fn the_first_octet_tells_a_control_set_from_a_frame() {
        let (bytes, set) = set(ControlKind::Nack, 9, 0);
        assert_eq!(LlrFrame::parse(&bytes), Ok(LlrFrame::Control(set)));
        let shim = shim(9, EtherType::IPV6);
        let mut bytes = [0x55; 8];
        shim.emit(&mut bytes);
        assert_eq!(LlrFrame::parse(&bytes), Ok(LlrFrame::Data(shim, &[0x55, 0x55])));
    }

    // LLR-21, WIRE-2, WIRE-3
    #[test]
    fn unknown_kinds_and_short_bytes_are_refused() {
        for kind in [0, 5, 0x81] {
            let error = WireError::Invalid { header: SET, field: "kind", value: u32::from(kind) };
            assert_eq!(ControlSet::parse(&[kind, 0, 0, 0, 0, 0, 0, 0]), Err(error));
        }
        let error = WireError::Invalid { header: SHIM, field: "kind", value: 1 };
        assert_eq!(Shim::parse(&[0x81, 0, 0, 0, 0, 0]), Err(error));
        assert!((0..8).all(|length| ControlSet::parse(&[1; 8][..length]).is_err()));
        assert!((0..6).all(|length| Shim::parse(&[0; 6][..length]).is_err()));
        assert_eq!(ControlSet::parse(&[1, 0xf0, 0, 5, 0, 0, 9, 9]).map(|set| set.number), Ok(5));
    }

    #[test]
    #[should_panic(expected = "does not fit in 20 bits")]
    fn a_number_is_never_cut() {
        set(ControlKind::Ack, 1 << 20, 0);
    }

    proptest! {
        /// No bytes cause a panic, and accepted bytes are written and read back.
        // LLR-22, WIRE-3
        #[test]
        fn garbage_is_refused_or_round_trips(bytes in prop::collection::vec(any::<u8>(), 0..20)) {
            match LlrFrame::parse(&bytes) {
                Ok(LlrFrame::Control(set)) => {
                    let mut written = [0; ControlSet::LEN];
                    set.emit(&mut written);
                    prop_assert_eq!(ControlSet::parse(&written), Ok(set));
                }
                Ok(LlrFrame::Data(shim, payload)) => {
                    let mut written = bytes.clone();
                    shim.emit(&mut written);
                    prop_assert_eq!(LlrFrame::parse(&written), Ok(LlrFrame::Data(shim, payload)));
                }
                Err(_) => {}
            }
        }
    }
}

//! Frames of a routed guard, behind the EtherType: data, requests, repairs, and messages about numbers (RT-2).
//!
//! ```text
//! data     | kind, repetition | number 3 | frame or packet ...
//! short    | kind             | number 3 | model 2 | what its headers do not tell ...
//! request  | kind             | entries 1 | (first 3, length 1, repetition 1) ...
//! gone     | kind             | entries 1 | (first 3, length 1, 0) ...
//! told     | kind             | next 3 |
//! repair   | kind             | end 3 | covered 1 | sum ...
//! ```

use super::ethernet::EtherType;
use super::{WireError, be24, demand, require};
use alloc::vec::Vec;

const NAME: &str = "routed frame";
/// The EtherType of these frames. In a datagram it cannot stand for another protocol.
pub const ETHERTYPE: EtherType = EtherType(0x88b6);
/// The bits of a number.
pub const NUMBER_BITS: u32 = 24;
/// The most entries of one request, which fits the shortest datagram that every path carries (RT-11).
pub const MOST_ENTRIES: usize = 200;

/// The octets in front of the EtherType, which do not travel. A guard and its port use them (RT-2).
const LOCAL_OCTETS: usize = 12;
/// The most octets of a frame that do not travel.
pub const MOST_UNSENT: usize = LOCAL_OCTETS + 2;
/// The first octet of a message of the guards (G-5), which travels with its EtherType. No kind with a repetition has it.
const MESSAGE: u8 = 0x88;

fn is_ours(frame: &[u8]) -> bool {
    frame.get(LOCAL_OCTETS..MOST_UNSENT) == Some(&ETHERTYPE.0.to_be_bytes())
}

/// Returns how many octets of a frame do not travel in a datagram: of the frames described here not even the EtherType (RT-2).
pub fn unsent(frame: &[u8]) -> usize {
    if is_ours(frame) { MOST_UNSENT } else { LOCAL_OCTETS }
}

/// Returns how many octets of a frame did not travel in this datagram.
pub fn unsent_before(datagram: &[u8]) -> usize {
    if datagram.first() == Some(&MESSAGE) { LOCAL_OCTETS } else { MOST_UNSENT }
}

/// Completes the frame of an arrived datagram, with this ECN field, and returns the frame. `room` has [`MOST_UNSENT`] octets
/// to write to in front of the datagram.
///
/// # Panics
/// If the room is shorter.
pub fn arrived(room: &mut [u8], ecn: u8) -> &[u8] {
    let (front, datagram) = room.split_at_mut(MOST_UNSENT);
    let start = MOST_UNSENT - unsent_before(datagram);
    front[start..].fill(0);
    if start == 0 {
        front[LOCAL_OCTETS..].copy_from_slice(&ETHERTYPE.0.to_be_bytes());
    }
    front[start] = ecn;
    &room[start..]
}

/// Returns the ECN field with which a frame is to leave, or has come; messages bear none (RT-4).
pub fn ecn(frame: &[u8]) -> u8 {
    if is_ours(frame) { frame[0] & 0b11 } else { 0 }
}

const KIND: u8 = 0x0f;
const DATA: u8 = 0;
const BARE: u8 = 1;
const REQUEST: u8 = 2;
const GONE: u8 = 3;
const TOLD: u8 = 4;
const REPAIR: u8 = 5;
const MODEL: u8 = 6;
const BARE_MODEL: u8 = 7;
const SHORT: u8 = 8;
const SHORT_NEAR: u8 = 9;
/// Bytes in front of the sum of a repair.
pub const REPAIR_HEADER: usize = 5;
/// Bytes of an entry.
pub const ENTRY: usize = 5;
/// Bytes in front of the entries.
pub const BEFORE_ENTRIES: usize = 2;

/// The properties of contents that travel whole, which both ends know besides the octets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Whole {
    /// Whether the contents are an IP packet, without its Ethernet header.
    pub is_bare: bool,
    /// Whether short frames may refer to the contents (RT-17).
    pub is_model: bool,
}

/// How the contents of a data frame travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// All contents travel.
    Whole(Whole),
    /// Contents travel without the octets that the headers of an earlier frame have told.
    Short(Short),
}

/// The frame that a short frame refers to, and the form of the differences (RT-17).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Short {
    /// The last bits of the number of the frame that is referred to.
    pub model: u16,
    /// Whether the numbers that may be told as differences are told so.
    pub is_near: bool,
}

/// The header in front of the contents of a data frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataHeader {
    /// How the contents travel.
    pub form: Form,
    /// The repetition of the contents; zero is the first time, and the only value in a short frame.
    pub repetition: u8,
    /// The number of the frame, modulo 2^24.
    pub number: u32,
}

impl DataHeader {
    /// Length in bytes, of a frame that travels whole.
    pub const LEN: usize = 4;
    /// Length in bytes, of a short frame.
    pub const SHORT_LEN: usize = 6;

    /// Appends the header.
    pub fn append(&self, out: &mut Vec<u8>) {
        let kind = match self.form {
            Form::Whole(Whole { is_bare, is_model }) => match (is_bare, is_model) {
                (false, false) => DATA,
                (true, false) => BARE,
                (false, true) => MODEL,
                (true, true) => BARE_MODEL,
            },
            Form::Short(short) => {
                if short.is_near {
                    SHORT_NEAR
                } else {
                    SHORT
                }
            }
        };
        out.push(kind | self.repetition << 4);
        out.extend_from_slice(&self.number.to_be_bytes()[1..]);
        if let Form::Short(short) = self.form {
            out.extend_from_slice(&short.model.to_be_bytes());
        }
    }
}

/// Consecutive numbers of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The first number, modulo 2^24.
    pub first: u32,
    /// How many numbers there are.
    pub length: u8,
    /// The repetition that is asked for. 0 says that the frames were rebuilt, [`UNREAD`] that they cannot be read.
    pub repetition: u8,
}

/// The repetition in a request which says that short frames with these numbers came, and that their model is not known
/// (RT-17).
pub const UNREAD: u8 = 255;

/// The entries of a request, or of a message of numbers that will not come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entries<'a>(&'a [u8]);

impl Entries<'_> {
    /// Returns the entries one after the other.
    pub fn iter(&self) -> impl Iterator<Item = Entry> {
        self.0.chunks_exact(ENTRY).map(|bytes| Entry {
            first: be24(bytes, 0),
            length: bytes[3],
            repetition: bytes[4],
        })
    }
}

/// The message of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoutedFrame<'a> {
    /// A frame of the LAN.
    Data(DataHeader, &'a [u8]),
    /// A request for these numbers.
    Request(Entries<'a>),
    /// A message that these numbers will not come.
    Gone(Entries<'a>),
    /// A message that all numbers before this one were sent.
    Told(u32),
    /// The sum over a number of frames before this number (RT-14).
    Repair(u32, u8, &'a [u8]),
}

impl<'a> RoutedFrame<'a> {
    /// Reads the bytes behind the EtherType, without the seal.
    ///
    /// # Errors
    /// If the bytes are too short, or no frame of a routed guard.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, WireError> {
        require(NAME, bytes, 1)?;
        let (kind, repetition) = (bytes[0] & KIND, bytes[0] >> 4);
        let is_whole = matches!(kind, DATA | BARE | MODEL | BARE_MODEL);
        demand(NAME, "repetition", repetition, repetition == 0 || is_whole)?;
        match kind {
            DATA | BARE | MODEL | BARE_MODEL => {
                require(NAME, bytes, DataHeader::LEN)?;
                let whole = Whole { is_bare: matches!(kind, BARE | BARE_MODEL), is_model: kind >= MODEL };
                let header = DataHeader { form: Form::Whole(whole), repetition, number: be24(bytes, 1) };
                Ok(Self::Data(header, &bytes[DataHeader::LEN..]))
            }
            SHORT | SHORT_NEAR => {
                require(NAME, bytes, DataHeader::SHORT_LEN)?;
                let model = u16::from_be_bytes([bytes[4], bytes[5]]);
                let short = Short { model, is_near: kind == SHORT_NEAR };
                let header = DataHeader { form: Form::Short(short), repetition, number: be24(bytes, 1) };
                Ok(Self::Data(header, &bytes[DataHeader::SHORT_LEN..]))
            }
            REQUEST => entries(bytes).map(Self::Request),
            GONE => entries(bytes).map(Self::Gone),
            TOLD => {
                require(NAME, bytes, 4)?;
                Ok(Self::Told(be24(bytes, 1)))
            }
            REPAIR => {
                require(NAME, bytes, REPAIR_HEADER)?;
                Ok(Self::Repair(be24(bytes, 1), bytes[4], &bytes[REPAIR_HEADER..]))
            }
            _ => demand(NAME, "kind", kind, false).map(|()| unreachable!("the demand is not met")),
        }
    }
}

fn entries(bytes: &[u8]) -> Result<Entries<'_>, WireError> {
    require(NAME, bytes, BEFORE_ENTRIES)?;
    let end = BEFORE_ENTRIES + usize::from(bytes[1]) * ENTRY;
    require(NAME, bytes, end)?;
    Ok(Entries(&bytes[BEFORE_ENTRIES..end]))
}

/// Appends a request, or a message of numbers that will not come.
///
/// # Panics
/// With more than [`MOST_ENTRIES`].
pub fn append_entries(out: &mut Vec<u8>, is_request: bool, entries: &[Entry]) {
    assert!(entries.len() <= MOST_ENTRIES, "a request has its longest length");
    out.extend_from_slice(&[if is_request { REQUEST } else { GONE }, entries.len() as u8]);
    for entry in entries {
        out.extend_from_slice(&entry.first.to_be_bytes()[1..]);
        out.extend_from_slice(&[entry.length, entry.repetition]);
    }
}

/// Appends the header in front of the sum of a repair.
pub fn append_repair(out: &mut Vec<u8>, end: u32, covered: u8) {
    out.push(REPAIR);
    out.extend_from_slice(&end.to_be_bytes()[1..]);
    out.push(covered);
}

/// Appends a message that all numbers before `next` were sent.
pub fn append_told(out: &mut Vec<u8>, next: u32) {
    out.push(TOLD);
    out.extend_from_slice(&next.to_be_bytes()[1..]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    // RT-2
    #[test]
    fn what_is_written_stands_where_the_document_says() {
        let mut out = Vec::new();
        for (is_bare, is_model, first) in
            [(false, false, 0x30), (true, false, 0x31), (false, true, 0x36), (true, true, 0x37)]
        {
            let form = Form::Whole(Whole { is_bare, is_model });
            let header = DataHeader { form, repetition: 3, number: 0x0a0b0c };
            header.append(&mut out);
            assert_eq!(out, [first, 0x0a, 0x0b, 0x0c]);
            out.push(0x45);
            assert_eq!(RoutedFrame::parse(&out), Ok(RoutedFrame::Data(header, &[0x45])));
            out.clear();
        }
        for (is_near, first) in [(false, 8), (true, 9)] {
            let form = Form::Short(Short { model: 0xfffe, is_near });
            let header = DataHeader { form, repetition: 0, number: 0x0a0b0c };
            header.append(&mut out);
            assert_eq!(out, [first, 0x0a, 0x0b, 0x0c, 0xff, 0xfe]);
            out.push(2);
            assert_eq!(RoutedFrame::parse(&out), Ok(RoutedFrame::Data(header, &[2])));
            out.clear();
        }
        append_told(&mut out, 0xfffffe);
        assert_eq!(out, [4, 0xff, 0xff, 0xfe]);
        assert_eq!(RoutedFrame::parse(&out), Ok(RoutedFrame::Told(0xfffffe)));
        out.clear();
        append_repair(&mut out, 0x0a0b0c, 25);
        out.push(0x77);
        assert_eq!(out, [5, 0x0a, 0x0b, 0x0c, 25, 0x77]);
        assert_eq!(RoutedFrame::parse(&out), Ok(RoutedFrame::Repair(0x0a0b0c, 25, &[0x77])));
        out.clear();
        let asked = [
            Entry { first: 5, length: 50, repetition: 1 },
            Entry { first: 0xffffff, length: 1, repetition: 2 },
        ];
        append_entries(&mut out, true, &asked);
        out.extend_from_slice(&[0; 40]);
        assert_eq!(out[..12], [2, 2, 0, 0, 5, 50, 1, 0xff, 0xff, 0xff, 1, 2]);
        let Ok(RoutedFrame::Request(read)) = RoutedFrame::parse(&out) else { panic!("a request") };
        assert_eq!(read.iter().collect::<Vec<_>>(), asked);
        append_entries(&mut out, false, &asked);
        assert!(matches!(RoutedFrame::parse(&out[52..]), Ok(RoutedFrame::Gone(_))));
    }

    // RT-4
    #[test]
    fn a_message_leaves_without_a_mark() {
        let mut frame = [0; 60];
        (frame[0], frame[12], frame[13]) = (0x02, 0x88, 0xb6);
        assert_eq!(ecn(&frame), 2);
        frame[13] = 0xb5;
        assert_eq!(ecn(&frame), 0);
        assert_eq!(ecn(&frame[..13]), 0);
    }

    // RT-2
    #[test]
    fn a_datagram_says_by_its_first_octet_what_does_not_travel() {
        let mut message = [7; 60];
        message[12..14].copy_from_slice(&[0x88, 0xb5]);
        let mut data = [7; 60];
        data[12..15].copy_from_slice(&[0x88, 0xb6, 0x57]);
        for (frame, octets) in [(message, 12), (data, 14)] {
            assert_eq!((unsent(&frame), unsent_before(&frame[octets..])), (octets, octets));
            let mut room = [&[9; MOST_UNSENT], &frame[octets..]].concat();
            let came = arrived(&mut room, 3);
            assert_eq!((came[0], &came[1..12], &came[12..]), (3, &[0; 11][..], &frame[12..]));
        }
        assert_eq!(arrived(&mut [9; MOST_UNSENT], 0)[12..], [0x88, 0xb6], "one without contents");
    }

    // RT-2
    #[test]
    fn what_nobody_sends_is_refused() {
        for bytes in [
            &[][..],
            &[5, 0, 0, 9],
            &[6],
            &[8, 0, 0, 0, 0],
            &[0x18, 0, 0, 0, 0, 0],
            &[0x88, 0, 0, 0, 0, 0],
            &[9, 0, 0, 0, 0],
            &[10, 0, 0, 0, 0, 0],
            &[0x0f],
            &[0, 0, 0],
            &[2],
            &[2, 1, 0, 0, 0, 1],
            &[4, 0, 0],
            &[0x12, 0],
        ] {
            assert!(RoutedFrame::parse(bytes).is_err(), "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn garbage_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            if let Ok(RoutedFrame::Request(entries) | RoutedFrame::Gone(entries)) = RoutedFrame::parse(&bytes) {
                prop_assert!(entries.iter().count() <= 255);
            }
        }
    }
}

//! Frames of a routed guard, behind the EtherType: data, requests for it, repairs, and what an end says of its numbers (RT-2).
//!
//! ```text
//! data     | kind, repetition | number 3 | frame or packet ...
//! request  | kind             | entries 1 | (first 3, length 1, repetition 1) ...
//! gone     | kind             | entries 1 | (first 3, length 1, 0) ...
//! told     | kind             | next 3 |
//! repair   | kind             | end 3 | covered 1 | sum ...
//! ```

use super::ethernet::EtherType;
use super::{WireError, be24, demand, require};
use alloc::vec::Vec;

const NAME: &str = "routed frame";
/// The EtherType of these frames: in a datagram no other protocol's can be meant.
pub const ETHERTYPE: EtherType = EtherType(0x88b6);
/// The bits of a number.
pub const NUMBER_BITS: u32 = 24;
/// The most entries of one request: it fits the shortest datagram that every path carries (RT-11).
pub const MOST_ENTRIES: usize = 200;
/// The highest repetition that a frame can name.
pub const MOST_REPETITIONS: u8 = 15;

/// The octets in front of the EtherType, which do not travel: a guard and its port use them (RT-2).
pub const LOCAL_OCTETS: usize = 12;

/// The ECN field with which a frame is to leave, or has come; messages bear none (RT-4).
pub fn ecn(frame: &[u8]) -> u8 {
    let is_ours = frame.get(LOCAL_OCTETS..LOCAL_OCTETS + 2) == Some(&ETHERTYPE.0.to_be_bytes());
    if is_ours { frame[0] & 0b11 } else { 0 }
}

const KIND: u8 = 0x0f;
const DATA: u8 = 0;
const BARE: u8 = 1;
const REQUEST: u8 = 2;
const GONE: u8 = 3;
const TOLD: u8 = 4;
const REPAIR: u8 = 5;
/// Bytes in front of the sum of a repair.
pub const REPAIR_HEADER: usize = 5;
/// Bytes of an entry.
pub const ENTRY: usize = 5;
/// Bytes in front of the entries.
pub const BEFORE_ENTRIES: usize = 2;

/// What stands in front of the contents of a data frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataHeader {
    /// Whether an IP packet follows, without its Ethernet header.
    pub is_bare: bool,
    /// Which repetition of its contents it is; zero is the first time.
    pub repetition: u8,
    /// Its number, modulo 2^24.
    pub number: u32,
}

impl DataHeader {
    /// Length in bytes.
    pub const LEN: usize = 4;

    /// Appends the header.
    pub fn append(&self, out: &mut Vec<u8>) {
        let kind = if self.is_bare { BARE } else { DATA };
        out.push(kind | self.repetition << 4);
        out.extend_from_slice(&self.number.to_be_bytes()[1..]);
    }
}

/// Numbers one behind the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The first of them, modulo 2^24.
    pub first: u32,
    /// How many there are.
    pub length: u8,
    /// For which repetition of their contents is asked.
    pub repetition: u8,
}

/// The entries of a request, or of what is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entries<'a>(&'a [u8]);

impl Entries<'_> {
    /// One after the other.
    pub fn iter(&self) -> impl Iterator<Item = Entry> {
        self.0.chunks_exact(ENTRY).map(|bytes| Entry {
            first: be24(bytes, 0),
            length: bytes[3],
            repetition: bytes[4],
        })
    }
}

/// What a frame says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoutedFrame<'a> {
    /// A frame of the LAN.
    Data(DataHeader, &'a [u8]),
    /// These numbers are asked for.
    Request(Entries<'a>),
    /// These numbers will not come.
    Gone(Entries<'a>),
    /// All numbers before this one were sent.
    Told(u32),
    /// The sum of so many frames before this number (RT-14).
    Repair(u32, u8, &'a [u8]),
}

impl<'a> RoutedFrame<'a> {
    /// Reads what stands behind the EtherType, without the seal.
    ///
    /// # Errors
    /// If it is too short, or nothing that a routed guard sends.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, WireError> {
        require(NAME, bytes, 1)?;
        let (kind, repetition) = (bytes[0] & KIND, bytes[0] >> 4);
        demand(NAME, "repetition", repetition, repetition == 0 || kind <= BARE)?;
        match kind {
            DATA | BARE => {
                require(NAME, bytes, DataHeader::LEN)?;
                let header = DataHeader { is_bare: kind == BARE, repetition, number: be24(bytes, 1) };
                Ok(Self::Data(header, &bytes[DataHeader::LEN..]))
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

/// Appends a request, or what is gone.
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

/// Appends what stands in front of the sum of a repair.
pub fn append_repair(out: &mut Vec<u8>, end: u32, covered: u8) {
    out.push(REPAIR);
    out.extend_from_slice(&end.to_be_bytes()[1..]);
    out.push(covered);
}

/// Appends how far was sent.
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
        let header = DataHeader { is_bare: true, repetition: 3, number: 0x0a0b0c };
        header.append(&mut out);
        assert_eq!(out, [0x31, 0x0a, 0x0b, 0x0c]);
        out.push(0x45);
        assert_eq!(RoutedFrame::parse(&out), Ok(RoutedFrame::Data(header, &[0x45])));
        out.clear();
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
    fn what_nobody_sends_is_refused() {
        for bytes in [
            &[][..],
            &[5, 0, 0, 9],
            &[6],
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

//! Short headers: of headers that the receiving end has seen, only the octets that change travel (RT-17).
//!
//! ```text
//!   whole   | addresses, ports ... | ECN | length | id | ... | sequence ... | payload
//!   model   | = = = = = = = = = =  |                  what the receiving end keeps of an earlier frame
//!   short   |                        ECN            id         sequence ... | payload
//! ```
//!
//! A [`Layout`] gives a part for each octet of known headers: the same in all frames of a flow, told in each frame, told as a
//! difference, or computed from the others. [`Models`] are the frames that the sending end refers to. [`Seen`] has the headers
//! that the receiving end keeps.

mod models;
mod seen;

pub use models::{Choice, Models};
pub use seen::Seen;

use crate::guard::Frame;
use crate::wire::checksum::Checksum;
use crate::wire::ethernet::{EtherType, EthernetHeader};

/// The octets of the longest headers that have a layout: Ethernet, IPv6, TCP with timestamps.
pub const MOST_OCTETS: usize = 14 + 40 + 32;
/// The number of frames that may be models at a time, by the low bits of their numbers.
const SLOTS: usize = 256;
/// The number of frames for which a model serves: half of the range that the sixteen bits of a short frame tell apart.
const LIFE: u64 = 1 << 15;

/// How the next octets of a header travel in a short frame.
#[derive(Clone, Copy, Debug)]
enum Part {
    /// Octets that are the same in all frames of a flow.
    Same(usize),
    /// Octets that are told in each frame.
    Told(usize),
    /// A number of four octets that is seldom far beyond that of the model, so that a difference of two octets tells it.
    Near,
    /// A length of two octets. It counts from this many octets behind its own place, or before that place if negative.
    Length(isize),
    /// The checksum of the IPv4 header, two octets.
    Checksum,
}

use Part::{Length, Near, Same, Told};

const ETHERNET: &[Part] = &[Same(14)];
/// RFC 791: version to ECN, length, identification, flags to protocol, checksum, addresses.
const IPV4: &[Part] = &[Same(1), Told(1), Length(-2), Told(2), Same(4), Part::Checksum, Same(8)];
/// RFC 8200: version, ECN and flow, flow, length, next header to addresses.
const IPV6: &[Part] = &[Same(1), Told(1), Same(2), Length(36), Same(34)];
/// RFC 9293: ports, sequence number, acknowledgement, offset, flags to checksum, urgent pointer.
const TCP: &[Part] = &[Same(4), Told(4), Near, Same(1), Told(5), Same(2)];
/// RFC 7323, appendix A: two empty options and the head of the timestamps, both timestamps.
const TIMESTAMPS: &[Part] = &[Same(4), Near, Near];
const TIMESTAMPS_HEAD: [u8; 4] = [1, 1, 8, 10];
/// RFC 768: ports, length, checksum.
const UDP: &[Part] = &[Same(4), Length(-4), Told(2)];

/// The headers that a frame or packet begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    is_bare: bool,
    is_ipv4: bool,
    transport: Transport,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Transport {
    Other,
    Udp,
    Tcp,
    TcpTimestamps,
}

impl Layout {
    /// Returns the layout of the contents of a frame. `None` for contents that are neither IPv4 nor IPv6, have options of IP, or
    /// are a fragment.
    pub fn of(contents: &[u8], is_bare: bool) -> Option<Self> {
        let ip = if is_bare { contents } else { contents.get(EthernetHeader::LEN..)? };
        let is_ipv4 = match ip.first()? {
            0x45 => true,
            first if first >> 4 == 6 => false,
            _ => return None,
        };
        let ethertype = if is_ipv4 { EtherType::IPV4 } else { EtherType::IPV6 };
        if !is_bare && contents[12..14] != ethertype.0.to_be_bytes() {
            return None;
        }
        let (header, rest) = ip.split_at_checked(if is_ipv4 { 20 } else { 40 })?;
        if is_ipv4 && (header[6] & 0x3f, header[7]) != (0, 0) {
            return None;
        }
        let transport = match if is_ipv4 { header[9] } else { header[6] } {
            6 if rest.len() >= 32 && rest[20..24] == TIMESTAMPS_HEAD => Transport::TcpTimestamps,
            6 if rest.len() >= 20 => Transport::Tcp,
            17 if rest.len() >= 8 => Transport::Udp,
            _ => Transport::Other,
        };
        Some(Self { is_bare, is_ipv4, transport })
    }

    /// Whether the contents are an IP packet without an Ethernet header.
    pub fn is_bare(self) -> bool {
        self.is_bare
    }

    fn lists(self) -> [&'static [Part]; 4] {
        let (transport, options): (&[_], &[_]) = match self.transport {
            Transport::Other => (&[], &[]),
            Transport::Udp => (UDP, &[]),
            Transport::Tcp => (TCP, &[]),
            Transport::TcpTimestamps => (TCP, TIMESTAMPS),
        };
        [
            if self.is_bare { &[] } else { ETHERNET },
            if self.is_ipv4 { IPV4 } else { IPV6 },
            transport,
            options,
        ]
    }

    /// Returns the parts of the layout, and where each begins.
    fn parts(self) -> impl Iterator<Item = (usize, Part)> {
        let mut next = 0;
        self.lists().into_iter().flatten().map(move |&part| {
            let at = next;
            next += part.octets();
            (at, part)
        })
    }

    /// Returns how many octets the layout describes.
    pub fn octets(self) -> usize {
        self.parts().map(|(_, part)| part.octets()).sum()
    }

    /// Returns where the IP header begins.
    fn ip(self) -> usize {
        if self.is_bare { 0 } else { EthernetHeader::LEN }
    }

    /// Whether two frames of this layout are of one flow: all octets that are the same in a flow are the same in both.
    fn is_same_flow(self, one: &[u8], other: &[u8]) -> bool {
        self.parts().all(|(at, part)| match part {
            Same(octets) => one[at..at + octets] == other[at..at + octets],
            _ => true,
        })
    }

    /// Returns a number that is equal for all frames of a flow, and seldom equal for frames of others.
    fn key(self, contents: &[u8]) -> u32 {
        let mut key = 0x811c_9dc5_u32;
        for (at, part) in self.parts() {
            let Same(octets) = part else { continue };
            for four in contents[at..at + octets].chunks(4) {
                let word = four.iter().fold(0, |word, octet| word << 8 | u32::from(*octet));
                key = (key.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b1);
            }
        }
        key ^ key >> 15
    }

    /// Whether all octets that do not travel in a short frame can be computed from those that do.
    fn follows(self, contents: &[u8]) -> bool {
        self.parts().all(|(at, part)| match part {
            Same(_) | Told(_) | Near => true,
            Length(behind) => contents[at..at + 2] == length_at(at, behind, contents.len()),
            Part::Checksum => contents[at..at + 2] == self.checksum(contents),
        })
    }

    /// Returns the checksum of the IPv4 header. The octets in the place of the checksum do not count.
    fn checksum(self, contents: &[u8]) -> [u8; 2] {
        let header = &contents[self.ip()..];
        Checksum::new().cover(&header[..10]).cover(&header[12..20]).finish().to_be_bytes()
    }

    /// Whether the differences between these contents and their model have two octets each.
    ///
    /// # Panics
    /// If contents or model are shorter than the layout.
    pub fn is_near(self, model: &[u8], contents: &[u8]) -> bool {
        self.parts().all(|(at, part)| match part {
            Near => ahead(number(model, at), number(contents, at)) <= u32::from(u16::MAX),
            _ => true,
        })
    }

    /// Appends the octets of these contents that a short frame carries.
    ///
    /// # Panics
    /// If contents or model are shorter than the layout.
    pub fn shorten(self, model: &[u8], is_near: bool, contents: &[u8], out: &mut Frame) {
        let mut end = 0;
        for (at, part) in self.parts() {
            end = at + part.octets();
            match part {
                Near if is_near => {
                    let ahead = ahead(number(model, at), number(contents, at)) as u16;
                    out.extend_from_slice(&ahead.to_be_bytes());
                }
                Told(_) | Near => out.extend_from_slice(&contents[at..end]),
                Same(_) | Length(_) | Part::Checksum => {}
            }
        }
        out.extend_from_slice(&contents[end..]);
    }

    /// Appends the contents that a short frame stands for. Returns `false` if the frame is too short for any.
    ///
    /// # Panics
    /// If the model is shorter than the layout.
    pub fn lengthen(self, model: &[u8], is_near: bool, mut short: &[u8], out: &mut Frame) -> bool {
        let start = out.len();
        for (at, part) in self.parts() {
            let told = match part {
                Near if is_near => 2,
                Told(_) | Near => part.octets(),
                Same(_) | Length(_) | Part::Checksum => 0,
            };
            let Some((told, rest)) = short.split_at_checked(told) else { return false };
            short = rest;
            match (part, told) {
                (Near, &[high, low]) => {
                    let ahead = u32::from(u16::from_be_bytes([high, low]));
                    out.extend_from_slice(&number(model, at).wrapping_add(ahead).to_be_bytes());
                }
                (_, []) => out.extend_from_slice(&model[at..at + part.octets()]),
                _ => out.extend_from_slice(told),
            }
        }
        out.extend_from_slice(short);
        let contents = &mut out[start..];
        let length = contents.len();
        for (at, part) in self.parts() {
            match part {
                Same(_) | Told(_) | Near => {}
                Length(behind) => contents[at..at + 2].copy_from_slice(&length_at(at, behind, length)),
                Part::Checksum => {
                    let checksum = self.checksum(contents);
                    contents[at..at + 2].copy_from_slice(&checksum);
                }
            }
        }
        true
    }
}

impl Part {
    fn octets(self) -> usize {
        match self {
            Same(octets) | Told(octets) => octets,
            Near => 4,
            Length(_) | Self::Checksum => 2,
        }
    }
}

fn number(octets: &[u8], at: usize) -> u32 {
    octets[at..at + 4].iter().fold(0, |number, octet| number << 8 | u32::from(*octet))
}

/// Returns by how much `number` is beyond that of the model.
fn ahead(model: u32, number: u32) -> u32 {
    number.wrapping_sub(model)
}

/// Returns the length that stands at `at` and counts from `behind` there to the end of `whole` octets.
fn length_at(at: usize, behind: isize, whole: usize) -> [u8; 2] {
    (whole.wrapping_sub(at.wrapping_add_signed(behind)) as u16).to_be_bytes()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    /// Returns a TCP segment over IPv4 with timestamps, as a TUN gives it.
    pub(in super::super) fn segment(port: u16, id: u16, payload: usize) -> Vec<u8> {
        let mut packet = vec![0x5a; 52 + payload];
        packet[..10].copy_from_slice(&[0x45, 2, 0, 0, (id >> 8) as u8, id as u8, 0x40, 0, 64, 6]);
        packet[12..20].copy_from_slice(&[10, 9, 0, 1, 10, 9, 0, 2]);
        packet[20..22].copy_from_slice(&port.to_be_bytes());
        packet[32] = 0x80;
        packet[38..40].fill(0);
        packet[40..44].copy_from_slice(&TIMESTAMPS_HEAD);
        let length = (packet.len() as u16).to_be_bytes();
        packet[2..4].copy_from_slice(&length);
        let checksum = Layout::of(&packet, true).unwrap().checksum(&packet);
        packet[10..12].copy_from_slice(&checksum);
        packet
    }

    // RT-17
    #[test]
    fn of_a_segment_eighteen_octets_of_header_travel_and_twenty_four_of_one_that_is_far() {
        let model = segment(5001, 999, 0);
        let mut packet = segment(5001, 7, 1399);
        let layout = Layout::of(&packet, true).unwrap();
        assert_eq!((layout.octets(), layout.follows(&packet)), (52, true));
        for (timestamp, octets) in [([0x5a, 0x5b, 0x5a, 0x59], 18), ([0x5a, 0x5b, 0x5a, 0x5a], 24)] {
            packet[44..48].copy_from_slice(&timestamp);
            let is_near = layout.is_near(&model, &packet);
            assert_eq!(is_near, octets == 18);
            let mut short = Vec::new();
            layout.shorten(&model, is_near, &packet, &mut short);
            assert_eq!(short.len(), 1399 + octets);
            assert_eq!(short[..3], [2, 0, 7], "ECN, identification");
            let mut long = vec![9];
            assert!(layout.lengthen(&model, is_near, &short, &mut long));
            assert_eq!(long[1..], packet);
            assert!(!layout.lengthen(&model, is_near, &short[..octets - 1], &mut long));
        }
        packet[44..48].copy_from_slice(&[0x5a, 0x5a, 0x5a, 0x59]);
        assert!(!layout.is_near(&model, &packet), "behind the model");
    }

    // RT-17
    #[test]
    fn what_is_no_plain_packet_has_no_layout() {
        let packet = segment(5001, 7, 100);
        let changed = |at: usize, octet: u8| {
            let mut packet = packet.clone();
            packet[at] = octet;
            Layout::of(&packet, true)
        };
        assert_eq!(changed(0, 0x46), None, "options of IPv4");
        assert_eq!(changed(0, 0x25), None, "another version");
        assert_eq!(changed(6, 0x20), None, "a first fragment");
        assert_eq!(changed(7, 1), None, "a last fragment");
        assert_eq!(Layout::of(&packet[..19], true), None);
        assert_eq!(Layout::of(&[], true), None);
        assert_eq!(Layout::of(&packet[..13], false), None);
        assert_eq!(changed(9, 47).unwrap().transport, Transport::Other);
        assert_eq!(Layout::of(&packet[..51], true).unwrap().transport, Transport::Tcp);
        let mut frame = vec![2; 14];
        frame[12..].copy_from_slice(&[0x86, 0xdd]);
        frame.extend_from_slice(&packet);
        assert_eq!(Layout::of(&frame, false), None, "the EtherType says IPv6");
        frame[12..14].copy_from_slice(&[0x08, 0x00]);
        assert_eq!(Layout::of(&frame, false).unwrap().octets(), 66);
    }

    // RT-17
    #[test]
    fn what_does_not_follow_is_seen() {
        let packet = segment(5001, 7, 100);
        let layout = Layout::of(&packet, true).unwrap();
        for at in [2, 3, 10, 11] {
            let mut other = packet.clone();
            other[at] ^= 1;
            assert!(!layout.follows(&other), "octet {at}");
        }
        assert!(!layout.follows(&[&packet[..], &[0]].concat()), "padding behind the packet");
    }

    /// Returns packets that begin like IP, and any others.
    fn contents() -> impl Strategy<Value = (Vec<u8>, bool)> {
        let head = prop::sample::select(vec![0x45u8, 0x45, 0x60, 0x65, 0x46, 0]);
        let protocol = prop::sample::select(vec![6u8, 17, 1]);
        let made = (head, protocol, prop::collection::vec(any::<u8>(), 60..120), any::<(bool, bool, bool)>());
        made.prop_map(|(head, protocol, mut packet, (is_bare, is_right, has_options))| {
            packet[0] = head;
            let is_ipv4 = head >> 4 == 4;
            let transport = if is_ipv4 { 20 } else { 40 };
            packet[if is_ipv4 { 9 } else { 6 }] = protocol;
            if is_ipv4 {
                packet[6..8].copy_from_slice(&[0x40, 0]);
            }
            if has_options && packet.len() >= transport + 32 {
                packet[transport + 20..transport + 24].copy_from_slice(&TIMESTAMPS_HEAD);
            }
            if is_right && let Some(layout) = Layout::of(&packet, true) {
                // Octets that could not be computed from the others are computed from them.
                let mut short = Vec::new();
                layout.shorten(&packet, false, &packet, &mut short);
                let model = packet.clone();
                packet.clear();
                assert!(layout.lengthen(&model, false, &short, &mut packet));
            }
            if !is_bare {
                let ethertype = if is_ipv4 { [0x08, 0] } else { [0x86, 0xdd] };
                packet = [&[2; 12], &ethertype[..], &packet].concat();
            }
            (packet, is_bare)
        })
    }

    proptest! {
        /// Contents whose other octets can be computed come back octet by octet, by any frame of their flow.
        // RT-17
        #[test]
        fn a_short_frame_comes_back_as_it_was(
            (sent, is_bare) in contents(),
            (model, _) in contents(),
            is_late in any::<bool>(),
        ) {
            let Some(layout) = Layout::of(&sent, is_bare) else { return Ok(()) };
            prop_assert!(layout.octets() <= MOST_OCTETS.min(sent.len()));
            let (mut short, mut came) = (Vec::new(), Vec::new());
            let mut changed = sent.clone();
            for (at, part) in layout.parts() {
                match part {
                    Same(_) => {}
                    Near if is_late => {
                        let before = number(&sent, at).wrapping_sub(at as u32 * 700);
                        changed[at..at + 4].copy_from_slice(&before.to_be_bytes());
                    }
                    _ => changed[at..at + part.octets()].fill(0xa5),
                }
            }
            prop_assert!(layout.is_same_flow(&sent, &changed) && layout.key(&sent) == layout.key(&changed));
            let is_near = layout.is_near(&changed, &sent);
            prop_assert!(is_near || !is_late);
            layout.shorten(&changed, is_near, &sent, &mut short);
            prop_assert!(layout.lengthen(&changed, is_near, &short, &mut came));
            prop_assert_eq!(came == sent, layout.follows(&sent));
            // A drawn model of this flow shortens the frame, too. A model of another flow differs in an octet that a flow keeps.
            if Layout::of(&model, is_bare) == Some(layout) && layout.is_same_flow(&sent, &model) {
                came.clear();
                short.clear();
                let is_near = layout.is_near(&model, &sent);
                layout.shorten(&model, is_near, &sent, &mut short);
                prop_assert!(layout.lengthen(&model, is_near, &short, &mut came));
                prop_assert_eq!(came == sent, layout.follows(&sent));
            }
        }

        /// The headers kept of a model have the layout of its frame.
        // RT-17
        #[test]
        fn the_headers_alone_have_the_same_layout((sent, is_bare) in contents()) {
            let Some(layout) = Layout::of(&sent, is_bare) else { return Ok(()) };
            prop_assert_eq!(Layout::of(&sent[..layout.octets()], is_bare), Some(layout));
        }
    }
}

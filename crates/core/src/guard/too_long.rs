//! The answer to a packet that is too long for a path: "fragmentation needed" or "packet too big" (RT-12).
//!
//! Sources: RFC 792 and RFC 1191 (IPv4), RFC 4443 section 3.2 and RFC 8201 (IPv6), RFC 1122 section 3.2.2 (packets that
//! are never answered). The answer comes in the name of the packet's destination: a guard has no address, and the sender
//! expects an answer from the path.

use super::Frame;
use crate::wire::checksum::Checksum;
use crate::wire::ethernet::{EtherType, MacAddress};

/// Bytes of two addresses, and of a VLAN tag.
const ADDRESSES: usize = 12;
const TAG: usize = 4;
/// EtherTypes of VLAN tags: IEEE 802.1Q, 802.1ad.
const TAGS: [u16; 2] = [0x8100, 0x88a8];
const ICMP: u8 = 1;
const ICMPV6: u8 = 58;
const IPV4: usize = 20;
const IPV6: usize = 40;
/// Bytes of the ICMP header with the length of a packet that the path carries.
const HEADER: usize = 8;
/// The bytes of a packet that are quoted: as many as fit in the shortest packet that every host takes.
const QUOTED_IPV4: usize = 576 - IPV4 - HEADER;
const QUOTED_IPV6: usize = 1280 - IPV6 - HEADER;
/// The least length that is told for IPv6, below which no packet needs to be.
const LEAST_IPV6: usize = 1280;
const TIME_TO_LIVE: u8 = 64;

/// Writes the answer to a frame that is longer by `excess` than the path carries. Returns `false` if the frame must have
/// no answer.
pub(super) fn answer(out: &mut Frame, frame: &[u8], excess: usize) -> bool {
    let Some((ethertype, start)) = contents(frame) else { return false };
    if MacAddress(frame[..6].try_into().expect("six bytes")).is_multicast() {
        return false;
    }
    let packet = &frame[start..];
    let Some(longest) = packet.len().checked_sub(excess) else { return false };
    out.clear();
    out.extend_from_slice(&frame[6..ADDRESSES]);
    out.extend_from_slice(&frame[..6]);
    out.extend_from_slice(&frame[ADDRESSES..start]);
    match ethertype {
        EtherType::IPV4 => fragmentation_needed(out, packet, longest),
        EtherType::IPV6 => packet_too_big(out, packet, longest),
        _ => false,
    }
}

/// Returns the EtherType of a frame's contents, and where the contents begin.
fn contents(frame: &[u8]) -> Option<(EtherType, usize)> {
    let mut at = ADDRESSES;
    loop {
        let ethertype = u16::from_be_bytes([*frame.get(at)?, *frame.get(at + 1)?]);
        if !TAGS.contains(&ethertype) {
            return Some((EtherType(ethertype), at + 2));
        }
        at += TAG;
    }
}

fn fragmentation_needed(out: &mut Frame, packet: &[u8], longest: usize) -> bool {
    let Some(header) = packet.get(..IPV4) else { return false };
    let length = usize::from(header[0] & 0xf) * 4;
    let is_first = u16::from_be_bytes([header[6], header[7]]) & 0x1fff == 0;
    let is_one_host = |address: &[u8]| (1..224).contains(&address[0]) && address[0] != 127;
    let is_plain = header[0] >> 4 == 4 && length >= IPV4 && packet.len() >= length + HEADER;
    if !is_plain || !is_first || !is_one_host(&header[12..16]) || !is_one_host(&header[16..20]) {
        return false;
    }
    // An echo request and an echo reply are no errors.
    if header[9] == ICMP && !matches!(packet[length], 0 | 8) {
        return false;
    }
    let quoted = &packet[..packet.len().min(QUOTED_IPV4)];
    let total = (IPV4 + HEADER + quoted.len()) as u16;
    let start = out.len();
    out.extend_from_slice(&[0x45, 0]);
    out.extend_from_slice(&total.to_be_bytes());
    out.extend_from_slice(&[0, 0, 0, 0, TIME_TO_LIVE, ICMP, 0, 0]);
    out.extend_from_slice(&header[16..20]);
    out.extend_from_slice(&header[12..16]);
    put(out, start + 10, Checksum::new().cover(&out[start..]).finish());
    let icmp = out.len();
    out.extend_from_slice(&[3, 4, 0, 0, 0, 0]);
    out.extend_from_slice(&(longest as u16).to_be_bytes());
    out.extend_from_slice(quoted);
    put(out, icmp + 2, Checksum::new().cover(&out[icmp..]).finish());
    true
}

fn packet_too_big(out: &mut Frame, packet: &[u8], longest: usize) -> bool {
    let Some(header) = packet.get(..IPV6) else { return false };
    let (source, destination) = (&header[8..24], &header[24..40]);
    let is_error = header[6] == ICMPV6 && packet.get(IPV6).is_none_or(|kind| *kind < 128);
    let is_nobody = source[0] == 0xff || source.iter().all(|octet| *octet == 0) || destination[0] == 0xff;
    if header[0] >> 4 != 6 || is_error || is_nobody {
        return false;
    }
    let quoted = &packet[..packet.len().min(QUOTED_IPV6)];
    let length = (HEADER + quoted.len()) as u16;
    out.extend_from_slice(&[0x60, 0, 0, 0]);
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(&[ICMPV6, TIME_TO_LIVE]);
    out.extend_from_slice(destination);
    out.extend_from_slice(source);
    let icmp = out.len();
    out.extend_from_slice(&[2, 0, 0, 0]);
    out.extend_from_slice(&(longest.max(LEAST_IPV6) as u32).to_be_bytes());
    out.extend_from_slice(quoted);
    let pseudo = [0, 0, length.to_be_bytes()[0], length.to_be_bytes()[1], 0, 0, 0, ICMPV6];
    let sum = Checksum::new().cover(destination).cover(source).cover(&pseudo).cover(&out[icmp..]).finish();
    put(out, icmp + 2, sum);
    true
}

fn put(out: &mut Frame, at: usize, value: u16) {
    out[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;

    fn ipv4(tags: &[u8], length: usize) -> Vec<u8> {
        let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];
        frame.extend_from_slice(tags);
        frame.extend_from_slice(&[0x08, 0x00]);
        let start = frame.len();
        frame.extend_from_slice(&[0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, 6, 0, 0, 10, 9, 0, 1, 10, 9, 0, 2]);
        frame.resize(start + length, 7);
        frame
    }

    fn answered(frame: &[u8], excess: usize) -> Option<Vec<u8>> {
        let mut out = Frame::new();
        answer(&mut out, frame, excess).then_some(out)
    }

    // RT-12
    #[test]
    fn the_sender_of_an_ipv4_packet_is_told_the_length_in_the_name_of_its_destination() {
        for tags in [&[][..], &[0x81, 0, 0, 42]] {
            let frame = ipv4(tags, 1500);
            let out = answered(&frame, 61).unwrap();
            assert_eq!(out[..12], [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2]);
            let (tagged, packet) = out[12..].split_at(tags.len());
            assert_eq!((tagged, &packet[..2]), (tags, &[8, 0][..]));
            let packet = &packet[2..];
            assert_eq!(packet.len(), 576);
            assert_eq!(packet[2..4], [2, 64], "576 bytes");
            assert_eq!(packet[12..20], [10, 9, 0, 2, 10, 9, 0, 1]);
            assert_eq!(Checksum::new().cover(&packet[..20]).finish(), 0);
            assert_eq!(Checksum::new().cover(&packet[20..]).finish(), 0);
            assert_eq!((packet[20], packet[21], packet[26], packet[27]), (3, 4, 5, 159), "1439 bytes");
            assert_eq!(packet[28..], frame[14 + tags.len()..][..548]);
        }
    }

    // RT-12
    #[test]
    fn the_sender_of_an_ipv6_packet_is_told_1280_at_least() {
        let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x86, 0xdd, 0x60, 0, 0, 0, 5, 180, 6, 64];
        frame.extend_from_slice(&[0xfd; 15]);
        frame.push(1);
        frame.extend_from_slice(&[0xfd; 15]);
        frame.push(2);
        frame.resize(14 + 1500, 7);
        for (excess, told) in [(61, 1439u16), (300, 1280)] {
            let out = answered(&frame, excess).unwrap();
            let packet = &out[14..];
            assert_eq!(packet.len(), 1280);
            assert_eq!((packet[23], packet[39], packet[40]), (2, 1, 2));
            assert_eq!(packet[46..48], told.to_be_bytes());
            let sum = Checksum::new().cover(&packet[8..40]).cover(&[0, 0, 4, 216, 0, 0, 0, 58]);
            assert_eq!(sum.cover(&packet[40..]).finish(), 0);
        }
        let mut error = frame.clone();
        (error[14 + 6], error[14 + 40]) = (58, 1);
        assert_eq!(answered(&error, 61), None, "an error is not answered");
        error[14 + 40] = 128;
        assert!(answered(&error, 61).is_some(), "an echo is");
    }

    // RT-12
    #[test]
    fn errors_fragments_and_groups_are_not_answered() {
        let sound = ipv4(&[], 1500);
        assert!(answered(&sound, 61).is_some());
        for (at, value) in
            [(0, 1), (12, 9), (14, 0x55), (14 + 7, 1), (14 + 12, 0), (14 + 16, 224), (14 + 16, 255)]
        {
            let mut frame = sound.clone();
            frame[at] = value;
            assert_eq!(answered(&frame, 61), None, "byte {at} is {value}");
        }
        let mut echo = sound.clone();
        (echo[14 + 9], echo[14 + 20]) = (ICMP, 8);
        assert!(answered(&echo, 61).is_some());
        echo[14 + 20] = 3;
        assert_eq!(answered(&echo, 61), None);
        assert_eq!(answered(&sound[..40], 10), None, "too short to be quoted");
    }
}

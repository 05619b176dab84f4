//! A super-frame, cut into the frames that its sender wanted its network card to make of it.
//!
//! The kernel hands a burst of TCP or UDP over as one packet of up to 64 KB if the interface promises to cut it, as a veth
//! does. Super-frames are cut as Linux cuts them (`tcp_gso_segment`, `__udp_gso_segment`): the headers are repeated,
//! lengths, identification and sequence number advance, only the last segment has FIN and PSH, only the first CWR. Tunnels
//! and IPv6 extension headers are refused.

use super::{LONGEST, Layout, TCP_CHECKSUM, UDP_CHECKSUM, put};
use crate::port::ETHERNET_BYTES;
use crate::port::unfinished::{Kind, OFFLOAD_HEADER_BYTES, Unfinishable, Unfinished, sendable};

/// The flags FIN and PSH in a TCP header.
const FIN_AND_PSH: u8 = 0x09;
const CWR: u8 = 0x80;

/// A super-frame that is being cut, and room for one segment of it.
#[derive(Debug)]
pub(in crate::port) struct SuperFrame {
    /// The offload header and the frame.
    whole: Vec<u8>,
    /// Bytes of `whole` that are in use.
    end: usize,
    cuts: Option<Cuts>,
    next: usize,
    segment: Vec<u8>,
    longest_frame: usize,
}

/// The parts of a super-frame, and the length of the payload of each segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cuts {
    parts: Layout,
    payload_bytes: usize,
}

impl SuperFrame {
    /// Makes room for a super-frame whose segments have at most `longest_frame` bytes.
    pub(in crate::port) fn new(longest_frame: usize) -> Self {
        let segment = Vec::with_capacity(longest_frame);
        Self { whole: vec![0; LONGEST], end: 0, cuts: None, next: 0, segment, longest_frame }
    }

    /// Returns the room into which the kernel is to write the next super-frame, behind its offload header.
    pub(in crate::port) fn room(&mut self) -> &mut [u8] {
        self.cuts = None;
        &mut self.whole
    }

    /// Returns the offload header and the frame that stand in the room with `length` bytes together; `None` if these are
    /// too few bytes.
    pub(in crate::port) fn read(&mut self, length: usize) -> Option<([u8; OFFLOAD_HEADER_BYTES], &mut [u8])> {
        let (header, frame) = self.whole.get_mut(..length)?.split_first_chunk_mut()?;
        (frame.len() >= ETHERNET_BYTES).then_some((*header, frame))
    }

    /// Puts a super-frame from a slot of the ring into the room, and returns its length with the header; 0 if it does not
    /// fit.
    pub(in crate::port) fn put(&mut self, header: [u8; OFFLOAD_HEADER_BYTES], frame: &[u8]) -> usize {
        let length = OFFLOAD_HEADER_BYTES + frame.len();
        let Some(room) = self.room().get_mut(..length) else { return 0 };
        let (front, rest) = room.split_at_mut(OFFLOAD_HEADER_BYTES);
        front.copy_from_slice(&header);
        rest.copy_from_slice(frame);
        length
    }

    /// Begins to cut the super-frame of which `length` bytes, with the offload header, stand in the room (G-23).
    ///
    /// # Errors
    /// If the packet is no super-frame, its protocol is not cut here, or it or its segments are too long.
    pub(in crate::port) fn begin(&mut self, length: usize) -> Result<(), Unfinishable> {
        let Some(bytes) = self.whole.get(..length) else { return Err(Unfinishable) };
        let Some((header, frame)) = bytes.split_first_chunk() else { return Err(Unfinishable) };
        let cuts = Cuts::find(Unfinished::read(*header), frame).ok_or(Unfinishable)?;
        let headers = cuts.parts.payload;
        if headers + cuts.payload_bytes.min(frame.len() - headers) > self.longest_frame {
            return Err(Unfinishable);
        }
        (self.end, self.cuts, self.next) = (length, Some(cuts), 0);
        Ok(())
    }

    /// Returns the next segment, a whole frame; `None` when all segments have been cut.
    pub(in crate::port) fn next(&mut self) -> Option<&[u8]> {
        let cuts = self.cuts?;
        let frame = &self.whole[OFFLOAD_HEADER_BYTES..self.end];
        let is_last = cuts.write(frame, self.next, &mut self.segment);
        self.next += 1;
        if is_last {
            self.cuts = None;
        }
        Some(&self.segment)
    }
}

impl Cuts {
    /// Finds the parts of a super-frame; `None` if it is none that is cut here.
    fn find(unfinished: Unfinished, frame: &[u8]) -> Option<Self> {
        let parts = Layout::find(frame)?;
        let payload_bytes = usize::from(unfinished.payload_bytes);
        let is_of_kind = match unfinished.kind()? {
            Kind::TcpOverIpv4 => parts.is_tcp && !parts.is_ipv6,
            Kind::TcpOverIpv6 => parts.is_tcp && parts.is_ipv6,
            Kind::Udp => !parts.is_tcp,
        };
        // A checksum that starts elsewhere is that of a header within a tunnel.
        let is_sound = is_of_kind && usize::from(unfinished.start) == parts.transport && payload_bytes > 0;
        is_sound.then_some(Self { parts, payload_bytes })
    }

    /// Writes the segment `number` of `frame`; `true` if it is the last.
    fn write(self, frame: &[u8], number: usize, segment: &mut Vec<u8>) -> bool {
        let Self { parts, payload_bytes } = self;
        let first = parts.payload + number * payload_bytes;
        let end = frame.len().min(first + payload_bytes);
        let is_last = end == frame.len();
        segment.clear();
        segment.extend_from_slice(&frame[..parts.payload]);
        segment.extend_from_slice(&frame[first..end]);
        let (network, transport) = segment[parts.network..].split_at_mut(parts.transport - parts.network);
        parts.mend_network(network, transport.len(), number);
        let place = if parts.is_tcp {
            mend_tcp(transport, number * payload_bytes, number == 0, is_last);
            TCP_CHECKSUM
        } else {
            let length = transport.len() as u16;
            put(transport, 4, length);
            UDP_CHECKSUM
        };
        put(transport, place, 0);
        let checksum = parts.pseudo_header(network, transport.len()).cover(transport).finish();
        put(transport, place, sendable(checksum));
        is_last
    }
}

/// Mends the TCP header of a segment whose payload begins `ahead` bytes into the payload of the super-frame.
fn mend_tcp(header: &mut [u8], ahead: usize, is_first: bool, is_last: bool) {
    let sequence = u32::from_be_bytes([header[4], header[5], header[6], header[7]]);
    header[4..8].copy_from_slice(&sequence.wrapping_add(ahead as u32).to_be_bytes());
    if !is_last {
        header[13] &= !FIN_AND_PSH;
    }
    if !is_first {
        header[13] &= !CWR;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lossylink_core::wire::checksum::Checksum;
    use lossylink_core::wire::ipv4::{Ipv4View, PseudoHeader};
    use lossylink_core::wire::tcp::TcpView;
    use lossylink_core::wire::udp::UdpView;
    use proptest::prelude::*;

    const LONGEST_FRAME: usize = 1518;
    // Kinds as linux/virtio_net.h numbers them.
    const TCP_OVER_IPV4: u8 = 1;
    const TCP_OVER_IPV6: u8 = 4;
    const UDP: u8 = 5;
    const WITH_ECN: u8 = 0x80;

    /// Returns an offload header and the frame behind it, as the kernel writes them.
    fn with_header(kind: u8, payload_bytes: u16, start: u16, frame: &[u8]) -> Vec<u8> {
        let [p, s] = [payload_bytes, start].map(u16::to_ne_bytes);
        [&[1, kind, 0, 0, p[0], p[1], s[0], s[1], 16, 0], frame].concat()
    }

    /// Returns Ethernet and IPv4 headers around `transport`, whose checksum the sender left undone.
    fn over_ipv4(protocol: u8, identification: u16, transport: &[u8]) -> Vec<u8> {
        let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45, 0, 0, 0];
        frame.extend_from_slice(&identification.to_be_bytes());
        frame.extend_from_slice(&[0x40, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        frame.extend_from_slice(transport);
        frame
    }

    fn cut(bytes: &[u8]) -> Result<Vec<Vec<u8>>, Unfinishable> {
        let mut cutter = SuperFrame::new(LONGEST_FRAME);
        cutter.room()[..bytes.len()].copy_from_slice(bytes);
        cutter.begin(bytes.len())?;
        let mut segments = Vec::new();
        while let Some(segment) = cutter.next() {
            segments.push(segment.to_vec());
        }
        Ok(segments)
    }

    fn pseudo(packet: Ipv4View<'_>) -> PseudoHeader {
        let length = packet.payload().len() as u16;
        let (source, destination) = (packet.source(), packet.destination());
        PseudoHeader { source, destination, protocol: packet.protocol(), length }
    }

    proptest! {
        /// G-23: the segments are valid, no longer than asked for, and carry together the payload that the host has sent.
        #[test]
        fn tcp_comes_out_in_valid_segments(
            payload in prop::collection::vec(any::<u8>(), 1..9000),
            payload_bytes in 1u16..1448,
            sequence: u32,
            identification: u16,
            flags: u8,
        ) {
            let mut tcp = vec![0, 80, 1, 2];
            tcp.extend_from_slice(&sequence.to_be_bytes());
            tcp.extend_from_slice(&[0, 0, 0, 9, 0x80, flags, 1, 0, 0xAB, 0xCD, 0, 0]);
            tcp.extend_from_slice(&[1, 1, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8]);
            tcp.extend_from_slice(&payload);
            let whole = with_header(TCP_OVER_IPV4 | (flags & WITH_ECN), payload_bytes, 34, &over_ipv4(6, identification, &tcp));
            let segments = cut(&whole).expect("a sound super-frame");
            prop_assert_eq!(segments.len(), payload.len().div_ceil(usize::from(payload_bytes)));
            let mut arrived = Vec::new();
            for (number, segment) in segments.iter().enumerate() {
                let packet = Ipv4View::new_checked(&segment[14..]).expect("a valid IPv4 header");
                prop_assert_eq!(packet.payload().len(), segment.len() - 34);
                prop_assert_eq!(packet.identification(), identification.wrapping_add(number as u16));
                let view = TcpView::new_checked(packet.payload(), &pseudo(packet)).expect("a valid TCP checksum");
                prop_assert_eq!(view.sequence(), sequence.wrapping_add(arrived.len() as u32));
                prop_assert!(view.payload().len() <= usize::from(payload_bytes));
                arrived.extend_from_slice(view.payload());
                let ends = if number + 1 == segments.len() { 0 } else { FIN_AND_PSH };
                let begins = if number == 0 { 0 } else { CWR };
                prop_assert_eq!(segment[47], flags & !ends & !begins);
            }
            prop_assert_eq!(arrived, payload);
        }

        /// G-23: the datagrams are valid, no longer than asked for, and carry together the payload that the host has sent.
        #[test]
        fn udp_comes_out_in_valid_datagrams(
            payload in prop::collection::vec(any::<u8>(), 1..5000),
            payload_bytes in 1u16..1448,
        ) {
            let mut udp = vec![0, 7, 0, 8, 0xFF, 0xFF, 0x12, 0x34];
            udp.extend_from_slice(&payload);
            let segments = cut(&with_header(UDP, payload_bytes, 34, &over_ipv4(17, 1, &udp))).expect("sound");
            let mut arrived = Vec::new();
            for segment in &segments {
                let packet = Ipv4View::new_checked(&segment[14..]).expect("a valid IPv4 header");
                let view = UdpView::new_checked(packet.payload(), &pseudo(packet)).expect("a valid checksum");
                arrived.extend_from_slice(view.payload());
            }
            prop_assert_eq!(arrived, payload);
        }

        /// G-23: a damaged header is not believed beyond the bytes that are there.
        #[test]
        fn a_damaged_super_frame_is_cut_or_refused(end in 10usize..200, at in 0usize..80, byte: u8, is_tcp: bool) {
            let transport = [&[0, 80, 1, 2, 0, 0, 0, 1, 0, 0, 0, 9, 0x50, 0x10, 1, 0, 0, 0, 0, 0][..], &[1; 150]].concat();
            let (kind, protocol) = if is_tcp { (TCP_OVER_IPV4, 6) } else { (UDP, 17) };
            let mut bytes = with_header(kind, 20, 34, &over_ipv4(protocol, 1, &transport));
            bytes[at] = byte;
            bytes.truncate(end);
            if let Ok(segments) = cut(&bytes) {
                prop_assert!(segments.iter().all(|segment| segment.len() <= LONGEST_FRAME));
            }
        }

        /// G-23: whatever the kernel says, a super-frame that is cut fits, and is cut to its end.
        #[test]
        fn anything_is_cut_or_refused(
            kind in prop_oneof![Just(1u8), Just(0x81), Just(4), Just(5), any::<u8>()],
            payload_bytes in prop_oneof![1u16..2000, any::<u16>()],
            start in prop_oneof![Just(34u16), Just(38), Just(54), any::<u16>()],
            front in prop_oneof![
                Just(vec![8, 0, 0x45]), Just(vec![0x86, 0xDD]), Just(vec![0x81, 0, 0, 5, 8, 0, 0x45]),
                prop::collection::vec(any::<u8>(), 0..9),
            ],
            protocol in prop_oneof![Just(6u8), Just(17), any::<u8>()],
            bytes in prop::collection::vec(any::<u8>(), 0..3000),
        ) {
            let mut frame = [vec![0; 12], front, bytes].concat();
            for at in [20, 23, 27] {
                if let Some(place) = frame.get_mut(at) { *place = protocol; }
            }
            let Ok(segments) = cut(&with_header(kind, payload_bytes, start, &frame)) else { return Ok(()) };
            prop_assert!(!segments.is_empty());
            prop_assert!(segments.iter().all(|segment| segment.len() <= LONGEST_FRAME));
            let last = segments.last().expect("there is one");
            prop_assert!(frame.ends_with(&last[last.len() - 1..]));
        }
    }

    #[test]
    fn ipv6_and_tags_are_cut_as_well() {
        let mut frame = vec![0; 12];
        frame.extend_from_slice(&[0x81, 0, 0, 5, 0x86, 0xDD, 0x60, 0, 0, 0, 0, 0, 6, 64]);
        frame.extend_from_slice(&[7; 32]);
        frame.extend_from_slice(&[0, 80, 1, 2, 0, 0, 0, 1, 0, 0, 0, 9, 0x50, 0x10, 1, 0, 0, 0, 0, 0]);
        frame.extend_from_slice(&[1, 2, 3, 4, 5]);
        let segments = cut(&with_header(TCP_OVER_IPV6, 3, 58, &frame)).expect("a sound super-frame");
        assert_eq!(
            segments.iter().map(|segment| segment[78..].to_vec()).collect::<Vec<_>>(),
            [vec![1, 2, 3], vec![4, 5]]
        );
        for segment in &segments {
            let transport = &segment[58..];
            assert_eq!(segment[22..24], (transport.len() as u16).to_be_bytes());
            let pseudo =
                Checksum::new().cover(&segment[26..58]).cover(&(transport.len() as u32).to_be_bytes());
            assert_eq!(pseudo.cover(&[0, 0, 0, 6]).cover(transport).finish(), 0);
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let tcp =
            [&[0, 80, 1, 2, 0, 0, 0, 1, 0, 0, 0, 9, 0x50, 0x10, 1, 0, 0, 0, 0, 0][..], &[1; 4000]].concat();
        let frame = over_ipv4(6, 1, &tcp);
        let most = (LONGEST_FRAME - 54) as u16;
        assert_eq!(
            cut(&with_header(TCP_OVER_IPV4, most, 34, &frame)).map(|cut| cut[0].len()),
            Ok(LONGEST_FRAME)
        );
        assert_eq!(cut(&with_header(TCP_OVER_IPV4, most + 1, 34, &frame)), Err(Unfinishable));
        assert_eq!(SuperFrame::new(LONGEST_FRAME).begin(LONGEST + 1), Err(Unfinishable));
        // An IPv4 header of sixteen bytes, by its own account and by the kernel's.
        let mut short = frame;
        short[14] = 0x44;
        short.drain(30..34);
        assert_eq!(cut(&with_header(TCP_OVER_IPV4, most, 30, &short)), Err(Unfinishable));
    }
}

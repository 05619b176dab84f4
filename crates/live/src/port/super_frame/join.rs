//! Segments of TCP, joined into super-frames (G-34).
//!
//! Segments are joined as Linux joins them (`inet_gro_receive`, `tcp_gro_receive`), and more strictly: only segments that
//! [`super::cut`], or the kernel when it cuts, makes of the super-frame again. A checksum is verified before it is left out, so
//! that no damaged segment passes for sound. Frames of a conversation keep their order; frames of other conversations may pass
//! them until `finish`.

use super::{IPV4_BYTES, LONGEST, Layout, TCP_CHECKSUM, get, put};
use crate::port::ETHERNET_BYTES;
use crate::port::unfinished::{Kind, OFFLOAD_HEADER_BYTES, Unfinished};
use lossylink_core::wire::checksum::Checksum;

/// Conversations whose segments are joined at the same time.
const CONVERSATIONS: usize = 8;
/// The longest packet that an IPv4 header can tell; an IPv6 packet is kept as short.
const LONGEST_PACKET: usize = u16::MAX as usize;
/// An offload header in front of a frame that is whole.
const WHOLE: [u8; OFFLOAD_HEADER_BYTES] = [0; OFFLOAD_HEADER_BYTES];

// Flags of TCP, and where they stand in its header.
const FLAGS: usize = 13;
const FIN: u8 = 0x01;
const PSH: u8 = 0x08;
const ACK: u8 = 0x10;
const ECE: u8 = 0x40;

/// A packet that crosses the edge of a host at once: a frame or a super-frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::port) struct Packet<'a> {
    /// The offload header and the frame behind it.
    pub(in crate::port) bytes: &'a [u8],
    /// How many frames of the link the packet is.
    pub(in crate::port) frames: u64,
    /// Bytes of those frames.
    pub(in crate::port) frame_bytes: u64,
}

impl<'a> Packet<'a> {
    /// Returns the packet of one frame, behind an empty offload header.
    pub(in crate::port) fn whole(bytes: &'a [u8]) -> Self {
        Self { bytes, frames: 1, frame_bytes: (bytes.len() - OFFLOAD_HEADER_BYTES) as u64 }
    }
}

/// Joins segments of several conversations.
#[derive(Debug, Default)]
pub(in crate::port) struct Joiner {
    open: Vec<SuperFrame>,
    /// Buffers of super-frames that have been sent.
    spare: Vec<Vec<u8>>,
}

/// A super-frame to which segments are added.
#[derive(Debug)]
struct SuperFrame {
    /// An empty offload header, the first segment as it was, and the payload of the segments after it.
    bytes: Vec<u8>,
    parts: Layout,
    /// Bytes of payload in the first segment, and in all but the last.
    payload_bytes: usize,
    segments: usize,
    /// The flag PSH or FIN of the last segment.
    last_flags: u8,
}

/// The ways in which a segment fits a super-frame.
enum Fit {
    /// The segment follows, and more may follow it.
    Follows,
    /// The segment follows as the last one.
    Ends,
    /// The segment does not follow.
    Not,
}

impl Joiner {
    /// Takes a frame. `send` gets the frame, and super-frames that were joined before, now or at `finish`.
    pub(in crate::port) fn put(&mut self, frame: &[u8], send: &mut dyn FnMut(Packet<'_>)) {
        let parts = match Layout::find(frame) {
            Some(parts) if !is_fragment(parts, frame) => parts,
            // The frame may belong to any conversation.
            _ => {
                self.finish(send);
                return self.pass(frame, send);
            }
        };
        if !parts.is_tcp {
            return self.pass(frame, send);
        }
        if let Some(index) = self.open.iter().position(|open| open.is_of_conversation(parts, frame)) {
            match self.open[index].fit(parts, frame) {
                Fit::Follows => return self.open[index].add(parts, frame),
                Fit::Ends => {
                    self.open[index].add(parts, frame);
                    return self.finish_one(index, send);
                }
                Fit::Not => self.finish_one(index, send),
            }
        }
        if !may_begin(parts, frame) {
            return self.pass(frame, send);
        }
        if self.open.len() == CONVERSATIONS {
            self.finish_one(0, send);
        }
        let bytes = self.spare.pop().unwrap_or_else(|| Vec::with_capacity(LONGEST));
        self.open.push(SuperFrame::begin(bytes, parts, frame));
    }

    /// Sends all super-frames that are joined so far.
    pub(in crate::port) fn finish(&mut self, send: &mut dyn FnMut(Packet<'_>)) {
        while !self.open.is_empty() {
            self.finish_one(0, send);
        }
    }

    fn finish_one(&mut self, index: usize, send: &mut dyn FnMut(Packet<'_>)) {
        let mut joined = self.open.remove(index);
        joined.complete();
        send(joined.packet());
        self.spare.push(joined.bytes);
    }

    /// Sends a frame as it is, behind an empty offload header.
    fn pass(&mut self, frame: &[u8], send: &mut dyn FnMut(Packet<'_>)) {
        let mut bytes = self.spare.pop().unwrap_or_else(|| Vec::with_capacity(LONGEST));
        bytes.clear();
        write_whole(&mut bytes, frame);
        send(Packet::whole(&bytes));
        self.spare.push(bytes);
    }
}

impl SuperFrame {
    fn begin(mut bytes: Vec<u8>, parts: Layout, frame: &[u8]) -> Self {
        bytes.clear();
        write_whole(&mut bytes, frame);
        Self { bytes, parts, payload_bytes: frame.len() - parts.payload, segments: 1, last_flags: 0 }
    }

    fn frame(&self) -> &[u8] {
        &self.bytes[OFFLOAD_HEADER_BYTES..]
    }

    /// Whether the frame has the addresses and ports of this super-frame.
    fn is_of_conversation(&self, parts: Layout, frame: &[u8]) -> bool {
        let (mine, addresses) = (self.frame(), addresses(parts));
        parts.network == self.parts.network
            && parts.transport == self.parts.transport
            && parts.is_ipv6 == self.parts.is_ipv6
            && mine[addresses..parts.transport + 4] == frame[addresses..parts.transport + 4]
    }

    /// Returns how a segment of the same conversation fits this super-frame.
    fn fit(&self, parts: Layout, frame: &[u8]) -> Fit {
        let mine = self.frame();
        let (network, transport) = (parts.network, parts.transport);
        let is_same = |from: usize, to: usize| mine[from..to] == frame[from..to];
        let is_same_network = is_same(0, network + 2)
            && if parts.is_ipv6 {
                is_same(network + 2, network + 4) && is_same(network + 6, network + 8)
            } else {
                let identification = get(mine, network + 4).wrapping_add(self.segments as u16);
                is_same(network + 6, network + 10) && get(frame, network + 4) == identification
            };
        let (last, flags) = (frame[transport + FLAGS] & (PSH | FIN), transport + FLAGS);
        let is_same_transport = parts.payload == self.parts.payload
            && is_same(transport + 8, flags)
            && mine[flags] == frame[flags] & !last
            && is_same(flags + 1, transport + TCP_CHECKSUM)
            && is_same(transport + TCP_CHECKSUM + 2, parts.payload);
        let payload = frame.len() - parts.payload;
        let ahead = (mine.len() - self.parts.payload) as u32;
        let fits = is_same_network
            && is_same_transport
            && sequence(frame, transport) == sequence(mine, transport).wrapping_add(ahead)
            && (1..=self.payload_bytes).contains(&payload)
            && mine.len() + payload - network <= LONGEST_PACKET
            && is_exact(parts, frame)
            && is_sound(parts, frame);
        match fits {
            false => Fit::Not,
            true if last == 0 && payload == self.payload_bytes => Fit::Follows,
            true => Fit::Ends,
        }
    }

    fn packet(&self) -> Packet<'_> {
        let repeated = (self.segments - 1) * self.parts.payload;
        let frame_bytes = (self.frame().len() + repeated) as u64;
        Packet { bytes: &self.bytes, frames: self.segments as u64, frame_bytes }
    }

    fn add(&mut self, parts: Layout, frame: &[u8]) {
        self.bytes.extend_from_slice(&frame[parts.payload..]);
        self.last_flags = frame[parts.transport + FLAGS] & (PSH | FIN);
        self.segments += 1;
    }

    /// Makes one packet of the segments; a single segment stays as it was.
    fn complete(&mut self) {
        if self.segments == 1 {
            return;
        }
        let parts = self.parts;
        let kind = if parts.is_ipv6 { Kind::TcpOverIpv6 } else { Kind::TcpOverIpv4 };
        let undone = Unfinished::of(kind, parts.payload, self.payload_bytes, parts.transport, TCP_CHECKSUM);
        let (header, frame) = self.bytes.split_at_mut(OFFLOAD_HEADER_BYTES);
        header.copy_from_slice(&undone.header());
        let (network, transport) = frame[parts.network..].split_at_mut(parts.transport - parts.network);
        parts.mend_network(network, transport.len(), 0);
        transport[FLAGS] |= self.last_flags;
        // The receiver of the packet, who completes the checksum, finds the sum of the pseudo header in its place.
        put(transport, TCP_CHECKSUM, !parts.pseudo_header(network, transport.len()).finish());
    }
}

/// Appends a frame behind an empty offload header.
pub(in crate::port) fn write_whole(bytes: &mut Vec<u8>, frame: &[u8]) {
    bytes.extend_from_slice(&WHOLE);
    bytes.extend_from_slice(frame);
}

/// Whether a segment may be the first of a super-frame.
fn may_begin(parts: Layout, frame: &[u8]) -> bool {
    let flags = frame[parts.transport + FLAGS];
    flags & !ECE == ACK
        && frame.len() > parts.payload
        // Kernels differ in their handling of a super-frame behind a tag.
        && parts.network == ETHERNET_BYTES
        && (parts.is_ipv6 || parts.transport - parts.network == IPV4_BYTES)
        && is_exact(parts, frame)
        && is_sound(parts, frame)
}

/// Whether the length in the IP header is that of the packet: the frame has no padding.
fn is_exact(parts: Layout, frame: &[u8]) -> bool {
    let told = if parts.is_ipv6 {
        parts.transport + usize::from(get(frame, parts.network + 4))
    } else {
        parts.network + usize::from(get(frame, parts.network + 2))
    };
    told == frame.len()
}

/// Whether the checksums of the network header and of the segment are right.
fn is_sound(parts: Layout, frame: &[u8]) -> bool {
    let (network, transport) = frame[parts.network..].split_at(parts.transport - parts.network);
    (parts.is_ipv6 || Checksum::new().cover(network).finish() == 0)
        && parts.pseudo_header(network, transport.len()).cover(transport).finish() == 0
}

/// Whether the packet is a fragment of another.
fn is_fragment(parts: Layout, frame: &[u8]) -> bool {
    /// The flag for more fragments, and the offset of this fragment.
    const FRAGMENT: u16 = 0x3FFF;
    !parts.is_ipv6 && get(frame, parts.network + 6) & FRAGMENT != 0
}

/// Returns the offset of the addresses, which the ports follow at once.
fn addresses(parts: Layout) -> usize {
    parts.network + if parts.is_ipv6 { 8 } else { 12 }
}

fn sequence(frame: &[u8], transport: usize) -> u32 {
    let at = transport + 4;
    u32::from_be_bytes([frame[at], frame[at + 1], frame[at + 2], frame[at + 3]])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::super_frame::SuperFrame as Cutter;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// A segment of TCP in its frame, whole and sound.
    #[derive(Clone, Debug)]
    struct Segment {
        is_ipv6: bool,
        is_tagged: bool,
        port: u8,
        identification: u16,
        sequence: u32,
        acknowledged: u32,
        flags: u8,
        options: Vec<u8>,
        payload: Vec<u8>,
    }

    impl Segment {
        fn plain(sequence: u32, payload: usize) -> Self {
            let (options, payload) = (vec![1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2], vec![7; payload]);
            let identification = (sequence / 1448) as u16;
            Self {
                is_ipv6: false,
                is_tagged: false,
                port: 1,
                identification,
                sequence,
                acknowledged: 9,
                flags: ACK,
                options,
                payload,
            }
        }

        fn frame(&self) -> Vec<u8> {
            let mut tcp = vec![0, 80, 1, self.port];
            tcp.extend_from_slice(&self.sequence.to_be_bytes());
            tcp.extend_from_slice(&self.acknowledged.to_be_bytes());
            let offset = ((20 + self.options.len()) / 4 * 16) as u8;
            tcp.extend_from_slice(&[offset, self.flags, 1, 0, 0, 0, 0, 0]);
            tcp.extend_from_slice(&self.options);
            tcp.extend_from_slice(&self.payload);
            let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];
            if self.is_tagged {
                frame.extend_from_slice(&[0x81, 0, 0, 5]);
            }
            let network = frame.len() + 2;
            let length = tcp.len() as u16;
            if self.is_ipv6 {
                frame.extend_from_slice(&[0x86, 0xDD, 0x60, 0, 0, 0]);
                frame.extend_from_slice(&length.to_be_bytes());
                frame.extend_from_slice(&[6, 64]);
                frame.extend_from_slice(&[5; 32]);
            } else {
                frame.extend_from_slice(&[8, 0, 0x45, 0]);
                frame.extend_from_slice(&(20 + length).to_be_bytes());
                frame.extend_from_slice(&self.identification.to_be_bytes());
                frame.extend_from_slice(&[0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
            }
            let transport = frame.len();
            frame.extend_from_slice(&tcp);
            let parts = Layout::find(&frame).expect("TCP");
            let (network, segment) = frame[network..].split_at_mut(transport - network);
            if !self.is_ipv6 {
                let checksum = Checksum::new().cover(network).finish();
                put(network, 10, checksum);
            }
            let checksum = parts.pseudo_header(network, segment.len()).cover(segment).finish();
            put(segment, TCP_CHECKSUM, crate::port::unfinished::sendable(checksum));
            frame
        }
    }

    /// Joins these frames. Returns for each packet the frames into which it is cut.
    fn joined(frames: &[Vec<u8>]) -> Vec<Vec<Vec<u8>>> {
        let (mut joiner, mut packets) = (Joiner::default(), Vec::new());
        let mut send = |packet: Packet<'_>| {
            let frames = cut(packet.bytes);
            assert_eq!(packet.frames, frames.len() as u64);
            assert_eq!(packet.frame_bytes, frames.iter().map(|frame| frame.len() as u64).sum::<u64>());
            packets.push(frames);
        };
        frames.iter().for_each(|frame| joiner.put(frame, &mut send));
        joiner.finish(&mut send);
        packets
    }

    fn cut(bytes: &[u8]) -> Vec<Vec<u8>> {
        let header = *bytes.first_chunk().expect("an offload header");
        if !Unfinished::read(header).is_super_frame() {
            assert_eq!(header, WHOLE);
            return vec![bytes[OFFLOAD_HEADER_BYTES..].to_vec()];
        }
        let mut cutter = Cutter::new(9000);
        cutter.room()[..bytes.len()].copy_from_slice(bytes);
        cutter.begin(bytes.len()).expect("a super-frame that can be cut");
        let mut frames = Vec::new();
        while let Some(frame) = cutter.next() {
            frames.push(frame.to_vec());
        }
        frames
    }

    /// Returns conversations of segments, some of which differ from the segment that would follow.
    fn segments() -> impl Strategy<Value = Vec<Vec<u8>>> {
        let change = prop_oneof![12 => Just(0u8), 10 => 1u8..16];
        let one = (0u8..3, change, prop_oneof![4 => Just(60usize), 1 => 0usize..61], any::<u8>());
        (any::<bool>(), any::<bool>(), prop::collection::vec(one, 1..60)).prop_map(
            |(is_ipv6, is_tagged, changes)| {
                let mut next = BTreeMap::new();
                let mut frames = Vec::new();
                for (port, change, payload, byte) in changes {
                    let start = Segment { is_ipv6, is_tagged, port, ..Segment::plain(u32::MAX - 100, 60) };
                    let segment: &mut Segment = next.entry(port).or_insert(start);
                    segment.payload = (0..payload).map(|at| byte.wrapping_add(at as u8)).collect();
                    let mut sent = segment.clone();
                    match change {
                        1 => sent.flags |= PSH,
                        2 => sent.flags |= FIN,
                        3 => sent.flags |= ECE,
                        4 => sent.flags |= 0x80,
                        5 => sent.flags |= 0x02,
                        6 => sent.sequence = sent.sequence.wrapping_add(1),
                        7 => sent.identification = sent.identification.wrapping_add(1),
                        8 => sent.acknowledged += 1,
                        9 => sent.options[7] ^= byte,
                        10 => sent.is_tagged = !is_tagged,
                        11 => sent.options.clear(),
                        _ => {}
                    }
                    let mut frame = sent.frame();
                    match change {
                        12 => {
                            let at = usize::from(byte) % frame.len();
                            frame[at] ^= 1
                        }
                        13 => frame.extend_from_slice(&[0; 6]),
                        14 => frame.truncate(frame.len() - 1),
                        15 if !is_ipv6 => frame[sent_network(&sent) + 6] |= 0x20,
                        _ => {}
                    }
                    segment.sequence = segment.sequence.wrapping_add(payload as u32);
                    segment.identification = segment.identification.wrapping_add(1);
                    frames.push(frame);
                }
                frames
            },
        )
    }

    fn sent_network(segment: &Segment) -> usize {
        if segment.is_tagged { 18 } else { 14 }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        /// G-34: every super-frame comes apart into the frames that were joined, each conversation in its order.
        #[test]
        fn what_is_joined_comes_apart_again(frames in segments()) {
            // The key is the tags, the addresses and the ports.
            let by_conversation = |frames: &mut dyn Iterator<Item = &Vec<u8>>| {
                let mut all: BTreeMap<Option<Vec<u8>>, Vec<Vec<u8>>> = BTreeMap::new();
                for frame in frames {
                    let key = Layout::find(frame).map(|parts| [&frame[12..parts.network], &frame[addresses(parts)..parts.transport + 4]].concat());
                    all.entry(key).or_default().push(frame.clone());
                }
                all
            };
            let packets = joined(&frames);
            let came = by_conversation(&mut frames.iter());
            prop_assert_eq!(by_conversation(&mut packets.iter().flatten()), came);
        }
    }

    /// G-34
    #[test]
    fn a_burst_is_one_packet_up_to_64_kilobytes() {
        let frames: Vec<_> = (0..60).map(|index| Segment::plain(index * 1448, 1448).frame()).collect();
        let packets = joined(&frames);
        assert_eq!(packets.iter().map(Vec::len).collect::<Vec<_>>(), [45, 15]);
        assert_eq!(packets.concat(), frames);
        let frames: Vec<_> = (0..40)
            .map(|index| Segment { is_ipv6: true, ..Segment::plain(index * 100, 100) }.frame())
            .collect();
        assert_eq!(joined(&frames), [frames]);
    }

    /// G-34
    #[test]
    fn tagged_frames_stay_apart() {
        let frames: Vec<_> = (0..4)
            .map(|index| Segment { is_tagged: true, ..Segment::plain(index * 100, 100) }.frame())
            .collect();
        assert_eq!(joined(&frames).len(), 4);
    }

    /// G-34
    #[test]
    fn conversations_are_joined_side_by_side() {
        let frames: Vec<_> = (0..30)
            .map(|index| {
                Segment { port: (index % 3) as u8, ..Segment::plain(index / 3 * 1448, 1448) }.frame()
            })
            .collect();
        assert_eq!(joined(&frames).iter().map(Vec::len).collect::<Vec<_>>(), [10, 10, 10]);
    }

    /// G-34
    #[test]
    fn a_push_and_a_short_segment_end_a_burst() {
        let mut segments: Vec<_> = (0..4).map(|index| Segment::plain(index * 1448, 1448)).collect();
        segments[1].flags |= PSH;
        segments[3].payload.truncate(10);
        let frames: Vec<_> = segments.iter().map(Segment::frame).collect();
        assert_eq!(joined(&frames).iter().map(Vec::len).collect::<Vec<_>>(), [2, 2]);
    }

    /// G-34
    #[test]
    fn damage_is_handed_on_as_it_came() {
        let mut frames: Vec<_> = (0..3).map(|index| Segment::plain(index * 1448, 1448).frame()).collect();
        frames[1][700] ^= 4;
        assert_eq!(joined(&frames).iter().map(Vec::len).collect::<Vec<_>>(), [1, 1, 1]);
        assert_eq!(joined(&frames).concat(), frames);
    }
}

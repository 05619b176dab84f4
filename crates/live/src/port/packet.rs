//! The AF_PACKET port: any interface, real or veth; a shared receive ring and batched sends.
//!
//! A frame that its sender left unfinished is finished here (G-23): on a veth nobody else does.

use super::super_frame::{Joiner, LONGEST, Packet, SuperFrame, write_whole};
use super::unfinished::{OFFLOAD_HEADER_BYTES, Unfinished};
use super::{ETHERNET_BYTES, Port, PortCounters, RaisedMtu, TAG_BYTES};
use crate::error::Result;
use crate::sys::interface::Interface;
use crate::sys::namespace;
use crate::sys::packet::{Arrival, PacketSocket, SEND_BATCH};
use crate::sys::poll::wait;
use std::os::fd::{AsFd, BorrowedFd};

/// Bytes of the two MAC addresses, behind which a VLAN tag goes.
const ADDRESS_BYTES: usize = 12;
/// Bytes of one VLAN tag.
const VLAN_BYTES: usize = 4;

/// Time to wait when the far end of a veth cannot take more frames, and the most waits in a batch: 0.4 ms at
/// most.
const NAP_NS: u64 = 50_000;
const NAPS: usize = 8;

/// A packet socket on one interface.
#[derive(Debug)]
pub(super) struct PacketPort {
    socket: PacketSocket,
    _mtu: RaisedMtu,
    longest_frame: usize,
    batch: Batch,
    /// Joins frames for hosts into super-frames; absent where the other side takes frames alone.
    joiner: Option<Joiner>,
    /// A received frame with its VLAN tag put back.
    tagged: Vec<u8>,
    /// The super-frame that is being cut.
    super_frame: SuperFrame,
    /// The VLAN tag that each frame of the super-frame gets back.
    super_vlan: Option<(u16, u16)>,
    counters: PortCounters,
}

/// Packets gathered for the next call to the kernel, one after another.
#[derive(Debug)]
struct Batch {
    bytes: Vec<u8>,
    packets: Vec<Gathered>,
}

/// A packet in a batch.
#[derive(Clone, Copy, Debug)]
struct Gathered {
    /// The offset at which the packet ends.
    end: usize,
    frames: u64,
    frame_bytes: u64,
}

impl PacketPort {
    pub(super) fn open(name: &str, namespace: Option<&str>, mtu: usize, super_frames: bool) -> Result<Self> {
        let longest_frame = mtu + ETHERNET_BYTES + TAG_BYTES;
        let longest_packet = if super_frames { LONGEST } else { OFFLOAD_HEADER_BYTES + longest_frame };
        namespace::inside(namespace, || {
            let interface = Interface::open(name)?;
            interface.set_up()?;
            Ok(Self {
                _mtu: RaisedMtu::at_least(interface, mtu)?,
                socket: PacketSocket::open(name, mtu, longest_packet)?,
                longest_frame,
                batch: Batch::new(longest_packet),
                joiner: super_frames.then(Joiner::default),
                tagged: Vec::with_capacity(longest_frame + VLAN_BYTES),
                super_frame: SuperFrame::new(longest_frame),
                super_vlan: None,
                counters: PortCounters::default(),
            })
        })
    }
}

impl Port for PacketPort {
    fn receive(&mut self, limit: usize, take: &mut dyn FnMut(&[u8])) -> Result<usize> {
        let mut taken = 0;
        while taken < limit {
            taken += match self.take_segment(take) {
                true => 1,
                false => match self.take_slot(take) {
                    Slot::Empty => break,
                    Slot::Frame => 1,
                    Slot::SuperFrame => 0,
                },
            };
        }
        Ok(taken)
    }

    fn send(&mut self, frame: &[u8]) {
        if frame.len() > self.longest_frame {
            self.counters.oversize += 1;
            return;
        }
        match &mut self.joiner {
            Some(joiner) => joiner.put(frame, &mut |packet| self.batch.put(packet)),
            None => self.batch.put_frame(frame),
        }
        if self.batch.packets.len() >= SEND_BATCH {
            self.send_batch();
        }
    }

    fn flush(&mut self) {
        if let Some(joiner) = &mut self.joiner {
            joiner.finish(&mut |packet| self.batch.put(packet));
        }
        self.send_batch();
    }

    fn gathers(&self) -> bool {
        true
    }

    fn readable(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    fn counters(&mut self) -> PortCounters {
        // The kernel resets its count at every question, so this port keeps the sum.
        self.counters.missed += self.socket.ring_drops().unwrap_or(0);
        self.counters
    }
}

/// The content of a slot of the ring.
enum Slot {
    Empty,
    /// One frame, handed over or dropped.
    Frame,
    /// The frames of a super-frame, which are to be taken one by one.
    SuperFrame,
}

impl Batch {
    fn new(longest_packet: usize) -> Self {
        // The last frame put may add a joined packet of every conversation.
        let packets = 2 * SEND_BATCH;
        Self { bytes: Vec::with_capacity(SEND_BATCH * longest_packet), packets: Vec::with_capacity(packets) }
    }

    fn put(&mut self, packet: Packet<'_>) {
        self.bytes.extend_from_slice(packet.bytes);
        let Packet { frames, frame_bytes, .. } = packet;
        self.packets.push(Gathered { end: self.bytes.len(), frames, frame_bytes });
    }

    fn put_frame(&mut self, frame: &[u8]) {
        write_whole(&mut self.bytes, frame);
        let frame_bytes = frame.len() as u64;
        self.packets.push(Gathered { end: self.bytes.len(), frames: 1, frame_bytes });
    }

    /// Returns a packet behind its offload header.
    fn bytes(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.packets[index - 1].end };
        &self.bytes[start..self.packets[index].end]
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.packets.clear();
    }
}

impl PacketPort {
    fn send_batch(&mut self) {
        let Self { socket, batch, counters, .. } = self;
        let (mut first, mut naps) = (0, 0);
        while first < batch.packets.len() {
            match socket.send((first..batch.packets.len()).map(|index| batch.bytes(index))) {
                Ok(sent) => {
                    for packet in &batch.packets[first..first + sent] {
                        counters.sent(packet.frames, packet.frame_bytes);
                    }
                    first += sent;
                }
                // The far end's queue is full: a nap lets the kernel empty it, even below a real-time loop.
                Err(error) if naps < NAPS && is_full(&error) => {
                    naps += 1;
                    let _ = wait(&[], Some(NAP_NS));
                }
                // The interface refuses this packet (down, too long): skip it, as a cable would.
                Err(_) => {
                    counters.send_refused += batch.packets[first].frames;
                    first += 1;
                }
            }
        }
        batch.clear();
    }

    /// Hands over the next frame of a super-frame; `false` when there is none.
    fn take_segment(&mut self, take: &mut dyn FnMut(&[u8])) -> bool {
        let Some(segment) = self.super_frame.next() else { return false };
        let frame = with_vlan(segment, self.super_vlan, &mut self.tagged);
        self.counters.received(frame.len());
        take(frame);
        true
    }

    /// Hands over the frame of the next slot, or begins to cut a super-frame.
    fn take_slot(&mut self, take: &mut dyn FnMut(&[u8])) -> Slot {
        let Self { socket, super_frame, tagged, counters, .. } = self;
        let mut beyond_a_frame = None;
        let received = socket.receive(|frame, arrival| {
            let unfinished = Unfinished::read(arrival.offload);
            if arrival.is_queued || unfinished.is_super_frame() {
                let whole = if arrival.truncated { 0 } else { super_frame.put(arrival.offload, frame) };
                beyond_a_frame = Some((arrival, whole));
            } else if arrival.truncated || frame.len() < ETHERNET_BYTES {
                counters.oversize += 1;
            } else if let Ok(completed) = unfinished.complete(frame) {
                counters.checksums_completed += u64::from(completed);
                let frame = with_vlan(frame, arrival.vlan, tagged);
                counters.received(frame.len());
                take(frame);
            } else {
                counters.unfinished += 1;
            }
        });
        match beyond_a_frame {
            Some((arrival, whole)) => self.take_long(arrival, whole),
            None if received => Slot::Frame,
            None => Slot::Empty,
        }
    }

    /// Begins to cut a super-frame, or drops a frame that is too long. The packet is `whole` bytes long, or
    /// waits beside the ring.
    fn take_long(&mut self, arrival: Arrival, whole: usize) -> Slot {
        let room = self.super_frame.room();
        let length = if arrival.is_queued { self.socket.receive_queued(room).unwrap_or(0) } else { whole };
        if !Unfinished::read(arrival.offload).is_super_frame() {
            self.counters.oversize += 1;
        } else if self.super_frame.begin(length).is_ok() {
            self.counters.super_frames_cut += 1;
            self.super_vlan = arrival.vlan;
            return Slot::SuperFrame;
        } else {
            self.counters.unfinished += 1;
        }
        Slot::Frame
    }
}

/// Whether the kernel refused for lack of room, which passes.
fn is_full(error: &std::io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOBUFS | libc::EAGAIN))
}

/// Returns the frame as it was on the cable: the kernel moves a VLAN tag out of received frames.
fn with_vlan<'a>(frame: &'a [u8], vlan: Option<(u16, u16)>, tagged: &'a mut Vec<u8>) -> &'a [u8] {
    let Some((protocol, tag)) = vlan else { return frame };
    tagged.clear();
    tagged.extend_from_slice(&frame[..ADDRESS_BYTES]);
    tagged.extend_from_slice(&protocol.to_be_bytes());
    tagged.extend_from_slice(&tag.to_be_bytes());
    tagged.extend_from_slice(&frame[ADDRESS_BYTES..]);
    tagged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vlan_tag_goes_back_behind_the_addresses() {
        let frame: Vec<u8> = (0..20).collect();
        let mut tagged = Vec::new();
        assert_eq!(with_vlan(&frame, None, &mut tagged), frame);
        let bytes = with_vlan(&frame, Some((0x8100, 42)), &mut tagged);
        assert_eq!(bytes[12..18], [0x81, 0x00, 0, 42, 12, 13]);
        assert_eq!(bytes.len(), 24);
    }
}

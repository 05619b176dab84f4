//! The AF_PACKET port: any interface, real or veth; a shared receive ring and batched sends.

use super::{ETHERNET_BYTES, Port, PortCounters, RaisedMtu};
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

/// How long to wait when the far end of a veth cannot take more, and how often in a batch: 0.4 ms at most.
const NAP_NS: u64 = 50_000;
const NAPS: usize = 8;

/// A packet socket on one interface.
#[derive(Debug)]
pub(super) struct PacketPort {
    socket: PacketSocket,
    _mtu: RaisedMtu,
    longest_frame: usize,
    /// Frames gathered for the next batch, one after another.
    batch: Vec<u8>,
    /// Where each gathered frame ends in `batch`.
    ends: Vec<usize>,
    /// A received frame with its VLAN tag put back.
    tagged: Vec<u8>,
    counters: PortCounters,
}

impl PacketPort {
    pub(super) fn open(name: &str, namespace: Option<&str>, mtu: usize) -> Result<Self> {
        let longest_frame = mtu + ETHERNET_BYTES + VLAN_BYTES;
        namespace::inside(namespace, || {
            let interface = Interface::open(name)?;
            interface.set_up()?;
            Ok(Self {
                _mtu: RaisedMtu::at_least(interface, mtu)?,
                socket: PacketSocket::open(name, mtu)?,
                longest_frame,
                batch: Vec::with_capacity(SEND_BATCH * longest_frame),
                ends: Vec::with_capacity(SEND_BATCH),
                tagged: Vec::with_capacity(longest_frame + VLAN_BYTES),
                counters: PortCounters::default(),
            })
        })
    }
}

impl Port for PacketPort {
    fn receive(&mut self, limit: usize, take: &mut dyn FnMut(&[u8])) -> Result<usize> {
        let Self { socket, tagged, counters, .. } = self;
        for taken in 0..limit {
            let received = socket.receive(|frame, arrival| {
                counters.checksum_missing += u64::from(arrival.checksum_missing);
                if arrival.truncated || frame.len() < ETHERNET_BYTES {
                    counters.oversize += 1;
                    return;
                }
                let frame = with_vlan(frame, arrival, tagged);
                counters.received(frame.len());
                take(frame);
            });
            if !received {
                return Ok(taken);
            }
        }
        Ok(limit)
    }

    fn send(&mut self, frame: &[u8]) {
        if frame.len() > self.longest_frame {
            self.counters.oversize += 1;
            return;
        }
        self.batch.extend_from_slice(frame);
        self.ends.push(self.batch.len());
        if self.ends.len() == SEND_BATCH {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let (mut first, mut naps) = (0, 0);
        while first < self.ends.len() {
            let frames = (first..self.ends.len()).map(|index| self.gathered(index));
            match self.socket.send(frames) {
                Ok(sent) => {
                    let bytes: usize = (first..first + sent).map(|index| self.gathered(index).len()).sum();
                    self.counters.sent_frames += sent as u64;
                    self.counters.sent_bytes += bytes as u64;
                    first += sent;
                }
                // The far end's queue is full: a nap lets the kernel empty it, even below a real-time loop.
                Err(error) if naps < NAPS && is_full(&error) => {
                    naps += 1;
                    let _ = wait(&[], Some(NAP_NS));
                }
                // The interface refuses this frame (down, too long): skip it like a cable would.
                Err(_) => {
                    self.counters.send_refused += 1;
                    first += 1;
                }
            }
        }
        self.batch.clear();
        self.ends.clear();
    }

    fn readable(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    fn counters(&mut self) -> PortCounters {
        // The kernel resets its count at every question, so the sum is kept here.
        self.counters.missed += self.socket.ring_drops().unwrap_or(0);
        self.counters
    }
}

impl PacketPort {
    fn gathered(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.batch[start..self.ends[index]]
    }
}

/// Whether the kernel refused for want of room, which passes.
fn is_full(error: &std::io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOBUFS | libc::EAGAIN))
}

/// The frame as it was on the cable: the kernel moves a VLAN tag out of received frames.
fn with_vlan<'a>(frame: &'a [u8], arrival: Arrival, tagged: &'a mut Vec<u8>) -> &'a [u8] {
    let Some((protocol, tag)) = arrival.vlan else { return frame };
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
        let plain = Arrival { vlan: None, checksum_missing: false, truncated: false };
        let mut tagged = Vec::new();
        assert_eq!(with_vlan(&frame, plain, &mut tagged), frame);
        let in_vlan = Arrival { vlan: Some((0x8100, 42)), ..plain };
        let bytes = with_vlan(&frame, in_vlan, &mut tagged);
        assert_eq!(bytes[12..18], [0x81, 0x00, 0, 42, 12, 13]);
        assert_eq!(bytes.len(), 24);
    }
}

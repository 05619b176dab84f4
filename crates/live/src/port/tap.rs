//! The TAP port: the host's own interface, opened inside its namespace; one system call a frame or super-frame.

use super::super_frame::{Joiner, Packet, SuperFrame, write_whole};
use super::unfinished::{OFFLOAD_HEADER_BYTES, Unfinished};
use super::{ETHERNET_BYTES, Port, PortCounters, TAG_BYTES};
use crate::error::{Attempt, Error, Result};
use crate::sys::interface::Interface;
use crate::sys::{self, namespace, tun};
use std::fs::File;
use std::io::Read;
use std::io::Seek;
use std::os::fd::{AsFd, BorrowedFd};

/// The most frames that may wait for this process in the kernel. A TAP drops silently when its queue is full,
/// and 20,000 full frames are 240 ms at 1 Gb/s.
const QUEUE_FRAMES: i32 = 20_000;

/// A TAP interface to which this process is the cable.
#[derive(Debug)]
pub(super) struct TapPort {
    name: String,
    tap: File,
    /// `/proc/net/dev` of the interface's namespace; it stays tied to that namespace.
    statistics: File,
    /// The last packet that was read: a frame, or a super-frame that is being cut.
    super_frame: SuperFrame,
    /// Joins frames for the host into super-frames; absent where the host takes frames alone.
    joiner: Option<Joiner>,
    /// A frame to send, behind its offload header.
    outgoing: Vec<u8>,
    longest_frame: usize,
    counters: PortCounters,
}

impl TapPort {
    pub(super) fn open(name: &str, namespace: Option<&str>, mtu: usize, super_frames: bool) -> Result<Self> {
        namespace::inside(namespace, || {
            let tap = tun::attach(name, super_frames)?;
            let interface = Interface::open(name)?;
            interface.set_mtu(mtu)?;
            // Inside a user namespace only netlink may set the length, and the lab already has: no reason to
            // fail.
            let _ = interface.set_queue_length(QUEUE_FRAMES);
            interface.set_up()?;
            let statistics =
                File::open("/proc/thread-self/net/dev").attempting("open the interface statistics")?;
            let longest_frame = mtu + ETHERNET_BYTES + TAG_BYTES;
            Ok(Self {
                name: name.to_owned(),
                tap,
                statistics,
                super_frame: SuperFrame::new(longest_frame),
                joiner: super_frames.then(Joiner::default),
                outgoing: Vec::with_capacity(OFFLOAD_HEADER_BYTES + longest_frame),
                longest_frame,
                counters: PortCounters::default(),
            })
        })
    }

    /// Reads the next frame or super-frame and returns its length; `None` when none waits.
    fn read(&mut self) -> Result<Option<usize>> {
        let Self { tap, super_frame, name, .. } = self;
        sys::read(tap.as_fd(), super_frame.room()).attempting(format_args!("read a frame from TAP {name}"))
    }

    /// Hands over the frame of `length` bytes that was read, or begins to cut it; `true` if it was one frame.
    fn take(&mut self, length: usize, take: &mut dyn FnMut(&[u8])) -> bool {
        let Self { super_frame, longest_frame, counters, .. } = self;
        let Some((header, frame)) = super_frame.read(length) else { return true };
        let unfinished = Unfinished::read(header);
        if unfinished.is_super_frame() {
            let is_cut = super_frame.begin(length).is_ok();
            counters.super_frames_cut += u64::from(is_cut);
            counters.unfinished += u64::from(!is_cut);
            return !is_cut;
        }
        match unfinished.complete(frame) {
            _ if frame.len() > *longest_frame => counters.oversize += 1,
            Ok(completed) => {
                counters.checksums_completed += u64::from(completed);
                counters.received(frame.len());
                take(frame);
            }
            Err(_) => counters.unfinished += 1,
        }
        true
    }

    /// Returns the `TX dropped` column of the interface: frames for which its queue had no room.
    fn dropped_by_the_kernel(&mut self) -> std::io::Result<u64> {
        let mut text = String::new();
        self.statistics.rewind()?;
        self.statistics.read_to_string(&mut text)?;
        Ok(transmit_drops(&text, &self.name).unwrap_or(0))
    }
}

impl Port for TapPort {
    fn receive(&mut self, limit: usize, take: &mut dyn FnMut(&[u8])) -> Result<usize> {
        let mut taken = 0;
        while taken < limit {
            if let Some(segment) = self.super_frame.next() {
                self.counters.received(segment.len());
                take(segment);
                taken += 1;
            } else if let Some(length) = self.read()? {
                taken += usize::from(self.take(length, take));
            } else {
                break;
            }
        }
        Ok(taken)
    }

    fn send(&mut self, frame: &[u8]) {
        let Self { tap, joiner, outgoing, counters, .. } = self;
        if let Some(joiner) = joiner {
            return joiner.put(frame, &mut |packet| write(tap, packet, counters));
        }
        outgoing.clear();
        write_whole(outgoing, frame);
        write(tap, Packet::whole(outgoing), counters);
    }

    fn flush(&mut self) {
        let Self { tap, joiner, counters, .. } = self;
        if let Some(joiner) = joiner {
            joiner.finish(&mut |packet| write(tap, packet, counters));
        }
    }

    fn gathers(&self) -> bool {
        self.joiner.is_some()
    }

    fn readable(&self) -> BorrowedFd<'_> {
        self.tap.as_fd()
    }

    fn counters(&mut self) -> PortCounters {
        if let Ok(dropped) = self.dropped_by_the_kernel() {
            self.counters.missed = dropped;
        }
        self.counters
    }
}

fn write(tap: &File, packet: Packet<'_>, counters: &mut PortCounters) {
    match sys::write(tap.as_fd(), packet.bytes) {
        Ok(_) => counters.sent(packet.frames, packet.frame_bytes),
        // The interface is down, or the kernel is out of memory: the frames are lost, as on a cable.
        Err(_) => counters.send_refused += packet.frames,
    }
}

/// Finds the transmit drops of `name` in the text of `/proc/net/dev`.
fn transmit_drops(text: &str, name: &str) -> Result<u64> {
    /// The twelfth number of a line: eight receive columns, then bytes, packets, errors, drops.
    const COLUMN: usize = 11;
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(interface, _)| interface.trim() == name)
        .and_then(|(_, numbers)| numbers.split_whitespace().nth(COLUMN)?.parse().ok())
        .ok_or_else(|| Error::Usage(format!("interface {name} has no statistics: it is gone")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transmit_drops_are_the_twelfth_number() {
        let text = "Inter-|   Receive\n face |bytes\n  eth0: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n";
        assert_eq!(transmit_drops(text, "eth0").unwrap(), 12);
        assert!(transmit_drops(text, "eth1").is_err());
    }
}

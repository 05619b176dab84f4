//! The TAP port: the host's own interface, opened inside its namespace; one system call a frame.

use super::{ETHERNET_BYTES, Port, PortCounters, TAG_BYTES};
use crate::error::{Attempt, Error, Result};
use crate::sys::interface::Interface;
use crate::sys::{self, namespace, tun};
use std::fs::File;
use std::io::Read;
use std::io::Seek;
use std::os::fd::{AsFd, BorrowedFd};

/// Frames that may wait for us in the kernel: a TAP drops silently when its queue is full, and 20,000
/// full frames are 240 ms at 1 Gb/s.
const QUEUE_FRAMES: i32 = 20_000;

/// A TAP interface to which this process is the cable.
#[derive(Debug)]
pub(super) struct TapPort {
    name: String,
    tap: File,
    /// `/proc/net/dev` of the interface's namespace; it stays tied to that namespace.
    statistics: File,
    buffer: Vec<u8>,
    counters: PortCounters,
}

impl TapPort {
    pub(super) fn open(name: &str, namespace: Option<&str>, mtu: usize) -> Result<Self> {
        namespace::inside(namespace, || {
            let tap = tun::attach(name)?;
            let interface = Interface::open(name)?;
            interface.set_mtu(mtu)?;
            // Inside a user namespace only netlink may set it, and the lab already has: no reason to fail.
            let _ = interface.set_queue_length(QUEUE_FRAMES);
            interface.set_up()?;
            let statistics =
                File::open("/proc/thread-self/net/dev").attempting("open the interface statistics")?;
            let buffer = vec![0; mtu + ETHERNET_BYTES + TAG_BYTES];
            Ok(Self { name: name.to_owned(), tap, statistics, buffer, counters: PortCounters::default() })
        })
    }

    /// The `TX dropped` column of the interface: frames for which its queue had no room.
    fn dropped_by_the_kernel(&mut self) -> std::io::Result<u64> {
        let mut text = String::new();
        self.statistics.rewind()?;
        self.statistics.read_to_string(&mut text)?;
        Ok(transmit_drops(&text, &self.name).unwrap_or(0))
    }
}

impl Port for TapPort {
    fn receive(&mut self, limit: usize, take: &mut dyn FnMut(&[u8])) -> Result<usize> {
        for taken in 0..limit {
            let read = sys::read(self.tap.as_fd(), &mut self.buffer)
                .attempting(format_args!("read a frame from TAP {}", self.name))?;
            let Some(length) = read else { return Ok(taken) };
            self.counters.received(length);
            take(&self.buffer[..length]);
        }
        Ok(limit)
    }

    fn send(&mut self, frame: &[u8]) {
        match sys::write(self.tap.as_fd(), frame) {
            Ok(_) => {
                self.counters.sent_frames += 1;
                self.counters.sent_bytes += frame.len() as u64;
            }
            // The interface is down, or the kernel is out of memory: the frame is lost, as on a cable.
            Err(_) => self.counters.send_refused += 1,
        }
    }

    fn flush(&mut self) {}

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

//! The TUN port: IP packets of this host, behind an Ethernet header without addresses.

use super::{ETHERNET_BYTES, Port, PortCounters};
use crate::error::{Attempt, Result};
use crate::sys::interface::Interface;
use crate::sys::{self, namespace, tunnel};
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};

/// Packets that may wait for this process in the kernel: the default of 500 is 5 ms at 1 Gb/s.
const QUEUE_PACKETS: i32 = 5_000;
/// Offset of the EtherType in an Ethernet header.
const ETHERTYPE: usize = 12;
/// The EtherTypes of the versions of IP.
const IPV4: [u8; 2] = [0x08, 0x00];
const IPV6: [u8; 2] = [0x86, 0xdd];

/// A TUN interface to which this process is the path.
#[derive(Debug)]
pub(super) struct TunPort {
    name: String,
    tun: File,
    /// Room for a header and a packet.
    buffer: Vec<u8>,
    has_carrier: Option<bool>,
    counters: PortCounters,
}

impl TunPort {
    pub(super) fn open(name: &str, namespace: Option<&str>, mtu: usize) -> Result<Self> {
        namespace::inside(namespace, || {
            let tun = tunnel::attach(name)?;
            let interface = Interface::open(name)?;
            interface.set_mtu(mtu)?;
            // Inside a user namespace only netlink may set the length: then 500 packets may wait.
            let _ = interface.set_queue_length(QUEUE_PACKETS);
            interface.set_up()?;
            let buffer = vec![0; ETHERNET_BYTES + mtu];
            let counters = PortCounters::default();
            let mut port = Self { name: name.to_owned(), tun, buffer, has_carrier: None, counters };
            port.set_carrier(false);
            Ok(port)
        })
    }
}

impl Port for TunPort {
    fn receive(&mut self, limit: usize, take: &mut dyn FnMut(&[u8])) -> Result<usize> {
        for taken in 0..limit {
            let read = sys::read(self.tun.as_fd(), &mut self.buffer[ETHERNET_BYTES..])
                .attempting(format_args!("read a packet from TUN {}", self.name))?;
            let Some(length) = read else { return Ok(taken) };
            let Some(ethertype) = ethertype(self.buffer[ETHERNET_BYTES]).filter(|_| length > 0) else {
                self.counters.unfinished += 1;
                continue;
            };
            self.buffer[ETHERTYPE..ETHERNET_BYTES].copy_from_slice(&ethertype);
            self.counters.received(ETHERNET_BYTES + length);
            take(&self.buffer[..ETHERNET_BYTES + length]);
        }
        Ok(limit)
    }

    /// Sends the IP packet of a frame; a frame without an IP packet has no place on a TUN.
    fn send(&mut self, frame: &[u8]) {
        let packet = frame.get(ETHERNET_BYTES..).unwrap_or_default();
        let is_ip = packet
            .first()
            .and_then(|first| ethertype(*first))
            .is_some_and(|of| frame[ETHERTYPE..ETHERNET_BYTES] == of);
        match is_ip.then(|| sys::write(self.tun.as_fd(), packet)) {
            Some(Ok(_)) => {
                self.counters.sent_frames += 1;
                self.counters.sent_bytes += frame.len() as u64;
            }
            // The interface is down, or the kernel is out of memory: the packet is lost, as on a path.
            Some(Err(_)) => self.counters.send_refused += 1,
            None => self.counters.unfinished += 1,
        }
    }

    fn flush(&mut self) {}

    fn gathers(&self) -> bool {
        false
    }

    fn readable(&self) -> BorrowedFd<'_> {
        self.tun.as_fd()
    }

    /// Shows the carrier of the interface. A kernel that knows no carrier of a TUN leaves it up: its routes
    /// stay.
    fn set_carrier(&mut self, is_up: bool) {
        if self.has_carrier != Some(is_up) {
            self.has_carrier = Some(is_up);
            let _ = tunnel::set_carrier(self.tun.as_fd(), is_up);
        }
    }

    fn counters(&mut self) -> PortCounters {
        self.counters
    }
}

/// Returns the EtherType of a packet that begins with the octet `first`.
fn ethertype(first: u8) -> Option<[u8; 2]> {
    match first >> 4 {
        4 => Some(IPV4),
        6 => Some(IPV6),
        _ => None,
    }
}

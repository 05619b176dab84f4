//! The XDP port: an interface whose driver hands frames over before the kernel handles them.
//!
//! Frames out of which the kernel has taken a VLAN tag arrive without the tag: VLAN offloads must be off.

use super::{ETHERNET_BYTES, Port, PortCounters, RaisedMtu, TAG_BYTES};
use crate::error::Result;
use crate::sys::interface::Interface;
use crate::sys::namespace;
use crate::sys::xdp::XdpSocket;
use std::os::fd::{AsFd, BorrowedFd};

/// An XDP socket on one interface.
#[derive(Debug)]
pub(super) struct XdpPort {
    socket: XdpSocket,
    _mtu: RaisedMtu,
    longest_frame: usize,
    counters: PortCounters,
}

impl XdpPort {
    pub(super) fn open(name: &str, namespace: Option<&str>, mtu: usize) -> Result<Self> {
        namespace::inside(namespace, || {
            let interface = Interface::open(name)?;
            interface.set_up()?;
            Ok(Self {
                _mtu: RaisedMtu::at_least(interface, mtu)?,
                socket: XdpSocket::open(name)?,
                longest_frame: mtu + ETHERNET_BYTES + TAG_BYTES,
                counters: PortCounters::default(),
            })
        })
    }
}

impl Port for XdpPort {
    fn receive(&mut self, limit: usize, take: &mut dyn FnMut(&[u8])) -> Result<usize> {
        let Self { socket, counters, longest_frame, .. } = self;
        for taken in 0..limit {
            let received = socket.receive(|frame| {
                if frame.len() < ETHERNET_BYTES || frame.len() > *longest_frame {
                    counters.oversize += 1;
                    return;
                }
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
        } else if self.socket.send(frame) {
            self.counters.sent_frames += 1;
            self.counters.sent_bytes += frame.len() as u64;
        } else {
            self.counters.send_refused += 1;
        }
    }

    fn flush(&mut self) {
        self.socket.kick();
    }

    fn gathers(&self) -> bool {
        true
    }

    fn readable(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    fn counters(&mut self) -> PortCounters {
        if let Ok(dropped) = self.socket.dropped() {
            self.counters.missed = dropped;
        }
        self.counters
    }
}

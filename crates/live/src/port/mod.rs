//! Ports, where frames enter and leave a process: one trait, one file for each kind of port.

mod packet;
mod super_frame;
mod tap;
mod tun;
mod udp;
mod unfinished;
mod xdp;

use crate::error::{Error, Result};
use crate::sys::interface::Interface;
use lossylink_core::engine::report::Kind;
use serde::Serialize;
use std::fmt;
use std::os::fd::BorrowedFd;
use std::str::FromStr;

/// An Ethernet header without tags, in bytes.
pub const ETHERNET_BYTES: usize = 14;
/// The longest payload of a frame that any port carries, in bytes: jumbo frames and some headroom.
pub const MAX_MTU: usize = 9216;

/// Bytes of two VLAN tags in front of an EtherType.
const TAG_BYTES: usize = 8;

/// A port: a place where whole Ethernet frames enter and leave.
///
/// Polling order: `receive` until it takes nothing, `send` any number of frames, then `flush` once.
/// No call ever blocks; between rounds a loop may sleep until [`Port::readable`] is readable.
pub trait Port: fmt::Debug {
    /// Hands at most `limit` waiting frames to `take`; returns how many it took.
    ///
    /// # Errors
    /// When the interface is gone.
    fn receive(&mut self, limit: usize, take: &mut dyn FnMut(&[u8])) -> Result<usize>;

    /// Sends a frame, at the latest at the next `flush`; a frame that the kernel refuses is counted.
    fn send(&mut self, frame: &[u8]);

    /// Sends the frames that `send` has gathered.
    fn flush(&mut self);

    /// Whether `send` leaves frames to `flush`.
    fn gathers(&self) -> bool;

    /// Returns the descriptor that turns readable when a frame waits.
    fn readable(&self) -> BorrowedFd<'_>;

    /// Says whether frames that are sent here reach a peer; most kinds of interfaces cannot show that.
    fn set_carrier(&mut self, _is_up: bool) {}

    /// Returns the counters of frames passed and refused so far.
    fn counters(&mut self) -> PortCounters;
}

/// Counters of a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PortCounters {
    /// Frames that came in.
    pub received_frames: u64,
    /// Bytes of those frames, without FCS.
    pub received_bytes: u64,
    /// The longest of those frames, without FCS.
    pub longest_received_bytes: u64,
    /// Frames handed to the kernel.
    pub sent_frames: u64,
    /// Bytes of those frames, without FCS.
    pub sent_bytes: u64,
    /// Frames that the kernel refused to send.
    pub send_refused: u64,
    /// Frames lost before this process saw them: a TAP's `TX dropped`, a ring's `tp_drops`.
    pub missed: u64,
    /// Frames longer than the port carries, which were dropped.
    pub oversize: u64,
    /// Frames whose checksum the sender had left undone, and which was completed here.
    pub checksums_completed: u64,
    /// Super-frames, cut into the frames that were received.
    pub super_frames_cut: u64,
    /// Super-frames, joined of frames that were sent.
    pub super_frames_joined: u64,
    /// Frames and super-frames that the sender had left undone and that could not be finished; they were dropped.
    pub unfinished: u64,
}

impl PortCounters {
    /// The help texts of the counters.
    pub(crate) const HELP: [(&str, Kind, &str); 12] = [
        ("received_frames", Kind::Count, "Frames that came in."),
        ("received_bytes", Kind::Count, "Bytes of those frames, without FCS."),
        ("longest_received_bytes", Kind::Level, "The longest of those frames, without FCS."),
        ("sent_frames", Kind::Count, "Frames handed to the kernel."),
        ("sent_bytes", Kind::Count, "Bytes of those frames, without FCS."),
        ("send_refused", Kind::Count, "Frames that the kernel refused to take."),
        ("missed", Kind::Count, "Frames lost before they were seen."),
        ("oversize", Kind::Count, "Frames longer than the port carries, dropped."),
        ("checksums_completed", Kind::Count, "Frames whose sender left the checksum undone, completed."),
        ("super_frames_cut", Kind::Count, "Super-frames, cut into frames."),
        ("super_frames_joined", Kind::Count, "Super-frames, joined of frames that were sent."),
        ("unfinished", Kind::Count, "Frames that could not be finished for their sender, dropped."),
    ];

    /// Counts a packet of `frames` frames and `bytes` bytes that the kernel took.
    fn sent(&mut self, frames: u64, bytes: u64) {
        self.sent_frames += frames;
        self.sent_bytes += bytes;
        self.super_frames_joined += u64::from(frames > 1);
    }

    /// Counts a frame that came in.
    fn received(&mut self, length: usize) {
        self.received_frames += 1;
        self.received_bytes += length as u64;
        self.longest_received_bytes = self.longest_received_bytes.max(length as u64);
    }
}

/// An interface whose MTU is large enough as long as this value lives; the former MTU is restored afterwards.
#[derive(Debug)]
struct RaisedMtu {
    interface: Interface,
    /// The former MTU, if it had to be raised.
    former: Option<usize>,
}

impl RaisedMtu {
    /// Raises the MTU to `mtu` if it is smaller.
    fn at_least(interface: Interface, mtu: usize) -> Result<Self> {
        let present = interface.mtu()?;
        let former = (present < mtu).then_some(present);
        if former.is_some() {
            interface.set_mtu(mtu)?;
        }
        Ok(Self { interface, former })
    }
}

impl Drop for RaisedMtu {
    fn drop(&mut self) {
        if let Some(mtu) = self.former {
            // The interface may be gone; then there is nothing to restore.
            let _ = self.interface.set_mtu(mtu);
        }
    }
}

/// The port to open: `tap:NAME`, `tun:NAME`, `packet:NAME`, `xdp:NAME` or `udp:PEER:PORT`, each with an optional
/// `@NAMESPACE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortSpec {
    /// The kind of the port.
    pub kind: PortKind,
    /// The interface; for `udp`, the peer and the port.
    pub interface: String,
    /// The named network namespace of the interface; the process's own if absent.
    pub namespace: Option<String>,
}

/// The kinds of ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortKind {
    /// The host's own TAP interface.
    Tap,
    /// A packet socket on any interface.
    Packet,
    /// An XDP socket on an interface of one queue; for root.
    Xdp,
    /// A TUN interface: IP packets of this host.
    Tun,
    /// Datagrams to and from one peer (RT-2).
    Udp,
}

impl PortSpec {
    /// Opens the port for frames of up to `mtu` payload bytes. With `super_frames` the host behind the port may
    /// send and receive many frames as one packet; an XDP port passes each frame by itself in any case.
    ///
    /// # Errors
    /// When the kernel refuses; the message says which request.
    pub fn open(&self, mtu: usize, super_frames: bool) -> Result<Box<dyn Port>> {
        if mtu > MAX_MTU {
            return Err(Error::Usage(format!("an MTU of {mtu} is too large: at most {MAX_MTU} bytes")));
        }
        let namespace = self.namespace.as_deref();
        Ok(match self.kind {
            PortKind::Tap => Box::new(tap::TapPort::open(&self.interface, namespace, mtu, super_frames)?),
            PortKind::Packet => {
                Box::new(packet::PacketPort::open(&self.interface, namespace, mtu, super_frames)?)
            }
            PortKind::Xdp => Box::new(xdp::XdpPort::open(&self.interface, namespace, mtu)?),
            PortKind::Tun => Box::new(tun::TunPort::open(&self.interface, namespace, mtu)?),
            PortKind::Udp => Box::new(udp::UdpPort::open(&self.interface, namespace, mtu)?),
        })
    }
}

impl FromStr for PortSpec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (kind, rest) = match text.split_once(':') {
            Some(("tap", rest)) => (PortKind::Tap, rest),
            Some(("packet", rest)) => (PortKind::Packet, rest),
            Some(("xdp", rest)) => (PortKind::Xdp, rest),
            Some(("tun", rest)) => (PortKind::Tun, rest),
            Some(("udp", rest)) => (PortKind::Udp, rest),
            Some((other, _)) => {
                let kinds = "use tap, tun, packet, xdp or udp";
                return Err(Error::Usage(format!("`{other}` is no kind of port: {kinds}")));
            }
            None => (PortKind::Packet, text),
        };
        let (interface, namespace) = match rest.split_once('@') {
            Some((interface, namespace)) => (interface, Some(namespace.to_owned())),
            None => (rest, None),
        };
        Ok(Self { kind, interface: interface.to_owned(), namespace })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_named_by_kind_interface_and_namespace() {
        let spec: PortSpec = "tap:eth0@lossylink-h4".parse().unwrap();
        assert_eq!((spec.kind, spec.interface.as_str()), (PortKind::Tap, "eth0"));
        assert_eq!(spec.namespace.as_deref(), Some("lossylink-h4"));
        assert_eq!("xdp:eth1".parse::<PortSpec>().unwrap().kind, PortKind::Xdp);
        assert_eq!("tun:over0".parse::<PortSpec>().unwrap().kind, PortKind::Tun);
        let spec: PortSpec = "udp:[2001:db8::1]:5000@box".parse().unwrap();
        assert_eq!((spec.kind, spec.interface.as_str()), (PortKind::Udp, "[2001:db8::1]:5000"));
        let spec: PortSpec = "eth1".parse().unwrap();
        assert_eq!((spec.kind, spec.namespace), (PortKind::Packet, None));
    }

    #[test]
    fn an_unknown_kind_is_the_users_mistake() {
        let error = "dpdk:eth0".parse::<PortSpec>().unwrap_err();
        assert!(error.is_usage());
        assert_eq!(error.to_string(), "`dpdk` is no kind of port: use tap, tun, packet, xdp or udp");
    }
}

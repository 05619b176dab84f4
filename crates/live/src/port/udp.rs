//! The UDP port: a guard's frames as datagrams to one peer, many in a call (RT-2, RT-4).

use super::{ETHERNET_BYTES, Port, PortCounters, TAG_BYTES};
use crate::error::{Attempt, Error, Result};
use crate::sys::namespace;
use crate::sys::poll::wait;
use crate::sys::udp::{Arrival, Datagrams, MOST_BYTES, MOST_SEGMENTS};
use lossylink_core::wire::routed::{MOST_UNSENT, arrived, ecn, unsent, unsent_before};
use std::net::{SocketAddr, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd};

/// Room for the datagrams that one call receives, behind the local octets of the first frame, which do not
/// travel.
const ROOM: usize = MOST_UNSENT + (1 << 16);
/// Time to wait when the kernel can take no more, and the most waits in a batch: 0.4 ms at most.
const NAP_NS: u64 = 50_000;
const NAPS: usize = 8;

/// A socket to one peer.
#[derive(Debug)]
pub(super) struct UdpPort {
    socket: Datagrams,
    longest_frame: usize,
    room: Vec<u8>,
    /// Datagrams that were received and not yet handed over: where the next one begins, where all of them end.
    waiting: Option<(usize, usize, Arrival)>,
    /// Datagrams that leave in the next call.
    group: Vec<u8>,
    segment: usize,
    ecn: u8,
    /// Whether the last datagram of the group was shorter than the others: no datagram may follow it.
    is_closed: bool,
    /// Whether the kernel cuts a group into datagrams.
    cuts: bool,
    counters: PortCounters,
}

impl UdpPort {
    pub(super) fn open(peer: &str, namespace: Option<&str>, mtu: usize) -> Result<Self> {
        let peer = resolved(peer)?;
        Ok(Self::over(namespace::inside(namespace, || Datagrams::open(peer))?, mtu))
    }

    fn over(socket: Datagrams, mtu: usize) -> Self {
        Self {
            socket,
            longest_frame: mtu + ETHERNET_BYTES + TAG_BYTES,
            room: vec![0; ROOM],
            waiting: None,
            group: Vec::with_capacity(MOST_BYTES),
            segment: 0,
            ecn: 0,
            is_closed: false,
            cuts: true,
            counters: PortCounters::default(),
        }
    }

    /// Hands over the next datagram of those that arrived together; `false` when there is none.
    fn take_one(&mut self, take: &mut dyn FnMut(&[u8])) -> bool {
        let Some((at, end, arrival)) = self.waiting else { return false };
        let next = end.min(at + arrival.segment);
        self.waiting = (next < end).then_some((next, end, arrival));
        // The octets in front belong to a datagram that has been handed over.
        let frame = arrived(&mut self.room[at - MOST_UNSENT..next], arrival.ecn);
        if frame.len() > self.longest_frame {
            self.counters.oversize += 1;
        } else {
            self.counters.received(frame.len());
            take(frame);
        }
        true
    }

    /// Sends the datagrams that have been gathered.
    fn send_group(&mut self) {
        if self.group.is_empty() {
            return;
        }
        let is_whole = self.cuts || self.group.len() <= self.segment;
        let failed = !is_whole || self.send_bytes(0, self.group.len()).is_err_and(|error| is_uncut(&error));
        if failed {
            // The datagrams are sent one by one: some lower layers cannot cut (IPsec, cards without checksums
            // on old kernels), and a datagram that is too long fails the others with it.
            let refused = self.counters.send_refused;
            let mut at = 0;
            while at < self.group.len() {
                let end = self.group.len().min(at + self.segment);
                let _ = self.send_bytes(at, end);
                at = end;
            }
            self.cuts &= self.counters.send_refused > refused;
        }
        self.group.clear();
        self.is_closed = false;
    }

    /// Sends datagrams of the group in one call and counts them, unless the kernel wants them one by one.
    fn send_bytes(&mut self, from: usize, to: usize) -> std::io::Result<()> {
        let datagrams = (to - from).div_ceil(self.segment) as u64;
        let mut naps = 0;
        loop {
            match self.socket.send(&self.group[from..to], self.segment, self.ecn) {
                Ok(()) => {
                    self.counters.sent_frames += datagrams;
                    let unsent: usize = self.group[from..to].chunks(self.segment).map(unsent_before).sum();
                    self.counters.sent_bytes += (to - from + unsent) as u64;
                    return Ok(());
                }
                Err(error) if naps < NAPS && is_full(&error) => {
                    naps += 1;
                    let _ = wait(&[], Some(NAP_NS));
                }
                // The error of an earlier datagram, which the kernel reports once: try again.
                Err(error) if naps < NAPS && error.kind() == std::io::ErrorKind::ConnectionRefused => {
                    naps += 1
                }
                Err(error) if datagrams > 1 && is_uncut(&error) => return Err(error),
                Err(error) => {
                    self.counters.send_refused += datagrams;
                    return Err(error);
                }
            }
        }
    }
}

impl Port for UdpPort {
    fn receive(&mut self, limit: usize, take: &mut dyn FnMut(&[u8])) -> Result<usize> {
        for taken in 0..limit {
            if self.take_one(take) {
                continue;
            }
            let Some(arrival) = self.socket.receive(&mut self.room[MOST_UNSENT..]) else {
                return Ok(taken);
            };
            let end = MOST_UNSENT + arrival.length;
            self.waiting = (arrival.length > 0).then_some((MOST_UNSENT, end, arrival));
            // A datagram without contents counts toward the limit, too: a peer that sends many of them holds
            // nothing up.
            self.take_one(take);
        }
        Ok(limit)
    }

    fn send(&mut self, frame: &[u8]) {
        if frame.len() > self.longest_frame {
            self.counters.oversize += 1;
            return;
        }
        let (datagram, mark) = (&frame[unsent(frame)..], ecn(frame));
        let is_full = self.group.len() + datagram.len() > MOST_BYTES
            || self.group.len() / self.segment.max(1) >= MOST_SEGMENTS;
        if is_full || self.is_closed || mark != self.ecn || datagram.len() > self.segment {
            self.send_group();
        }
        if self.group.is_empty() {
            (self.segment, self.ecn) = (datagram.len(), mark);
        }
        self.is_closed = datagram.len() < self.segment;
        self.group.extend_from_slice(datagram);
    }

    fn flush(&mut self) {
        self.send_group();
    }

    fn gathers(&self) -> bool {
        true
    }

    fn readable(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    fn counters(&mut self) -> PortCounters {
        if let Ok(drops) = self.socket.drops() {
            self.counters.missed = drops;
        }
        self.counters
    }
}

/// Returns the address of a peer.
fn resolved(peer: &str) -> Result<SocketAddr> {
    let example = "give an address and a port, as in 192.0.2.7:5000 or [2001:db8::7]:5000";
    let mut found = match peer.to_socket_addrs() {
        Ok(found) => found,
        Err(error) if error.kind() == std::io::ErrorKind::InvalidInput => {
            return Err(Error::Usage(format!("`{peer}` is no peer: {example}")));
        }
        Err(error) => return Err(error).attempting(format_args!("find the address of {peer}")),
    };
    found.find(|one| one.port() > 0).ok_or_else(|| Error::Usage(format!("`{peer}` is no peer: {example}")))
}

/// Whether the kernel refused for lack of room, which passes.
fn is_full(error: &std::io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOBUFS | libc::EAGAIN))
}

/// Whether the kernel would take the datagrams one by one, or some of them.
fn is_uncut(error: &std::io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EINVAL | libc::EIO | libc::EMSGSIZE | libc::EOPNOTSUPP))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, UdpSocket};

    fn frame(length: usize, mark: u8, fill: u8) -> Vec<u8> {
        let mut frame = vec![fill; length];
        (frame[0], frame[12], frame[13]) = (mark, 0x88, 0xb6);
        frame
    }

    // RT-2, RT-4
    #[test]
    fn frames_cross_whole_without_their_local_octets_and_with_their_mark() {
        let other = UdpSocket::bind("127.0.0.2:0").unwrap();
        let peer = other.local_addr().unwrap();
        let local = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), peer.port());
        let mut port = UdpPort::over(Datagrams::between(local, peer).unwrap(), 1500);
        let lengths = [1400, 1400, 1400, 900, 1400, 60, 1522];
        for (place, length) in lengths.into_iter().enumerate() {
            port.send(&frame(length, u8::from(place == 2), place as u8));
        }
        port.send(&frame(1523, 0, 0));
        port.flush();
        let counters = port.counters();
        assert_eq!((counters.sent_frames, counters.oversize, counters.send_refused), (7, 1, 0));
        assert_eq!(counters.sent_bytes, lengths.iter().sum::<usize>() as u64);
        let mut room = [0; 2000];
        for (place, length) in lengths.into_iter().enumerate() {
            let received = other.recv(&mut room).unwrap();
            assert_eq!(room[..received], frame(length, 0, place as u8)[MOST_UNSENT..], "frame {place}");
        }
        other.connect(local).unwrap();
        other.send(&frame(100, 0, 9)[MOST_UNSENT..]).unwrap();
        wait(&[port.readable()], Some(5_000_000_000)).unwrap();
        let mut heard = Vec::new();
        assert_eq!(port.receive(8, &mut |frame| heard.push(frame.to_vec())).unwrap(), 1);
        assert_eq!(heard, [[&[0; 12], &frame(100, 0, 9)[12..]].concat()]);
    }

    #[test]
    fn datagrams_without_contents_count_for_the_limit() {
        let other = UdpSocket::bind("127.0.0.2:0").unwrap();
        let peer = other.local_addr().unwrap();
        let local = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), peer.port());
        let mut port = UdpPort::over(Datagrams::between(local, peer).unwrap(), 1500);
        other.connect(local).unwrap();
        (0..20).for_each(|_| assert_eq!(other.send(&[]).unwrap(), 0));
        other.send(&[7; 60]).unwrap();
        let mut heard = 0;
        let taken: Vec<_> = (0..3).map(|_| port.receive(8, &mut |_| heard += 1).unwrap()).collect();
        assert_eq!((taken, heard), (vec![8, 8, 5], 1));
    }

    #[test]
    fn a_peer_has_an_address_and_a_port() {
        for peer in ["192.0.2.7", "192.0.2.7:0", "192.0.2.7:99999", ""] {
            let error = resolved(peer).unwrap_err();
            assert!(error.is_usage(), "{peer}: {error}");
        }
        assert_eq!(resolved("[2001:db8::7]:5000").unwrap().to_string(), "[2001:db8::7]:5000");
    }
}

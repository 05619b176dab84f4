//! A connected UDP socket that sends and receives many datagrams of one length in one call (UDP_SEGMENT, UDP_GRO), each with
//! its ECN field, and never a fragment.
//!
//! Source: udp(7), ip(7), ipv6(7).

use super::{check, check_size};
use crate::error::{Attempt, Error, Result};
use std::io;
use std::mem::size_of;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

/// The most datagrams of one call: `UDP_MAX_SEGMENTS` of older kernels.
pub const MOST_SEGMENTS: usize = 64;
/// The most bytes of one call: those that an IP packet holds, less the headers.
pub const MOST_BYTES: usize = 65_000;
/// Bytes that may wait in the kernel in either direction, with the kernel's own data beside them: 100 ms at about 300 Mb/s.
const QUEUED_BYTES: libc::c_int = 8 << 20;
/// `IP_PMTUDISC_PROBE` and `IPV6_PMTUDISC_PROBE`: never fragment, and heed no learnt path MTU, since the guards find it
/// out themselves (RT-11).
const PROBE: libc::c_int = 3;
/// `SO_MEMINFO` of asm-generic/socket.h, and the index of the drops in its answer.
const SO_MEMINFO: libc::c_int = 55;
const DROPS: usize = 8;
/// The two bits of the ECN field.
const ECN: u8 = 0b11;

/// Datagrams that arrived together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Bytes of all datagrams together.
    pub length: usize,
    /// Bytes of each datagram but the last, which may be shorter.
    pub segment: usize,
    /// The ECN field of the datagrams.
    pub ecn: u8,
}

/// Room for the control messages of the kernel.
#[repr(C, align(8))]
struct Beside([u8; 128]);

/// A socket between one local port and one peer.
#[derive(Debug)]
pub struct Datagrams {
    socket: UdpSocket,
    is_ipv6: bool,
}

impl Datagrams {
    /// Binds the peer's own port number here, at every address of this host, and receives from the peer only.
    ///
    /// # Errors
    /// When the port is taken, or there is no way to the peer.
    pub fn open(peer: SocketAddr) -> Result<Self> {
        let anywhere: IpAddr =
            if peer.is_ipv6() { Ipv6Addr::UNSPECIFIED.into() } else { Ipv4Addr::UNSPECIFIED.into() };
        Self::between(SocketAddr::new(anywhere, peer.port()), peer)
    }

    /// Binds `local`, one address of this host, and receives from the peer only.
    ///
    /// # Errors
    /// When the port is taken, or there is no way to the peer.
    pub fn between(local: SocketAddr, peer: SocketAddr) -> Result<Self> {
        let socket = UdpSocket::bind(local).or_else(|error| match error.kind() {
            io::ErrorKind::AddrInUse => Err(Error::Usage(format!(
                "UDP port {} is in use, by another guard or another program: give both guards another port",
                local.port()
            ))),
            _ => Err(error).attempting(format_args!("bind UDP port {}", local.port())),
        })?;
        socket.connect(peer).attempting(format_args!("find a way to {peer}"))?;
        let datagrams = Self { socket, is_ipv6: peer.is_ipv6() };
        datagrams.prepare().attempting(format_args!("prepare the UDP socket to {peer}"))?;
        Ok(datagrams)
    }

    fn prepare(&self) -> io::Result<()> {
        self.socket.set_nonblocking(true)?;
        let on: libc::c_int = 1;
        let (level, discover, marks) = match self.is_ipv6 {
            false => (libc::IPPROTO_IP, libc::IP_MTU_DISCOVER, libc::IP_RECVTOS),
            true => (libc::IPPROTO_IPV6, libc::IPV6_MTU_DISCOVER, libc::IPV6_RECVTCLASS),
        };
        self.set(level, discover, PROBE)?;
        self.set(level, marks, on)?;
        // A kernel before 5.0 hands datagrams over one by one.
        let _ = self.set(libc::SOL_UDP, libc::UDP_GRO, on);
        for (forced, usual) in
            [(libc::SO_RCVBUFFORCE, libc::SO_RCVBUF), (libc::SO_SNDBUFFORCE, libc::SO_SNDBUF)]
        {
            // Without CAP_NET_ADMIN the buffer is as large as the system allows.
            self.set(libc::SOL_SOCKET, forced, QUEUED_BYTES)
                .or_else(|_| self.set(libc::SOL_SOCKET, usual, QUEUED_BYTES))?;
        }
        Ok(())
    }

    fn set(&self, level: libc::c_int, option: libc::c_int, value: libc::c_int) -> io::Result<()> {
        let length = size_of::<libc::c_int>() as libc::socklen_t;
        let place = (&raw const value).cast();
        // SAFETY: the pointer and the length describe a number on our stack.
        check(unsafe { libc::setsockopt(self.socket.as_raw_fd(), level, option, place, length) }).map(drop)
    }

    /// Receives datagrams that came together into `room`; `None` when none waits. An error of the path that was reported for
    /// an earlier datagram counts as no datagram: whatever it is, it passes or stays.
    pub fn receive(&self, room: &mut [u8]) -> Option<Arrival> {
        let mut beside = Beside([0; 128]);
        let mut vector = libc::iovec { iov_base: room.as_mut_ptr().cast(), iov_len: room.len() };
        // SAFETY: plain old data; all zeros is a valid value.
        let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
        message.msg_iov = &raw mut vector;
        message.msg_iovlen = 1;
        message.msg_control = beside.0.as_mut_ptr().cast();
        message.msg_controllen = beside.0.len() as _;
        // SAFETY: one vector over `room` and room for control messages, all of which outlive the call.
        let received = unsafe { libc::recvmsg(self.socket.as_raw_fd(), &raw mut message, 0) };
        let length = check_size(received).ok()?;
        let (mut segment, mut ecn) = (length, 0);
        // SAFETY: the kernel has filled the control messages of `message`, which still points to them; each is read
        // within the length that its header says.
        unsafe {
            let mut header = libc::CMSG_FIRSTHDR(&raw const message);
            while let Some(said) = header.as_ref() {
                let data = libc::CMSG_DATA(header);
                match (said.cmsg_level, said.cmsg_type) {
                    (libc::SOL_UDP, libc::UDP_GRO) => {
                        segment = data.cast::<libc::c_int>().read_unaligned().max(1) as usize;
                    }
                    (libc::IPPROTO_IP, libc::IP_TOS) => ecn = *data & ECN,
                    (libc::IPPROTO_IPV6, libc::IPV6_TCLASS) => {
                        ecn = data.cast::<libc::c_int>().read_unaligned() as u8 & ECN;
                    }
                    _ => {}
                }
                header = libc::CMSG_NXTHDR(&raw const message, header);
            }
        }
        Some(Arrival { length, segment, ecn })
    }

    /// Sends datagrams of `segment` bytes each, the last of which may be shorter.
    ///
    /// # Errors
    /// When the kernel does not take them: too long for the interface, no room, or unable to cut.
    pub fn send(&self, bytes: &[u8], segment: usize, ecn: u8) -> io::Result<()> {
        let mut beside = Beside([0; 128]);
        let mut vector = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
        // SAFETY: plain old data; all zeros is a valid value.
        let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
        message.msg_iov = &raw mut vector;
        message.msg_iovlen = 1;
        message.msg_control = beside.0.as_mut_ptr().cast();
        message.msg_controllen = beside.0.len() as _;
        let (level, kind) = match self.is_ipv6 {
            false => (libc::IPPROTO_IP, libc::IP_TOS),
            true => (libc::IPPROTO_IPV6, libc::IPV6_TCLASS),
        };
        let marks = (level, kind, libc::c_int::from(ecn));
        let is_cut = bytes.len() > segment;
        // SAFETY: two control messages of these lengths fit in 128 bytes; the macros only reckon places in them.
        unsafe {
            let mut header = libc::CMSG_FIRSTHDR(&raw const message);
            (*header).cmsg_level = marks.0;
            (*header).cmsg_type = marks.1;
            (*header).cmsg_len = libc::CMSG_LEN(size_of::<libc::c_int>() as u32) as _;
            libc::CMSG_DATA(header).cast::<libc::c_int>().write_unaligned(marks.2);
            let mut used = libc::CMSG_SPACE(size_of::<libc::c_int>() as u32);
            if is_cut {
                header = libc::CMSG_NXTHDR(&raw const message, header);
                (*header).cmsg_level = libc::SOL_UDP;
                (*header).cmsg_type = libc::UDP_SEGMENT;
                (*header).cmsg_len = libc::CMSG_LEN(size_of::<u16>() as u32) as _;
                libc::CMSG_DATA(header).cast::<u16>().write_unaligned(segment as u16);
                used += libc::CMSG_SPACE(size_of::<u16>() as u32);
            }
            message.msg_controllen = used as _;
        }
        // SAFETY: one vector over `bytes`, which the kernel only reads, and control messages that outlive the call.
        check_size(unsafe { libc::sendmsg(self.socket.as_raw_fd(), &raw const message, 0) }).map(drop)
    }

    /// Returns how many datagrams the kernel dropped because too many waited, since the socket was opened.
    pub fn drops(&self) -> io::Result<u64> {
        let mut memory = [0u32; DROPS + 1];
        let mut length = size_of_val(&memory) as libc::socklen_t;
        let place = memory.as_mut_ptr().cast();
        // SAFETY: the kernel writes at most `length` bytes, which is the size of the array.
        check(unsafe {
            libc::getsockopt(self.socket.as_raw_fd(), libc::SOL_SOCKET, SO_MEMINFO, place, &raw mut length)
        })?;
        Ok(u64::from(memory[DROPS]))
    }
}

impl AsFd for Datagrams {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::poll::wait;

    #[test]
    fn a_port_in_use_is_said_with_its_mend() {
        let other = UdpSocket::bind("127.0.0.3:0").unwrap();
        let local = other.local_addr().unwrap();
        let refusal = Datagrams::between(local, local).unwrap_err();
        assert!(
            refusal.is_usage() && refusal.to_string().ends_with("give both guards another port"),
            "{refusal}"
        );
    }

    // RT-2, RT-4
    #[test]
    fn datagrams_of_one_length_leave_in_one_call_and_come_with_their_mark() {
        // Two addresses of the loopback, and the same port.
        let other = UdpSocket::bind("127.0.0.2:0").unwrap();
        let peer = other.local_addr().unwrap();
        let local = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), peer.port());
        let ours = Datagrams::between(local, peer).unwrap();
        other.connect(local).unwrap();
        let bytes: Vec<u8> = (0..250).collect();
        ours.send(&bytes, 100, 2).unwrap();
        let mut room = [0; 300];
        let mut lengths = Vec::new();
        for _ in 0..3 {
            lengths.push(other.recv(&mut room).unwrap());
        }
        assert_eq!(lengths, [100, 100, 50]);
        let mark: libc::c_int = 3;
        let place = (&raw const mark).cast();
        // SAFETY: a number on our stack.
        unsafe { libc::setsockopt(other.as_raw_fd(), libc::IPPROTO_IP, libc::IP_TOS, place, 4) };
        other.send(&bytes[..77]).unwrap();
        wait(&[ours.as_fd()], Some(5_000_000_000)).unwrap();
        let mut room = vec![0; 70_000];
        assert_eq!(ours.receive(&mut room), Some(Arrival { length: 77, segment: 77, ecn: 3 }));
        assert_eq!(room[..77], bytes[..77]);
        assert_eq!(ours.receive(&mut room), None);
        assert_eq!(ours.drops().unwrap(), 0);
    }
}

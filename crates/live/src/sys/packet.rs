//! An AF_PACKET socket with a TPACKET_V2 receive ring: frames are read from memory shared with the kernel.

use super::{OFFLOAD_HEADER_BYTES, check, check_size, interface::Interface};
use crate::error::{Attempt, Result};
use std::io;
use std::mem::size_of;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr;
use std::slice;
use std::sync::atomic::{AtomicU32, Ordering};

/// The most frames that one call to the kernel sends.
pub const SEND_BATCH: usize = 64;
/// The second version of the ring: fixed slots, no block timeout, hence no added latency.
const TPACKET_V2: libc::c_int = 1;
/// `PACKET_IGNORE_OUTGOING` of linux/if_packet.h: leave out the frames that this host sends.
const PACKET_IGNORE_OUTGOING: libc::c_int = 23;
/// `PACKET_VNET_HDR` of linux/if_packet.h: put the offload header in front of each frame, and expect it there.
const PACKET_VNET_HDR: libc::c_int = 15;
/// `PACKET_COPY_THRESH` of linux/if_packet.h: a frame that is longer than a slot also waits whole beside the ring.
const PACKET_COPY_THRESH: libc::c_int = 7;
/// Bytes that may wait beside the ring: a hundred super-frames of 64 KB with the kernel's own data beside them.
const QUEUED_BYTES: libc::c_int = 16 << 20;
/// Slots of the ring: 6 ms of full frames at 8 Gb/s.
const SLOTS: u32 = 4096;
/// Bytes that a short frame takes in the send buffer, with the kernel's own data beside it.
const LEAST_SLOT_BYTES: usize = 2048;
/// The least offset of a frame in a slot: behind the header of the ring and the offload header.
const LEAST_START: usize = size_of::<libc::tpacket2_hdr>() + OFFLOAD_HEADER_BYTES;
/// Bytes in front of the frame in a slot: headers, address and alignment, rounded up.
const SLOT_OVERHEAD: usize = 96;
/// Bytes of an Ethernet header with two VLAN tags.
const ETHERNET_AND_TAGS: usize = 22;
/// One ring block: a power-of-two number of pages that every slot size divides.
const BLOCK_BYTES: u32 = 1 << 18;

/// The kernel's information about a received frame.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// The VLAN tag (TPID, TCI) that the kernel took out of the frame.
    pub vlan: Option<(u16, u16)>,
    /// The work that the sender has left undone: `struct virtio_net_hdr`.
    pub offload: [u8; OFFLOAD_HEADER_BYTES],
    /// Whether the frame was longer than a slot and has been cut.
    pub truncated: bool,
    /// Whether the frame waits whole for [`PacketSocket::receive_queued`], which must be called for it.
    pub is_queued: bool,
}

/// A raw packet socket bound to one interface.
#[derive(Debug)]
pub struct PacketSocket {
    fd: OwnedFd,
    ring: *mut u8,
    ring_bytes: usize,
    slot_bytes: usize,
    next_slot: usize,
}

// SAFETY: the ring belongs to this value alone; nothing else in the process points into it.
unsafe impl Send for PacketSocket {}

impl PacketSocket {
    /// Opens a socket on `name` in the current network namespace for frames of up to `mtu` payload bytes, which sends
    /// packets of up to `longest_sent` bytes.
    ///
    /// # Errors
    /// Without CAP_NET_RAW, or without such an interface.
    pub fn open(name: &str, mtu: usize, longest_sent: usize) -> Result<Self> {
        let index = Interface::open(name)?.index()?;
        // Protocol 0: nothing is delivered before `bind` names the interface.
        // SAFETY: `socket` takes no pointers.
        let fd = check(unsafe { libc::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0) })
            .attempting(format_args!("open a packet socket for {name}"))?;
        // SAFETY: the descriptor was just opened and has no other owner.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        let slot_bytes = (mtu + ETHERNET_AND_TAGS + SLOT_OVERHEAD).next_power_of_two();
        let (ring, ring_bytes) =
            map_ring(&fd, slot_bytes).attempting(format_args!("make a receive ring for {name}"))?;
        // Without CAP_NET_ADMIN the system's limit stays: then few super-frames may wait.
        let _ = set_option_at(&fd, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, &QUEUED_BYTES);
        // A whole batch must fit. Without CAP_NET_ADMIN the system's limit stays, and a batch leaves in parts.
        let batch_bytes = (SEND_BATCH * slot_bytes.max(longest_sent).max(LEAST_SLOT_BYTES)) as libc::c_int;
        let _ = set_option_at(&fd, libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, &batch_bytes);
        let socket = Self { fd, ring, ring_bytes, slot_bytes, next_slot: 0 };
        socket.bind(index).attempting(format_args!("bind a packet socket to {name}"))?;
        Ok(socket)
    }

    fn bind(&self, index: i32) -> io::Result<()> {
        let on: libc::c_int = 1;
        set_option(&self.fd, PACKET_IGNORE_OUTGOING, &on)?;
        set_option(&self.fd, libc::PACKET_QDISC_BYPASS, &on)?;
        // SAFETY: plain old data; all zeros is a valid value.
        let mut all_frames: libc::packet_mreq = unsafe { std::mem::zeroed() };
        all_frames.mr_ifindex = index;
        all_frames.mr_type = libc::PACKET_MR_PROMISC as libc::c_ushort;
        set_option(&self.fd, libc::PACKET_ADD_MEMBERSHIP, &all_frames)?;
        // SAFETY: plain old data; all zeros is a valid value.
        let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
        address.sll_family = libc::AF_PACKET as libc::c_ushort;
        address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
        address.sll_ifindex = index;
        let length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
        // SAFETY: the address lives on our stack and `length` is its size.
        check(unsafe { libc::bind(self.fd.as_raw_fd(), (&raw const address).cast(), length) }).map(drop)
    }

    /// Hands the next waiting frame to `take`, which may change it; `false` when none waits.
    pub fn receive(&mut self, take: impl FnOnce(&mut [u8], Arrival)) -> bool {
        // SAFETY: `next_slot` stays below SLOTS, so the slot lies inside the mapping, which lives as
        // long as `self`; slots are aligned to their power-of-two size.
        let slot = unsafe { self.ring.add(self.next_slot * self.slot_bytes) };
        // SAFETY: every slot begins with the status word, which the kernel writes atomically.
        let status = unsafe { AtomicU32::from_ptr(slot.cast()) };
        let flags = status.load(Ordering::Acquire);
        if flags & libc::TP_STATUS_USER == 0 {
            return false;
        }
        // SAFETY: the user flag says that the kernel has filled the slot and leaves it to us.
        let header = unsafe { &*slot.cast::<libc::tpacket2_hdr>() };
        // A place beyond the slot would be a fault of the kernel: the frame is taken for one that was cut.
        let start = usize::from(header.tp_mac).clamp(LEAST_START, self.slot_bytes);
        let length = (header.tp_snaplen as usize).min(self.slot_bytes - start);
        let (is_longer, tag) = (header.tp_len as usize > length, (header.tp_vlan_tpid, header.tp_vlan_tci));
        // SAFETY: the frame begins `start` bytes into the slot, behind the ring's header and the offload header, and
        // `length` keeps inside the slot, which is ours alone until the status says otherwise.
        let (offload, frame) = unsafe {
            let offload = slot.add(start - OFFLOAD_HEADER_BYTES).cast::<[u8; OFFLOAD_HEADER_BYTES]>();
            (offload.read(), slice::from_raw_parts_mut(slot.add(start), length))
        };
        let vlan =
            (flags & libc::TP_STATUS_VLAN_VALID != 0).then_some((tag.0.max(libc::ETH_P_8021Q as u16), tag.1));
        let is_queued = flags & libc::TP_STATUS_COPY != 0;
        take(frame, Arrival { vlan, offload, truncated: is_longer, is_queued });
        status.store(libc::TP_STATUS_KERNEL, Ordering::Release);
        self.next_slot = (self.next_slot + 1) % SLOTS as usize;
        true
    }

    /// Takes the next frame that waits beside the ring, behind its offload header. Returns the length of both together,
    /// which may be longer than `room`.
    ///
    /// # Errors
    /// When none waits.
    pub fn receive_queued(&self, room: &mut [u8]) -> io::Result<usize> {
        let (place, flags) = (room.as_mut_ptr().cast(), libc::MSG_DONTWAIT | libc::MSG_TRUNC);
        // SAFETY: the pointer and the length describe `room`, which is borrowed mutably.
        check_size(unsafe { libc::recv(self.fd.as_raw_fd(), place, room.len(), flags) })
    }

    /// Sends up to [`SEND_BATCH`] packets in one call, each behind an offload header; returns how many the kernel took.
    ///
    /// # Errors
    /// When the kernel took none.
    pub fn send<'a>(&self, frames: impl Iterator<Item = &'a [u8]>) -> io::Result<usize> {
        // SAFETY: plain old data; all zeros is a valid value of both.
        let (mut vectors, mut messages): ([libc::iovec; SEND_BATCH], [libc::mmsghdr; SEND_BATCH]) =
            unsafe { (std::mem::zeroed(), std::mem::zeroed()) };
        let mut count = 0;
        for (frame, vector) in frames.zip(&mut vectors) {
            *vector = libc::iovec { iov_base: frame.as_ptr().cast_mut().cast(), iov_len: frame.len() };
            messages[count].msg_hdr.msg_iov = vector;
            messages[count].msg_hdr.msg_iovlen = 1;
            count += 1;
        }
        let (fd, messages) = (self.fd.as_raw_fd(), messages.as_mut_ptr());
        // SAFETY: `count` messages are set, each with one vector over a frame that outlives the call;
        // the kernel only reads the frames.
        let sent = check(unsafe { libc::sendmmsg(fd, messages, count as u32, libc::MSG_DONTWAIT) })?;
        Ok(sent as usize)
    }

    /// Returns how many frames the kernel dropped because the ring was full, since this was asked last.
    pub fn ring_drops(&self) -> io::Result<u64> {
        // SAFETY: plain old data; all zeros is a valid value.
        let mut statistics: libc::tpacket_stats = unsafe { std::mem::zeroed() };
        let mut length = size_of::<libc::tpacket_stats>() as libc::socklen_t;
        let fd = self.fd.as_raw_fd();
        let place = (&raw mut statistics).cast();
        // SAFETY: the kernel writes at most `length` bytes into the structure.
        let result = unsafe {
            libc::getsockopt(fd, libc::SOL_PACKET, libc::PACKET_STATISTICS, place, &raw mut length)
        };
        check(result).map(|_| u64::from(statistics.tp_drops))
    }
}

impl AsFd for PacketSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Drop for PacketSocket {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `map_ring` with this length and nothing points into it any more.
        unsafe { libc::munmap(self.ring.cast(), self.ring_bytes) };
    }
}

/// Asks for the ring and maps it.
fn map_ring(fd: &OwnedFd, slot_bytes: usize) -> io::Result<(*mut u8, usize)> {
    let on: libc::c_int = 1;
    // The option is set before the ring is made: the kernel leaves room in its slots.
    set_option(fd, PACKET_VNET_HDR, &on)?;
    set_option(fd, PACKET_COPY_THRESH, &on)?;
    set_option(fd, libc::PACKET_VERSION, &TPACKET_V2)?;
    let slots_per_block = BLOCK_BYTES / slot_bytes as u32;
    let request = libc::tpacket_req {
        tp_block_size: BLOCK_BYTES,
        tp_block_nr: SLOTS / slots_per_block,
        tp_frame_size: slot_bytes as u32,
        tp_frame_nr: SLOTS,
    };
    set_option(fd, libc::PACKET_RX_RING, &request)?;
    let bytes = (request.tp_block_size * request.tp_block_nr) as usize;
    let (protection, sharing) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
    // SAFETY: a new mapping at an address of the kernel's choice; nothing else is touched.
    let ring = unsafe { libc::mmap(ptr::null_mut(), bytes, protection, sharing, fd.as_raw_fd(), 0) };
    if ring == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    Ok((ring.cast(), bytes))
}

fn set_option<T>(fd: &OwnedFd, option: libc::c_int, value: &T) -> io::Result<()> {
    set_option_at(fd, libc::SOL_PACKET, option, value)
}

fn set_option_at<T>(fd: &OwnedFd, level: libc::c_int, option: libc::c_int, value: &T) -> io::Result<()> {
    let length = size_of::<T>() as libc::socklen_t;
    let value = ptr::from_ref(value).cast();
    // SAFETY: the pointer and the length describe `value`, which outlives the call.
    check(unsafe { libc::setsockopt(fd.as_raw_fd(), level, option, value, length) }).map(drop)
}

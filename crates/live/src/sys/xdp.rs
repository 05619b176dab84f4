//! An AF_XDP socket in copy mode: frames cross in memory that this process and the kernel share.
//!
//! ```text
//!   kernel -- rx ring --> this process -- fill ring --> kernel      (chunks for what arrives)
//!   kernel <-- tx ring -- this process <-- completion ring -- kernel   (chunks for what leaves)
//! ```

use super::bpf::Redirection;
use super::xdp_ring::{Mapping, Ring};
use super::{check, check_size, interface::Interface};
use crate::error::{Attempt, Error, Result};
use std::io;
use std::mem::size_of;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::slice;

/// Bytes of one chunk of the shared memory: a page, the most that the kernel takes.
const CHUNK_BYTES: usize = 4096;
/// Chunks for frames that arrive: 5 ms of full frames at 10 Gb/s.
const RECEIVE_CHUNKS: u32 = 4096;
/// Chunks for frames that leave: half as many as for frames that arrive.
const SEND_CHUNKS: u32 = 2048;
/// Places of a ring for each chunk. The kernel shows only now and then which descriptors it has consumed, at
/// the latest when it has consumed all that it had seen: with twice the places there is always room for every
/// chunk.
const PLACES_PER_CHUNK: u32 = 2;
/// The most descriptors that one call sends.
const SENT_PER_CALL: u32 = 32;

/// A socket bound to queue 0 of an interface, with the program that feeds it.
#[derive(Debug)]
pub struct XdpSocket {
    fd: OwnedFd,
    memory: Mapping,
    fill: Ring<u64>,
    completion: Ring<u64>,
    arriving: Ring<libc::xdp_desc>,
    leaving: Ring<libc::xdp_desc>,
    /// Chunks that no frame uses on its way out.
    free: Vec<u64>,
    /// Descriptors written since the kernel last had sent all of them.
    unsent: u32,
    /// A frame that arrived in several chunks, put together.
    whole: Vec<u8>,
    _redirection: Redirection,
}

impl XdpSocket {
    /// Opens a socket on `name` in the current network namespace.
    ///
    /// # Errors
    /// Without the privileges, without such an interface, or when the interface has several queues:
    /// frames of the others would pass by this socket.
    pub fn open(name: &str) -> Result<Self> {
        one_queue(name)?;
        let index = Interface::open(name)?.index()?;
        let redirection = Redirection::attach(name)?;
        // SAFETY: `socket` takes no pointers; the descriptor is new.
        let fd = unsafe {
            check(libc::socket(libc::AF_XDP, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0))
                .map(|fd| OwnedFd::from_raw_fd(fd))
        }
        .attempting(format_args!("open an XDP socket for {name}"))?;
        let what = format!("share memory with the XDP socket of {name}");
        let memory = register_memory(&fd).attempting(&what)?;
        let offsets = make_rings(&fd).attempting(&what)?;
        let map = |page_offset, offsets, entries| Ring::map(&fd, page_offset, offsets, entries);
        let [fill_page, completion_page] =
            [libc::XDP_UMEM_PGOFF_FILL_RING, libc::XDP_UMEM_PGOFF_COMPLETION_RING];
        let fill =
            map(fill_page as libc::off_t, offsets.fr, RECEIVE_CHUNKS * PLACES_PER_CHUNK).attempting(&what)?;
        let completion = map(completion_page as libc::off_t, offsets.cr, SEND_CHUNKS).attempting(&what)?;
        let arriving =
            Ring::map(&fd, libc::XDP_PGOFF_RX_RING, offsets.rx, RECEIVE_CHUNKS).attempting(&what)?;
        let leaving = Ring::map(&fd, libc::XDP_PGOFF_TX_RING, offsets.tx, SEND_CHUNKS * PLACES_PER_CHUNK)
            .attempting(&what)?;
        let mut socket = Self {
            fd,
            memory,
            fill,
            completion,
            arriving,
            leaving,
            free: (RECEIVE_CHUNKS..RECEIVE_CHUNKS + SEND_CHUNKS).map(chunk).collect(),
            unsent: 0,
            whole: Vec::new(),
            _redirection: redirection,
        };
        (0..RECEIVE_CHUNKS).for_each(|number| socket.fill.write(chunk(number)));
        socket.fill.publish();
        socket.bind(index).attempting(format_args!("bind an XDP socket to {name}"))?;
        socket._redirection.serve(&socket.fd).attempting(format_args!("send frames of {name} to XDP"))?;
        Ok(socket)
    }

    /// Binds the socket in copy mode, and to frames of several chunks where the kernel knows them (6.6 and
    /// later).
    fn bind(&self, index: i32) -> io::Result<()> {
        self.bind_with(index, libc::XDP_COPY | libc::XDP_USE_SG)
            .or_else(|_| self.bind_with(index, libc::XDP_COPY))
    }

    fn bind_with(&self, index: i32, flags: u16) -> io::Result<()> {
        let address = libc::sockaddr_xdp {
            sxdp_family: libc::AF_XDP as u16,
            sxdp_flags: flags,
            sxdp_ifindex: index as u32,
            sxdp_queue_id: 0,
            sxdp_shared_umem_fd: 0,
        };
        let length = size_of::<libc::sockaddr_xdp>() as libc::socklen_t;
        // SAFETY: the address lives on our stack and `length` is its size.
        check(unsafe { libc::bind(self.fd.as_raw_fd(), (&raw const address).cast(), length) }).map(drop)
    }

    /// Hands the next waiting frame to `take`; `false` when none waits.
    pub fn receive(&mut self, take: impl FnOnce(&[u8])) -> bool {
        let waiting = self.arriving.waiting();
        let Some(last) = (0..waiting).find(|ahead| !is_continued(self.arriving.peek(*ahead))) else {
            return false;
        };
        if last == 0 {
            take(self.bytes(self.arriving.peek(0)));
        } else {
            let mut whole = std::mem::take(&mut self.whole);
            whole.clear();
            (0..=last).for_each(|ahead| whole.extend_from_slice(self.bytes(self.arriving.peek(ahead))));
            take(&whole);
            self.whole = whole;
        }
        for ahead in 0..=last {
            let address = self.arriving.peek(ahead).addr;
            self.fill.write(address - address % CHUNK_BYTES as u64);
        }
        self.arriving.give_back(last + 1);
        self.fill.publish();
        true
    }

    /// Returns the bytes of a descriptor that the kernel wrote.
    fn bytes(&self, descriptor: libc::xdp_desc) -> &[u8] {
        let (start, length) = (descriptor.addr as usize, descriptor.len as usize);
        let is_ours = start.checked_add(length).is_some_and(|end| end <= memory_bytes());
        assert!(is_ours, "the kernel names our memory only");
        // SAFETY: the range lies in our memory, and the kernel leaves the chunk alone until it is given back.
        unsafe { slice::from_raw_parts(self.memory.start().add(start), length) }
    }

    /// Puts a frame among those that the next [`Self::kick`] sends; `false` when there is no room.
    pub fn send(&mut self, frame: &[u8]) -> bool {
        let chunks = frame.len().div_ceil(CHUNK_BYTES);
        if self.free.len() < chunks {
            self.kick();
        }
        if self.free.len() < chunks {
            return false;
        }
        for (number, part) in frame.chunks(CHUNK_BYTES).enumerate() {
            let address = self.free.pop().expect("there are enough free chunks");
            // SAFETY: the chunk lies in our memory and is nobody else's; `part` is at most a chunk long.
            let place =
                unsafe { slice::from_raw_parts_mut(self.memory.start().add(address as usize), part.len()) };
            place.copy_from_slice(part);
            let options = if number + 1 < chunks { libc::XDP_PKT_CONTD } else { 0 };
            self.leaving.write(libc::xdp_desc { addr: address, len: part.len() as u32, options });
        }
        self.leaving.publish();
        self.unsent += chunks as u32;
        true
    }

    /// Lets the kernel send the waiting frames. Frames that it cannot take now stay for the next time.
    pub fn kick(&mut self) {
        for _ in 0..self.unsent.div_ceil(SENT_PER_CALL) + 1 {
            if self.unsent == 0 {
                break;
            }
            match self.send_some() {
                Ok(_) => self.unsent = 0,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                // The interface is down or full: like a cable, it reports no error.
                Err(_) => break,
            }
        }
        let sent = self.completion.waiting();
        (0..sent).for_each(|ahead| self.free.push(self.completion.peek(ahead)));
        self.completion.give_back(sent);
    }

    /// Makes one call to the kernel, which succeeds when no frame is left to be sent.
    fn send_some(&self) -> io::Result<usize> {
        let nothing = std::ptr::null();
        let flags = libc::MSG_DONTWAIT;
        // SAFETY: an empty message to nobody; no pointers are passed.
        check_size(unsafe { libc::sendto(self.fd.as_raw_fd(), nothing, 0, flags, nothing.cast(), 0) })
    }

    /// Returns how many frames arrived and were dropped for lack of a chunk or of a place in the ring.
    ///
    /// # Errors
    /// When the kernel refuses to tell.
    pub fn dropped(&self) -> io::Result<u64> {
        // SAFETY: plain old data; all zeros is a valid value.
        let mut statistics: libc::xdp_statistics = unsafe { std::mem::zeroed() };
        get_option(&self.fd, libc::XDP_STATISTICS, &mut statistics)?;
        Ok(statistics.rx_dropped + statistics.rx_ring_full)
    }
}

impl AsFd for XdpSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

fn chunk(number: u32) -> u64 {
    u64::from(number) * CHUNK_BYTES as u64
}

fn memory_bytes() -> usize {
    (RECEIVE_CHUNKS + SEND_CHUNKS) as usize * CHUNK_BYTES
}

fn is_continued(descriptor: libc::xdp_desc) -> bool {
    descriptor.options & libc::XDP_PKT_CONTD != 0
}

/// Refuses an interface with several queues.
fn one_queue(name: &str) -> Result<()> {
    // Without sysfs the number of queues is unknown; a wrong queue then shows as silence.
    let entries = std::fs::read_dir(format!("/sys/class/net/{name}/queues")).into_iter().flatten().flatten();
    let queues = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("rx-")).count();
    if queues > 1 {
        let mend = format!("ethtool -L {name} combined 1");
        return Err(Error::Usage(format!("xdp takes frames of one queue and {name} has {queues}: {mend}")));
    }
    Ok(())
}

/// Gives the kernel the memory in which frames cross.
fn register_memory(fd: &OwnedFd) -> io::Result<Mapping> {
    let memory = Mapping::anonymous(memory_bytes())?;
    // SAFETY: plain old data; all zeros is a valid value.
    let mut request: libc::xdp_umem_reg = unsafe { std::mem::zeroed() };
    request.addr = memory.start() as u64;
    request.len = memory_bytes() as u64;
    request.chunk_size = CHUNK_BYTES as u32;
    set_option(fd, libc::XDP_UMEM_REG, &request)?;
    Ok(memory)
}

/// Makes the four rings and asks where their parts are.
fn make_rings(fd: &OwnedFd) -> io::Result<libc::xdp_mmap_offsets> {
    for (ring, entries) in [
        (libc::XDP_UMEM_FILL_RING, RECEIVE_CHUNKS * PLACES_PER_CHUNK),
        (libc::XDP_UMEM_COMPLETION_RING, SEND_CHUNKS),
        (libc::XDP_RX_RING, RECEIVE_CHUNKS),
        (libc::XDP_TX_RING, SEND_CHUNKS * PLACES_PER_CHUNK),
    ] {
        set_option(fd, ring, &entries)?;
    }
    // SAFETY: plain old data; all zeros is a valid value.
    let mut offsets: libc::xdp_mmap_offsets = unsafe { std::mem::zeroed() };
    get_option(fd, libc::XDP_MMAP_OFFSETS, &mut offsets)?;
    Ok(offsets)
}

fn set_option<T>(fd: &OwnedFd, option: libc::c_int, value: &T) -> io::Result<()> {
    let length = size_of::<T>() as libc::socklen_t;
    let value = std::ptr::from_ref(value).cast();
    // SAFETY: the pointer and the length describe `value`, which outlives the call.
    check(unsafe { libc::setsockopt(fd.as_raw_fd(), libc::SOL_XDP, option, value, length) }).map(drop)
}

fn get_option<T>(fd: &OwnedFd, option: libc::c_int, value: &mut T) -> io::Result<()> {
    let mut length = size_of::<T>() as libc::socklen_t;
    let value = std::ptr::from_mut(value).cast();
    // SAFETY: the kernel writes at most `length` bytes into `value`.
    check(unsafe { libc::getsockopt(fd.as_raw_fd(), libc::SOL_XDP, option, value, &raw mut length) })
        .map(drop)
}

//! System calls behind safe functions: the only `unsafe` code of this crate lives in this folder.

pub mod bpf;
pub mod interface;
pub mod namespace;
pub mod packet;
pub mod poll;
pub mod privilege;
pub mod process;
pub mod tun;
pub mod tunnel;
pub mod udp;
pub mod xdp;
mod xdp_ring;

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Bytes of `struct virtio_net_hdr`. This header stands in front of each frame of a packet socket or a TAP on either
/// way and says which work its sender has left undone.
pub const OFFLOAD_HEADER_BYTES: usize = 10;

/// Turns the -1 of a system call into its error.
fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Turns the -1 of a system call that counts bytes into its error.
fn check_size(result: libc::ssize_t) -> io::Result<usize> {
    usize::try_from(result).map_err(|_| io::Error::last_os_error())
}

/// Reads once from a non-blocking file descriptor; `None` when nothing waits.
pub fn read(fd: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<Option<usize>> {
    // SAFETY: the pointer and the length describe `buffer`, which is borrowed mutably.
    let result = unsafe { libc::read(fd.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len()) };
    match check_size(result) {
        Ok(length) => Ok(Some(length)),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(error),
    }
}

/// Writes once to a file descriptor.
pub fn write(fd: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<usize> {
    // SAFETY: the pointer and the length describe `bytes`, which outlives the call.
    check_size(unsafe { libc::write(fd.as_raw_fd(), bytes.as_ptr().cast(), bytes.len()) })
}

//! Sleeping until a descriptor is readable or a deadline has come, to the nanosecond.

use super::check;
use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;

/// The most descriptors that one `wait` may watch.
pub const MAX_WATCHED: usize = 8;

/// Sleeps until one of `watched` is readable or `nanoseconds` have passed (`None`: no limit).
///
/// The kernel's `ppoll` sleeps on a high-resolution timer, hence the precision of a timerfd without
/// arming one by another system call. A signal ends the sleep early, like a spurious wake-up. An error that
/// waits in a socket, as when its interface goes down, is taken: it would end every further sleep at once.
///
/// # Errors
/// When the kernel refuses to poll.
///
/// # Panics
/// With more than [`MAX_WATCHED`] descriptors.
pub fn wait(watched: &[BorrowedFd<'_>], nanoseconds: Option<u64>) -> io::Result<()> {
    assert!(watched.len() <= MAX_WATCHED, "a loop watches a handful of descriptors");
    let mut set = [libc::pollfd { fd: -1, events: libc::POLLIN, revents: 0 }; MAX_WATCHED];
    for (entry, fd) in set.iter_mut().zip(watched) {
        entry.fd = fd.as_raw_fd();
    }
    let limit = nanoseconds.map(|nanoseconds| libc::timespec {
        tv_sec: (nanoseconds / 1_000_000_000) as libc::time_t,
        tv_nsec: (nanoseconds % 1_000_000_000) as libc::c_long,
    });
    let limit = limit.as_ref().map_or(ptr::null(), ptr::from_ref);
    // SAFETY: `set` holds at least `watched.len()` entries and `limit` is null or a live timespec.
    let result = unsafe { libc::ppoll(set.as_mut_ptr(), watched.len() as libc::nfds_t, limit, ptr::null()) };
    match check(result) {
        Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
        _ => {}
    }
    let failed = set.iter().zip(watched).filter(|(entry, _)| entry.revents & libc::POLLERR != 0);
    failed.for_each(|(_, fd)| take_error(*fd));
    Ok(())
}

/// Takes the error that waits in a socket; a descriptor of another kind keeps its own.
fn take_error(fd: BorrowedFd<'_>) {
    let mut error: libc::c_int = 0;
    let mut length = size_of::<libc::c_int>() as libc::socklen_t;
    let place = (&raw mut error).cast();
    // SAFETY: the kernel writes at most `length` bytes, which is the size of the number on our stack.
    unsafe {
        libc::getsockopt(fd.as_raw_fd(), libc::SOL_SOCKET, libc::SO_ERROR, place, &raw mut length);
    }
}

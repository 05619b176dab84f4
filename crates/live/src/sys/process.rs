//! Requests of the loop for its own thread: priority, locked memory, no timer slack, signals as a descriptor.

use super::check;
use std::io;
use std::mem::size_of;
use std::os::fd::{FromRawFd, OwnedFd};

/// Returns the kernel's monotonic clock, in nanoseconds.
pub fn monotonic_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the clock writes one timespec on our stack.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Returns eight bytes from the kernel that no process can predict.
///
/// # Errors
/// On a kernel without `getrandom` (before 3.17).
pub fn unpredictable() -> io::Result<u64> {
    let mut bytes = [0; size_of::<u64>()];
    // SAFETY: the kernel writes at most the length of the array into it; up to 256 bytes come whole.
    let got = unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) };
    if got != bytes.len() as isize {
        return Err(io::Error::last_os_error());
    }
    Ok(u64::from_ne_bytes(bytes))
}

/// Gives the calling thread the fixed real-time priority `priority` (SCHED_FIFO).
///
/// # Errors
/// Without the privilege.
pub fn run_fifo(priority: i32) -> io::Result<()> {
    let parameter = libc::sched_param { sched_priority: priority };
    // SAFETY: the call reads one parameter block; pid 0 is the calling thread.
    check(unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameter) }).map(drop)
}

/// Keeps the calling thread on one processor.
///
/// # Errors
/// When there is no such processor, or this process may not use it.
pub fn run_on(processor: usize) -> io::Result<()> {
    // SAFETY: the set lives on our stack; `CPU_SET` refuses a processor beyond its size by panicking.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(processor % (8 * size_of::<libc::cpu_set_t>()), &mut set);
        check(libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set)).map(drop)
    }
}

/// Keeps the pages that this process uses in memory, so that no frame waits for a page fault.
///
/// # Errors
/// Beyond the limit on locked memory.
pub fn lock_memory() -> io::Result<()> {
    // SAFETY: `mlockall` takes flags only.
    check(unsafe { libc::mlockall(libc::MCL_CURRENT | libc::MCL_ONFAULT | libc::MCL_FUTURE) }).map(drop)
}

/// Asks for timers as exact as the hardware gives; ordinary threads get 50 us of slack otherwise.
///
/// # Errors
/// Never on a kernel that knows the option.
pub fn without_timer_slack() -> io::Result<()> {
    // SAFETY: this option takes one integer.
    check(unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1 as libc::c_ulong) }).map(drop)
}

/// Returns a descriptor that turns readable when SIGTERM or SIGINT arrives, in place of their handlers.
///
/// # Errors
/// When the kernel has no descriptor left.
pub fn termination() -> io::Result<OwnedFd> {
    // SAFETY: the signal set lives on our stack and is initialised by `sigemptyset`.
    unsafe {
        let mut signals: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut signals);
        libc::sigaddset(&raw mut signals, libc::SIGTERM);
        libc::sigaddset(&raw mut signals, libc::SIGINT);
        let refused = libc::pthread_sigmask(libc::SIG_BLOCK, &raw const signals, std::ptr::null_mut());
        if refused != 0 {
            return Err(io::Error::from_raw_os_error(refused));
        }
        let fd = check(libc::signalfd(-1, &raw const signals, libc::SFD_NONBLOCK | libc::SFD_CLOEXEC))?;
        Ok(OwnedFd::from_raw_fd(fd))
    }
}

/// Returns a counter descriptor by which another thread wakes the loop.
///
/// # Errors
/// When the kernel has no descriptor left.
pub fn wake_up_call() -> io::Result<OwnedFd> {
    // SAFETY: the call takes no pointers; the new descriptor has no other owner.
    unsafe { Ok(OwnedFd::from_raw_fd(check(libc::eventfd(0, libc::EFD_NONBLOCK | libc::EFD_CLOEXEC))?)) }
}

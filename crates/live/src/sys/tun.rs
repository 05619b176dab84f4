//! Attaching to a TAP interface: whole Ethernet frames, one per read and write, no virtio header.
//!
//! Without that header the kernel finishes what hosts leave undone, checksums and super-frames (G-23), once nothing is
//! promised any more.

use super::{check, interface::request};
use crate::error::{Attempt, Result};
use std::fs::{File, OpenOptions};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;

/// The device that hands out TAP interfaces.
const CLONE_DEVICE: &str = "/dev/net/tun";

/// Attaches to the TAP interface `name` of the current network namespace; makes it if there is none.
///
/// # Errors
/// When the device is missing, or the kernel or its permissions refuse.
pub fn attach(name: &str) -> Result<File> {
    let tap = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC)
        .open(CLONE_DEVICE)
        .attempting(format_args!("open {CLONE_DEVICE}"))?;
    let mut request = request(name)?;
    request.ifr_ifru.ifru_flags = (libc::IFF_TAP | libc::IFF_NO_PI) as libc::c_short;
    // SAFETY: TUNSETIFF reads and writes one `ifreq`, which lives on our stack.
    check(unsafe { libc::ioctl(tap.as_raw_fd(), libc::TUNSETIFF as _, &raw mut request) })
        .attempting(format_args!("attach to TAP {name}"))?;
    // A TAP that stays keeps what another program has promised for it: we promise nothing.
    const NOTHING: libc::c_ulong = 0;
    // SAFETY: TUNSETOFFLOAD takes its argument by value.
    check(unsafe { libc::ioctl(tap.as_raw_fd(), libc::TUNSETOFFLOAD as _, NOTHING) })
        .attempting(format_args!("switch the offloads of TAP {name} off"))?;
    Ok(tap)
}

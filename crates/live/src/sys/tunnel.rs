//! Attaching to a TUN interface: IP packets without a header in front, one per read and write.

use super::{check, interface::request};
use crate::error::{Attempt, Error, Result};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

/// The device that hands out TUN interfaces.
const CLONE_DEVICE: &str = "/dev/net/tun";
/// `TUNSETCARRIER` of linux/if_tun.h: `_IOW('T', 226, int)`.
const TUNSETCARRIER: libc::c_ulong = 0x4004_54e2;

/// Attaches to the TUN interface `name` of the current network namespace; makes it if there is none.
///
/// # Errors
/// When the device is missing, or the kernel or its permissions refuse.
pub fn attach(name: &str) -> Result<File> {
    let tun = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC)
        .open(CLONE_DEVICE)
        .attempting(format_args!("open {CLONE_DEVICE}"))?;
    let mut request = request(name)?;
    request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
    // SAFETY: TUNSETIFF reads and writes one `ifreq`, which lives on our stack.
    match check(unsafe { libc::ioctl(tun.as_raw_fd(), libc::TUNSETIFF as _, &raw mut request) }) {
        Ok(_) => Ok(tun),
        Err(error) if error.kind() == io::ErrorKind::ResourceBusy => Err(Error::Usage(format!(
            "TUN {name} is in use, by another guard or another program: end it, or give another name"
        ))),
        Err(error) => Err(error).attempting(format_args!("attach to TUN {name}")),
    }
}

/// Puts the carrier of an attached interface up or down: routes over an interface without carrier are given up by hosts
/// that are told to (`ignore_routes_with_linkdown`).
///
/// # Errors
/// On a kernel before 5.0, which does not know it.
pub fn set_carrier(tun: BorrowedFd<'_>, is_up: bool) -> io::Result<()> {
    let carrier = libc::c_int::from(is_up);
    // SAFETY: TUNSETCARRIER reads one number, which lives on our stack.
    check(unsafe { libc::ioctl(tun.as_raw_fd(), TUNSETCARRIER as _, &raw const carrier) }).map(drop)
}

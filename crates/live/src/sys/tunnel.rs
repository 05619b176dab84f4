//! Attaching to a TUN interface: IP packets without a header in front, one per read and write.

use super::{check, tun::open};
use crate::error::Result;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// `TUNSETCARRIER` of linux/if_tun.h: `_IOW('T', 226, int)`.
const TUNSETCARRIER: libc::c_ulong = 0x4004_54e2;

/// Attaches to the TUN interface `name` of the current network namespace; makes it if there is none.
///
/// # Errors
/// When the device is missing, or the kernel or its permissions refuse.
pub fn attach(name: &str) -> Result<File> {
    open("TUN", name, libc::IFF_TUN | libc::IFF_NO_PI)
}

/// Puts the carrier of an attached interface up or down. Hosts that are told to (`ignore_routes_with_linkdown`) give up
/// routes over an interface without carrier.
///
/// # Errors
/// On a kernel before 5.0, which does not know the request.
pub fn set_carrier(tun: BorrowedFd<'_>, is_up: bool) -> io::Result<()> {
    let carrier = libc::c_int::from(is_up);
    // SAFETY: TUNSETCARRIER reads one number, which lives on our stack.
    check(unsafe { libc::ioctl(tun.as_raw_fd(), TUNSETCARRIER as _, &raw const carrier) }).map(drop)
}

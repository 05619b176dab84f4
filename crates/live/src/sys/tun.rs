//! Attaching to a TAP interface: one Ethernet frame or super-frame a read and a write, behind an offload header.
//!
//! The kernel finishes the work that hosts leave undone, checksums and super-frames (G-23), unless this process
//! promises to.

use super::{check, interface::request};
use crate::error::{Attempt, Error, Result};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;

/// The device that hands out TAP and TUN interfaces.
const CLONE_DEVICE: &str = "/dev/net/tun";

// The promises that a program may make for the hosts behind a TAP (`TUN_F_*` of linux/if_tun.h).
const CHECKSUMS: libc::c_ulong = 0x01;
const TCP_OVER_IPV4: libc::c_ulong = 0x02;
const TCP_OVER_IPV6: libc::c_ulong = 0x04;
const TCP_WITH_ECN: libc::c_ulong = 0x08;
const UDP: libc::c_ulong = 0x20 | 0x40;

/// Attaches to the TAP interface `name` of the current network namespace; makes it if there is none. With
/// `super_frames` its hosts may leave checksums undone and super-frames uncut.
///
/// # Errors
/// When the device is missing, or the kernel or its permissions refuse.
pub fn attach(name: &str, super_frames: bool) -> Result<File> {
    let tap = open("TAP", name, libc::IFF_TAP | libc::IFF_NO_PI | libc::IFF_VNET_HDR)?;
    // A TAP that stays keeps the promises of another program, so this process states its own in any case.
    let tcp = CHECKSUMS | TCP_OVER_IPV4 | TCP_OVER_IPV6 | TCP_WITH_ECN;
    let promised = match super_frames {
        // Linux hands bursts of UDP over since 6.2; an older kernel refuses this promise.
        true => promise(&tap, tcp | UDP).or_else(|_| promise(&tap, tcp)),
        false => promise(&tap, 0),
    };
    promised.attempting(format_args!("set the offloads of TAP {name}"))?;
    Ok(tap)
}

/// Attaches to an interface of the kind `kind`, a TAP or a TUN; makes the interface if there is none.
pub(super) fn open(kind: &str, name: &str, flags: libc::c_int) -> Result<File> {
    let device = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC)
        .open(CLONE_DEVICE)
        .attempting(format_args!("open {CLONE_DEVICE}"))?;
    let mut request = request(name)?;
    request.ifr_ifru.ifru_flags = flags as libc::c_short;
    // SAFETY: TUNSETIFF reads and writes one `ifreq`, which lives on our stack.
    match check(unsafe { libc::ioctl(device.as_raw_fd(), libc::TUNSETIFF as _, &raw mut request) }) {
        Ok(_) => Ok(device),
        Err(error) if error.kind() == io::ErrorKind::ResourceBusy => Err(Error::Usage(format!(
            "{kind} {name} is in use, by another guard or another program: end it, or give another name"
        ))),
        Err(error) => Err(error).attempting(format_args!("attach to {kind} {name}")),
    }
}

fn promise(tap: &File, offloads: libc::c_ulong) -> io::Result<()> {
    // SAFETY: TUNSETOFFLOAD takes its argument by value.
    check(unsafe { libc::ioctl(tap.as_raw_fd(), libc::TUNSETOFFLOAD as _, offloads) }).map(drop)
}

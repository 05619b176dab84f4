//! Interface settings by ioctl: index, MTU, queue length, link state.

use super::check;
use crate::error::{Attempt, Error, Result};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Returns an interface request that carries `name` and zeros.
pub(super) fn request(name: &str) -> Result<libc::ifreq> {
    // SAFETY: `ifreq` is plain old data; all zeros is a valid value.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    if name.is_empty() || name.len() >= request.ifr_name.len() || name.contains('\0') {
        let limit = request.ifr_name.len() - 1;
        return Err(Error::Usage(format!("`{name}` is no interface name: give 1 to {limit} characters")));
    }
    for (place, byte) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *place = byte as libc::c_char;
    }
    Ok(request)
}

/// The settings of one interface, in the network namespace in which this was opened.
#[derive(Debug)]
pub struct Interface {
    name: String,
    socket: OwnedFd,
}

impl Interface {
    /// Finds `name` in the current network namespace.
    ///
    /// # Errors
    /// When there is no such interface.
    pub fn open(name: &str) -> Result<Self> {
        // SAFETY: `socket` takes no pointers.
        let fd = check(unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) })
            .attempting("open a socket for interface settings")?;
        // SAFETY: the descriptor was just opened and has no other owner.
        let socket = unsafe { OwnedFd::from_raw_fd(fd) };
        let interface = Self { name: name.to_owned(), socket };
        interface.index()?;
        Ok(interface)
    }

    /// Returns the kernel's number for the interface.
    pub fn index(&self) -> Result<i32> {
        let mut request = request(&self.name)?;
        self.call(libc::SIOCGIFINDEX, &mut request, "find interface")?;
        // SAFETY: SIOCGIFINDEX has filled the index.
        Ok(unsafe { request.ifr_ifru.ifru_ifindex })
    }

    /// Returns the largest payload of a frame, in bytes.
    pub fn mtu(&self) -> Result<usize> {
        let mut request = request(&self.name)?;
        self.call(libc::SIOCGIFMTU, &mut request, "read the MTU of")?;
        // SAFETY: SIOCGIFMTU has filled the MTU.
        Ok(unsafe { request.ifr_ifru.ifru_mtu } as usize)
    }

    /// Sets the largest payload of a frame.
    pub fn set_mtu(&self, mtu: usize) -> Result<()> {
        let mut request = request(&self.name)?;
        request.ifr_ifru.ifru_mtu = i32::try_from(mtu).unwrap_or(i32::MAX);
        self.call(libc::SIOCSIFMTU, &mut request, &format!("set MTU {mtu} on"))
    }

    /// Sets how many frames may wait in the transmit queue.
    pub fn set_queue_length(&self, frames: i32) -> Result<()> {
        let mut request = request(&self.name)?;
        request.ifr_ifru.ifru_metric = frames;
        self.call(libc::SIOCSIFTXQLEN, &mut request, "set the transmit queue length of")
    }

    /// Sets the interface up.
    pub fn set_up(&self) -> Result<()> {
        let mut request = request(&self.name)?;
        self.call(libc::SIOCGIFFLAGS, &mut request, "read the flags of")?;
        // SAFETY: SIOCGIFFLAGS has filled the flags.
        let flags = unsafe { request.ifr_ifru.ifru_flags };
        request.ifr_ifru.ifru_flags = flags | libc::IFF_UP as libc::c_short;
        self.call(libc::SIOCSIFFLAGS, &mut request, "set up")
    }

    fn call(&self, code: libc::c_ulong, request: &mut libc::ifreq, what: &str) -> Result<()> {
        // SAFETY: every interface ioctl used here reads and writes one `ifreq`.
        let result: io::Result<_> =
            check(unsafe { libc::ioctl(self.socket.as_raw_fd(), code as _, &raw mut *request) });
        result.map(drop).attempting(format_args!("{what} {}", self.name))
    }
}

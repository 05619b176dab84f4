//! The one program that XDP needs: "hand this frame to the socket of its queue", loaded without a compiler.

use super::{check, interface::Interface};
use crate::error::{Attempt, Result};
use std::ffi::{CStr, c_long};
use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

// Commands, types and flags of linux/bpf.h and linux/if_link.h.
const BPF_MAP_CREATE: c_long = 0;
const BPF_MAP_UPDATE_ELEM: c_long = 2;
const BPF_PROG_LOAD: c_long = 5;
const BPF_LINK_CREATE: c_long = 28;
const BPF_MAP_TYPE_XSKMAP: u32 = 17;
const BPF_PROG_TYPE_XDP: u32 = 6;
const BPF_XDP: u32 = 37;
/// Flag: the program copes with frames in several buffers.
const BPF_F_XDP_HAS_FRAGS: u32 = 1 << 5;
/// Flag: the program runs in the driver, before the kernel handles a frame.
const XDP_FLAGS_DRV_MODE: u32 = 1 << 2;
/// Flag: the program runs behind the driver, for interfaces whose driver knows no XDP.
const XDP_FLAGS_SKB_MODE: u32 = 1 << 1;
/// The fate of a frame whose queue has no socket: the kernel handles it.
const XDP_PASS: u32 = 2;
/// The program may be used under either licence; the helpers that it calls ask for neither.
const LICENSE: &CStr = c"Dual MIT/GPL";

/// A program that is attached to an interface as long as this value lives; it is detached even if the process
/// is killed.
#[derive(Debug)]
pub struct Redirection {
    _link: OwnedFd,
    _program: OwnedFd,
    sockets: OwnedFd,
}

impl Redirection {
    /// Attaches the program to `name`; frames of queue 0 go to the socket that [`Self::serve`] names.
    ///
    /// # Errors
    /// Without CAP_BPF and CAP_NET_ADMIN on the machine, or on a kernel without XDP sockets.
    pub fn attach(name: &str) -> Result<Self> {
        let index = Interface::open(name)?.index()?;
        let sockets = map().attempting(format_args!("make a map of XDP sockets for {name}"))?;
        let program = program(&sockets).attempting(format_args!("load an XDP program for {name}"))?;
        let link = link(&program, index, XDP_FLAGS_DRV_MODE)
            .or_else(|_| link(&program, index, XDP_FLAGS_SKB_MODE))
            .attempting(format_args!("attach XDP to {name}"))?;
        Ok(Self { _link: link, _program: program, sockets })
    }

    /// Hands the frames of queue 0 to `socket`.
    ///
    /// # Errors
    /// When `socket` is no bound XDP socket.
    pub fn serve(&self, socket: &OwnedFd) -> io::Result<()> {
        let (queue, value) = (0u32, socket.as_raw_fd() as u32);
        let mut update = MapUpdate {
            map: self.sockets.as_raw_fd() as u32,
            _padding: 0,
            key: address(&queue),
            value: address(&value),
            flags: 0,
        };
        // SAFETY: key and value live on our stack and have the sizes with which the map was made.
        unsafe { bpf(BPF_MAP_UPDATE_ELEM, &mut update) }.map(drop)
    }
}

#[repr(C)]
struct MapCreate {
    kind: u32,
    key_bytes: u32,
    value_bytes: u32,
    entries: u32,
    flags: u32,
}

#[repr(C)]
struct MapUpdate {
    map: u32,
    _padding: u32,
    key: u64,
    value: u64,
    flags: u64,
}

#[repr(C)]
struct ProgramLoad {
    kind: u32,
    instruction_count: u32,
    instructions: u64,
    license: u64,
    log_level: u32,
    log_bytes: u32,
    log: u64,
    kernel_version: u32,
    flags: u32,
    name: [u8; 16],
    interface: u32,
    attach_type: u32,
}

#[repr(C)]
struct LinkCreate {
    program: u32,
    interface: u32,
    attach_type: u32,
    flags: u32,
}

fn map() -> io::Result<OwnedFd> {
    let mut create =
        MapCreate { kind: BPF_MAP_TYPE_XSKMAP, key_bytes: 4, value_bytes: 4, entries: 1, flags: 0 };
    // SAFETY: the attributes hold no pointers; the descriptor is new.
    unsafe { bpf(BPF_MAP_CREATE, &mut create).map(|fd| OwnedFd::from_raw_fd(fd)) }
}

fn program(sockets: &OwnedFd) -> io::Result<OwnedFd> {
    let instructions = redirect(sockets.as_raw_fd() as u32);
    let mut load = ProgramLoad {
        kind: BPF_PROG_TYPE_XDP,
        instruction_count: instructions.len() as u32,
        instructions: instructions.as_ptr() as u64,
        license: LICENSE.as_ptr() as u64,
        log_level: 0,
        log_bytes: 0,
        log: 0,
        kernel_version: 0,
        flags: BPF_F_XDP_HAS_FRAGS,
        name: *b"lossylink\0\0\0\0\0\0\0",
        interface: 0,
        attach_type: BPF_XDP,
    };
    // SAFETY: instructions and licence outlive the call, which only reads them; the descriptor is new.
    unsafe { bpf(BPF_PROG_LOAD, &mut load).map(|fd| OwnedFd::from_raw_fd(fd)) }
}

fn link(program: &OwnedFd, interface: i32, flags: u32) -> io::Result<OwnedFd> {
    let mut create = LinkCreate {
        program: program.as_raw_fd() as u32,
        interface: interface as u32,
        attach_type: BPF_XDP,
        flags,
    };
    // SAFETY: the attributes hold no pointers; the descriptor is new.
    unsafe { bpf(BPF_LINK_CREATE, &mut create).map(|fd| OwnedFd::from_raw_fd(fd)) }
}

/// Returns the program `return bpf_redirect_map(&sockets, context->rx_queue_index, XDP_PASS)`.
fn redirect(sockets: u32) -> [u64; 6] {
    /// Offset of the number of the queue in `struct xdp_md`.
    const RX_QUEUE_INDEX: u64 = 16;
    const BPF_REDIRECT_MAP: u64 = 51;
    /// The immediate of a load names a map by its descriptor.
    const MAP_BY_DESCRIPTOR: u64 = 1;
    let instruction = |code: u64, target: u64, source: u64, offset: u64, immediate: u64| {
        code | target << 8 | source << 12 | offset << 16 | immediate << 32
    };
    [
        instruction(0x61, 2, 1, RX_QUEUE_INDEX, 0), // r2 = *(u32 *)(r1 + 16)
        instruction(0x18, 1, MAP_BY_DESCRIPTOR, 0, u64::from(sockets)), // r1 = map, in two halves
        0,
        instruction(0xb7, 3, 0, 0, u64::from(XDP_PASS)), // r3 = XDP_PASS
        instruction(0x85, 0, 0, 0, BPF_REDIRECT_MAP),    // r0 = call
        instruction(0x95, 0, 0, 0, 0),                   // return r0
    ]
}

fn address<T>(value: &T) -> u64 {
    std::ptr::from_ref(value) as u64
}

/// Makes the system call.
///
/// # Safety
/// Every pointer in `attributes` must be valid for the accesses of the command.
unsafe fn bpf<T>(command: c_long, attributes: &mut T) -> io::Result<libc::c_int> {
    let attributes: *mut T = attributes;
    // SAFETY: the structure lives on the caller's stack and its size goes with it.
    let result = unsafe { libc::syscall(libc::SYS_bpf, command, attributes, size_of::<T>()) };
    check(result as libc::c_int)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_what_an_assembler_makes_of_it() {
        let bytes: Vec<u8> = redirect(5).iter().flat_map(|word| word.to_le_bytes()).collect();
        // 61 12: load a word into r2 from r1; 18 11: load a map into r1.
        assert_eq!(bytes[..8], [0x61, 0x12, 16, 0, 0, 0, 0, 0]);
        assert_eq!(bytes[8..16], [0x18, 0x11, 0, 0, 5, 0, 0, 0]);
        assert_eq!(bytes[24..32], [0xb7, 0x03, 0, 0, 2, 0, 0, 0]);
        assert_eq!(bytes[32..], [0x85, 0, 0, 0, 51, 0, 0, 0, 0x95, 0, 0, 0, 0, 0, 0, 0]);
    }
}

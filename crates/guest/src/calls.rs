//! The functions that the kernel calls. The kernel's side is `python/lossylink/linux/kernel/source/lossylink_user.c`; both
//! change together.
//!
//! Times are nanoseconds of the kernel's monotonic clock. A kernel is one thread.

#![expect(unsafe_code, reason = "the boundary to a program in C")]

use crate::path::Path;
use lossylink_core::time::Instant;
use lossylink_sim::world::End;
use std::ffi::{CStr, c_char, c_int};
use std::slice;

/// A frame that has come out of the path at a host.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Arrival {
    /// The number with which it was sent.
    pub number: u64,
    /// 0 for the near host, 1 for the far one.
    pub side: u32,
    /// 1 if a queue has marked it on its way.
    pub marked: u32,
}

/// Opens the path of the configuration in a file; returns null, and writes a line to `problem`, if there is none.
///
/// # Safety
/// `configuration` is a string that ends in zero, `patience_ns` can be written, and so can `problem_bytes` at `problem`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lossylink_path_open(
    configuration: *const c_char,
    patience_ns: *mut u64,
    problem: *mut c_char,
    problem_bytes: usize,
) -> *mut Path {
    // SAFETY: as the caller has promised.
    let name = unsafe { CStr::from_ptr(configuration) }.to_string_lossy();
    match Path::open(&name) {
        Ok(path) => {
            // SAFETY: as the caller has promised.
            unsafe { *patience_ns = path.patience().as_ps().div_ceil(PS_PER_NS) };
            Box::into_raw(Box::new(path))
        }
        Err(error) => {
            // SAFETY: as the caller has promised.
            let room = unsafe { slice::from_raw_parts_mut(problem.cast::<u8>(), problem_bytes) };
            let line = error.to_string();
            let length = line.len().min(room.len().saturating_sub(1));
            room[..length].copy_from_slice(&line.as_bytes()[..length]);
            room[length] = 0;
            std::ptr::null_mut()
        }
    }
}

/// Sends frame `number` of a host; returns when the interface of the host has sent it.
///
/// # Safety
/// `path` comes from [`lossylink_path_open`] and is not closed; `head_bytes` can be read at `head`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lossylink_path_send(
    path: *mut Path,
    side: u32,
    now_ns: u64,
    number: u64,
    head: *const u8,
    head_bytes: u32,
    bytes: u32,
) -> u64 {
    // SAFETY: as the caller has promised.
    let (path, head) = unsafe { (&mut *path, slice::from_raw_parts(head, head_bytes as usize)) };
    let end = if side == 0 { End::Near } else { End::Far };
    rounded_up(path.send(instant(now_ns), end, number, head, bytes))
}

/// Returns when to ask for arrivals again; the largest number for never.
///
/// # Safety
/// `path` comes from [`lossylink_path_open`] and is not closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lossylink_path_next(path: *const Path) -> u64 {
    // SAFETY: as the caller has promised.
    rounded_up(unsafe { &*path }.poll_timeout())
}

/// Takes the next frame that has come out of the path; zero if there is none.
///
/// # Safety
/// `path` comes from [`lossylink_path_open`] and is not closed; `arrival` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lossylink_path_take(path: *mut Path, now_ns: u64, arrival: *mut Arrival) -> c_int {
    // SAFETY: as the caller has promised.
    let taken = unsafe { &mut *path }.take(instant(now_ns));
    let Some((end, taken)) = taken else { return 0 };
    let taken = Arrival { number: taken.number, side: end as u32, marked: u32::from(taken.marked) };
    // SAFETY: as the caller has promised.
    unsafe { arrival.write(taken) };
    1
}

/// Writes the report and ends the path; zero if both went well.
///
/// # Safety
/// `path` comes from [`lossylink_path_open`] and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lossylink_path_close(path: *mut Path, now_ns: u64) -> c_int {
    // SAFETY: as the caller has promised.
    let path = unsafe { Box::from_raw(path) };
    c_int::from(path.close(instant(now_ns)).is_err())
}

const PS_PER_NS: u64 = 1_000;

const fn instant(ns: u64) -> Instant {
    Instant::from_ps(ns * PS_PER_NS)
}

/// Returns the first nanosecond that is not before `at`.
const fn rounded_up(at: Instant) -> u64 {
    if at.is_never() { u64::MAX } else { at.as_ps().div_ceil(PS_PER_NS) }
}

//! The simulated path between two hosts of a Linux kernel that runs in virtual time.
//!
//! A User-Mode Linux kernel loads this library and hands the frames of its two interfaces to it.
//!
//! * [`path`]: the path, a record of the frames that pass the near host, and the report at the end.
//! * [`calls`]: the functions that the kernel calls, in C; the only `unsafe` code of this crate.

pub mod calls;
pub mod path;
mod record;

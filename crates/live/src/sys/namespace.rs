//! Opening things inside another network namespace: enter, open, return. The descriptor stays valid.

use super::check;
use crate::error::{Attempt, Result};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

/// The folder in which iproute2 keeps its named network namespaces.
const NAMED_NAMESPACES: &str = "/run/netns";

/// Runs `open` with the calling thread inside the network namespace `name`, then returns home.
///
/// Without a name `open` runs where the thread is. Only the calling thread moves.
///
/// # Errors
/// When the namespace does not exist or may not be entered, and whatever `open` returns.
///
/// # Panics
/// When the thread cannot return home: it must not go on in a foreign namespace.
pub fn inside<T>(name: Option<&str>, open: impl FnOnce() -> Result<T>) -> Result<T> {
    let Some(name) = name else { return open() };
    let home = File::open("/proc/thread-self/ns/net").attempting("open this thread's network namespace")?;
    let path = format!("{NAMED_NAMESPACES}/{name}");
    let target = File::open(&path).attempting(format_args!("open network namespace {path}"))?;
    enter(target.as_fd()).attempting(format_args!("enter network namespace {name}"))?;
    let opened = open();
    enter(home.as_fd()).expect("a thread may return to the namespace it came from");
    opened
}

fn enter(namespace: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: `setns` takes a descriptor by value and touches no memory of ours.
    check(unsafe { libc::setns(namespace.as_raw_fd(), libc::CLONE_NEWNET) }).map(drop)
}

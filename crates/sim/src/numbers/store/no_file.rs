//! The file of a store, on a system that has no files: there is none.

use super::Medium;
use std::io;

/// Refuses to open a file.
pub(super) fn temporary() -> io::Result<Box<dyn Medium>> {
    Err(io::ErrorKind::Unsupported.into())
}

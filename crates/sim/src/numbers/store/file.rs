//! The file of a store, on a system that has files.

use super::Medium;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

impl Medium for File {
    fn write(&self, octets: &[u8], at: u64) -> io::Result<()> {
        self.write_all_at(octets, at)
    }

    fn read(&self, octets: &mut [u8], at: u64) -> io::Result<()> {
        self.read_exact_at(octets, at)
    }
}

/// Opens a file without a name, in the first folder for temporary files that takes one.
pub(super) fn temporary() -> io::Result<Box<dyn Medium>> {
    let mut refused = io::ErrorKind::NotFound.into();
    for folder in folders(std::env::var_os("TMPDIR")) {
        match tempfile::tempfile_in(folder) {
            Ok(file) => return Ok(Box::new(file)),
            Err(error) => refused = error,
        }
    }
    Err(refused)
}

/// Returns the folders for temporary files, the best first. A folder that the user names is the only one.
fn folders(named: Option<OsString>) -> Vec<PathBuf> {
    match named.filter(|name| !name.is_empty()) {
        Some(name) => vec![name.into()],
        None => vec!["/var/tmp".into(), "/tmp".into()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_the_user_names_is_the_only_one() {
        assert_eq!(folders(Some("/scratch".into())), [PathBuf::from("/scratch")]);
        let usual = ["/var/tmp", "/tmp"].map(PathBuf::from);
        assert_eq!((folders(None), folders(Some("".into()))), (usual.to_vec(), usual.to_vec()));
    }
}

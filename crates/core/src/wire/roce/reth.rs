//! The RDMA extended header: the place in the remote memory that a write goes to.

use crate::wire::{WireError, be32, put32, require};

/// Bytes that start with an RDMA extended header.
#[derive(Clone, Copy, Debug)]
pub struct RdmaView<'a>(&'a [u8]);

impl<'a> RdmaView<'a> {
    /// Checks the length once.
    ///
    /// # Errors
    /// If the bytes are too short.
    pub fn new_checked(bytes: &'a [u8]) -> Result<Self, WireError> {
        require("RoCE RETH", bytes, RdmaHeader::LEN)?;
        Ok(Self(bytes))
    }

    /// Returns the virtual address of the data.
    pub fn virtual_address(self) -> u64 {
        u64::from(be32(self.0, 0)) << 32 | u64::from(be32(self.0, 4))
    }

    /// Returns the key that permits the write.
    pub fn remote_key(self) -> u32 {
        be32(self.0, 8)
    }

    /// Returns the bytes of the whole message.
    pub fn message_len(self) -> u32 {
        be32(self.0, 12)
    }

    /// Returns the bytes behind the header.
    pub fn rest(self) -> &'a [u8] {
        &self.0[RdmaHeader::LEN..]
    }
}

/// An RDMA extended header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RdmaHeader {
    /// Virtual address of the data.
    pub virtual_address: u64,
    /// Key that permits the write.
    pub remote_key: u32,
    /// Bytes of the whole message.
    pub message_len: u32,
}

impl RdmaHeader {
    /// Length in bytes.
    pub const LEN: usize = 16;

    /// Reads the header and returns the bytes behind it.
    ///
    /// # Errors
    /// If the bytes are too short.
    pub fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let view = RdmaView::new_checked(bytes)?;
        let header = Self {
            virtual_address: view.virtual_address(),
            remote_key: view.remote_key(),
            message_len: view.message_len(),
        };
        Ok((header, view.rest()))
    }

    /// Writes the header at the start of `buffer`.
    ///
    /// # Panics
    /// If `buffer` is shorter than [`LEN`](Self::LEN).
    pub fn emit(&self, buffer: &mut [u8]) {
        buffer[..8].copy_from_slice(&self.virtual_address.to_be_bytes());
        put32(buffer, 8, self.remote_key);
        put32(buffer, 12, self.message_len);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BYTES: [u8; 16] = [0, 0, 0x7f, 1, 2, 3, 4, 5, 0xde, 0xad, 0xbe, 0xef, 0, 0, 0x5f, 0x43];

    #[test]
    fn literal_bytes_are_read_and_written() {
        let header =
            RdmaHeader { virtual_address: 0x7f01_0203_0405, remote_key: 0xdead_beef, message_len: 24_387 };
        let mut buffer = [0xee; 16];
        header.emit(&mut buffer);
        assert_eq!(buffer, BYTES);
        assert_eq!(RdmaHeader::parse(&BYTES), Ok((header, &[][..])));
    }

    #[test]
    fn short_bytes_are_refused() {
        for length in 0..RdmaHeader::LEN {
            let error = WireError::Truncated { header: "RoCE RETH", needed: 16, available: length };
            assert_eq!(RdmaHeader::parse(&BYTES[..length]), Err(error));
        }
    }

    proptest! {
        #[test]
        fn headers_round_trip(virtual_address: u64, remote_key: u32, message_len: u32) {
            let header = RdmaHeader { virtual_address, remote_key, message_len };
            let mut buffer = [0; RdmaHeader::LEN];
            header.emit(&mut buffer);
            prop_assert_eq!(RdmaHeader::parse(&buffer), Ok((header, &[][..])));
        }
    }
}

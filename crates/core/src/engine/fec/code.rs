//! The size of a block code: k data frames and h parity frames (FEC-1).

use crate::wire::fec::{MAX_ROWS, MAX_SIZE};
use thiserror::Error;

/// A systematic code: any k of its k data and h parity frames rebuild the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Code {
    size: u8,
    rows: u8,
}

/// Why no code has this size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum CodeError {
    /// k is out of range.
    #[error("a block holds 1 to {MAX_SIZE} data frames, not {0}")]
    Size(u32),
    /// h is out of range.
    #[error("a block holds at most {MAX_ROWS} parity frames, not {0}")]
    Rows(u32),
}

impl Code {
    /// Returns the code with `size` data frames (k) and `rows` parity frames (h). With h = 0,
    /// frames are not tagged at all.
    ///
    /// # Errors
    /// Unless 1 <= k <= 128 and h <= 32.
    pub const fn new(size: u32, rows: u32) -> Result<Self, CodeError> {
        if size == 0 || size > MAX_SIZE as u32 {
            return Err(CodeError::Size(size));
        }
        if rows > MAX_ROWS as u32 {
            return Err(CodeError::Rows(rows));
        }
        Ok(Self { size: size as u8, rows: rows as u8 })
    }

    /// Returns the data frames of a full block, k.
    pub const fn size(self) -> u8 {
        self.size
    }

    /// Returns the parity frames of a block, h.
    pub const fn rows(self) -> u8 {
        self.rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    // FEC-1
    #[test]
    fn the_bounds_have_a_code_on_one_side_only() {
        assert!(Code::new(1, 0).is_ok() && Code::new(128, 32).is_ok());
        assert_eq!(Code::new(0, 1), Err(CodeError::Size(0)));
        assert_eq!(Code::new(129, 1), Err(CodeError::Size(129)));
        let error = Code::new(5, 33).unwrap_err();
        assert_eq!(error.to_string(), "a block holds at most 32 parity frames, not 33");
    }
}

//! Buffer memory that is given out in cells of equal size.

/// Fraction bits of the reciprocal: exact for every size below 2^24 bytes.
const FRACTION_BITS: u32 = 40;
/// The largest cell for which the reciprocal is exact.
const LARGEST_EXACT: u64 = 1 << 16;

/// The size of a cell. Sizes are rounded up without a division when the cell is not huge.
#[derive(Clone, Copy, Debug)]
pub struct Cells {
    bytes: u64,
    /// `2^FRACTION_BITS / bytes`, rounded up; zero if it would not be exact.
    reciprocal: u64,
}

impl Cells {
    /// Builds cells of `bytes`.
    ///
    /// # Panics
    /// If `bytes` is zero.
    pub const fn new(bytes: u64) -> Self {
        assert!(bytes > 0, "a buffer cell must hold something");
        let reciprocal = if bytes <= LARGEST_EXACT { (1_u64 << FRACTION_BITS).div_ceil(bytes) } else { 0 };
        Self { bytes, reciprocal }
    }

    /// Returns the space that `bytes` take in whole cells, in bytes.
    #[inline]
    pub const fn space(self, bytes: u32) -> u64 {
        debug_assert!(bytes < 1 << 23, "no frame is that large");
        let filled = bytes as u64 + self.bytes - 1;
        let cells = if self.reciprocal > 0 {
            (filled * self.reciprocal) >> FRACTION_BITS
        } else {
            filled / self.bytes
        };
        cells * self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_reciprocal_agrees_with_the_division(
            cell in prop_oneof![1u64..300, LARGEST_EXACT - 3..LARGEST_EXACT + 3],
            bytes in prop_oneof![0u32..20_000, (1u32 << 23) - 9..1u32 << 23],
        ) {
            prop_assert_eq!(Cells::new(cell).space(bytes), u64::from(bytes).div_ceil(cell) * cell);
        }
    }
}

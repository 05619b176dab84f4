//! Numbers of blocks: 24 bits that wrap (FEC-9).

/// Numbers before they repeat.
const SPACE: u32 = 1 << 24;
const MASK: u32 = SPACE - 1;
/// Bits of a `u32` that a number does not use.
const UNUSED_BITS: u32 = u32::BITS - SPACE.trailing_zeros();

/// The number of a block; numbers count modulo 2^24 (FEC-9).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct BlockNumber(u32);

impl BlockNumber {
    /// The number of the first block of a freshly initialised port.
    pub const ZERO: Self = Self(0);
    /// The number of block numbers.
    pub const COUNT: u32 = SPACE;

    /// Returns the number with these low 24 bits.
    pub const fn new(bits: u32) -> Self {
        Self(bits & MASK)
    }

    /// Returns the 24 bits carried in a header.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Returns the number `steps` further on.
    #[must_use]
    pub const fn plus(self, steps: u32) -> Self {
        Self(self.0.wrapping_add(steps) & MASK)
    }

    /// Returns the next number.
    #[must_use]
    pub const fn next(self) -> Self {
        self.plus(1)
    }

    /// Returns the number `steps` before this number.
    #[must_use]
    pub const fn back(self, steps: u32) -> Self {
        Self(self.0.wrapping_sub(steps) & MASK)
    }

    /// Returns how many blocks `self` lies ahead of `other`; negative when behind. Exact while the
    /// two are less than 2^23 blocks apart (FEC-9).
    pub const fn ahead_of(self, other: Self) -> i32 {
        // Shifting the 24 bits to the top and back extends their sign.
        ((self.0.wrapping_sub(other.0) << UNUSED_BITS) as i32) >> UNUSED_BITS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    // FEC-9
    #[test]
    fn distances_cross_the_wrap() {
        let last = BlockNumber::new(MASK);
        assert_eq!(last.next(), BlockNumber::ZERO);
        assert_eq!(BlockNumber::ZERO.ahead_of(last), 1);
        assert_eq!(last.ahead_of(BlockNumber::ZERO), -1);
        assert_eq!(BlockNumber::ZERO.back(1), last);
    }

    proptest! {
        // FEC-9
        #[test]
        fn distances_are_exact_in_half_the_space(start in 0..SPACE, distance in -(1i32 << 23)..1 << 23) {
            let from = BlockNumber::new(start);
            let to = BlockNumber::new(start.wrapping_add_signed(distance));
            prop_assert_eq!(to.ahead_of(from), distance);
        }
    }
}

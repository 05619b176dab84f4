//! Numbers of frames: 20 bits that wrap (LLR-1).

use core::fmt;

/// Numbers before they repeat.
const SPACE: u32 = 1 << 20;
const MASK: u32 = SPACE - 1;
/// Bits of a `u32` that a number does not use.
const UNUSED_BITS: u32 = u32::BITS - SPACE.trailing_zeros();

/// The number of a frame; numbers count modulo 2^20 (LLR-1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Number(u32);

impl Number {
    /// The number of the first frame of a freshly initialised port.
    pub const ZERO: Self = Self(0);
    /// The number of frame numbers.
    pub const COUNT: u32 = SPACE;
    /// The most frames that may be outstanding, half of the numbers (LLR-2).
    pub const WINDOW: u32 = SPACE / 2;

    /// Returns the number with these low 20 bits.
    pub const fn new(bits: u32) -> Self {
        Self(bits & MASK)
    }

    /// Returns the 20 bits that a frame carries.
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

    /// Returns the previous number.
    #[must_use]
    pub const fn previous(self) -> Self {
        self.plus(MASK)
    }

    /// Returns how many steps lead from `other` forward to `self`, below [`Number::COUNT`].
    pub const fn steps_after(self, other: Self) -> u32 {
        self.0.wrapping_sub(other.0) & MASK
    }

    /// Returns how many frames `self` lies ahead of `other`; negative when behind. Exact from -2^19
    /// to 2^19 - 1, the range that a window of 2^19 needs (LLR-2).
    pub const fn ahead_of(self, other: Self) -> i32 {
        // Shifting the 20 bits to the top and back extends their sign.
        ((self.0.wrapping_sub(other.0) << UNUSED_BITS) as i32) >> UNUSED_BITS
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    // LLR-1
    #[test]
    fn distances_cross_the_wrap() {
        let last = Number::new(MASK);
        assert_eq!((last.next(), Number::ZERO.previous()), (Number::ZERO, last));
        assert_eq!((Number::ZERO.ahead_of(last), last.ahead_of(Number::ZERO)), (1, -1));
        assert_eq!(Number::ZERO.steps_after(last), 1);
    }

    proptest! {
        // LLR-1, LLR-2
        #[test]
        fn distances_are_exact_in_the_window(start in 0..SPACE, distance in -(1i32 << 19)..1 << 19) {
            let from = Number::new(start);
            let to = Number::new(start.wrapping_add_signed(distance));
            prop_assert_eq!(to.ahead_of(from), distance);
        }
    }
}

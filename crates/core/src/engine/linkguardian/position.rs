//! Places in the sequence space of a protected port: a 16-bit number and a 1-bit era (LG-1).

use core::fmt;

/// Positions in one era.
const ERA_LENGTH: u32 = 1 << 16;
/// Positions before the space repeats: two eras.
const SPACE: u32 = 2 * ERA_LENGTH;
const MASK: u32 = SPACE - 1;

/// A position in the sequence space. The era toggles after number 65535, so number and era
/// together count modulo 2^17 (LG-1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Position(u32);

impl Position {
    /// The position at which a freshly initialised port starts.
    pub const ZERO: Self = Self(0);
    /// The number of positions.
    pub const COUNT: usize = SPACE as usize;
    /// The most steps that two positions in use may lie apart: up to here the published comparison
    /// of eras holds (LG-2, LG-33).
    pub const WINDOW: u32 = ERA_LENGTH / 2;

    /// Returns the position with this `number` in this `era`.
    pub const fn new(number: u16, era: bool) -> Self {
        Self(number as u32 | (era as u32) << 16)
    }

    /// Returns the 16-bit number carried in a header.
    pub const fn number(self) -> u16 {
        self.0 as u16
    }

    /// Returns the era bit carried in a header.
    pub const fn era(self) -> bool {
        self.0 >= ERA_LENGTH
    }

    /// Returns an index below [`Position::COUNT`].
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the position `steps` further on.
    #[must_use]
    pub const fn plus(self, steps: u32) -> Self {
        Self(self.0.wrapping_add(steps) & MASK)
    }

    /// Returns the position `steps` behind.
    #[inline]
    #[must_use]
    pub const fn minus(self, steps: u32) -> Self {
        Self(self.0.wrapping_sub(steps) & MASK)
    }

    /// Returns the next position.
    #[must_use]
    pub const fn next(self) -> Self {
        self.plus(1)
    }

    /// Returns the previous position.
    #[must_use]
    pub const fn previous(self) -> Self {
        self.plus(MASK)
    }

    /// Returns how many steps lead from `other` forward to `self`, below [`Position::COUNT`].
    pub const fn steps_after(self, other: Self) -> u32 {
        self.0.wrapping_sub(other.0) & MASK
    }

    /// Returns how many steps `self` lies ahead of `other`; negative when behind. Exact while the
    /// two are less than 2^16 apart, which contains the 32768 of the published rule (LG-2).
    pub const fn steps_from(self, other: Self) -> i32 {
        // Shift the 17-bit difference to the top of the word: its sign bit becomes the word's.
        ((self.0.wrapping_sub(other.0) << 15) as i32) >> 15
    }

    /// Whether `self` comes after `other` (LG-2).
    pub const fn is_after(self, other: Self) -> bool {
        self.steps_from(other) > 0
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", u8::from(self.era()), self.number())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    // LG-1
    #[test]
    fn the_era_toggles_after_65535() {
        let last = Position::new(65535, false);
        assert_eq!(last.next(), Position::new(0, true));
        assert_eq!(Position::new(65535, true).next(), Position::ZERO);
        assert_eq!(Position::ZERO.previous(), Position::new(65535, true));
    }

    /// Compares as the switches do: equal eras compare plainly, different eras compare after 32768
    /// has been subtracted from both.
    fn published_is_after(a: Position, b: Position) -> bool {
        if a.era() == b.era() {
            a.number() > b.number()
        } else {
            a.number().wrapping_sub(32768) > b.number().wrapping_sub(32768)
        }
    }

    proptest! {
        // LG-2
        #[test]
        fn order_agrees_with_the_published_comparison(start in 0u32..SPACE, ahead in -32767i32..=32767) {
            let b = Position(start);
            let a = b.plus(ahead as u32);
            prop_assert_eq!(a.steps_from(b), ahead);
            prop_assert_eq!(a.is_after(b), ahead > 0);
            if ahead != 0 {
                prop_assert_eq!(published_is_after(a, b), ahead > 0);
            }
        }

        // LG-1
        #[test]
        fn a_header_carries_the_whole_position(number: u16, era: bool) {
            let position = Position::new(number, era);
            prop_assert_eq!((position.number(), position.era()), (number, era));
        }
    }
}

//! The 24-bit packet sequence number of the wire, and the 64-bit position that it stands for.

/// Number of bits of a packet sequence number in the base transport header.
const BITS: u32 = 24;
/// Number of different sequence numbers.
const NUMBERS: u64 = 1 << BITS;
/// The greatest distance at which two positions can be told from a wrap (InfiniBand 9.7.1).
pub(super) const HALF: u64 = NUMBERS / 2;

/// A packet sequence number as the base transport header carries it.
///
/// Endpoints count packets in 64 bits, called positions here, and put the low 24 on the wire. A
/// number is read back as the position nearest to one that the reader knows. Counting starts one
/// whole wrap up, so that positions below the first exist and late packets need no special case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Psn(u32);

impl Psn {
    /// Returns the sequence number of a position.
    #[inline]
    pub const fn of(position: u64) -> Self {
        Self((position & (NUMBERS - 1)) as u32)
    }

    /// Returns the 24 bits of the number.
    pub const fn value(self) -> u32 {
        self.0
    }

    /// Returns the number that is `steps` steps ahead of this one.
    #[inline]
    pub(super) const fn ahead(self, steps: u32) -> Self {
        Self::of(self.0 as u64 + steps as u64)
    }

    /// Returns how many steps this number is ahead of `other`, less than a whole circle.
    #[inline]
    pub(super) const fn steps_from(self, other: Self) -> u32 {
        Self::of((self.0 as u64).wrapping_sub(other.0 as u64)).0
    }

    /// Returns the position nearest to `near` that has this number; if two positions are as near,
    /// the one ahead of `near`.
    #[inline]
    pub const fn near(self, near: u64) -> u64 {
        let ahead = (self.0 as u64).wrapping_sub(near) & (NUMBERS - 1);
        // RDMA-3: the upper half of the circle lies behind.
        if ahead <= HALF { near + ahead } else { near + ahead - NUMBERS }
    }
}

/// Returns the position from which a connection counts that starts with `first`.
pub(super) const fn start(first: u32) -> u64 {
    NUMBERS + (first as u64 & (NUMBERS - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    // RDMA-3
    #[test]
    fn numbers_compare_across_the_wrap() {
        let last = 2 * NUMBERS - 1;
        assert_eq!(Psn::of(last).value(), 0xff_ffff);
        assert_eq!(Psn::of(last + 3).near(last), last + 3);
        assert_eq!(Psn::of(last - 3).near(last + 2), last - 3);
    }

    // RDMA-3
    #[test]
    fn half_the_circle_is_ahead_and_half_behind() {
        let here = start(77);
        assert_eq!(Psn::of(here + HALF).near(here), here + HALF);
        assert_eq!(Psn::of(here + HALF + 1).near(here), here + HALF + 1 - NUMBERS);
    }

    #[test]
    fn positions_before_the_first_exist() {
        assert_eq!(Psn::of(start(0) - 1).near(start(0)), start(0) - 1);
    }
}

//! The internet checksum: the ones' complement of the ones' complement sum of 16-bit words.
//!
//! Source: RFC 1071. Pieces may have odd lengths: a piece that starts at an odd offset is summed on its own and
//! its sum swapped (RFC 1071, section 2 (B)). Words are summed in pairs and in the byte order of the machine, on
//! which the sum does not depend (ibid. and section 2 (C)), so that the compiler makes vector code of the loop.

/// An internet checksum that has covered some bytes so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Checksum {
    sum: u64,
    is_odd: bool,
}

impl Checksum {
    /// Returns the checksum of no bytes.
    pub const fn new() -> Self {
        Self { sum: 0, is_odd: false }
    }

    /// Covers `bytes` as well, after all bytes covered before.
    pub fn cover(mut self, bytes: &[u8]) -> Self {
        let (pairs, rest) = bytes.as_chunks::<4>();
        let mut last = [0; 4];
        last[..rest.len()].copy_from_slice(rest);
        let sum: u64 = pairs.iter().map(|pair| u64::from(u32::from_ne_bytes(*pair))).sum();
        let sum = u16::from_be(fold(sum + u64::from(u32::from_ne_bytes(last))));
        self.sum += u64::from(if self.is_odd { sum.swap_bytes() } else { sum });
        self.is_odd ^= bytes.len() % 2 == 1;
        self
    }

    /// Returns the checksum to write; over data that contains its own correct checksum, zero.
    pub fn finish(self) -> u16 {
        !fold(self.sum)
    }
}

/// Adds the carries back in until 16 bits are left.
fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum >> 16) + (sum & 0xffff);
    }
    sum as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_example_of_rfc_1071() {
        let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(Checksum::new().cover(&bytes).finish(), !0xddf2);
    }

    #[test]
    fn an_odd_end_is_padded_with_zero() {
        let odd = Checksum::new().cover(&[1, 2, 3]).finish();
        assert_eq!(odd, Checksum::new().cover(&[1, 2, 3, 0]).finish());
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(bytes in prop::collection::vec(any::<u8>(), 0..200), cuts in any::<[u8; 2]>()) {
            let first = usize::from(cuts[0]) % (bytes.len() + 1);
            let second = first + usize::from(cuts[1]) % (bytes.len() - first + 1);
            let pieces = [&bytes[..first], &bytes[first..second], &bytes[second..]];
            let in_pieces = pieces.iter().fold(Checksum::new(), |sum, piece| sum.cover(piece));
            prop_assert_eq!(in_pieces.finish(), Checksum::new().cover(&bytes).finish());
        }

        #[test]
        fn data_with_its_checksum_sums_to_zero(mut bytes in prop::collection::vec(any::<u8>(), 2..100)) {
            bytes[..2].fill(0);
            let checksum = Checksum::new().cover(&bytes).finish();
            bytes[..2].copy_from_slice(&checksum.to_be_bytes());
            prop_assert_eq!(Checksum::new().cover(&bytes).finish(), 0);
        }
    }
}

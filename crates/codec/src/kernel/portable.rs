//! The kernel for processors that have no kernel of their own.

use super::Weights;
use super::lanes::{self, Lanes};
use super::tables::double;

const BITS: usize = 8;

/// Arithmetic on bytes that the compiler puts into registers of its choice. A weight is taken bit
/// by bit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Portable;

impl Portable {
    pub(super) fn combine<const ROWS: usize>(
        self,
        weights: &[Weights; ROWS],
        packets: &[Vec<u8>],
        sums: &mut [Vec<u8>; ROWS],
    ) {
        lanes::combine::<_, ROWS, 1>(self, weights, packets, sums);
    }

    pub(super) fn add(self, weight: u8, data: &[u8], sum: &mut [u8]) {
        lanes::add(self, weight, data, sum);
    }
}

impl Lanes for Portable {
    type Vector = [u8; 16];
    /// For each bit of the weight, a byte of all ones if it is set, and zero otherwise.
    type Factor = [u8; BITS];

    #[inline(always)]
    fn factor(self, weight: u8) -> [u8; BITS] {
        std::array::from_fn(|bit| 0u8.wrapping_sub(weight >> bit & 1))
    }

    #[inline(always)]
    fn add(self, sum: [u8; 16], vector: [u8; 16]) -> [u8; 16] {
        std::array::from_fn(|place| sum[place] ^ vector[place])
    }

    #[inline(always)]
    fn add_product(self, mut sum: [u8; 16], mut vector: [u8; 16], factor: [u8; BITS]) -> [u8; 16] {
        for mask in factor {
            for (sum, byte) in sum.iter_mut().zip(&mut vector) {
                *sum ^= *byte & mask;
                *byte = double(*byte);
            }
        }
        sum
    }
}

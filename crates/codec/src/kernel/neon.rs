//! The kernel for aarch64, whose processors all have NEON: two tables hold the products of the halves of a byte.

#![allow(unsafe_code)]

use super::Weights;
use super::lanes::{self, Lanes};
use super::tables::HALVES;
use super::vector::load;
use std::arch::aarch64::*;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Neon;

impl Neon {
    pub(super) fn combine<const ROWS: usize>(
        self,
        weights: &[Weights; ROWS],
        packets: &[Vec<u8>],
        sums: &mut [Vec<u8>; ROWS],
    ) {
        lanes::combine::<_, ROWS, 4>(self, weights, packets, sums);
    }

    pub(super) fn add(self, weight: u8, data: &[u8], sum: &mut [u8]) {
        lanes::add(self, weight, data, sum);
    }
}

impl Lanes for Neon {
    type Vector = uint8x16_t;
    type Factor = [uint8x16_t; 2];

    #[inline(always)]
    fn factor(self, weight: u8) -> [uint8x16_t; 2] {
        HALVES[usize::from(weight)].each_ref().map(|table| load(table))
    }

    #[inline(always)]
    fn add(self, sum: uint8x16_t, vector: uint8x16_t) -> uint8x16_t {
        // SAFETY: NEON is among the features that Rust asks of every aarch64 processor under Linux.
        unsafe { veorq_u8(sum, vector) }
    }

    #[inline(always)]
    fn add_product(self, sum: uint8x16_t, vector: uint8x16_t, [low, high]: [uint8x16_t; 2]) -> uint8x16_t {
        // SAFETY: NEON is among the features that Rust asks of every aarch64 processor under Linux.
        unsafe {
            let of_low = vqtbl1q_u8(low, vandq_u8(vector, vdupq_n_u8(15)));
            let of_high = vqtbl1q_u8(high, vshrq_n_u8::<4>(vector));
            veorq_u8(sum, veorq_u8(of_low, of_high))
        }
    }
}

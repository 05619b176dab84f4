//! GF(2^8) with the polynomial 0x11D, for the sliding-window code of a routed guard (RT-14).

use crate::kernel::{self, Kernel};
use lossylink_core::guard::routed::code::Field;

/// The field GF(2^8), with the arithmetic of the kernels.
#[derive(Clone, Copy, Debug, Default)]
pub struct Gf256;

impl Field for Gf256 {
    fn multiply(&self, a: u8, b: u8) -> u8 {
        kernel::multiply(a, b)
    }

    fn divide(&self, a: u8, b: u8) -> u8 {
        kernel::divide(a, b)
    }

    #[inline]
    fn add(&self, weight: u8, data: &[u8], sum: &mut [u8]) {
        Kernel::best().add(weight, data, sum);
    }
}

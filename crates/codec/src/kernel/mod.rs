//! Sums of products over GF(2^8), as fast as the processor can.
//!
//! A kernel goes through a block once for up to four sums, strip by strip, so that each packet is read once and no sum is
//! read at all. The program asks the processor for its features, and uses the fastest kernel that the processor can run.
//! All kernels give the same bytes.

mod lanes;
#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;
mod tables;
#[cfg(test)]
mod tests;
mod vector;
#[cfg(target_arch = "x86_64")]
mod x86;

use lossylink_core::wire::fec::MAX_SIZE;
use std::sync::OnceLock;
pub(crate) use tables::{divide, multiply};

/// The weights of the packets of a block in one sum.
pub(crate) type Weights = [u8; MAX_SIZE as usize];

/// The number of sums that are made in one pass.
pub(crate) const MOST_ROWS: usize = 4;

/// A kernel that this processor can run.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kernel {
    #[cfg(target_arch = "x86_64")]
    Avx512(x86::Avx512),
    #[cfg(target_arch = "x86_64")]
    Gfni(x86::Gfni),
    #[cfg(target_arch = "x86_64")]
    Avx2(x86::Avx2),
    #[cfg(target_arch = "x86_64")]
    Ssse3(x86::Ssse3),
    #[cfg(target_arch = "aarch64")]
    Neon(neon::Neon),
    Portable(portable::Portable),
}

/// Calls a function that all kernels have.
macro_rules! call {
    ($kernel:expr, $function:ident($($argument:expr),*)) => {
        match $kernel {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(kernel) => kernel.$function($($argument),*),
            #[cfg(target_arch = "x86_64")]
            Self::Gfni(kernel) => kernel.$function($($argument),*),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(kernel) => kernel.$function($($argument),*),
            #[cfg(target_arch = "x86_64")]
            Self::Ssse3(kernel) => kernel.$function($($argument),*),
            #[cfg(target_arch = "aarch64")]
            Self::Neon(kernel) => kernel.$function($($argument),*),
            Self::Portable(kernel) => kernel.$function($($argument),*),
        }
    };
}

impl Kernel {
    /// Returns the fastest kernel, which is chosen once.
    pub(crate) fn best() -> Self {
        static BEST: OnceLock<Kernel> = OnceLock::new();
        *BEST.get_or_init(|| Self::all().next().expect("the portable one always is there"))
    }

    /// Returns the kernels that this processor can run, the fastest first.
    fn all() -> impl Iterator<Item = Self> {
        let kernels = [
            #[cfg(target_arch = "x86_64")]
            x86::Avx512::detect().map(Self::Avx512),
            #[cfg(target_arch = "x86_64")]
            x86::Gfni::detect().map(Self::Gfni),
            #[cfg(target_arch = "x86_64")]
            x86::Avx2::detect().map(Self::Avx2),
            #[cfg(target_arch = "x86_64")]
            x86::Ssse3::detect().map(Self::Ssse3),
            #[cfg(target_arch = "aarch64")]
            Some(Self::Neon(neon::Neon)),
            Some(Self::Portable(portable::Portable)),
        ];
        kernels.into_iter().flatten()
    }

    /// Makes each of `sums` the sum of all `packets`, each times its weight. All sums are of equal length. Shorter packets
    /// count as if zeros followed; no packet is longer.
    pub(crate) fn combine(self, weights: &[Weights], packets: &[Vec<u8>], sums: &mut [Vec<u8>]) {
        for (weights, sums) in weights.chunks(MOST_ROWS).zip(sums.chunks_mut(MOST_ROWS)) {
            match sums.len() {
                1 => self.combine_rows::<1>(weights, packets, sums),
                2 => self.combine_rows::<2>(weights, packets, sums),
                3 => self.combine_rows::<3>(weights, packets, sums),
                _ => self.combine_rows::<MOST_ROWS>(weights, packets, sums),
            }
        }
    }

    fn combine_rows<const ROWS: usize>(self, weights: &[Weights], packets: &[Vec<u8>], sums: &mut [Vec<u8>]) {
        let weights = weights.first_chunk::<ROWS>().expect("weights of each sum");
        let sums = sums.first_chunk_mut::<ROWS>().expect("as many sums");
        call!(self, combine(weights, packets, sums));
    }

    /// Adds `weight` times `data` to `sum`, which is of equal length.
    #[inline]
    pub(crate) fn add(self, weight: u8, data: &[u8], sum: &mut [u8]) {
        call!(self, add(weight, data, sum));
    }
}

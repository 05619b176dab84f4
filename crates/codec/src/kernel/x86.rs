//! Kernels for x86-64. A value of a kernel exists only where the processor has the features that the kernel needs.
//!
//! With GFNI one instruction multiplies each byte by a matrix of bits. Without it two tables hold the products of the
//! halves of a byte, and a shuffle looks sixteen or more of them up at a time.

#![allow(unsafe_code)]

use super::Weights;
use super::lanes::{self, Lanes};
use super::tables::{HALVES, MATRICES};
use super::vector::load;
use std::arch::x86_64::*;

/// Defines a kernel: its name, the features that it needs, and how many vectors it takes at a time.
macro_rules! kernel {
    ($name:ident, [$($feature:tt),+], $vectors:literal) => {
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct $name(());

        impl $name {
            pub(super) fn detect() -> Option<Self> {
                ($(is_x86_feature_detected!($feature))&&+).then_some(Self(()))
            }

            pub(super) fn combine<const ROWS: usize>(
                self,
                weights: &[Weights; ROWS],
                packets: &[Vec<u8>],
                sums: &mut [Vec<u8>; ROWS],
            ) {
                #[target_feature($(enable = $feature),+)]
                fn combine<const ROWS: usize>(
                    lanes: $name,
                    weights: &[Weights; ROWS],
                    packets: &[Vec<u8>],
                    sums: &mut [Vec<u8>; ROWS],
                ) {
                    lanes::combine::<_, ROWS, $vectors>(lanes, weights, packets, sums);
                }
                // SAFETY: `self` exists only where `detect` found these features.
                unsafe { combine(self, weights, packets, sums) }
            }

            pub(super) fn add(self, weight: u8, data: &[u8], sum: &mut [u8]) {
                #[target_feature($(enable = $feature),+)]
                fn add(lanes: $name, weight: u8, data: &[u8], sum: &mut [u8]) {
                    lanes::add(lanes, weight, data, sum);
                }
                // SAFETY: `self` exists only where `detect` found these features.
                unsafe { add(self, weight, data, sum) }
            }
        }
    };
}

kernel!(Avx512, ["gfni", "avx512f"], 4);
kernel!(Gfni, ["gfni", "avx2"], 2);
kernel!(Avx2, ["avx2"], 2);
kernel!(Ssse3, ["ssse3"], 2);

impl Lanes for Avx512 {
    type Vector = __m512i;
    type Factor = __m512i;

    #[inline(always)]
    fn factor(self, weight: u8) -> __m512i {
        // SAFETY: `self` exists only where there is AVX-512.
        unsafe { _mm512_set1_epi64(MATRICES[usize::from(weight)] as i64) }
    }

    #[inline(always)]
    fn add(self, sum: __m512i, vector: __m512i) -> __m512i {
        // SAFETY: `self` exists only where there is AVX-512.
        unsafe { _mm512_xor_si512(sum, vector) }
    }

    #[inline(always)]
    fn add_product(self, sum: __m512i, vector: __m512i, factor: __m512i) -> __m512i {
        // SAFETY: `self` exists only where there are AVX-512 and GFNI.
        unsafe { _mm512_xor_si512(sum, _mm512_gf2p8affine_epi64_epi8::<0>(vector, factor)) }
    }
}

impl Lanes for Gfni {
    type Vector = __m256i;
    type Factor = __m256i;

    #[inline(always)]
    fn factor(self, weight: u8) -> __m256i {
        // SAFETY: `self` exists only where there is AVX2.
        unsafe { _mm256_set1_epi64x(MATRICES[usize::from(weight)] as i64) }
    }

    #[inline(always)]
    fn add(self, sum: __m256i, vector: __m256i) -> __m256i {
        // SAFETY: `self` exists only where there is AVX2.
        unsafe { _mm256_xor_si256(sum, vector) }
    }

    #[inline(always)]
    fn add_product(self, sum: __m256i, vector: __m256i, factor: __m256i) -> __m256i {
        // SAFETY: `self` exists only where there are AVX2 and GFNI.
        unsafe { _mm256_xor_si256(sum, _mm256_gf2p8affine_epi64_epi8::<0>(vector, factor)) }
    }
}

impl Lanes for Avx2 {
    type Vector = __m256i;
    type Factor = [__m256i; 2];

    #[inline(always)]
    fn factor(self, weight: u8) -> [__m256i; 2] {
        // SAFETY: `self` exists only where there is AVX2.
        HALVES[usize::from(weight)]
            .each_ref()
            .map(|table| unsafe { _mm256_broadcastsi128_si256(load(table)) })
    }

    #[inline(always)]
    fn add(self, sum: __m256i, vector: __m256i) -> __m256i {
        // SAFETY: `self` exists only where there is AVX2.
        unsafe { _mm256_xor_si256(sum, vector) }
    }

    #[inline(always)]
    fn add_product(self, sum: __m256i, vector: __m256i, [low, high]: [__m256i; 2]) -> __m256i {
        // SAFETY: `self` exists only where there is AVX2.
        unsafe {
            let half = _mm256_set1_epi8(15);
            let of_low = _mm256_shuffle_epi8(low, _mm256_and_si256(vector, half));
            let of_high = _mm256_shuffle_epi8(high, _mm256_and_si256(_mm256_srli_epi16::<4>(vector), half));
            _mm256_xor_si256(sum, _mm256_xor_si256(of_low, of_high))
        }
    }
}

impl Lanes for Ssse3 {
    type Vector = __m128i;
    type Factor = [__m128i; 2];

    #[inline(always)]
    fn factor(self, weight: u8) -> [__m128i; 2] {
        HALVES[usize::from(weight)].each_ref().map(|table| load(table))
    }

    #[inline(always)]
    fn add(self, sum: __m128i, vector: __m128i) -> __m128i {
        // SAFETY: `self` exists only where there is SSE2.
        unsafe { _mm_xor_si128(sum, vector) }
    }

    #[inline(always)]
    fn add_product(self, sum: __m128i, vector: __m128i, [low, high]: [__m128i; 2]) -> __m128i {
        // SAFETY: `self` exists only where there is SSSE3.
        unsafe {
            let half = _mm_set1_epi8(15);
            let of_low = _mm_shuffle_epi8(low, _mm_and_si128(vector, half));
            let of_high = _mm_shuffle_epi8(high, _mm_and_si128(_mm_srli_epi16::<4>(vector), half));
            _mm_xor_si128(sum, _mm_xor_si128(of_low, of_high))
        }
    }
}

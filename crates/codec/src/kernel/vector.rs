//! Registers as arrays of bytes.

#![allow(unsafe_code)]

/// A register, or an array of bytes in its place.
///
/// # Safety
/// Any bytes are a value of the type, and the value has no other bytes, such as padding.
pub(super) unsafe trait Vector: Copy {
    const BYTES: usize = size_of::<Self>();
}

// SAFETY: bytes.
unsafe impl<const BYTES: usize> Vector for [u8; BYTES] {}
#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{__m128i, __m256i, __m512i};
    // SAFETY: 16 bytes.
    unsafe impl super::Vector for __m128i {}
    // SAFETY: 32 bytes.
    unsafe impl super::Vector for __m256i {}
    // SAFETY: 64 bytes.
    unsafe impl super::Vector for __m512i {}
}
#[cfg(target_arch = "aarch64")]
// SAFETY: 16 bytes.
unsafe impl Vector for std::arch::aarch64::uint8x16_t {}

#[inline(always)]
pub(super) fn zero<V: Vector>() -> V {
    // SAFETY: zeros are bytes, and any bytes are a value.
    unsafe { std::mem::zeroed() }
}

/// Returns the vector in `bytes`, which has the vector's length.
#[inline(always)]
pub(super) fn load<V: Vector>(bytes: &[u8]) -> V {
    assert_eq!(bytes.len(), V::BYTES);
    // SAFETY: the bytes that are read all lie in `bytes`, at any address, and any bytes are a value.
    unsafe { bytes.as_ptr().cast::<V>().read_unaligned() }
}

/// Writes a vector into `bytes`, which has the vector's length.
#[inline(always)]
pub(super) fn store<V: Vector>(vector: V, bytes: &mut [u8]) {
    assert_eq!(bytes.len(), V::BYTES);
    // SAFETY: the bytes that are written all lie in `bytes`, at any address, and a value has no other bytes.
    unsafe { bytes.as_mut_ptr().cast::<V>().write_unaligned(vector) }
}

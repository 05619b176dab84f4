//! Sums of products, strip by strip, for any width of registers.
//!
//! A strip of each packet is read once, and weighted for several sums, which stay in registers until all packets are
//! added.

use super::Weights;
use super::vector::{Vector, load, store, zero};

/// The bytes of the widest strip.
const WIDEST: usize = 256;

/// Arithmetic of the field on each byte of a register. A value exists only where the processor has the instructions
/// that the arithmetic needs.
pub(super) trait Lanes: Copy {
    type Vector: Vector;
    /// A weight in the form that the arithmetic takes.
    type Factor: Copy;

    fn factor(self, weight: u8) -> Self::Factor;
    fn add(self, sum: Self::Vector, vector: Self::Vector) -> Self::Vector;
    /// Returns `sum` plus `factor` times `vector`.
    fn add_product(self, sum: Self::Vector, vector: Self::Vector, factor: Self::Factor) -> Self::Vector;
}

/// Makes `sums` the weighted sums of [`Kernel::combine`](super::Kernel::combine), `VECTORS` vectors at a time.
#[inline(always)]
pub(super) fn combine<L: Lanes, const ROWS: usize, const VECTORS: usize>(
    lanes: L,
    weights: &[Weights; ROWS],
    packets: &[Vec<u8>],
    sums: &mut [Vec<u8>; ROWS],
) {
    let (length, strip) = (sums[0].len(), VECTORS * L::Vector::BYTES);
    if length < L::Vector::BYTES {
        return combine_bytes(weights, packets, sums);
    }
    // The last strip ends where the sums do, and computes once more the bytes that it has in common with the strip
    // before it.
    if length >= strip {
        for at in (0..length).step_by(strip) {
            combine_strip::<L, ROWS, VECTORS>(lanes, weights, packets, sums, at.min(length - strip));
        }
    } else {
        for at in (0..length).step_by(L::Vector::BYTES) {
            combine_strip::<L, ROWS, 1>(lanes, weights, packets, sums, at.min(length - L::Vector::BYTES));
        }
    }
}

#[inline(always)]
fn combine_strip<L: Lanes, const ROWS: usize, const VECTORS: usize>(
    lanes: L,
    weights: &[Weights; ROWS],
    packets: &[Vec<u8>],
    sums: &mut [Vec<u8>; ROWS],
    at: usize,
) {
    let strip = VECTORS * L::Vector::BYTES;
    let mut totals = [[zero::<L::Vector>(); VECTORS]; ROWS];
    for (index, packet) in packets.iter().enumerate() {
        let padded;
        let bytes = match packet.get(at..at + strip) {
            Some(bytes) => bytes,
            None if packet.len() <= at => continue,
            None => {
                padded = pad(&packet[at..]);
                &padded[..strip]
            }
        };
        let mut vectors = [zero::<L::Vector>(); VECTORS];
        for (vector, bytes) in vectors.iter_mut().zip(bytes.chunks_exact(L::Vector::BYTES)) {
            *vector = load(bytes);
        }
        for (totals, weights) in totals.iter_mut().zip(weights) {
            if ROWS == 1 && weights[index] == 1 {
                for (total, vector) in totals.iter_mut().zip(vectors) {
                    *total = lanes.add(*total, vector);
                }
                continue;
            }
            let factor = lanes.factor(weights[index]);
            for (total, vector) in totals.iter_mut().zip(vectors) {
                *total = lanes.add_product(*total, vector, factor);
            }
        }
    }
    for (totals, sum) in totals.iter().zip(sums) {
        for (total, bytes) in totals.iter().zip(sum[at..at + strip].chunks_exact_mut(L::Vector::BYTES)) {
            store(*total, bytes);
        }
    }
}

/// Returns the end of a packet, with zeros behind it.
fn pad(end: &[u8]) -> [u8; WIDEST] {
    let mut padded = [0; WIDEST];
    padded[..end.len()].copy_from_slice(end);
    padded
}

/// Makes sums that are shorter than a vector, byte by byte.
fn combine_bytes<const ROWS: usize>(
    weights: &[Weights; ROWS],
    packets: &[Vec<u8>],
    sums: &mut [Vec<u8>; ROWS],
) {
    for (weights, sum) in weights.iter().zip(sums) {
        sum.fill(0);
        for (&weight, packet) in weights.iter().zip(packets) {
            add_bytes(weight, packet, &mut sum[..packet.len()]);
        }
    }
}

/// Adds `weight` times `data` to `sum`.
#[inline(always)]
pub(super) fn add<L: Lanes>(lanes: L, weight: u8, data: &[u8], sum: &mut [u8]) {
    assert_eq!(data.len(), sum.len());
    let Some(last) = data.len().checked_sub(L::Vector::BYTES) else { return add_bytes(weight, data, sum) };
    let factor = lanes.factor(weight);
    let added = |data: &[u8], sum: &[u8]| lanes.add_product(load(sum), load(data), factor);
    // The last vector may have bytes in common with the vector before it, so it is computed before that vector is
    // stored.
    let end = added(&data[last..], &sum[last..]);
    for (data, sum) in data.chunks_exact(L::Vector::BYTES).zip(sum.chunks_exact_mut(L::Vector::BYTES)) {
        store(added(data, sum), sum);
    }
    store(end, &mut sum[last..]);
}

fn add_bytes(weight: u8, data: &[u8], sum: &mut [u8]) {
    for (byte, sum) in data.iter().zip(sum) {
        *sum ^= super::multiply(weight, *byte);
    }
}

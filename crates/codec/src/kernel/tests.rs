//! Every kernel that this processor can run gives the bytes of arithmetic bit by bit.

use super::tables::product;
use super::*;
use proptest::prelude::*;

/// A length above that of the longest strip and a vector behind it.
const LONGEST: usize = 400;

fn bytes(length: usize, seed: u8) -> Vec<u8> {
    let mut state = u32::from(seed);
    let mut next = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..length).map(&mut next).collect()
}

/// Returns the sum of the packets, each times its weight, byte by byte.
fn expected(weights: &Weights, packets: &[Vec<u8>], length: usize) -> Vec<u8> {
    let at = |packet: &Vec<u8>, place| packet.get(place).copied().unwrap_or_default();
    let sum =
        |place| weights.iter().zip(packets).fold(0, |sum, (&w, packet)| sum ^ product(w, at(packet, place)));
    (0..length).map(sum).collect()
}

/// Combines with each kernel, over sums that hold other bytes before.
fn check(weights: &[Weights], packets: &[Vec<u8>], length: usize) {
    let expected: Vec<_> = weights.iter().map(|weights| expected(weights, packets, length)).collect();
    for kernel in Kernel::all() {
        let mut sums = vec![vec![0xa5; length]; weights.len()];
        kernel.combine(weights, packets, &mut sums);
        assert_eq!(sums, expected, "{kernel:?}, {length} bytes");
    }
}

#[test]
fn products_and_quotients_are_those_of_the_field() {
    for a in 0..=255 {
        for b in 0..=255 {
            assert_eq!(multiply(a, b), product(a, b));
            assert!(b == 0 || multiply(divide(a, b), b) == a, "{a} / {b}");
        }
    }
}

/// A product by the definition of `vgf2p8affineqb`, for processors that do not have the
/// instruction.
#[cfg(target_arch = "x86_64")]
#[test]
fn a_matrix_multiplies() {
    for weight in 0..=255 {
        let matrix = tables::MATRICES[usize::from(weight)].to_be_bytes();
        for byte in 0..=255 {
            let bit = |sum, (i, line): (usize, u8)| sum | ((line & byte).count_ones() as u8 & 1) << i;
            assert_eq!((0..).zip(matrix).fold(0, bit), product(weight, byte));
        }
    }
}

#[test]
fn the_portable_kernel_is_the_last_resort() {
    assert!(matches!(Kernel::all().last(), Some(Kernel::Portable(_))));
}

#[test]
fn every_weight_is_added_at_every_length() {
    let (data, before) = (bytes(LONGEST, 1), bytes(LONGEST, 2));
    for weight in 0..=255 {
        let mut added = before.clone();
        added.iter_mut().zip(&data).for_each(|(sum, &byte)| *sum ^= product(weight, byte));
        for (kernel, length) in
            Kernel::all().flat_map(|kernel| (0..=LONGEST).map(move |length| (kernel, length)))
        {
            let mut sum = before.clone();
            kernel.add(weight, &data[..length], &mut sum[..length]);
            assert_eq!(sum[..length], added[..length], "{kernel:?}: {weight} times {length} bytes");
            assert_eq!(sum[length..], before[length..], "{kernel:?}: what is behind {length} bytes stays");
        }
    }
}

#[test]
fn bytes_are_added_wherever_they_begin() {
    let (data, before) = (bytes(LONGEST, 3), bytes(LONGEST, 4));
    let length = LONGEST - 64;
    for kernel in Kernel::all() {
        for (from, to) in (0..64).flat_map(|from| (0..64).map(move |to| (from, to))) {
            let mut sum = before.clone();
            kernel.add(0x8e, &data[from..from + length], &mut sum[to..to + length]);
            let is_added = |place: usize| {
                let byte = if (to..to + length).contains(&place) { data[place - to + from] } else { 0 };
                sum[place] == before[place] ^ product(0x8e, byte)
            };
            assert!((0..LONGEST).all(is_added), "{kernel:?}: from {from} to {to}");
        }
    }
}

#[test]
fn every_weight_is_combined() {
    let packets = [bytes(LONGEST, 5), bytes(LONGEST - 1, 6)];
    for weight in 0..=255u8 {
        let weights: Vec<Weights> = (0..5).map(|row| [weight ^ row; MAX_SIZE as usize]).collect();
        check(&weights[..1], &packets, LONGEST);
        check(&weights, &packets, LONGEST);
    }
}

#[test]
fn every_length_is_combined() {
    for length in 0..=LONGEST {
        let packets = [bytes(length, 7), bytes(length, 8), bytes(length / 2, 9), Vec::new()];
        let weights: Vec<Weights> = (1..=6).map(|row| bytes(128, row).try_into().unwrap()).collect();
        for rows in 1..=weights.len() {
            check(&weights[..rows], &packets, length);
        }
    }
}

proptest! {
    #[test]
    fn any_block_is_combined(
        weights in prop::collection::vec(prop::array::uniform(any::<u8>()), 0..12),
        lengths in prop::collection::vec(0..=3 * LONGEST, 0..20),
        more in 0..100usize,
    ) {
        let packets: Vec<_> = (0..).zip(&lengths).map(|(seed, &length)| bytes(length, seed)).collect();
        check(&weights, &packets, lengths.iter().max().unwrap_or(&0) + more);
    }
}

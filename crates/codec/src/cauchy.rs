//! The erasure code: a Cauchy matrix over GF(2^8) whose first row is all ones (FEC-5).
//!
//! Coefficient (row, index) is (x_0 + y_index) / (x_row + y_index), with x_row = 128 + row and
//! y_index = index: a Cauchy matrix with its columns scaled. Every square part of a Cauchy matrix
//! is regular and scaling a column keeps that, so any k packets rebuild the data. The first parity
//! packet is the plain exclusive-or. The field has the polynomial 0x11D.

use fec_rs::galois;
use lossylink_core::engine::fec::ErasureCode;
use lossylink_core::wire::fec::{MAX_ROWS, MAX_SIZE};

const ROWS: usize = MAX_ROWS as usize;
const COLUMNS: usize = MAX_SIZE as usize;
/// Bytes that are scaled at a time.
const CHUNK: usize = 512;

/// The code, as a table of its coefficients.
#[derive(Clone, Debug)]
pub struct Cauchy {
    coefficients: Box<[[u8; COLUMNS]; ROWS]>,
}

impl Cauchy {
    /// The code.
    pub fn new() -> Self {
        let mut coefficients = Box::new([[0; COLUMNS]; ROWS]);
        for (row, line) in coefficients.iter_mut().enumerate() {
            for (index, coefficient) in line.iter_mut().enumerate() {
                let (first, this) = (COLUMNS as u8, COLUMNS as u8 + row as u8);
                *coefficient = galois::div(first ^ index as u8, this ^ index as u8);
            }
        }
        Self { coefficients }
    }

    /// The weight of data packet `index` in parity packet `row`.
    pub fn coefficient(&self, row: u8, index: u8) -> u8 {
        self.coefficients[usize::from(row)][usize::from(index)]
    }
}

impl Default for Cauchy {
    fn default() -> Self {
        Self::new()
    }
}

impl ErasureCode for Cauchy {
    #[inline]
    fn add(&self, row: u8, index: u8, data: &[u8], sum: &mut [u8]) {
        galois::mul_slice_xor(self.coefficient(row, index), data, sum);
    }

    /// Gauss and Jordan's elimination; its pivots are never zero, because the leading parts of a
    /// Cauchy matrix are regular too.
    fn solve(&self, rows: &[u8], indices: &[u8], sums: &mut [Vec<u8>]) {
        let mut matrix = [[0; ROWS]; ROWS];
        for (line, &row) in matrix.iter_mut().zip(rows) {
            for (coefficient, &index) in line.iter_mut().zip(indices) {
                *coefficient = self.coefficient(row, index);
            }
        }
        for pivot in 0..sums.len() {
            let inverse = galois::div(1, matrix[pivot][pivot]);
            matrix[pivot].iter_mut().for_each(|value| *value = galois::mul(*value, inverse));
            scale(inverse, &mut sums[pivot]);
            for other in (0..sums.len()).filter(|&other| other != pivot) {
                let factor = matrix[other][pivot];
                let line = matrix[pivot];
                galois::mul_slice_xor(factor, &line, &mut matrix[other]);
                let (from, to) = pair(sums, pivot, other);
                galois::mul_slice_xor(factor, from, to);
            }
        }
    }
}

/// Two different elements, the second to be changed.
fn pair<T>(items: &mut [T], from: usize, to: usize) -> (&T, &mut T) {
    if from < to {
        let (head, tail) = items.split_at_mut(to);
        (&head[from], &mut tail[0])
    } else {
        let (head, tail) = items.split_at_mut(from);
        (&tail[0], &mut head[to])
    }
}

/// Multiplies in place, a chunk at a time: the kernels write to another place than they read.
fn scale(factor: u8, values: &mut [u8]) {
    if factor == 1 {
        return;
    }
    let mut scaled = [0; CHUNK];
    for part in values.chunks_mut(CHUNK) {
        let scaled = &mut scaled[..part.len()];
        galois::mul_slice(factor, part, scaled);
        part.copy_from_slice(scaled);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fec_rs::ReedSolomon;
    use proptest::prelude::*;

    // FEC-5
    #[test]
    fn the_first_parity_is_the_exclusive_or() {
        let code = Cauchy::new();
        assert!((0..MAX_SIZE).all(|index| code.coefficient(0, index) == 1));
    }

    // FEC-5: the formula, multiplied out bit by bit.
    #[test]
    fn coefficients_solve_their_equation() {
        let multiply = |mut a: u16, b: u16| {
            let mut product = 0;
            for bit in 0..8 {
                product ^= if b >> bit & 1 == 1 { a } else { 0 };
                a = if a & 0x80 == 0 { a << 1 } else { a << 1 ^ 0x11d };
            }
            product
        };
        let code = Cauchy::new();
        for row in 0..MAX_ROWS {
            for index in 0..MAX_SIZE {
                let coefficient = u16::from(code.coefficient(row, index));
                assert_eq!(multiply(coefficient, u16::from((128 + row) ^ index)), u16::from(128 ^ index));
            }
        }
    }

    fn packets(size: usize, length: usize) -> impl Strategy<Value = Vec<Vec<u8>>> {
        prop::collection::vec(prop::collection::vec(any::<u8>(), length), size)
    }

    /// A block, its number of parity packets, and which packets are lost.
    fn damaged() -> impl Strategy<Value = (Vec<Vec<u8>>, usize, Vec<usize>)> {
        (1..40usize, 1..=ROWS, 1..100usize).prop_flat_map(|(size, rows, length)| {
            let lost = prop::sample::subsequence((0..size + rows).collect::<Vec<_>>(), 0..=rows);
            (packets(size, length), Just(rows), lost)
        })
    }

    proptest! {
        /// An independent implementation, given the same matrix, makes the same parity and recovers
        /// the same data.
        #[test]
        fn the_library_agrees((data, rows, lost) in damaged()) {
            let (code, size) = (Cauchy::new(), data.len());
            let line = |row| (0..size as u8).map(move |index| (row, index));
            let matrix: Vec<u8> = (0..rows as u8).flat_map(line).map(|(row, index)| code.coefficient(row, index)).collect();
            let mut library = ReedSolomon::new(size, rows).unwrap();
            library.set_parity_matrix(&matrix).unwrap();

            let mut parity = vec![vec![0; data[0].len()]; rows];
            for (row, sum) in (0..).zip(&mut parity) {
                (0..).zip(&data).for_each(|(index, packet)| code.add(row, index, packet, sum));
            }
            let mut shards: Vec<_> = data.iter().chain(&parity).cloned().collect();
            let ours = shards.clone();
            library.encode(&mut shards).unwrap();
            prop_assert_eq!(&shards, &ours);

            let mut damaged: Vec<_> = shards.into_iter().map(Some).collect();
            lost.iter().for_each(|&place| damaged[place] = None);
            library.reconstruct_data(&mut damaged).unwrap();
            let indices: Vec<u8> = lost.iter().filter(|&&place| place < size).map(|&place| place as u8).collect();
            let intact = (0..rows as u8).filter(|&row| !lost.contains(&(size + usize::from(row))));
            let used: Vec<u8> = intact.take(indices.len()).collect();
            let mut sums: Vec<_> = used.iter().map(|&row| parity[usize::from(row)].clone()).collect();
            for (&row, sum) in used.iter().zip(&mut sums) {
                for index in (0..size as u8).filter(|index| !indices.contains(index)) {
                    code.add(row, index, &data[usize::from(index)], sum);
                }
            }
            code.solve(&used, &indices, &mut sums);
            for (&index, sum) in indices.iter().zip(sums) {
                prop_assert_eq!(Some(&sum), damaged[usize::from(index)].as_ref());
                prop_assert_eq!(&sum, &data[usize::from(index)]);
            }
        }
    }
}

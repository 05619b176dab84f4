//! The erasure code: a Cauchy matrix over GF(2^8) whose first row is all ones (FEC-5).
//!
//! Coefficient (row, index) is (x_0 + y_index) / (x_row + y_index), with x_row = 128 + row and y_index = index: a Cauchy
//! matrix with its columns scaled. Every square part of a Cauchy matrix is regular, also with scaled columns, so any k
//! packets rebuild the data. The first parity packet is the plain exclusive-or. The field has the polynomial 0x11D.

use crate::kernel::{Kernel, MOST_ROWS, Weights, divide, multiply};
use lossylink_core::engine::fec::ErasureCode;
use lossylink_core::wire::fec::{MAX_ROWS, MAX_SIZE};

const ROWS: usize = MAX_ROWS as usize;
const COLUMNS: usize = MAX_SIZE as usize;

/// The Cauchy code, as a table of its coefficients.
#[derive(Clone, Debug)]
pub struct Cauchy {
    coefficients: Box<[Weights; ROWS]>,
    kernel: Kernel,
}

impl Cauchy {
    /// Returns the code.
    pub fn new() -> Self {
        let mut coefficients = Box::new([[0; COLUMNS]; ROWS]);
        for (row, line) in coefficients.iter_mut().enumerate() {
            for (index, coefficient) in line.iter_mut().enumerate() {
                let (first, this) = (COLUMNS as u8, COLUMNS as u8 + row as u8);
                *coefficient = divide(first ^ index as u8, this ^ index as u8);
            }
        }
        Self { coefficients, kernel: Kernel::best() }
    }

    /// Returns the weight of data packet `index` in parity packet `row`.
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
    fn encode(&self, data: &[Vec<u8>], parity: &mut [Vec<u8>]) {
        self.kernel.combine(&self.coefficients[..parity.len()], data, parity);
    }

    /// Rebuilds a missing packet as the sum of the parity packets, each times its weight in the inverse, and of the
    /// arrived data packets in these parity packets: one sum of all packets.
    fn rebuild(&self, packets: &[Vec<u8>], missing: &[u8], rows: &[u8], rebuilt: &mut [Vec<u8>]) {
        let inverse = self.inverse(rows, missing);
        let mut weights = [[0; COLUMNS]; MOST_ROWS];
        for (inverse, rebuilt) in inverse[..rows.len()].chunks(MOST_ROWS).zip(rebuilt.chunks_mut(MOST_ROWS)) {
            for (weights, inverse) in weights.iter_mut().zip(inverse) {
                weights.fill(0);
                for (&weight, &row) in inverse.iter().zip(rows) {
                    self.kernel.add(weight, &self.coefficients[usize::from(row)], weights);
                }
                for (&weight, &index) in inverse.iter().zip(missing) {
                    weights[usize::from(index)] = weight;
                }
            }
            self.kernel.combine(&weights[..rebuilt.len()], packets, rebuilt);
        }
    }
}

impl Cauchy {
    /// Returns the inverse of the part of the matrix with these rows and columns, by Gauss and Jordan's elimination in
    /// place. Its pivots are never zero, because the leading parts of a Cauchy matrix are regular too.
    fn inverse(&self, rows: &[u8], indices: &[u8]) -> [[u8; ROWS]; ROWS] {
        let (mut matrix, count) = ([[0; ROWS]; ROWS], rows.len());
        for (line, &row) in matrix.iter_mut().zip(rows) {
            for (coefficient, &index) in line.iter_mut().zip(indices) {
                *coefficient = self.coefficient(row, index);
            }
        }
        for pivot in 0..count {
            let inverse = divide(1, std::mem::replace(&mut matrix[pivot][pivot], 1));
            let mut scaled = matrix[pivot];
            scaled[..count].iter_mut().for_each(|value| *value = multiply(inverse, *value));
            for (other, line) in matrix[..count].iter_mut().enumerate() {
                if other == pivot {
                    *line = scaled;
                    continue;
                }
                let factor = std::mem::take(&mut line[pivot]);
                line[..count]
                    .iter_mut()
                    .zip(scaled)
                    .for_each(|(value, scaled)| *value ^= multiply(factor, scaled));
            }
        }
        matrix
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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

    /// Returns blocks whose packets differ in length, each with its number of parity packets, and with the packets that
    /// are lost.
    fn damaged() -> impl Strategy<Value = (Vec<Vec<u8>>, usize, Vec<usize>)> {
        (1..=COLUMNS, 1..=ROWS).prop_flat_map(|(size, rows)| {
            let packets = prop::collection::vec(prop::collection::vec(any::<u8>(), 0..100), size);
            let lost = prop::sample::subsequence((0..size + rows).collect::<Vec<_>>(), 0..=rows);
            (packets, Just(rows), lost)
        })
    }

    proptest! {
        // FEC-5: parity by the formula, byte by byte. Any parity packets, one for each missing data packet, give the data
        // back.
        #[test]
        fn parity_is_the_formula_and_gives_data_back((data, rows, lost) in damaged()) {
            let (code, size) = (Cauchy::new(), data.len());
            let length = data.iter().map(Vec::len).max().unwrap();
            let mut parity = vec![vec![0xa5; length]; rows];
            code.encode(&data, &mut parity);
            for (row, sum) in (0..).zip(&parity) {
                for (place, &sum) in sum.iter().enumerate() {
                    let weighed = (0..).zip(&data).filter_map(|(index, packet)| {
                        Some(multiply(code.coefficient(row, index), *packet.get(place)?))
                    });
                    prop_assert_eq!(sum, weighed.fold(0, |sum, byte| sum ^ byte));
                }
            }

            let missing: Vec<u8> = lost.iter().filter(|&&place| place < size).map(|&place| place as u8).collect();
            let intact = (0..rows as u8).filter(|&row| !lost.contains(&(size + usize::from(row))));
            let used: Vec<u8> = intact.take(missing.len()).collect();
            let mut packets = data.clone();
            for (&index, &row) in missing.iter().zip(&used) {
                packets[usize::from(index)].clone_from(&parity[usize::from(row)]);
            }
            let mut rebuilt = vec![vec![0xa5; length]; missing.len()];
            code.rebuild(&packets, &missing, &used, &mut rebuilt);
            for (&index, rebuilt) in missing.iter().zip(&rebuilt) {
                let (packet, padding) = rebuilt.split_at(data[usize::from(index)].len());
                prop_assert_eq!(packet, &data[usize::from(index)][..]);
                prop_assert!(padding.iter().all(|&byte| byte == 0));
            }
        }
    }
}

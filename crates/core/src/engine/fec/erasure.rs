//! What the protocol asks of an erasure code: arithmetic on packets, without blocks or headers.

use alloc::vec::Vec;

/// A systematic code with maximum distance: any k of the k + h packets of a block rebuild its data.
///
/// Parity packet `row` is the sum over the data packets of coefficient(row, index) * packet. The
/// coefficients depend on neither k nor h (FEC-5), so a shorter block or fewer rows are the same
/// code with packets left out, and the two ends cannot disagree about a code that changes (FEC-8).
/// A codec with real bytes implements this; the simulator counts instead, which comes to the same.
pub trait ErasureCode {
    /// Adds data packet `index` to the sum of `row`. As every element is its own negative, adding
    /// a packet twice takes it out again. `data` and `sum` are of equal length.
    fn add(&self, row: u8, index: u8, data: &[u8], sum: &mut [u8]);

    /// Turns the sums of `rows`, from which all other data packets were taken out, into the data
    /// packets `indices`, in place and in order. All three are of equal length, and so are the sums.
    fn solve(&self, rows: &[u8], indices: &[u8], sums: &mut [Vec<u8>]);
}

//! The trait of an erasure code: arithmetic on packets, without blocks or headers.

use alloc::vec::Vec;

/// A systematic code with maximum distance: any k of the k + h packets of a block rebuild its data.
///
/// Parity packet `row` is the sum over the data packets of coefficient(row, index) * packet. The coefficients depend on
/// neither k nor h (FEC-5). A shorter block or fewer rows are therefore the same code with packets left out, and the two
/// ends cannot disagree about a code that changes (FEC-8). A codec with real bytes implements this trait. The simulator
/// counts frames instead, with the same result.
pub trait ErasureCode {
    /// Makes parity packets: `parity[row]` becomes the sum of all `data`, which are in the order of their indices. All
    /// parity packets are of equal length, and no data packet is longer. Shorter data packets count as if zeros followed.
    fn encode(&self, data: &[Vec<u8>], parity: &mut [Vec<u8>]);

    /// Makes the data packets `missing` of a block, and writes them to `rebuilt` in their order. At each place of
    /// `missing` `packets` has a parity packet, those of `rows` in order, and at every other place the data packet.
    /// Rebuilt and parity packets are of equal length, and no data packet is longer.
    fn rebuild(&self, packets: &[Vec<u8>], missing: &[u8], rows: &[u8], rebuilt: &mut [Vec<u8>]);
}

//! The parity of a block, summed up frame by frame as they leave (FEC-4, FEC-5).

use crate::coded::{MINIMUM, prefix};
use lossylink_core::engine::fec::ErasureCode;
use lossylink_core::wire::fec::CODED_PREFIX;

/// Accumulators of the block that is being sent. Data frames are not kept.
#[derive(Clone, Debug)]
pub struct BlockEncoder<C> {
    code: C,
    sums: Vec<Vec<u8>>,
}

impl<C: ErasureCode> BlockEncoder<C> {
    /// An encoder without a block.
    pub const fn new(code: C) -> Self {
        Self { code, sums: Vec::new() }
    }

    /// Begins a block with `rows` parity frames.
    pub fn begin(&mut self, rows: u8) {
        self.sums.resize_with(usize::from(rows), Vec::new);
        for sum in &mut self.sums {
            sum.clear();
        }
    }

    /// Adds data frame `index`, which has at least the minimum length.
    ///
    /// # Panics
    /// If the frame is shorter than the minimum or longer than [`MAX_FRAME`](crate::MAX_FRAME).
    pub fn add(&mut self, index: u8, frame: &[u8]) {
        assert!(frame.len() >= MINIMUM, "frames are padded before they are coded");
        let (prefix, length) = (prefix(frame), CODED_PREFIX + frame.len());
        for (row, sum) in (0..).zip(&mut self.sums) {
            if sum.len() < length {
                sum.resize(length, 0);
            }
            let (head, rest) = sum.split_at_mut(CODED_PREFIX);
            self.code.add(row, index, &prefix, head);
            self.code.add(row, index, frame, &mut rest[..frame.len()]);
        }
    }

    /// The coded body of parity frame `row`: as long as the longest frame, and the prefix.
    pub fn body(&self, row: u8) -> &[u8] {
        &self.sums[usize::from(row)]
    }
}

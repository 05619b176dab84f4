//! The data frames of the block that is being sent, and their parity (FEC-4, FEC-5).

use crate::coded::{MINIMUM, prefix};
use lossylink_core::engine::fec::ErasureCode;
use lossylink_core::wire::fec::CODED_PREFIX;

/// The block that is being sent. Its frames are kept, and its parity is made at once. Its memory is used again for the
/// next block.
#[derive(Clone, Debug)]
pub struct BlockEncoder<C> {
    code: C,
    /// Data frames in their coded form, of which `size` belong to this block.
    packets: Vec<Vec<u8>>,
    size: usize,
    parity: Vec<Vec<u8>>,
    /// Whether the parity covers all frames added so far.
    is_coded: bool,
}

impl<C: ErasureCode> BlockEncoder<C> {
    /// Returns an encoder without a block.
    pub const fn new(code: C) -> Self {
        Self { code, packets: Vec::new(), size: 0, parity: Vec::new(), is_coded: false }
    }

    /// Begins a block with `rows` parity frames.
    pub fn begin(&mut self, rows: u8) {
        self.parity.resize_with(usize::from(rows), Vec::new);
        self.size = 0;
        self.is_coded = false;
    }

    /// Adds data frame `index`, padded to the minimum length.
    ///
    /// # Panics
    /// If the frame is not the next of the block, or longer than [`MAX_FRAME`](crate::MAX_FRAME).
    pub fn add(&mut self, index: u8, frame: &[u8]) {
        assert_eq!(usize::from(index), self.size, "frames are added in their order");
        if self.packets.len() == self.size {
            self.packets.push(Vec::new());
        }
        let packet = &mut self.packets[self.size];
        packet.clear();
        packet.extend_from_slice(&[0; CODED_PREFIX]);
        packet.extend_from_slice(frame);
        packet.resize(packet.len().max(CODED_PREFIX + MINIMUM), 0);
        let prefix = prefix(&packet[CODED_PREFIX..]);
        packet[..CODED_PREFIX].copy_from_slice(&prefix);
        self.size += 1;
        self.is_coded = false;
    }

    /// Returns data frame `index` of the block, padded to the minimum length.
    pub fn frame(&self, index: u8) -> &[u8] {
        &self.packets[..self.size][usize::from(index)][CODED_PREFIX..]
    }

    /// Returns the coded body of parity frame `row`, which is as long as the longest frame and the prefix.
    pub fn body(&mut self, row: u8) -> &[u8] {
        if !self.is_coded {
            let packets = &self.packets[..self.size];
            let length = packets.iter().map(Vec::len).max().unwrap_or_default();
            self.parity.iter_mut().for_each(|parity| parity.resize(length, 0));
            self.code.encode(packets, &mut self.parity);
            self.is_coded = true;
        }
        &self.parity[usize::from(row)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cauchy;

    fn frame(index: u8) -> Vec<u8> {
        let length = MINIMUM + usize::from(index) * 401 % 1455;
        (0..length).map(|place| (place as u8).wrapping_mul(17) ^ index.wrapping_mul(59)).collect()
    }

    // FEC-4, FEC-5: the parity of these frames by `fec-rs` 0.1.0, whose kernels were used before.
    #[test]
    fn parity_stays_what_it_was() {
        for (size, rows, length, check) in [
            (5, 1, 1269, 0xb7b1_0ac2),
            (5, 4, 1269, 0xe718_b71b),
            (25, 5, 1464, 0x5614_3163),
            (128, 32, 1510, 0xf6c5_b34f),
        ] {
            let mut encoder = BlockEncoder::new(Cauchy::new());
            encoder.begin(rows);
            (0..size).for_each(|index| encoder.add(index, &frame(index)));
            let mut hasher = crc32fast::Hasher::new();
            for row in 0..rows {
                assert_eq!(encoder.body(row).len(), length);
                hasher.update(encoder.body(row));
            }
            assert_eq!(hasher.finalize(), check, "({size}, {rows})");
        }
    }

    // FEC-7: a block that is closed before it is full.
    #[test]
    fn a_frame_that_is_added_later_is_in_the_parity() {
        let mut encoder = BlockEncoder::new(Cauchy::new());
        encoder.begin(1);
        encoder.add(0, &frame(0));
        let alone = encoder.body(0).to_vec();
        assert_eq!(alone[CODED_PREFIX..], frame(0));
        encoder.add(1, &frame(0));
        assert_eq!(encoder.body(0), vec![0; alone.len()]);
    }
}

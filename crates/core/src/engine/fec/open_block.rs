//! The decoder's state of one block: which of its frames have arrived, and whether the block still
//! waits.

use crate::time::Instant;
use crate::units::Bytes;

/// Whether a block still waits for frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum State {
    /// Frames may arrive, and may rebuild other frames.
    Waiting,
    /// Every data frame arrived or was rebuilt.
    Complete,
    /// The missing frames are not waited for any more.
    #[default]
    GivenUp,
}

/// A block within the decoder's window.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OpenBlock {
    /// Data frames that arrived, a bit each.
    data: u128,
    /// Data frames that were rebuilt, a bit each.
    rebuilt: u128,
    /// Parity frames that arrived, a bit each.
    parity: u32,
    /// Number of data and of parity frames of the block, once a parity frame told; else zero.
    code: (u8, u8),
    pub(super) state: State,
    pub(super) opened: Instant,
    /// Bytes kept of the block.
    pub(super) kept: Bytes,
}

impl OpenBlock {
    pub(super) fn new(now: Instant) -> Self {
        Self { state: State::Waiting, opened: now, ..Self::default() }
    }

    /// Returns the number of data frames, once known.
    #[inline]
    pub(super) const fn size(&self) -> Option<u8> {
        if self.code.0 > 0 { Some(self.code.0) } else { None }
    }

    /// Returns the data frames that arrived or were rebuilt.
    #[inline]
    pub(super) const fn available(&self) -> u128 {
        self.data | self.rebuilt
    }

    /// Whether a data frame with this index can be part of the block (FEC-17).
    #[inline]
    pub(super) fn can_hold(&self, index: u8) -> bool {
        match self.size() {
            Some(size) => index < size,
            None => u32::from(index) < u128::BITS,
        }
    }

    /// Takes note of a data frame. Returns false if the frame had arrived or been rebuilt before
    /// (FEC-12).
    #[inline]
    pub(super) fn insert_data(&mut self, index: u8) -> bool {
        let bit = 1 << index;
        let added = self.available() & bit == 0;
        self.data |= bit;
        added
    }

    /// Whether the block can have `size` data and `rows` parity frames (FEC-17).
    pub(super) fn agrees(&self, size: u8, rows: u8) -> bool {
        if self.code.0 > 0 { self.code == (size, rows) } else { self.data & !full(size) == 0 }
    }

    /// Takes note of a parity frame of a block of this size. Returns false if the frame had arrived
    /// before (FEC-12).
    pub(super) fn insert_parity(&mut self, row: u8, size: u8, rows: u8) -> bool {
        let bit = 1 << row;
        let added = self.parity & bit == 0;
        self.parity |= bit;
        self.code = (size, rows);
        added
    }

    /// Whether every data frame has arrived or been rebuilt.
    #[inline]
    pub(super) fn is_complete(&self) -> bool {
        self.size().is_some_and(|size| self.available() == full(size))
    }

    /// Whether enough frames arrived to rebuild the missing frames (FEC-13).
    #[inline]
    pub(super) fn is_decodable(&self) -> bool {
        self.size().is_some_and(|size| self.data.count_ones() + self.parity.count_ones() >= u32::from(size))
    }

    /// Returns the data frames known to be missing: up to the size of the block, or, while that is
    /// unknown, up to the last data frame that arrived.
    pub(super) fn missing(&self) -> u128 {
        let size = self.size().map_or(u128::BITS - self.data.leading_zeros(), u32::from);
        full(size as u8) & !self.available()
    }

    /// Takes note that the missing frames have been rebuilt.
    pub(super) fn rebuild(&mut self) {
        self.rebuilt |= self.missing();
    }

    /// Takes note that the missing frames could not be rebuilt.
    pub(super) fn undo_rebuild(&mut self) {
        self.rebuilt = 0;
    }
}

/// Returns a bit for each of `size` data frames.
#[inline]
const fn full(size: u8) -> u128 {
    if size as u32 >= u128::BITS { u128::MAX } else { (1 << size) - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    // FEC-13: a block with one frame too few, and with just enough.
    #[test]
    fn any_k_frames_make_a_block_decodable() {
        let mut block = OpenBlock::new(Instant::ZERO);
        for index in [0, 3, 4] {
            assert!(block.insert_data(index));
        }
        assert!(block.insert_parity(1, 5, 2));
        assert!(!block.is_decodable());
        assert!(block.insert_parity(0, 5, 2));
        assert!(block.is_decodable() && !block.is_complete());
        assert_eq!(block.missing(), 0b00110);
        block.rebuild();
        assert!(block.is_complete());
    }

    // FEC-12
    #[test]
    fn duplicates_do_not_count() {
        let mut block = OpenBlock::new(Instant::ZERO);
        assert!(block.insert_data(2) && !block.insert_data(2));
        assert!(block.insert_parity(0, 3, 2) && !block.insert_parity(0, 3, 2));
        assert!(!block.is_decodable());
    }

    // FEC-17
    #[test]
    fn contradictions_are_seen() {
        let mut block = OpenBlock::new(Instant::ZERO);
        block.insert_data(4);
        assert!(!block.agrees(4, 1) && block.agrees(5, 1));
        block.insert_parity(0, 5, 1);
        assert!(!block.agrees(6, 1) && !block.agrees(5, 2));
        assert!(!block.can_hold(5) && block.can_hold(4));
    }

    #[test]
    fn the_largest_block_fits() {
        let mut block = OpenBlock::new(Instant::ZERO);
        assert!((0..128).all(|index| block.insert_data(index)));
        block.insert_parity(31, 128, 32);
        assert!(block.is_complete());
        assert_eq!(block.missing(), 0);
    }

    #[test]
    fn without_a_size_the_last_arrival_bounds_what_is_missing() {
        let mut block = OpenBlock::new(Instant::ZERO);
        assert_eq!(block.missing(), 0);
        block.insert_data(3);
        assert_eq!(block.missing(), 0b0111);
    }
}

//! The blocks that the decoder has open: a run of numbers that moves forward (FEC-10, FEC-11).

use super::open_block::{OpenBlock, State};
use super::{BlockNumber, DataStamp};
use crate::time::Instant;
use alloc::boxed::Box;
use alloc::vec;

/// The most blocks by which a number may jump and be believed at once. A longer jump needs a second
/// frame with a number near it (FEC-10). 4096 blocks are a tenth of a second of full-size (1, 1)
/// blocks at 1 Gb/s, an eighth of a millisecond at 800 Gb/s.
const JUMP: i32 = 1 << 12;

/// Where a block number lies relative to the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Within the window.
    Inside,
    /// A little ahead of the window.
    Ahead,
    /// A little behind the window.
    Behind,
    /// Too far from the window in either direction to be believed at once.
    Far,
}

/// The newest blocks, in a ring indexed by block number.
#[derive(Clone, Debug)]
pub(super) struct Window {
    blocks: Box<[OpenBlock]>,
    /// Whether any block was ever opened.
    started: bool,
    newest: BlockNumber,
    /// The oldest block that may be waiting. It is the block after `newest` when none waits.
    oldest: BlockNumber,
    /// The number of the last frame, if it was too far away.
    suspect: Option<BlockNumber>,
    /// The block at which the numbers start over, once the blocks before have been dealt with.
    restart: Option<BlockNumber>,
}

impl Window {
    pub(super) fn new(length: u32) -> Self {
        assert!(length.is_power_of_two() && length <= JUMP as u32, "a window is a power of two up to {JUMP}");
        Self {
            blocks: vec![OpenBlock::default(); length as usize].into_boxed_slice(),
            started: false,
            newest: BlockNumber::ZERO.back(1),
            oldest: BlockNumber::ZERO,
            suspect: None,
            restart: None,
        }
    }

    #[inline]
    fn index(&self, block: BlockNumber) -> usize {
        block.bits() as usize & (self.blocks.len() - 1)
    }

    fn length(&self) -> i32 {
        self.blocks.len() as i32
    }

    #[inline]
    pub(super) fn place(&self, block: BlockNumber) -> Place {
        if !self.started {
            return Place::Far;
        }
        match block.ahead_of(self.newest) {
            ahead if (1 - self.length()..=0).contains(&ahead) => Place::Inside,
            ahead if (1..=JUMP).contains(&ahead) => Place::Ahead,
            ahead if (-JUMP..0).contains(&ahead) => Place::Behind,
            _ => Place::Far,
        }
    }

    /// Returns the oldest block that stays in the window when `block` enters.
    pub(super) fn floor_for(&self, block: BlockNumber) -> BlockNumber {
        block.back(self.blocks.len() as u32 - 1)
    }

    /// Returns the place of the first frame of the oldest block in the window.
    pub(super) fn floor(&self) -> DataStamp {
        DataStamp { block: self.floor_for(self.newest), index: 0 }
    }

    /// Whether `block` is in the window.
    #[inline]
    pub(super) fn contains(&self, block: BlockNumber) -> bool {
        self.place(block) == Place::Inside
    }

    /// Whether a block after `block` has been opened.
    pub(super) fn has_newer(&self, block: BlockNumber) -> bool {
        self.newest.ahead_of(block) > 0
    }

    /// Returns the block with this number, which must be in the window.
    #[inline]
    pub(super) fn get_mut(&mut self, block: BlockNumber) -> &mut OpenBlock {
        &mut self.blocks[self.index(block)]
    }

    /// Opens all blocks up to `block`. Returns false if `block` was open.
    #[inline]
    pub(super) fn open(&mut self, now: Instant, block: BlockNumber) -> bool {
        if let Some(first) = self.restart.take() {
            self.start_over(first);
        }
        let ahead = block.ahead_of(self.newest);
        if ahead <= 0 {
            return false;
        }
        for step in (0..ahead.min(self.length())).rev() {
            *self.get_mut(block.back(step as u32)) = OpenBlock::new(now);
        }
        self.newest = block;
        if self.floor_for(block).ahead_of(self.oldest) > 0 {
            self.oldest = self.floor_for(block);
        }
        true
    }

    /// Returns the number of the oldest block that may be waiting.
    pub(super) const fn oldest(&self) -> BlockNumber {
        self.oldest
    }

    /// Returns the oldest block that waits.
    #[inline]
    pub(super) fn oldest_waiting(&self) -> Option<&OpenBlock> {
        (self.newest.ahead_of(self.oldest) >= 0).then(|| &self.blocks[self.index(self.oldest)])
    }

    /// Moves past the blocks that wait for no more frames.
    #[inline]
    pub(super) fn skip_settled(&mut self) {
        while self.oldest_waiting().is_some_and(|block| block.state != State::Waiting) {
            self.oldest = self.oldest.next();
        }
    }

    /// Whether any block was ever opened.
    pub(super) const fn has_started(&self) -> bool {
        self.started
    }

    /// Takes note of a frame with a believed number.
    #[inline]
    pub(super) fn believe(&mut self) {
        self.suspect = None;
    }

    /// Whether a far number is believed: if the last frame had a number near it, or if no number is
    /// known to compare it with (FEC-10).
    pub(super) fn suspect(&mut self, block: BlockNumber) -> bool {
        let is_confirmed = self.suspect.is_some_and(|before| (0..=JUMP).contains(&block.ahead_of(before)));
        self.suspect = if is_confirmed { None } else { Some(block) };
        is_confirmed || !self.started
    }

    /// Starts the numbers over at `block`, the next block to be opened. No block before it is known.
    pub(super) fn restart_at(&mut self, block: BlockNumber) {
        self.restart = Some(block);
        self.suspect = None;
    }

    #[cold]
    fn start_over(&mut self, first: BlockNumber) {
        self.blocks.fill(OpenBlock::default());
        self.started = true;
        self.newest = first.back(1);
        self.oldest = first;
    }
}

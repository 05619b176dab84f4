//! What the decoder is told to do, and what it tells its driver.

use super::{BlockNumber, DataStamp};
use crate::time::Duration;
use crate::units::Bytes;
use serde::{Deserialize, Serialize};

/// When intact frames leave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Release {
    /// At once; rebuilt ones follow late (FEC-14).
    #[default]
    Eager,
    /// In the order of sending; a hole holds what follows it (FEC-15).
    InOrder,
}

/// Parameters of the decoder.
#[derive(Clone, Copy, Debug)]
pub struct DecoderConfig {
    /// When intact frames leave.
    pub release: Release,
    /// How many blocks may be open at a time, a power of two (FEC-11). On a first-in first-out
    /// link one is enough: a frame of the next block tells that nothing of the last will come.
    pub window: u32,
    /// How long a block may wait for its frames (FEC-16).
    pub timeout: Duration,
    /// How many bytes may be kept of blocks that are open (FEC-16).
    pub kept_max: Bytes,
}

/// Whether a frame's block can be dealt with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// Yes, when what [`Decoder::poll`](super::Decoder::poll) has to say was done.
    Open,
    /// No: the block has left the window, or its number is not to be believed. Drop the frame.
    Stale,
}

/// What becomes of an intact data frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataVerdict {
    /// Forward it, and keep a copy to rebuild others from.
    Forward,
    /// Keep it; it is forwarded when [`Decoder::poll`](super::Decoder::poll) says so.
    Hold,
    /// Drop it: a duplicate, too late, or a contradiction.
    Drop,
}

/// What the decoder wants done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// Rebuild the `missing` data frames (a bit each) of a block with `size` of them. Should that
    /// fail, call [`Decoder::rebuild_failed`](super::Decoder::rebuild_failed) before the next poll.
    Rebuild {
        /// The block.
        block: BlockNumber,
        /// Data frames of the block.
        size: u8,
        /// Those that are missing.
        missing: u128,
    },
    /// Forward a frame that was held or rebuilt.
    Release {
        /// Which.
        stamp: DataStamp,
    },
}

/// Events at the decoder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DecoderCounters {
    /// Intact data frames taken in.
    pub data: u64,
    /// Intact parity frames taken in.
    pub parity: u64,
    /// Data frames rebuilt.
    pub recovered: u64,
    /// Blocks in which frames were rebuilt.
    pub rebuilt_blocks: u64,
    /// Blocks given up, because of the window, the time or the bytes.
    pub given_up_blocks: u64,
    /// Data frames known to be missing when their block was given up.
    pub unrecovered: u64,
    /// Frames that were there already.
    pub duplicates: u64,
    /// Frames of blocks that had left the window, or behind what had been released.
    pub stale: u64,
    /// Frames that contradict what is known of their block.
    pub inconsistent: u64,
    /// Rebuilt blocks whose bytes failed their check (FEC-18).
    pub failed_rebuilds: u64,
    /// Times that the block numbers started over (FEC-10).
    pub restarts: u64,
}

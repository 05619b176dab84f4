//! Parameters of the decoder, and its decisions for its driver.

use super::{BlockNumber, DataStamp};
use crate::time::Duration;
use crate::units::Bytes;
use serde::{Deserialize, Serialize};

/// When intact data frames leave the decoder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Release {
    /// Frames leave at once; rebuilt frames follow late (FEC-14).
    #[default]
    Eager,
    /// Frames leave in the order of sending; a hole holds the frames behind it (FEC-15).
    InOrder,
}

/// Parameters of the decoder.
#[derive(Clone, Copy, Debug)]
pub struct DecoderConfig {
    /// When intact data frames leave the decoder.
    pub release: Release,
    /// How many blocks may be open at a time, a power of two (FEC-11). One is enough on a first-in
    /// first-out link, where a frame of the next block tells that no more frames of the last block
    /// will arrive.
    pub window: u32,
    /// How long a block may wait for its frames (FEC-16).
    pub timeout: Duration,
    /// How many bytes may be kept of blocks that are open (FEC-16).
    pub kept_max: Bytes,
}

/// Whether the decoder takes frames of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// The block is open, once the driver has done all that [`Decoder::poll`](super::Decoder::poll)
    /// asks for.
    Open,
    /// The block has left the window, or its number is not believed: drop the frame.
    Stale,
}

/// The decision about an intact data frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataVerdict {
    /// Forward the frame, and keep a copy to rebuild other frames from.
    Forward,
    /// Keep the frame, and forward it when [`Decoder::poll`](super::Decoder::poll) asks for it.
    Hold,
    /// Drop the frame: it is a duplicate, too late, or a contradiction.
    Drop,
}

/// A task of the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// Rebuild the `missing` data frames (a bit each) of a block with `size` of them. Should that
    /// fail, call [`Decoder::rebuild_failed`](super::Decoder::rebuild_failed) before the next poll.
    Rebuild {
        /// Number of the block.
        block: BlockNumber,
        /// Data frames of the block.
        size: u8,
        /// The missing data frames, a bit each.
        missing: u128,
    },
    /// Forward a frame that was held or rebuilt.
    Release {
        /// Place of the frame to be forwarded.
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
    /// Frames dropped because they had arrived or been rebuilt before.
    pub duplicates: u64,
    /// Frames of blocks that had left the window, or behind frames that had been released.
    pub stale: u64,
    /// Frames that contradict earlier frames of their block.
    pub inconsistent: u64,
    /// Rebuilt blocks whose bytes failed their check (FEC-18).
    pub failed_rebuilds: u64,
    /// Times that the block numbers started over (FEC-10).
    pub restarts: u64,
}

//! The counters of forward error correction in the words of the report.

use super::{Decoder, DecoderCounters, Encoder, EncoderCounters};
use crate::engine::report::Counter;
use crate::units::Bytes;

/// The name of the group that has the counters of both ends.
pub const GROUP: &str = "coder";

/// Figures of the sending end. A figure that a driver does not have is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EncoderState {
    /// Data frames sent.
    pub data: Option<u64>,
    /// Parity frames sent.
    pub parity: Option<u64>,
    /// Blocks closed because they were full.
    pub full_blocks: Option<u64>,
    /// Blocks closed before they were full.
    pub partial_blocks: Option<u64>,
    /// Blocks closed, full or not, by an encoder that does not tell the two apart.
    pub blocks: Option<u64>,
    /// Data frames of the open block.
    pub open: Option<u64>,
}

impl EncoderState {
    /// Returns the figures of an encoder with these counters and `open` data frames in its open
    /// block.
    pub fn new(counters: &EncoderCounters, open: u8) -> Self {
        Self {
            data: Some(counters.data),
            parity: Some(counters.parity),
            full_blocks: Some(counters.full_blocks),
            partial_blocks: Some(counters.partial_blocks),
            blocks: None,
            open: Some(u64::from(open)),
        }
    }

    /// Returns the figures of an encoding engine.
    pub fn of(encoder: &Encoder) -> Self {
        Self::new(encoder.counters(), encoder.open_block().0)
    }

    /// Returns the counters of the sending end in the words of the report.
    pub fn counters(&self) -> impl Iterator<Item = Counter> {
        [
            Counter::of("sent_data", "Data frames sent.", self.data),
            Counter::of("sent_parity", "Parity frames sent.", self.parity),
            Counter::of("full_blocks", "Blocks closed because they were full.", self.full_blocks),
            Counter::of("partial_blocks", "Blocks closed before they were full.", self.partial_blocks),
            Counter::of("closed_blocks", "Blocks closed, full or not.", self.blocks),
            Counter::level_of("open_data", "Data frames of the block that is open.", self.open),
        ]
        .into_iter()
        .flatten()
    }
}

/// Figures of the receiving end. A figure that a driver does not have is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DecoderState {
    /// Counters of the engine, if there is one.
    pub engine: Option<DecoderCounters>,
    /// Data frames rebuilt.
    pub recovered: u64,
    /// Data frames missing for good.
    pub unrecovered: u64,
    /// Frames that wait for the end of their block, at a decoder that holds corrupted frames.
    pub circulating: Option<u64>,
    /// Bytes kept.
    pub kept: Bytes,
    /// The most bytes ever kept.
    pub most_kept: Bytes,
}

impl DecoderState {
    /// Returns the figures of a decoder with these counters that keeps `kept` bytes.
    pub fn new(counters: &DecoderCounters, kept: Bytes, most_kept: Bytes) -> Self {
        Self {
            engine: Some(*counters),
            recovered: counters.recovered,
            unrecovered: counters.unrecovered,
            circulating: None,
            kept,
            most_kept,
        }
    }

    /// Returns the figures of a decoding engine.
    pub fn of(decoder: &Decoder) -> Self {
        Self::new(decoder.counters(), decoder.kept(), decoder.most_kept())
    }

    /// Returns the counters of the receiving end in the words of the report.
    pub fn counters(&self) -> impl Iterator<Item = Counter> {
        let engine = self.engine;
        let of = |field: fn(&DecoderCounters) -> u64| engine.as_ref().map(field);
        [
            Counter::of("received_data", "Intact data frames taken in.", of(|engine| engine.data)),
            Counter::of("received_parity", "Intact parity frames taken in.", of(|engine| engine.parity)),
            Counter::of("recovered", "Data frames rebuilt.", Some(self.recovered)),
            Counter::of("unrecovered", "Data frames missing for good.", Some(self.unrecovered)),
            Counter::level_of(
                "circulating",
                "Corrupted data frames that wait for the end of their block.",
                self.circulating,
            ),
            Counter::of(
                "given_up_blocks",
                "Blocks given up, because of the window, the time or the bytes.",
                of(|engine| engine.given_up_blocks),
            ),
            Counter::of("duplicates", "Frames that were there already.", of(|engine| engine.duplicates)),
            Counter::of("stale", "Frames of blocks that had been left behind.", of(|engine| engine.stale)),
            Counter::of(
                "inconsistent",
                "Frames that contradict what is known of their block.",
                of(|engine| engine.inconsistent),
            ),
            Counter::of(
                "restarts",
                "Times that the block numbers started over.",
                of(|engine| engine.restarts),
            ),
            Counter::level_of("kept_bytes", "Bytes kept for blocks that are open.", Some(self.kept.0)),
            Counter::level_of("kept_max_bytes", "The most of these bytes ever.", Some(self.most_kept.0)),
        ]
        .into_iter()
        .flatten()
    }
}

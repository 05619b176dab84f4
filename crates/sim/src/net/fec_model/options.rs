//! The choices that the published description of the model leaves open (FEC-24..27).

use crate::ConfigError;
use crate::net::Blueprint;
use crate::net::coded::{CodedLine, EgressOptions};
use lossylink_core::engine::fec::Code;
use lossylink_core::protection::FecModel;
use lossylink_core::time::Duration;

/// The size of a parity packet (FEC-24).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParitySize {
    /// Parity as long as the last data packet of the block, of which it is a clone: as published.
    LastPacket,
    /// Parity as long as the longest data packet of the block, as a real code needs.
    LongestPacket,
}

/// The signs by which the decoder knows that a block has ended; the first that applies counts (FEC-26).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockEnd {
    /// The packet with the last index, k + h - 1, arrives, marked or not.
    pub last_index: bool,
    /// A packet of a newer block arrives.
    pub newer_block: bool,
    /// The time since the first packet of the block has reached this value.
    pub timer: Option<Duration>,
}

/// The choices about the model.
#[derive(Clone, Copy, Debug)]
pub struct FecModelOptions {
    /// Data and parity packets of a block.
    pub code: Code,
    /// The size of a parity packet.
    pub parity_size: ParitySize,
    /// The signs by which a block ends.
    pub block_end: BlockEnd,
    /// Whether a marked packet can only go on at the end of a round of the switch's recirculation loop. Otherwise the packet goes
    /// on at once (FEC-27).
    pub recirculates: bool,
    /// The time after which a partial block is closed. The published encoder had no timer, hence its tail of 9 ms.
    pub flush: Option<Duration>,
    /// The choices about the way through the sending switch.
    pub egress: EgressOptions,
}

impl FecModelOptions {
    /// Returns the model as published: clones of the last packet, no timers, one queue, recirculation.
    pub const fn published(code: Code) -> Self {
        Self {
            code,
            parity_size: ParitySize::LastPacket,
            block_end: BlockEnd { last_index: true, newer_block: true, timer: None },
            recirculates: true,
            flush: None,
            egress: EgressOptions { meter: None, data_first: false, change: None },
        }
    }

    /// Returns the options that follow from `chosen` on the link of `plan`.
    ///
    /// # Errors
    /// If no block can fill before its flush timer ends.
    pub fn of(plan: &Blueprint, chosen: &FecModel) -> Result<Self, ConfigError> {
        let egress = EgressOptions::of(plan, chosen.meter, false, chosen.change)?;
        let flush = chosen.flush_ps.map(Duration::from_ps);
        let options = Self { flush, egress, ..Self::published(chosen.code()) };
        options.check(CodedLine::from(plan))?;
        Ok(options)
    }

    /// Refuses a flush timer, if there is one, that closes every block before the block can be full.
    ///
    /// # Errors
    /// If a block of full-size packets lasts longer on `line` than the flush timer.
    pub fn check(&self, line: CodedLine) -> Result<(), ConfigError> {
        let Some(flush) = self.flush else { return Ok(()) };
        let codes = [Some(self.code), self.egress.change.map(|change| change.code)];
        codes.into_iter().flatten().try_for_each(|code| line.check_flush(code, flush))
    }
}

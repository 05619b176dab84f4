//! The operator's choices about forward error correction, and the values that follow from the link.

use crate::ConfigError;
use crate::net::Blueprint;
use crate::net::coded::{CodedLine, EgressOptions};
use lossylink_core::engine::fec::{Code, DecoderConfig, Release};
use lossylink_core::protection::{Fec, Priority};
use lossylink_core::time::Duration;
use lossylink_core::units::Bytes;

/// The flush timer of a partial block, in times of a full block at line rate. With four of them, a source that fills a quarter of
/// the line never waits for the timer.
const FLUSH_BLOCKS: u64 = 4;
/// The number of blocks that may be open when parity waits behind later data (FEC-23).
const WINDOW_DATA_FIRST: u32 = 256;

/// The choices about forward error correction.
#[derive(Clone, Copy, Debug)]
pub struct FecOptions {
    /// Data and parity frames of a block.
    pub code: Code,
    /// The time after its first frame at which a partial block is closed (FEC-7).
    pub flush: Duration,
    /// The rule by which intact frames leave the decoder (FEC-14, FEC-15).
    pub release: Release,
    /// The time that the decoder waits for the rest of a block (FEC-16).
    pub timeout: Duration,
    /// The most bytes that the decoder keeps (FEC-16).
    pub kept_max: Bytes,
    /// The time that the arithmetic of a rebuilt block takes. Zero in a switch model; a processor core with SIMD needs microseconds.
    pub decode: Duration,
    /// The choices about the way through the sending switch.
    pub egress: EgressOptions,
}

impl FecOptions {
    /// Returns the usual choices for `code` on a link with this line behind a queue of `queue` bytes: eager release; a flush timer of
    /// four full blocks at line rate; a decoder that waits until no frame of a block can be under way any more.
    pub fn new(code: Code, egress: EgressOptions, line: CodedLine, queue: Bytes) -> Self {
        let changed = egress.change.map_or(code, |change| change.code);
        let flush = line.block_time(code).max(line.block_time(changed)) * FLUSH_BLOCKS;
        Self {
            code,
            flush,
            release: Release::Eager,
            timeout: timeout(flush, line, queue),
            kept_max: Bytes(u64::MAX / 2),
            decode: Duration::ZERO,
            egress,
        }
    }

    /// Returns the options that follow from `chosen` on the link of `plan`.
    ///
    /// # Errors
    /// If no block can fill before its flush timer ends.
    pub fn of(plan: &Blueprint, chosen: &Fec) -> Result<Self, ConfigError> {
        let (line, queue) = (CodedLine::from(plan), plan.queue_bytes());
        let egress = EgressOptions::of(plan, chosen.meter, chosen.priority == Priority::Data, chosen.change)?;
        let usual = Self::new(chosen.code(), egress, line, queue);
        let timed = match chosen.flush_ps {
            Some(ps) => usual.with_flush(Duration::from_ps(ps), line, queue),
            None => usual,
        };
        let options = Self { release: chosen.release, ..timed };
        options.check(line)?;
        Ok(options)
    }

    /// Returns these options with another flush timer, and with a decoder that waits accordingly.
    #[must_use]
    pub fn with_flush(self, flush: Duration, line: CodedLine, queue: Bytes) -> Self {
        Self { flush, timeout: timeout(flush, line, queue), ..self }
    }

    /// Refuses a flush timer that closes every block before it can be full.
    ///
    /// # Errors
    /// If a block of full-size frames lasts longer on `line` than the flush timer.
    pub fn check(&self, line: CodedLine) -> Result<(), ConfigError> {
        let codes = [Some(self.code), self.egress.change.map(|change| change.code)];
        codes.into_iter().flatten().try_for_each(|code| line.check_flush(code, self.flush))
    }

    pub(super) fn decoder(&self) -> DecoderConfig {
        DecoderConfig {
            release: self.release,
            window: if self.egress.data_first { WINDOW_DATA_FIRST } else { 1 },
            timeout: self.timeout,
            kept_max: self.kept_max,
        }
    }
}

/// Returns how long a decoder waits until no frame of a block can be under way any more.
fn timeout(flush: Duration, line: CodedLine, queue: Bytes) -> Duration {
    flush * 2 + queue / line.rate.bit_rate()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::LineRate;
    use crate::net::coded::CodeChange;
    use lossylink_core::time::Instant;
    use lossylink_core::units::BitRate;

    fn code(size: u32) -> Code {
        Code::new(size, 5).unwrap()
    }

    // FEC-7
    #[test]
    fn a_flush_timer_shorter_than_a_block_is_refused() {
        let line = CodedLine { rate: LineRate::new(BitRate::from_gbps(10)), full_octets: 1538 };
        let mut options = FecOptions::new(code(25), EgressOptions::default(), line, Bytes(1_000_000));
        // 25 frames of 1544 octets at 800 ps each.
        let block = Duration::from_ps(25 * 1544 * 800);
        assert_eq!(options.flush, block * 4);
        options.flush = block;
        assert!(options.check(line).is_ok());
        options.flush = block - Duration::from_ps(1);
        let message = options.check(line).unwrap_err().to_string();
        assert!(message.starts_with("a block of 25 full-size frames lasts 30.88 us at 10 Gb/s"), "{message}");
        options.flush = block;
        options.egress.change = Some(CodeChange { at: Instant::ZERO, code: code(26) });
        assert!(options.check(line).is_err());
    }
}

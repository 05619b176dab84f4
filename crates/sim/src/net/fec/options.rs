//! What an operator chooses about forward error correction, and what follows from the link.

use crate::ConfigError;
use crate::net::LineRate;
use crate::net::frame::{FCS_OCTETS, GAP_OCTETS};
use crate::net::meter::MeterOptions;
use lossylink_core::engine::fec::{Code, DecoderConfig, Release};
use lossylink_core::time::Duration;
use lossylink_core::units::Bytes;
use lossylink_core::wire::fec::FecHeader;

/// Octets of a full-size frame on the wire: 1500 B of payload.
const FULL_FRAME_OCTETS: u32 = 1538;
/// Times of a full block at line rate after which a partial block is closed: a source that fills a
/// quarter of the line never waits for the timer.
const FLUSH_BLOCKS: u64 = 4;
/// Blocks that may be open when parity waits behind later data (FEC-23).
const WINDOW_DATA_FIRST: u32 = 256;

/// What is chosen about forward error correction.
#[derive(Clone, Copy, Debug)]
pub struct FecOptions {
    /// Data and parity frames of a block.
    pub code: Code,
    /// When a partial block is closed, after its first frame (FEC-7).
    pub flush: Duration,
    /// When intact frames leave the decoder (FEC-14, FEC-15).
    pub release: Release,
    /// How long the decoder waits for the rest of a block (FEC-16).
    pub timeout: Duration,
    /// How many bytes it keeps (FEC-16).
    pub kept_max: Bytes,
    /// How long the arithmetic of a rebuilt block takes. Zero in a switch model; a core with SIMD
    /// needs microseconds.
    pub decode: Duration,
    /// A meter in front of the encoder (FEC-22).
    pub meter: Option<MeterOptions>,
    /// Whether data pass parity in the queue (FEC-23).
    pub data_first: bool,
}

impl FecOptions {
    /// The usual choices for `code` on a link at `rate` behind a queue of `queue` bytes: eager
    /// release, no meter, one queue; a flush timer of four full blocks at line rate; a decoder
    /// that waits until nothing can be under way any more.
    pub fn new(code: Code, rate: LineRate, queue: Bytes) -> Self {
        let flush = block_time(code, rate, FULL_FRAME_OCTETS) * FLUSH_BLOCKS;
        Self {
            code,
            flush,
            release: Release::Eager,
            timeout: flush * 2 + queue / rate.bit_rate(),
            kept_max: Bytes(u64::MAX / 2),
            decode: Duration::ZERO,
            meter: None,
            data_first: false,
        }
    }

    /// Refuses a flush timer that closes every block before it can be full.
    ///
    /// # Errors
    /// If a block of full-size frames lasts longer at `rate` than the flush timer.
    pub fn check(&self, rate: LineRate) -> Result<(), ConfigError> {
        let block = block_time(self.code, rate, FULL_FRAME_OCTETS);
        if block <= self.flush {
            return Ok(());
        }
        Err(ConfigError(format!(
            "a block of {} full-size frames lasts {block} at {}, longer than the flush timer of {}; \
             use smaller blocks or a longer timer",
            self.code.size(),
            rate.bit_rate(),
            self.flush
        )))
    }

    pub(super) fn decoder(&self) -> DecoderConfig {
        DecoderConfig {
            release: self.release,
            window: if self.data_first { WINDOW_DATA_FIRST } else { 1 },
            timeout: self.timeout,
            kept_max: self.kept_max,
        }
    }
}

/// How long the data frames of a block occupy the line.
fn block_time(code: Code, rate: LineRate, octets: u32) -> Duration {
    rate.serialisation(octets + FecHeader::DATA_OVERHEAD.0 as u32) * u64::from(code.size())
}

/// Octets on the wire of a frame of `frame` bytes, which is not shorter than the minimum.
pub(super) const fn octets_of(frame: Bytes) -> u32 {
    frame.0 as u32 + FCS_OCTETS + GAP_OCTETS
}

#[cfg(test)]
mod tests {
    use super::*;
    use lossylink_core::units::BitRate;

    // FEC-7
    #[test]
    fn a_flush_timer_shorter_than_a_block_is_refused() {
        let rate = LineRate::new(BitRate::from_gbps(10));
        let mut options = FecOptions::new(Code::new(25, 5).unwrap(), rate, Bytes(1_000_000));
        // 25 frames of 1544 octets at 800 ps each.
        let block = Duration::from_ps(25 * 1544 * 800);
        assert_eq!(options.flush, block * 4);
        options.flush = block;
        assert!(options.check(rate).is_ok());
        options.flush = block - Duration::from_ps(1);
        let message = options.check(rate).unwrap_err().to_string();
        assert!(message.starts_with("a block of 25 full-size frames lasts 30.88 us at 10 Gb/s"), "{message}");
    }
}

//! A link protected by forward error correction: the engine of `lossylink-core` between switches.

mod label;
mod lost;
mod options;
mod receiving;
use crate::net::Payload;
#[cfg(test)]
mod tests;

pub use options::FecOptions;

use super::coded::{Arrival, CodedLink, Coder, Exit, HEADER_OCTETS};
use super::frame::{FCS_OCTETS, GAP_OCTETS};
use super::report::EgressCounters;
use super::{Blueprint, Figure, Frame, LineRates, Losses, Report, Traffic};
use crate::ConfigError;
use crate::config::SwitchProfile;
use label::{Part, Tag};
use lossylink_core::engine::fec::report::{DecoderState, EncoderState};
use lossylink_core::engine::fec::{
    BlockNumber, Code, DecoderCounters, Encoder, EncoderCounters, ParityOrder,
};
use lossylink_core::loss::LossProcess;
use lossylink_core::protection::Fec;
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::Bytes;
use lost::Stamped;
use receiving::Receiving;

/// A link protected in its forward direction.
pub type FecLink<P> = CodedLink<P, EngineCoder<P>>;

/// Counters of a protected link.
#[derive(Clone, Copy, Debug, Default)]
pub struct FecCounters {
    /// Counters of the encoding engine.
    pub encoder: EncoderCounters,
    /// Counters of the decoding engine.
    pub decoder: DecoderCounters,
    /// Counters of meter and queue.
    pub egress: EgressCounters,
}

/// The two engines, and the frames that wait for them.
#[derive(Clone, Debug)]
pub struct EngineCoder<P: Payload> {
    encoder: Encoder,
    receiving: Receiving<P>,
    most_parity_bytes: u64,
}

impl<P: Payload> FecLink<P> {
    /// Builds a link at `rates` between two switches of `profile`, with these losses in its directions.
    pub fn new(
        profile: &SwitchProfile,
        rates: impl Into<LineRates>,
        propagation: Duration,
        options: &FecOptions,
        losses: (LossProcess, LossProcess),
    ) -> Self {
        let coder = EngineCoder {
            encoder: Encoder::new(options.code, options.flush, BlockNumber::ZERO),
            receiving: Receiving::new(options),
            most_parity_bytes: 0,
        };
        Self::with_coder(profile, rates.into(), propagation, (options.code, &options.egress), losses, coder)
    }

    /// Builds the link of `plan` under `chosen`.
    ///
    /// # Errors
    /// If no block can fill before its flush timer ends.
    pub fn on(plan: &Blueprint, chosen: &Fec, losses: Losses) -> Result<Self, ConfigError> {
        let options = FecOptions::of(plan, chosen)?;
        Ok(Self::new(&plan.switch, plan.rates, plan.propagation, &options, losses))
    }

    /// Returns the counters so far.
    pub fn counters(&self) -> FecCounters {
        FecCounters {
            encoder: *self.coder.encoder.counters(),
            decoder: *self.coder.receiving.decoder.counters(),
            egress: self.egress_counters(),
        }
    }

    /// Returns the code of the open block, or of the next block when none is open.
    pub const fn code(&self) -> Code {
        self.coder.encoder.code()
    }
}

impl<P: Payload> Coder<P> for EngineCoder<P> {
    type Tag = Tag;

    #[inline]
    fn encode(&mut self, now: Instant, frame: &Frame<P>) -> (Tag, u32) {
        match self.encoder.handle_data(now, kept_bytes(frame)) {
            Some(stamp) => (Tag { entered: now, part: Part::Data(stamp) }, HEADER_OCTETS),
            None => (Tag { entered: now, part: Part::Untagged }, 0),
        }
    }

    #[inline]
    fn poll_parity(&mut self, now: Instant) -> Option<(Tag, u32)> {
        let order = self.encoder.poll_parity()?;
        let ParityOrder { stamp, longest } = order;
        self.most_parity_bytes = self.most_parity_bytes.max(longest.0 * u64::from(stamp.rows));
        Some((Tag { entered: now, part: Part::Parity(stamp) }, octets_of(order.frame())))
    }

    #[inline]
    fn poll_flush(&self) -> Instant {
        self.encoder.poll_timeout()
    }

    fn flush(&mut self, now: Instant) {
        self.encoder.handle_timeout(now);
    }

    fn set_code(&mut self, code: Code) {
        self.encoder.set_code(code);
    }

    fn code(&self) -> Code {
        self.encoder.code()
    }

    fn note_dropped(&mut self, now: Instant, tag: Tag, frame: Frame<P>) {
        if let Part::Data(stamp) = tag.part {
            self.receiving.lost.push_dropped(Stamped { stamp, entered: now, frame });
        }
    }

    #[inline]
    fn receive(&mut self, now: Instant, arrival: Arrival<P, Tag>, exit: &mut Exit<P>) {
        self.receiving.receive(now, arrival, exit);
    }

    #[inline]
    fn poll_timeout(&self) -> Instant {
        self.receiving.poll_timeout()
    }

    fn advance(&mut self, now: Instant, exit: &mut Exit<P>) {
        self.receiving.advance(now, exit);
    }

    fn buffer_bytes(&self) -> (u64, u64) {
        let (size, longest) = self.encoder.open_block();
        let parity = if size > 0 { longest.0 * u64::from(self.encoder.code().rows()) } else { 0 };
        (parity, self.receiving.decoder.kept().0)
    }

    fn describe(&self, report: &mut Report) {
        let decoder = self.receiving.decoder.counters();
        // Some of the rebuilt frames were not lost on the wire: the queue had no room for them.
        report.recovered = self.receiving.lost.recovered_from_wire();
        report.given_up = decoder.unrecovered;
        report.tx_buffer_max_bytes = self.most_parity_bytes;
        report.rx_buffer_max_bytes = self.receiving.decoder.most_kept().0;
        report.figures.push(Figure::count("recovered_packets", decoder.recovered, "data frames rebuilt"));
    }

    fn state(&self, _traffic: &Traffic) -> (EncoderState, DecoderState) {
        (EncoderState::of(&self.encoder), DecoderState::of(&self.receiving.decoder))
    }
}

/// Returns the bytes that the decoder needs to keep a frame.
#[inline]
fn kept_bytes<P>(frame: &Frame<P>) -> Bytes {
    Bytes(u64::from(frame.frame_bytes_with_fcs() - FCS_OCTETS))
}

/// Returns the octets on the wire of a frame of `frame` bytes, which is not shorter than the minimum.
const fn octets_of(frame: Bytes) -> u32 {
    frame.0 as u32 + FCS_OCTETS + GAP_OCTETS
}

//! The switch model of Wharf's evaluation: real packets and real time, but no coding.
//!
//! ```text
//!  offer -> [meter] -> [encoder: clones the last packet h times] -> [queue] -> [marks with p]
//!        == wire ==> [decoder: marked packets circulate until their block ends] -> delivered
//! ```
//!
//! Source: the evaluation of "In-network computing to the rescue of faulty links" on two Tofino switches. A marked packet stands
//! for a lost packet. It uses the wire, and waits in recirculation until its block has ended. The marked packet goes on if at
//! least k packets of the block came unmarked; otherwise it is dropped. Packets that the queue dropped cannot come back (FEC-25).

mod decoder;
mod encoder;
mod options;
use crate::net::Payload;
#[cfg(test)]
mod tests;

pub use options::{BlockEnd, FecModelOptions, ParitySize};

use super::coded::{Arrival, CodedLink, Coder, Exit, HEADER_OCTETS, Label, shown};
use super::report::EgressCounters;
use super::tap::Content;
use super::wire::{Kind, UNNAMED};
use super::{Blueprint, Figure, Frame, LineRates, Losses, Report, Traffic};
use crate::ConfigError;
use crate::config::SwitchProfile;
use decoder::ModelDecoder;
use encoder::ModelEncoder;
use lossylink_core::engine::fec::report::{DecoderState, EncoderState};
use lossylink_core::engine::fec::{BlockNumber, Code};
use lossylink_core::loss::{LossProcess, Stake};
use lossylink_core::protection::FecModel;
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::Bytes;

/// Octets of the corruption header, which the model of the faulty link adds to each packet of a block.
/// Its size was not published: assumed is the least that a switch can write.
const CORRUPTION_OCTETS: u32 = 1;
/// Octets that the two headers add to a packet of a block.
const ADDED_OCTETS: u32 = HEADER_OCTETS + CORRUPTION_OCTETS;

/// A link with the switch model in its forward direction.
pub type FecModelLink<P> = CodedLink<P, ModelCoder<P>>;

/// Counters of the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FecModelCounters {
    /// Blocks closed by the encoder.
    pub blocks: u64,
    /// Parity packets made.
    pub parity: u64,
    /// Counters of meter and queue.
    pub egress: EgressCounters,
    /// Marked data packets that were let go when their block ended.
    pub recovered: u64,
    /// Marked data packets that were dropped.
    pub unrecovered: u64,
}

/// The label of a packet: the fields of its header, and the time at which it came to the encoder.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::net) struct Tag {
    entered: Instant,
    block: u64,
    /// The index in the block: 0 to k - 1 for data, from k on for parity.
    index: u8,
    /// Data packets of the block, once the block is closed; until then the code's k.
    size: u8,
    rows: u8,
}

impl Tag {
    const fn is_data(&self) -> bool {
        self.index < self.size
    }

    /// Whether the packet belongs to a code without parity, and so has no header (FEC-1).
    const fn is_bare(&self) -> bool {
        self.rows == 0
    }

    /// Returns the octets of a data packet's headers.
    const fn header_octets(&self) -> u32 {
        if self.is_bare() { 0 } else { ADDED_OCTETS }
    }

    const fn is_last(&self) -> bool {
        self.index + 1 == self.size + self.rows
    }
}

impl Label for Tag {
    #[inline]
    fn kind(&self) -> Kind {
        if self.is_bare() || self.is_data() {
            Kind::Data { header_octets: self.header_octets() }
        } else {
            Kind::Parity
        }
    }

    fn stake(&self) -> Stake {
        if self.is_bare() {
            return Stake::Fresh { unit: UNNAMED };
        }
        let (index, unit) = (u32::from(self.index), self.block);
        if self.is_data() {
            return Stake::Member { unit, index: Some(index), left: None };
        }
        let left = u32::from(self.size) + u32::from(self.rows) - index;
        Stake::Member { unit, index: None, left: Some(left) }
    }

    /// Shows the packet with its header. The model's block numbers are wider than a header's, so the low 24 bits are shown. The
    /// corruption header is left out, because the capture says whether a packet is marked.
    fn shown<P>(&self, frame: Frame<P>) -> Content<P> {
        let block = BlockNumber::new(self.block as u32).bits();
        if self.is_bare() {
            return Content::Bare(frame);
        }
        let frame = Frame { octets: frame.octets - CORRUPTION_OCTETS, ..frame };
        if self.is_data() {
            shown::data(frame, block, self.index)
        } else {
            shown::parity(frame.octets, block, (self.index - self.size, self.size, self.rows))
        }
    }
}

/// The registers of the encoder, and the registers of the decoder with its packets in recirculation.
#[derive(Clone, Debug)]
pub struct ModelCoder<P> {
    encoder: ModelEncoder,
    decoder: ModelDecoder<P>,
}

impl<P: Payload> FecModelLink<P> {
    /// Builds a link at `rates` between two switches of `profile`, with these losses in its directions.
    pub fn new(
        profile: &SwitchProfile,
        rates: impl Into<LineRates>,
        propagation: Duration,
        options: &FecModelOptions,
        losses: (LossProcess, LossProcess),
    ) -> Self {
        let rates = rates.into();
        let recirculation = profile.recirculation_rate(rates.forward.bit_rate());
        let round = if profile.recirculates && options.recirculates {
            Duration::from_ns_f64(profile.rx_loop_fixed_ns)
        } else {
            Duration::ZERO
        };
        let encoder = ModelEncoder::new(options);
        let decoder = ModelDecoder::new(options.block_end, recirculation, round);
        let coder = ModelCoder { encoder, decoder };
        Self::with_coder(profile, rates, propagation, (options.code, &options.egress), losses, coder)
    }

    /// Builds the link of `plan` under `chosen`.
    ///
    /// # Errors
    /// If no block can fill before its flush timer ends.
    pub fn on(plan: &Blueprint, chosen: &FecModel, losses: Losses) -> Result<Self, ConfigError> {
        let options = FecModelOptions::of(plan, chosen)?;
        Ok(Self::new(&plan.switch, plan.rates, plan.propagation, &options, losses))
    }

    /// Returns the counters so far.
    pub fn counters(&self) -> FecModelCounters {
        let (recovered, unrecovered) = self.coder.decoder.decided();
        let (blocks, parity) = self.coder.encoder.made();
        FecModelCounters { blocks, parity, egress: self.egress_counters(), recovered, unrecovered }
    }

    /// Returns the bytes that circulate at the decoder.
    pub const fn circulating_bytes(&self) -> u64 {
        self.coder.decoder.bytes()
    }
}

impl<P: Payload> ModelCoder<P> {
    /// Delivers the packets whose last round is over.
    #[inline]
    fn let_go(&mut self, now: Instant, exit: &mut Exit<P>) {
        while let Some((at, tag, frame)) = self.decoder.poll(now) {
            deliver(at, tag, frame, true, exit);
        }
    }
}

impl<P: Payload> Coder<P> for ModelCoder<P> {
    type Tag = Tag;

    #[inline]
    fn encode(&mut self, now: Instant, frame: &Frame<P>) -> (Tag, u32) {
        let tag = self.encoder.handle_data(now, frame.octets + ADDED_OCTETS);
        (tag, tag.header_octets())
    }

    #[inline]
    fn poll_parity(&mut self, now: Instant) -> Option<(Tag, u32)> {
        self.encoder.poll_parity(now)
    }

    #[inline]
    fn poll_flush(&self) -> Instant {
        self.encoder.poll_flush()
    }

    fn flush(&mut self, now: Instant) {
        self.encoder.flush(now);
    }

    fn set_code(&mut self, code: Code) {
        self.encoder.set_code(code);
    }

    fn code(&self) -> Code {
        self.encoder.code()
    }

    /// Does nothing: packets that the queue dropped cannot come back (FEC-25).
    fn note_dropped(&mut self, _now: Instant, _tag: Tag, _frame: Frame<P>) {}

    #[inline]
    fn receive(&mut self, now: Instant, arrival: Arrival<P, Tag>, exit: &mut Exit<P>) {
        let goes_on = match arrival.tag.is_bare() {
            true => arrival.is_intact,
            false => self.decoder.handle_packet(now, arrival),
        };
        if goes_on {
            deliver(now, arrival.tag, arrival.frame, false, exit);
        }
        self.let_go(now, exit);
    }

    #[inline]
    fn poll_timeout(&self) -> Instant {
        self.decoder.poll_timeout()
    }

    fn advance(&mut self, now: Instant, exit: &mut Exit<P>) {
        self.decoder.handle_timeout(now);
        self.let_go(now, exit);
    }

    fn buffer_bytes(&self) -> (u64, u64) {
        (0, self.decoder.bytes())
    }

    /// Adds the counts of both ends. Packets that circulate when the traffic ends are in neither: they wait for a block that never
    /// comes, because there is no timer.
    fn describe(&self, report: &mut Report) {
        let (recovered, unrecovered) = self.decoder.decided();
        report.recovered = recovered;
        report.given_up = unrecovered;
        report.rx_buffer_max_bytes = self.decoder.most_bytes();
        report.figures.push(Figure::count("recovered_packets", recovered, "data packets let go"));
    }

    /// Returns the state of both ends. The registers count neither data nor how full a block was, and the decoder counts no frames.
    fn state(&self, traffic: &Traffic) -> (EncoderState, DecoderState) {
        let (blocks, parity) = self.encoder.made();
        let encoder = EncoderState {
            data: Some(traffic.data_frames),
            parity: Some(parity),
            blocks: Some(blocks),
            open: Some(self.encoder.open_data()),
            ..EncoderState::default()
        };
        let (recovered, unrecovered) = self.decoder.decided();
        let decoder = DecoderState {
            recovered,
            unrecovered,
            circulating: Some(self.decoder.circulating()),
            kept: Bytes(self.decoder.bytes()),
            most_kept: Bytes(self.decoder.most_bytes()),
            ..DecoderState::default()
        };
        (encoder, decoder)
    }
}

/// Delivers a packet from the far switch without its headers.
#[inline]
fn deliver<P: Payload>(at: Instant, tag: Tag, coded: Frame<P>, is_recovered: bool, exit: &mut Exit<P>) {
    let frame = Frame { octets: coded.octets - tag.header_octets(), ..coded };
    exit.deliver(at, tag.entered, frame, is_recovered);
}

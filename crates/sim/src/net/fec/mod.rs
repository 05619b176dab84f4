//! A link protected by forward error correction: the engine of `lossylink-core` between switches.
//!
//! ```text
//!  offer -> [meter] -> [encoder] -> [queue] == wire ==> [decoder] -> delivered
//!                          parity ----^
//! ```
//!
//! The encoder stands before the egress queue, as published, so parity competes with data for its
//! room (FEC-21). Only the forward direction is protected.

mod latency;
mod line;
mod lost;
mod options;
pub(in crate::net) mod port;
mod receiving;
#[cfg(test)]
mod tests;

pub use latency::{Latency, LatencySample};
pub use options::FecOptions;

use super::linkguardian::timing::queue_limits;
use super::meter::Meter;
use super::queue::QueueLimits;
use super::wire::Kind;
use super::{Ecn, Frame, FrameQueue, LineRate, ProtectedLink, Traffic, Wire};
use crate::config::SwitchProfile;
use crate::kernel::Pipe;
use line::{ForwardLine, Part, Tag};
use lossylink_core::engine::fec::{
    BlockNumber, Code, DecoderCounters, Encoder, EncoderCounters, ParityOrder,
};
use lossylink_core::loss::LossProcess;
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::Bytes;
use lossylink_core::wire::fec::FecHeader;
use lost::Stamped;
use options::octets_of;
use port::Port;
use receiving::{Receiving, kept_bytes};

/// Octets that the header adds to a data frame.
const HEADER_OCTETS: u32 = FecHeader::DATA_OVERHEAD.0 as u32;

/// Counters of a protected link.
#[derive(Clone, Copy, Debug, Default)]
pub struct FecCounters {
    /// The encoding engine's.
    pub encoder: EncoderCounters,
    /// The decoding engine's.
    pub decoder: DecoderCounters,
    /// Frames dropped by the meter.
    pub meter_dropped: u64,
    /// Frames marked by the meter.
    pub meter_marked: u64,
    /// Data frames for which the queue had no room.
    pub data_dropped: u64,
    /// Parity frames for which the queue had no room.
    pub parity_dropped: u64,
}

/// A link protected in its forward direction.
#[derive(Clone, Debug)]
pub struct FecLink<P: Copy + Default> {
    rate: LineRate,
    /// When the link next does something by itself.
    due: Instant,
    meter: Option<Meter>,
    encoder: Encoder,
    port: Port<P, Tag>,
    line: ForwardLine<P>,
    receiving: Receiving<P>,
    reverse: Wire,
    reverse_busy_until: Instant,
    returned: Pipe<Frame<P>>,
    data_dropped: u64,
    parity_dropped: u64,
    most_parity_bytes: u64,
}

impl<P: Copy + Default> FecLink<P> {
    /// A link at `rate` between two switches of `profile`, with these losses in its directions.
    pub fn new(
        profile: &SwitchProfile,
        rate: LineRate,
        propagation: Duration,
        options: &FecOptions,
        losses: (LossProcess, LossProcess),
    ) -> Self {
        let flight = Duration::from_ns_f64(profile.data_pipeline_ns) + propagation;
        let limits = QueueLimits { header_bytes: 0, ..queue_limits(profile) };
        Self {
            rate,
            due: Instant::NEVER,
            meter: options.meter.map(Meter::new),
            encoder: Encoder::new(options.code, options.flush, BlockNumber::ZERO),
            port: Port::new(rate, limits, options.data_first),
            line: ForwardLine { wire: Wire::new(losses.0), flight, arrivals: Pipe::new() },
            receiving: Receiving::new(options),
            reverse: Wire::new(losses.1),
            reverse_busy_until: Instant::ZERO,
            returned: Pipe::new(),
            data_dropped: 0,
            parity_dropped: 0,
            most_parity_bytes: 0,
        }
    }

    /// Counts of what happened so far.
    pub fn counters(&self) -> FecCounters {
        FecCounters {
            encoder: *self.encoder.counters(),
            decoder: *self.receiving.decoder.counters(),
            meter_dropped: self.meter.as_ref().map_or(0, Meter::dropped),
            meter_marked: self.meter.as_ref().map_or(0, Meter::marked),
            data_dropped: self.data_dropped,
            parity_dropped: self.parity_dropped,
        }
    }

    /// Latencies from the encoder's entry to the decoder's exit.
    pub const fn latency(&self) -> &Latency {
        &self.receiving.latency
    }

    /// The most bytes that the encoder and the decoder ever kept.
    pub fn high_water_bytes(&self) -> (u64, u64) {
        (self.most_parity_bytes, self.receiving.decoder.most_kept().0)
    }

    /// The reverse direction's traffic.
    pub const fn reverse_traffic(&self) -> &Traffic {
        self.reverse.traffic()
    }

    /// Replaces the forward loss process.
    pub fn set_loss(&mut self, loss: LossProcess) {
        self.line.wire.set_loss(loss);
    }

    /// Changes the code at the next block boundary (FEC-8).
    pub fn set_code(&mut self, code: Code) {
        self.encoder.set_code(code);
    }

    #[inline]
    fn schedule(&mut self) {
        let sending = self.port.deadline().min(self.encoder.poll_timeout());
        self.due = sending.min(self.line.arrivals.due()).min(self.receiving.deadline());
    }

    /// The meter's verdict on a frame (FEC-22).
    #[inline]
    fn admit(&mut self, now: Instant, frame: &Frame<P>) -> Option<Ecn> {
        match &mut self.meter {
            None => Some(frame.ecn),
            Some(meter) => meter.admit(now, frame.ecn),
        }
    }

    #[inline]
    fn charge(&mut self, now: Instant, octets: u32) {
        if let Some(meter) = &mut self.meter {
            meter.charge(now, octets);
        }
    }

    /// Parity of a block that ended joins the queue (FEC-6, FEC-21).
    #[inline]
    fn send_parity(&mut self, now: Instant) {
        while let Some(ParityOrder { stamp, longest }) = self.encoder.poll_parity() {
            let octets = octets_of(Bytes(longest.0 + FecHeader::PARITY_OVERHEAD.0));
            self.charge(now, octets);
            let kept = longest.0 * u64::from(stamp.rows);
            self.most_parity_bytes = self.most_parity_bytes.max(kept);
            let frame = Frame { octets, ecn: Ecn::NotCapable, payload: P::default() };
            let tag = Tag { entered: now, part: Part::Parity(stamp) };
            let accepted = self.port.offer_parity(now, tag, frame, &mut self.line);
            self.parity_dropped += u64::from(!accepted);
        }
    }

    fn flush(&mut self, now: Instant) {
        self.encoder.handle_timeout(now);
        self.send_parity(now);
    }
}

impl<P: Copy + Default> ProtectedLink<P> for FecLink<P> {
    #[inline]
    fn offer(&mut self, now: Instant, mut frame: Frame<P>) {
        if self.encoder.poll_timeout() <= now {
            self.flush(now);
        }
        let Some(ecn) = self.admit(now, &frame) else { return };
        frame.ecn = ecn;
        let (part, header_octets) = match self.encoder.handle_data(now, kept_bytes(&frame)) {
            Some(stamp) => (Part::Data(stamp), HEADER_OCTETS),
            None => (Part::Untagged, 0),
        };
        let coded = Frame { octets: frame.octets + header_octets, ..frame };
        self.charge(now, coded.octets);
        let tag = Tag { entered: now, part };
        if !self.port.offer(now, tag, coded, &mut self.line) {
            self.data_dropped += 1;
            if let Part::Data(stamp) = part {
                self.receiving.lost.push_dropped(Stamped { stamp, entered: now, frame });
            }
        }
        self.send_parity(now);
        self.schedule();
    }

    fn offer_back(&mut self, now: Instant, frame: Frame<P>) {
        let start = now.max(self.reverse_busy_until);
        self.reverse_busy_until = start + self.rate.serialisation(frame.octets);
        if self.reverse.carry(frame.octets, Kind::Data { header_octets: 0 }) {
            self.returned.push(self.reverse_busy_until + self.line.flight, frame);
        }
    }

    #[inline]
    fn deadline(&self) -> Instant {
        self.due
    }

    #[inline]
    fn advance(&mut self, now: Instant) {
        while self.due <= now {
            let due = self.due;
            if self.encoder.poll_timeout() <= due {
                self.flush(due);
            }
            self.port.serve(due, &mut self.line);
            while let Some((at, arrival)) = self.line.arrivals.pop_due(due) {
                self.receiving.receive(at, arrival);
            }
            self.receiving.advance(due);
            self.schedule();
        }
    }

    #[inline]
    fn delivered(&mut self) -> &mut Pipe<Frame<P>> {
        &mut self.receiving.delivered
    }

    #[inline]
    fn returned(&mut self) -> &mut Pipe<Frame<P>> {
        &mut self.returned
    }

    fn backlog(&self) -> usize {
        self.port.backlog()
    }

    fn traffic(&self) -> &Traffic {
        self.line.wire.traffic()
    }

    fn queue(&self) -> &FrameQueue<P> {
        self.port.queue()
    }

    fn queue_mut(&mut self) -> &mut FrameQueue<P> {
        self.port.queue_mut()
    }

    fn buffer_bytes(&mut self, _now: Instant) -> (u64, u64) {
        let (size, longest) = self.encoder.open_block();
        let parity = if size > 0 { longest.0 * u64::from(self.encoder.code().rows()) } else { 0 };
        (parity, self.receiving.decoder.kept().0)
    }
}

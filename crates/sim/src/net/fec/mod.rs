//! A link protected by forward error correction: the engine of `lossylink-core` between switches.
//!
//! ```text
//!  offer -> [meter] -> [encoder] -> [queue] == wire ==> [decoder] -> delivered
//!                          parity ----^
//! ```
//!
//! The encoder stands before the egress queue, as published, so parity competes with data for its
//! room (FEC-21). Only the forward direction is protected.

#[cfg(test)]
mod dialogue;
mod latency;
mod lost;
mod options;
pub(in crate::net) mod port;

pub use latency::{Latency, LatencySample};
pub use options::FecOptions;

use super::linkguardian::timing::queue_limits;
use super::meter::Meter;
use super::queue::QueueLimits;
use super::wire::Kind;
use super::{Ecn, Frame, FrameQueue, LineRate, ProtectedLink, Traffic, Wire};
use crate::config::SwitchProfile;
use crate::kernel::{Pipe, Ring};
use crate::net::frame::FCS_OCTETS;
use lossylink_core::engine::fec::{
    Admission, BlockNumber, Code, DataStamp, DataVerdict, Decoder, DecoderCounters, Encoder, EncoderCounters,
    Output, ParityOrder, ParityStamp, Release,
};
use lossylink_core::loss::LossProcess;
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::Bytes;
use lossylink_core::wire::fec::FecHeader;
use lost::{LostFrames, Stamped};
use options::octets_of;
use port::{Line, Port};

/// Octets that the header adds to a data frame.
const HEADER_OCTETS: u32 = FecHeader::DATA_OVERHEAD.0 as u32;
/// Period of the series of latencies.
const LATENCY_PERIOD: Duration = Duration::from_ms(1);

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

/// What travels with a frame from the encoder to the decoder.
#[derive(Clone, Copy, Debug, Default)]
struct Tag {
    entered: Instant,
    part: Part,
}

/// What a frame is to the protection.
#[derive(Clone, Copy, Debug, Default)]
enum Part {
    /// Nothing: it is not tagged (FEC-1).
    #[default]
    Untagged,
    Data(DataStamp),
    Parity(ParityStamp),
}

/// A frame at the far end of the wire.
#[derive(Clone, Copy, Debug, Default)]
struct Arrival<P> {
    tag: Tag,
    frame: Frame<P>,
    is_intact: bool,
}

/// The wire, and what is under way on it.
#[derive(Clone, Debug)]
struct ForwardLine<P: Copy + Default> {
    wire: Wire,
    flight: Duration,
    arrivals: Pipe<Arrival<P>>,
}

impl<P: Copy + Default> Line<P, Tag> for ForwardLine<P> {
    #[inline]
    fn send(&mut self, end: Instant, tag: Tag, frame: Frame<P>) {
        let kind = match tag.part {
            Part::Untagged => Kind::Data { header_octets: 0 },
            Part::Data(_) => Kind::Data { header_octets: HEADER_OCTETS },
            Part::Parity(_) => Kind::Parity,
        };
        let is_intact = self.wire.carry(frame.octets, kind);
        self.arrivals.push(end + self.flight, Arrival { tag, frame, is_intact });
    }
}

/// A link protected in its forward direction.
#[derive(Clone, Debug)]
pub struct FecLink<P: Copy + Default> {
    rate: LineRate,
    /// When the link next does something by itself.
    due: Instant,
    decode: Duration,
    meter: Option<Meter>,
    encoder: Encoder,
    port: Port<P, Tag>,
    line: ForwardLine<P>,
    decoder: Decoder,
    lost: LostFrames<P>,
    /// In order: intact frames behind a hole.
    held: Ring<Stamped<P>>,
    /// Eager: rebuilt frames whose arithmetic is under way.
    rebuilding: Pipe<Frame<P>>,
    delivered: Pipe<Frame<P>>,
    reverse: Wire,
    reverse_busy_until: Instant,
    returned: Pipe<Frame<P>>,
    latency: Latency,
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
            decode: options.decode,
            meter: options.meter.map(Meter::new),
            encoder: Encoder::new(options.code, options.flush, BlockNumber::ZERO),
            port: Port::new(rate, limits, options.data_first),
            line: ForwardLine { wire: Wire::new(losses.0), flight, arrivals: Pipe::new() },
            decoder: Decoder::new(options.decoder()),
            lost: LostFrames::new(),
            held: Ring::new(),
            rebuilding: Pipe::new(),
            delivered: Pipe::new(),
            reverse: Wire::new(losses.1),
            reverse_busy_until: Instant::ZERO,
            returned: Pipe::new(),
            latency: Latency::new(LATENCY_PERIOD),
            data_dropped: 0,
            parity_dropped: 0,
            most_parity_bytes: 0,
        }
    }

    /// Counts of what happened so far.
    pub fn counters(&self) -> FecCounters {
        FecCounters {
            encoder: *self.encoder.counters(),
            decoder: *self.decoder.counters(),
            meter_dropped: self.meter.as_ref().map_or(0, Meter::dropped),
            meter_marked: self.meter.as_ref().map_or(0, Meter::marked),
            data_dropped: self.data_dropped,
            parity_dropped: self.parity_dropped,
        }
    }

    /// Latencies from the encoder's entry to the decoder's exit.
    pub const fn latency(&self) -> &Latency {
        &self.latency
    }

    /// The most bytes that the encoder and the decoder ever kept.
    pub fn high_water_bytes(&self) -> (u64, u64) {
        (self.most_parity_bytes, self.decoder.most_kept().0)
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
        let receiving = self.line.arrivals.due().min(self.decoder.poll_timeout());
        self.due = sending.min(receiving).min(self.rebuilding.due());
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

    /// A frame reaches the decoder.
    #[inline]
    fn receive(&mut self, now: Instant, arrival: Arrival<P>) {
        let Arrival { tag, frame, is_intact } = arrival;
        match tag.part {
            Part::Data(stamp) => self.receive_data(now, tag.entered, stamp, frame, is_intact),
            Part::Parity(stamp) if is_intact => self.receive_parity(now, &stamp, kept_bytes(&frame)),
            Part::Untagged if is_intact => self.deliver(now, tag.entered, frame, false),
            Part::Parity(_) | Part::Untagged => {}
        }
    }

    #[inline]
    fn receive_data(
        &mut self,
        now: Instant,
        entered: Instant,
        stamp: DataStamp,
        coded: Frame<P>,
        is_intact: bool,
    ) {
        let frame = Frame { octets: coded.octets - HEADER_OCTETS, ..coded };
        let stamped = Stamped { stamp, entered, frame };
        if !is_intact {
            self.lost.push_corrupted(stamped);
            return;
        }
        let bytes = kept_bytes(&frame);
        if self.decoder.admit(stamp.block, bytes) == Admission::Stale {
            return;
        }
        self.obey(now);
        match self.decoder.handle_data(now, stamp, bytes) {
            DataVerdict::Forward => self.deliver(now, entered, frame, false),
            DataVerdict::Hold => self.held.push(stamped),
            DataVerdict::Drop => {}
        }
        self.obey(now);
    }

    #[inline]
    fn receive_parity(&mut self, now: Instant, stamp: &ParityStamp, bytes: Bytes) {
        if self.decoder.admit(stamp.block, bytes) == Admission::Open {
            self.obey(now);
            self.decoder.handle_parity(now, stamp, bytes);
            self.obey(now);
        }
    }

    fn give_up(&mut self, now: Instant) {
        self.decoder.handle_timeout(now);
        self.obey(now);
    }

    /// Does what the decoder wants.
    #[inline]
    fn obey(&mut self, now: Instant) {
        while let Some(output) = self.decoder.poll() {
            if let Output::Release { stamp } = output {
                self.release(now, stamp);
            }
        }
    }

    /// A frame that was held or rebuilt leaves.
    fn release(&mut self, now: Instant, stamp: DataStamp) {
        if self.held.front().is_some_and(|held| held.stamp == stamp) {
            let held = self.held.pop().expect("the front was just seen");
            self.deliver(now, held.entered, held.frame, false);
        } else {
            let decoder = &self.decoder;
            let found = self.lost.find(stamp, |stamp| decoder.has_left(stamp.block));
            let Stamped { entered, frame, .. } = found.expect("only lost frames are rebuilt");
            self.deliver(now, entered, frame, true);
        }
    }

    /// A frame leaves the far switch, a rebuilt one after its arithmetic. In order, none passes it.
    #[inline]
    fn deliver(&mut self, now: Instant, entered: Instant, frame: Frame<P>, is_recovered: bool) {
        let mut leaves = if is_recovered { now + self.decode } else { now };
        if self.decoder.config().release == Release::InOrder {
            leaves = leaves.max(self.delivered.last_due());
            self.delivered.push(leaves, frame);
        } else if is_recovered && leaves > now {
            self.rebuilding.push(leaves, frame);
        } else {
            self.delivered.push(leaves, frame);
        }
        self.latency.note(leaves, entered, is_recovered);
    }
}

/// Bytes for which the decoder needs room.
#[inline]
fn kept_bytes<P>(frame: &Frame<P>) -> Bytes {
    Bytes(u64::from(frame.frame_bytes_with_fcs() - FCS_OCTETS))
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
                self.lost.push_dropped(Stamped { stamp, entered: now, frame });
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
                self.receive(at, arrival);
            }
            while let Some((at, frame)) = self.rebuilding.pop_due(due) {
                self.delivered.push(at, frame);
            }
            if self.decoder.poll_timeout() <= due {
                self.give_up(due);
            }
            self.schedule();
        }
    }

    #[inline]
    fn delivered(&mut self) -> &mut Pipe<Frame<P>> {
        &mut self.delivered
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
        (parity, self.decoder.kept().0)
    }
}

//! A link with a block code in its forward direction, whatever the code's two ends do.
//!
//! ```text
//!  offer -> [meter] -> [encoder] -> [queue] == wire ==> [decoder] -> delivered
//!                          parity ----^
//! ```
//!
//! The engine of `lossylink-core` ([`fec`](super::fec)) and the published switch model
//! ([`fec_model`](super::fec_model)) are two coders between the same meter, queue and wire. The
//! encoder stands before the egress queue, as published, so parity competes with data for its room
//! (FEC-21). Only the forward direction is protected.

mod backward;
mod exit;
mod latency;
mod line;
mod port;

pub use latency::Latency;

pub(in crate::net) use exit::Exit;
pub(in crate::net) use line::{Arrival, Label};

use super::linkguardian::timing::queue_limits;
use super::meter::{Meter, MeterOptions};
use super::queue::QueueLimits;
use super::{Ecn, Frame, FrameQueue, LineRate, ProtectedLink, Traffic, Wire};
use crate::ConfigError;
use crate::config::SwitchProfile;
use crate::kernel::Pipe;
use backward::Backward;
use line::ForwardLine;
use lossylink_core::engine::fec::Code;
use lossylink_core::loss::LossProcess;
use lossylink_core::time::{Duration, Instant};
use lossylink_core::wire::fec::FecHeader;
use port::Port;

/// Octets that the header adds to a data frame; Wharf's is as long.
pub(in crate::net) const HEADER_OCTETS: u32 = FecHeader::DATA_OVERHEAD.0 as u32;
/// Octets on the wire of a full-size frame: 1500 B of payload.
pub(in crate::net) const FULL_FRAME_OCTETS: u32 = 1538;

/// Another code from some time on (FEC-8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeChange {
    /// From when on.
    pub at: Instant,
    /// The new code.
    pub code: Code,
}

/// What is chosen about the way through the sending switch.
#[derive(Clone, Copy, Debug, Default)]
pub struct EgressOptions {
    /// A meter in front of the encoder (FEC-22).
    pub meter: Option<MeterOptions>,
    /// Whether data pass parity in the queue (FEC-23).
    pub data_first: bool,
    /// Another code from some time on.
    pub change: Option<CodeChange>,
}

/// How long the data frames of a block occupy the line when all are of full size.
pub(in crate::net) fn block_time(code: Code, rate: LineRate) -> Duration {
    rate.serialisation(FULL_FRAME_OCTETS + HEADER_OCTETS) * u64::from(code.size())
}

/// Refuses a flush timer in which no block of `code` can fill.
pub(in crate::net) fn check_flush(code: Code, flush: Duration, rate: LineRate) -> Result<(), ConfigError> {
    let block = block_time(code, rate);
    if block <= flush {
        return Ok(());
    }
    Err(ConfigError(format!(
        "a block of {} full-size frames lasts {block} at {}, longer than the flush timer of {flush} allows; \
         use smaller blocks or a longer timer",
        code.size(),
        rate.bit_rate(),
    )))
}

/// The two ends of a block code.
///
/// The link asks it to [`encode`](Self::encode) each frame and to [`flush`](Self::flush) when
/// [`flush_due`](Self::flush_due) has come, and after either takes parity until there is none. It
/// hands over every arrival, intact or not, and calls [`advance`](Self::advance) when
/// [`due`](Self::due) has come.
pub(in crate::net) trait Coder<P: Copy + Default> {
    /// What travels with a frame from one end to the other.
    type Tag: Label;

    /// A frame leaves: what travels with it, and the octets that it grows by.
    fn encode(&mut self, now: Instant, frame: &Frame<P>) -> (Self::Tag, u32);

    /// The next parity frame to be sent, and its octets on the wire.
    fn poll_parity(&mut self, now: Instant) -> Option<(Self::Tag, u32)>;

    /// When the open block is closed, full or not.
    fn flush_due(&self) -> Instant;

    /// Closes the open block if its time has come.
    fn flush(&mut self, now: Instant);

    /// Changes the code at the next block boundary (FEC-8).
    fn set_code(&mut self, code: Code);

    /// The queue had no room for a data frame, here as it came.
    fn note_dropped(&mut self, now: Instant, tag: Self::Tag, frame: Frame<P>);

    /// A frame reaches the far end.
    fn receive(&mut self, now: Instant, arrival: Arrival<P, Self::Tag>, exit: &mut Exit<P>);

    /// When the far end next does something by itself.
    fn due(&self) -> Instant;

    /// Does what is due at the far end.
    fn advance(&mut self, now: Instant, exit: &mut Exit<P>);

    /// Bytes kept at the two ends.
    fn buffer_bytes(&self) -> (u64, u64);
}

/// Frames that did not get beyond the sending switch, and those that it marked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EgressCounters {
    /// Frames dropped by the meter.
    pub meter_dropped: u64,
    /// Frames marked by the meter.
    pub meter_marked: u64,
    /// Data frames for which the queue had no room.
    pub data_dropped: u64,
    /// Parity frames for which the queue had no room.
    pub parity_dropped: u64,
}

/// A link protected in its forward direction by the code `C`.
#[derive(Clone, Debug)]
#[expect(private_bounds, reason = "the two codes are what others see")]
pub struct CodedLink<P: Copy + Default, C: Coder<P>> {
    /// When the link next does something by itself.
    due: Instant,
    change: Option<CodeChange>,
    meter: Option<Meter>,
    pub(in crate::net) coder: C,
    port: Port<P, C::Tag>,
    line: ForwardLine<P, C::Tag>,
    exit: Exit<P>,
    backward: Backward<P>,
    data_dropped: u64,
    parity_dropped: u64,
}

#[expect(private_bounds, reason = "the two codes are what others see")]
impl<P: Copy + Default, C: Coder<P>> CodedLink<P, C> {
    /// A link at `rate` between two switches of `profile`, with these losses in its directions.
    pub(in crate::net) fn with_coder(
        profile: &SwitchProfile,
        rate: LineRate,
        propagation: Duration,
        egress: &EgressOptions,
        (forward, reverse): (LossProcess, LossProcess),
        coder: C,
    ) -> Self {
        let flight = Duration::from_ns_f64(profile.data_pipeline_ns) + propagation;
        let limits = QueueLimits { header_bytes: 0, ..queue_limits(profile) };
        Self {
            due: Instant::NEVER,
            change: egress.change,
            meter: egress.meter.map(Meter::new),
            coder,
            port: Port::new(rate, limits, egress.data_first),
            line: ForwardLine { wire: Wire::new(forward), flight, arrivals: Pipe::new() },
            exit: Exit::default(),
            backward: Backward::new(rate, flight, Wire::new(reverse)),
            data_dropped: 0,
            parity_dropped: 0,
        }
    }

    /// Counts of what happened before the wire.
    pub fn egress_counters(&self) -> EgressCounters {
        EgressCounters {
            meter_dropped: self.meter.as_ref().map_or(0, Meter::dropped),
            meter_marked: self.meter.as_ref().map_or(0, Meter::marked),
            data_dropped: self.data_dropped,
            parity_dropped: self.parity_dropped,
        }
    }

    /// Latencies from the encoder's entry to the decoder's exit.
    pub const fn latency(&self) -> &Latency {
        &self.exit.latency
    }

    /// The reverse direction's traffic.
    pub const fn reverse_traffic(&self) -> &Traffic {
        self.backward.traffic()
    }

    /// Replaces the forward loss process.
    pub fn set_loss(&mut self, loss: LossProcess) {
        self.line.wire.set_loss(loss);
    }

    /// Changes the code at the next block boundary (FEC-8).
    pub fn set_code(&mut self, code: Code) {
        self.coder.set_code(code);
    }

    #[inline]
    fn schedule(&mut self) {
        let sending = self.port.deadline().min(self.coder.flush_due());
        self.due = sending.min(self.line.arrivals.due()).min(self.coder.due());
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
        while let Some((tag, octets)) = self.coder.poll_parity(now) {
            self.charge(now, octets);
            let frame = Frame { octets, ecn: Ecn::NotCapable, payload: P::default() };
            let accepted = self.port.offer_parity(now, tag, frame, &mut self.line);
            self.parity_dropped += u64::from(!accepted);
        }
    }

    fn flush(&mut self, now: Instant) {
        self.coder.flush(now);
        self.send_parity(now);
    }

    /// What is due before a frame that enters now: the flush timer, and a change of code.
    #[inline]
    fn catch_up(&mut self, now: Instant) {
        if self.coder.flush_due() <= now {
            self.flush(now);
        }
        if let Some(change) = self.change.take_if(|change| change.at <= now) {
            self.coder.set_code(change.code);
        }
    }
}

impl<P: Copy + Default, C: Coder<P>> ProtectedLink<P> for CodedLink<P, C> {
    #[inline]
    fn offer(&mut self, now: Instant, mut frame: Frame<P>) {
        self.catch_up(now);
        let Some(ecn) = self.admit(now, &frame) else { return };
        frame.ecn = ecn;
        let (tag, header_octets) = self.coder.encode(now, &frame);
        let coded = Frame { octets: frame.octets + header_octets, ..frame };
        self.charge(now, coded.octets);
        if !self.port.offer(now, tag, coded, &mut self.line) {
            self.data_dropped += 1;
            self.coder.note_dropped(now, tag, frame);
        }
        self.send_parity(now);
        self.schedule();
    }

    fn offer_back(&mut self, now: Instant, frame: Frame<P>) {
        self.backward.offer(now, frame);
    }

    #[inline]
    fn deadline(&self) -> Instant {
        self.due
    }

    #[inline]
    fn advance(&mut self, now: Instant) {
        while self.due <= now {
            let due = self.due;
            if self.coder.flush_due() <= due {
                self.flush(due);
            }
            self.port.serve(due, &mut self.line);
            while let Some((at, arrival)) = self.line.arrivals.pop_due(due) {
                self.coder.receive(at, arrival, &mut self.exit);
            }
            if self.coder.due() <= due {
                self.coder.advance(due, &mut self.exit);
            }
            self.schedule();
        }
    }

    #[inline]
    fn delivered(&mut self) -> &mut Pipe<Frame<P>> {
        &mut self.exit.delivered
    }

    #[inline]
    fn returned(&mut self) -> &mut Pipe<Frame<P>> {
        &mut self.backward.returned
    }

    fn backlog(&self) -> usize {
        self.port.backlog()
    }

    fn waiting_bytes(&self) -> u64 {
        self.port.bytes()
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
        self.coder.buffer_bytes()
    }
}

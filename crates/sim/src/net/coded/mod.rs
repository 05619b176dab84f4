//! A link with a block code in its forward direction, whatever coder stands at its two ends.
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

mod exit;
mod line;
mod port;
pub(in crate::net) mod shown;

pub(in crate::net) use exit::Exit;
pub(in crate::net) use line::{Arrival, Label};

use super::backward::Backward;
use super::meter::{Meter, MeterOptions};
use super::queue::QueueLimits;
use super::report::EgressCounters;
use super::{
    Advice, Blueprint, Ecn, Ends, Figure, Frame, FrameQueue, GivesUp, Latency, LineRate, LineRates,
    ProtectedLink, Report, Tap, Traffic, Wire, queue_limits,
};
use crate::ConfigError;
use crate::config::SwitchProfile;
use crate::kernel::{Pipe, Trains};
use crate::net::Payload;
use line::ForwardLine;
use lossylink_core::engine::fec::Code;
use lossylink_core::engine::fec::report::{DecoderState, EncoderState, GROUP};
use lossylink_core::engine::report::{Counter, Group};
use lossylink_core::loss::LossProcess;
use lossylink_core::protection::{CodeChange as Chosen, Meter as Choice};
use lossylink_core::time::{Duration, Instant};
use lossylink_core::wire::fec::FecHeader;
use port::Port;

/// Octets that the header adds to a data frame; Wharf's header is as long.
pub(in crate::net) const HEADER_OCTETS: u32 = FecHeader::DATA_OVERHEAD.0 as u32;

/// A change to another code while the link runs (FEC-8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeChange {
    /// From when on.
    pub at: Instant,
    /// The new code.
    pub code: Code,
}

/// The choices about the way through the sending switch.
#[derive(Clone, Copy, Debug, Default)]
pub struct EgressOptions {
    /// A meter in front of the encoder (FEC-22).
    pub meter: Option<MeterOptions>,
    /// Whether data pass parity in the queue (FEC-23).
    pub data_first: bool,
    /// A change to another code while the link runs.
    pub change: Option<CodeChange>,
}

impl EgressOptions {
    /// Returns the options that follow from a user's choices on the link of `plan`.
    ///
    /// # Errors
    /// If the code changes by itself on a link whose protection is switched by somebody else.
    pub(in crate::net) fn of(
        plan: &Blueprint,
        meter: Choice,
        data_first: bool,
        change: Option<Chosen>,
    ) -> Result<Self, ConfigError> {
        if plan.is_switched && change.is_some() {
            let words = "a time line switches the code itself; leave its change out";
            return Err(ConfigError(words.into()));
        }
        Ok(Self {
            meter: match meter {
                Choice::Off => None,
                Choice::Police => Some(plan.meter(false)),
                Choice::Mark => Some(plan.meter(true)),
            },
            data_first,
            change: change
                .map(|change| CodeChange { at: Instant::from_ps(change.at_ps), code: change.code() }),
        })
    }
}

/// The line of a link with a block code.
#[derive(Clone, Copy, Debug)]
pub struct CodedLine {
    /// The rate of the line.
    pub rate: LineRate,
    /// Octets of a full frame on the wire, the gap included.
    pub full_octets: u32,
}

impl CodedLine {
    /// Returns how long the data frames of a block occupy the line when all are of full size.
    pub(in crate::net) fn block_time(self, code: Code) -> Duration {
        self.rate.serialisation(self.full_octets + HEADER_OCTETS) * u64::from(code.size())
    }

    /// Refuses a flush timer in which no block of `code` can fill (FEC-7).
    pub(in crate::net) fn check_flush(self, code: Code, flush: Duration) -> Result<(), ConfigError> {
        let block = self.block_time(code);
        if block <= flush {
            return Ok(());
        }
        Err(ConfigError(format!(
            "a block of {} full-size frames lasts {block} at {}, longer than the flush timer of {flush} allows; \
             use smaller blocks or a longer timer",
            code.size(),
            self.rate.bit_rate(),
        )))
    }
}

impl From<&Blueprint> for CodedLine {
    fn from(plan: &Blueprint) -> Self {
        Self { rate: plan.rates.forward, full_octets: plan.frame_octets }
    }
}

/// Returns a code of equal size without parity: its encoder tags no frame (FEC-1).
fn without_parity(code: Code) -> Code {
    Code::new(u32::from(code.size()), 0).expect("the size is that of a code")
}

/// The two ends of a block code.
///
/// The link asks it to [`encode`](Self::encode) each frame and to [`flush`](Self::flush) when
/// [`poll_flush`](Self::poll_flush) has come, and after either takes parity until there is none. It
/// hands over every arrival, intact or not, and calls [`advance`](Self::advance) when
/// [`poll_timeout`](Self::poll_timeout) has come.
pub(in crate::net) trait Coder<P: Payload> {
    /// The label that travels with a frame from one end to the other.
    type Tag: Label;

    /// Encodes a frame that leaves: returns its tag, and the octets by which the frame grows.
    fn encode(&mut self, now: Instant, frame: &Frame<P>) -> (Self::Tag, u32);

    /// Returns the next parity frame to be sent, and its octets on the wire.
    fn poll_parity(&mut self, now: Instant) -> Option<(Self::Tag, u32)>;

    /// Returns when the open block is closed, full or not.
    fn poll_flush(&self) -> Instant;

    /// Closes the open block if its time has come.
    fn flush(&mut self, now: Instant);

    /// Changes the code at the next block boundary (FEC-8).
    fn set_code(&mut self, code: Code);

    /// Returns the code of the open block, or of the next block when none is open.
    fn code(&self) -> Code;

    /// Notes that the queue had no room for a data frame; `frame` is the frame as it came.
    fn note_dropped(&mut self, now: Instant, tag: Self::Tag, frame: Frame<P>);

    /// Receives a frame at the far end.
    fn receive(&mut self, now: Instant, arrival: Arrival<P, Self::Tag>, exit: &mut Exit<P>);

    /// Returns when the far end next has an event of its own.
    fn poll_timeout(&self) -> Instant;

    /// Runs the events that are due at the far end.
    fn advance(&mut self, now: Instant, exit: &mut Exit<P>);

    /// Returns the bytes kept at the two ends.
    fn buffer_bytes(&self) -> (u64, u64);

    /// Adds the counts of the two ends to the report of their link.
    fn describe(&self, report: &mut Report);

    /// Returns the state of the two ends; `traffic` counts the frames that the wire has carried.
    fn state(&self, traffic: &Traffic) -> (EncoderState, DecoderState);
}

/// A link protected in its forward direction by the code `C`.
#[derive(Clone, Debug)]
#[expect(private_bounds, reason = "the two codes are what others see")]
pub struct CodedLink<P: Payload, C: Coder<P>> {
    /// The time at which the link next has an event of its own.
    due: Instant,
    change: Option<CodeChange>,
    /// The code in force while the protection is on.
    code: Code,
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
impl<P: Payload, C: Coder<P>> CodedLink<P, C> {
    /// Builds a link at `rates` between two switches of `profile`, with these losses in its directions.
    pub(in crate::net) fn with_coder(
        profile: &SwitchProfile,
        rates: LineRates,
        propagation: Duration,
        (code, egress): (Code, &EgressOptions),
        (forward, reverse): (LossProcess, LossProcess),
        coder: C,
    ) -> Self {
        let flight = Duration::from_ns_f64(profile.data_pipeline_ns) + propagation;
        // A frame comes to this queue with the code's header on it, so the queue adds no header to the frame's room.
        let limits = QueueLimits { header_bytes: 0, ..queue_limits(profile) };
        Self {
            due: Instant::NEVER,
            change: egress.change,
            code,
            meter: egress.meter.map(Meter::new),
            coder,
            port: Port::new(rates.forward, limits, egress.data_first),
            line: ForwardLine {
                wire: Wire::new(forward),
                flight,
                arrivals: Pipe::new(),
                tap: Tap::default(),
            },
            exit: Exit::default(),
            backward: Backward::new(rates.back, flight, Wire::new(reverse)),
            data_dropped: 0,
            parity_dropped: 0,
        }
    }

    /// Returns the counts of frames that did not get beyond the sending switch.
    pub fn egress_counters(&self) -> EgressCounters {
        EgressCounters {
            meter_dropped: self.meter.as_ref().map_or(0, Meter::dropped),
            meter_marked: self.meter.as_ref().map_or(0, Meter::marked),
            data_dropped: self.data_dropped,
            parity_dropped: self.parity_dropped,
        }
    }

    /// Changes the code at the next block boundary (FEC-8).
    pub fn set_code(&mut self, code: Code) {
        self.coder.set_code(code);
    }

    #[inline]
    fn schedule(&mut self) {
        let sending = self.port.poll_timeout().min(self.coder.poll_flush());
        self.due = sending.min(self.line.arrivals.poll_timeout()).min(self.coder.poll_timeout());
    }

    /// Returns the meter's decision on a frame (FEC-22).
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

    /// Puts the parity of a block that ended into the queue (FEC-6, FEC-21).
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

    /// Runs the events that are due before a frame that enters now: the flush timer, and a change of code.
    #[inline]
    fn catch_up(&mut self, now: Instant) {
        if self.coder.poll_flush() <= now {
            self.flush(now);
        }
        if let Some(change) = self.change.take_if(|change| change.at <= now) {
            self.coder.set_code(change.code);
        }
    }

    /// Runs the first event that is due at `now`. The sending end sends a frame or ends a block; the receiving end takes in a
    /// frame or lets frames go that waited.
    #[inline]
    fn step(&mut self, now: Instant) {
        let Self { coder, line, exit, port, .. } = self;
        if port.poll_timeout() <= now {
            port.serve(now, line);
        } else if coder.poll_flush() <= now {
            self.flush(now);
        } else if let Some((at, arrival)) = line.arrivals.pop_due(now) {
            coder.receive(at, arrival, exit);
        } else {
            coder.advance(now, exit);
        }
    }

    /// Takes a frame in at the sending end.
    #[inline]
    fn enter(&mut self, now: Instant, mut frame: Frame<P>) {
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
    }
}

impl<P: Payload, C: Coder<P>> ProtectedLink<P> for CodedLink<P, C> {
    #[inline]
    fn offer(&mut self, now: Instant, frame: Frame<P>) {
        self.enter(now, frame);
        self.schedule();
    }

    fn offer_back(&mut self, now: Instant, frame: Frame<P>) {
        self.backward.offer(now, frame);
    }

    #[inline]
    fn poll_timeout(&self) -> Instant {
        self.due
    }

    #[inline]
    fn advance(&mut self, until: Instant) -> Instant {
        let mut latest = Instant::ZERO;
        while self.due <= until && !self.due.is_never() {
            latest = self.due;
            self.step(latest);
            self.schedule();
        }
        latest
    }

    #[inline]
    fn delivered(&mut self) -> &mut Trains<Frame<P>> {
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

    fn reverse_traffic(&self) -> &Traffic {
        self.backward.traffic()
    }

    fn queue(&self) -> &FrameQueue<P> {
        self.port.queue()
    }

    fn queue_mut(&mut self) -> &mut FrameQueue<P> {
        self.port.queue_mut()
    }

    fn set_loss(&mut self, loss: LossProcess) {
        self.line.wire.set_loss(loss);
    }

    fn losses_mut(&mut self) -> (&mut LossProcess, &mut LossProcess) {
        (self.line.wire.loss_mut(), self.backward.wire.loss_mut())
    }

    fn gives_up(&self) -> GivesUp {
        let (size, rows) = (u32::from(self.code.size()), u32::from(self.code.rows()));
        if rows == 0 { GivesUp::default() } else { GivesUp::Block { frames: size + rows, spare: rows } }
    }

    fn set_tap(&mut self, tap: Tap<P>) {
        self.line.tap = tap.clone();
        self.backward.tap = tap;
    }

    /// Brings the code back at the next block boundary (FEC-8).
    fn protect(&mut self, _now: Instant, _advice: Advice) {
        self.coder.set_code(self.code);
    }

    /// Makes frames go out as they come, from the next block boundary on (FEC-1, FEC-8).
    fn leave(&mut self, _now: Instant) -> bool {
        self.coder.set_code(without_parity(self.code));
        true
    }

    fn buffer_bytes(&mut self, _now: Instant) -> (u64, u64) {
        self.coder.buffer_bytes()
    }

    /// Returns the parity frames of a block, which join the queue when the block ends.
    fn burst_frames(&self) -> usize {
        usize::from(self.code.rows())
    }

    fn latency(&self) -> Option<&Latency> {
        Some(&self.exit.latency)
    }

    fn report(&mut self, _now: Instant) -> Report {
        let egress = self.egress_counters();
        let (intact, recovered) = (self.exit.latency.intact(), self.exit.latency.recovered());
        let figures = vec![
            Figure::setting("fec_k", self.code.size().into(), "data frames of a block (FEC-1)"),
            Figure::setting("fec_h", self.code.rows().into(), "parity frames of a block (FEC-1)"),
            Figure::measure("latency_us_intact_mean", intact.mean_us(), "across the link, intact frames"),
            Figure::measure("latency_us_recovered_mean", recovered.mean_us(), "the same, rebuilt frames"),
            Figure::measure("latency_us_recovered_max", recovered.max_us(), "the same, longest"),
            Figure::count("queue_drops_data", egress.data_dropped, "data frames that found the queue full"),
            Figure::count(
                "queue_drops_parity",
                egress.parity_dropped,
                "parity frames that found the queue full",
            ),
            Figure::count("meter_drops", egress.meter_dropped, "frames that the meter dropped (FEC-22)"),
        ];
        let dropped_within = egress.data_dropped;
        let mut report = Report { egress, dropped_within, figures, ..Report::default() };
        self.coder.describe(&mut report);
        report
    }

    fn state(&mut self, _now: Instant) -> Ends {
        let (encoder, decoder) = self.coder.state(self.line.wire.traffic());
        let metered = self.meter.iter().flat_map(|meter| {
            [
                Counter::new("meter_dropped", "Frames that the meter dropped.", meter.dropped()),
                Counter::new("meter_marked", "Frames that the meter marked.", meter.marked()),
            ]
        });
        let group = |counters| vec![Group { name: GROUP, counters }];
        Ends {
            is_on: self.coder.code().rows() > 0,
            near: group(encoder.counters().chain(metered).collect()),
            far: group(decoder.counters().collect()),
            in_flight: Some(self.line.whole_in_flight()),
            reverse: *self.backward.traffic(),
        }
    }
}

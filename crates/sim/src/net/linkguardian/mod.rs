//! A link protected by LinkGuardian: two switches that drive the engine of `lossylink-core`, event by event.
//!
//! Delays, buffers and thresholds come from the switch profile; decisions come from the engine.
//!
//! ```text
//!  offer --> [SendingSwitch] == ForwardWire ===> [ReceivingSwitch] --> delivered
//!               TxBuffer                            RxBuffer
//!  returned <------------------ BackwardWire === [ReturnPort] <-- offer_back
//! ```

mod build;
mod circulating;
#[cfg(feature = "fast")]
pub mod fast;
mod frames;
mod receiving_switch;
mod recirculation;
mod reporting;
mod retransmission_delay;
mod return_port;
mod rx_buffer;
mod sending_switch;
mod shown;
mod switching;
pub mod timing;
mod tx_buffer;
mod urgent;
mod wires;

pub use build::{advised_control_copies, advised_copies, gaps};
pub use retransmission_delay::RetransmissionDelay;
pub use timing::{HEADER_OCTETS, Timing};

use super::{
    Advice, Cells, Ends, Frame, FrameQueue, GivesUp, Handover, LineRates, ProtectedLink, Report, Tap,
    Traffic, Wire, queue_limits,
};
use crate::config::SwitchProfile;
use crate::kernel::{Pipe, Trains};
use crate::net::Payload;
use crate::net::report::EgressCounters;
use circulating::Circulating;
use frames::ControlFrame;
use lossylink_core::engine::linkguardian::{
    Backpressure, Position, Receiver, ReceiverCounters, Sender, SenderConfig, SenderCounters,
};
use lossylink_core::loss::LossProcess;
use lossylink_core::rng::{RngCore, Stream};
use lossylink_core::time::{Duration, Instant};
use receiving_switch::ReceivingSwitch;
use reporting::Seen;
use return_port::ReturnPort;
use rx_buffer::RxBuffer;
use sending_switch::SendingSwitch;
use tx_buffer::TxBuffer;
use wires::{BackwardWire, ForwardWire};

/// The operator's choices about the protection.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Parameters of the sender: copies, dummies, hole cap.
    pub sender: SenderConfig,
    /// Copies of each loss notification, pause and resume, at least 1 (LG-46).
    pub control_copies: u8,
    /// Whether order is kept.
    pub ordered: bool,
    /// Whether the receiver pauses the sender (ordered mode only).
    pub backpressure: bool,
    /// Whether further copies of a retransmission are dropped (non-blocking mode only).
    pub deduplicate: bool,
}

/// Counters of a protected link.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counters {
    /// Counters of the sending engine.
    pub sender: SenderCounters,
    /// Counters of the receiving engine.
    pub receiver: ReceiverCounters,
    /// Positions given up by the ordered side.
    pub timeouts: u64,
    /// Pause frames sent.
    pub pauses: u64,
    /// Pauses that ran out without a resume.
    pub expired_pauses: u64,
    /// Copies that were not kept because the Tx buffer was full.
    pub tx_buffer_dropped: u64,
    /// Frames dropped because the reorder buffer was full.
    pub rx_buffer_dropped: u64,
    /// Frames dropped because the protection started over while they waited (LG-30).
    pub forgotten: u64,
    /// Time for which the sender's normal queue was paused.
    pub paused: Duration,
    /// The most bytes that were ever in the Tx buffer.
    pub tx_high_water_bytes: u64,
    /// The most bytes that were ever in the Rx buffer.
    pub rx_high_water_bytes: u64,
}

/// A link protected in its forward direction.
///
/// At equal times, a control frame takes effect at the sending switch first. Then follow an event of the sending switch, an arrival
/// at the receiving switch, and an event of the receiving switch. A frame that begins to leave at the instant at which a
/// retransmission becomes ready passes the retransmission.
#[derive(Clone, Debug)]
pub struct LinkGuardianLink<P: Payload> {
    sending: SendingSwitch<P>,
    receiving: ReceivingSwitch<P>,
    forward: ForwardWire<P>,
    backward: BackwardWire<P>,
    /// Whether the user chose the number of copies, so that no advice changes it.
    copies_are_chosen: bool,
    /// Whether the user chose the number of copies of control frames.
    control_copies_are_chosen: bool,
    /// The longest time from the last copy of a frame to the last event that the frame causes.
    lifetime: Duration,
}

impl<P: Payload> LinkGuardianLink<P> {
    /// Builds a link at `rates` between two switches of `profile`, with these losses in its directions. `phases` draws the phases
    /// of the circulating packets.
    pub fn new(
        profile: &SwitchProfile,
        rates: impl Into<LineRates>,
        propagation: Duration,
        options: &Options,
        losses: (LossProcess, LossProcess),
        phases: &mut Stream,
    ) -> Self {
        let timing = Timing::new(profile, rates, propagation);
        let wait = timing.ack_no_timeout(profile, options.control_copies);
        let mut circulating = || {
            let cycle = timing.cycle.as_ps();
            let phase = if cycle == 0 { 0 } else { phases.next_u64() % cycle };
            Circulating::new(timing.cycle, Duration::from_ps(phase))
        };
        let cells = Cells::new(profile.buffer_cell_bytes);
        let engine = if options.ordered {
            Receiver::ordered(wait)
        } else {
            Receiver::non_blocking(options.deduplicate)
        };
        let backpressure = (options.ordered && options.backpressure)
            .then(|| Backpressure::new(profile.backpressure(timing.rate.bit_rate())));
        let sending = SendingSwitch::new(
            timing,
            Sender::new(options.sender),
            FrameQueue::new(queue_limits(profile)),
            TxBuffer::new(&timing, profile.recirculates, cells, profile.tx_buffer_max_bytes),
            circulating(),
            options.ordered,
        );
        let receiving = ReceivingSwitch::new(
            timing,
            engine,
            RxBuffer::new(&timing, profile.recirculates, cells, profile.rx_buffer_max_bytes),
            backpressure,
            ReturnPort::new(timing, circulating(), options.control_copies),
        );
        let (forward, reverse) = losses;
        Self {
            sending,
            receiving,
            forward: ForwardWire::new(Wire::new(forward)),
            backward: BackwardWire::new(Wire::new(reverse)),
            copies_are_chosen: true,
            control_copies_are_chosen: true,
            // The wait of the ordered side is doubled, to cover the ways before and after the wait.
            lifetime: wait.period * (u64::from(wait.reload) + 1) * 2 + propagation * 4,
        }
    }

    /// Returns the counters up to `now`.
    pub fn counters(&mut self, now: Instant) -> Counters {
        self.sending.look_before(now);
        let backpressure = self.receiving.backpressure.as_ref();
        Counters {
            sender: *self.sending.engine.counters(),
            receiver: self.receiving.engine.counters(),
            timeouts: self.receiving.engine.as_ordered().map_or(0, |side| side.skipped()),
            pauses: backpressure.map_or(0, Backpressure::pauses),
            expired_pauses: self.sending.expired_pauses(),
            tx_buffer_dropped: self.sending.copies.dropped(),
            rx_buffer_dropped: self.receiving.buffer.dropped(),
            forgotten: self.receiving.forgotten,
            paused: self.sending.paused(now),
            tx_high_water_bytes: self.sending.copies.high_water_bytes(),
            rx_high_water_bytes: self.receiving.buffer.high_water_bytes(),
        }
    }

    /// Returns the times from the detection of a loss to the first copy.
    pub const fn retransmission_delay(&self) -> &RetransmissionDelay {
        &self.receiving.delays
    }

    /// Replaces the reverse loss process.
    pub fn set_reverse_loss(&mut self, loss: LossProcess) {
        self.backward.wire.set_loss(loss);
    }

    /// Returns the position that the next data frame will take.
    pub const fn next_position(&self) -> Position {
        self.sending.engine.next()
    }

    /// Returns how many copies of sent frames are kept at `now`.
    pub fn copies_held(&mut self, now: Instant) -> usize {
        self.sending.look_before(now);
        self.sending.copies.len()
    }

    /// Starts both ends over at `position`, as the control plane does when it switches protection on while traffic runs (LG-30).
    ///
    /// `position` lies at most a window ahead of [`LinkGuardianLink::next_position`], so that frames in flight are recognised as
    /// stale.
    pub fn synchronise(&mut self, now: Instant, position: Position) {
        self.sending.synchronise(now, position);
        self.receiving.synchronise(now, position);
    }

    /// Returns the state of both ends at `now`, for a report.
    fn seen(&mut self, now: Instant) -> Seen<'_> {
        let counters = self.counters(now);
        let tx_bytes = self.sending.tx_buffer_bytes(now);
        let rx_bytes = self.receiving.buffer.depth_bytes(now);
        let register = self.receiving.back.register(now);
        Seen {
            counters,
            sender: &self.sending.engine,
            receiver: &self.receiving.engine,
            register,
            backpressure: self.receiving.backpressure.as_ref(),
            delays: &self.receiving.delays,
            control_copies: self.receiving.back.control_copies,
            tx_copies: self.sending.copies.len() as u64,
            tx_bytes,
            rx_bytes,
            is_paused: self.sending.is_paused(),
            overrun: self.receiving.overrun,
            in_flight: (self.forward.arrivals.len() + self.forward.copies.len()) as u64,
        }
    }

    /// Runs the first event that is due at `now`.
    fn step(&mut self, now: Instant) {
        self.sending.look_before(now);
        let Self { sending, receiving, forward, backward, .. } = self;
        if let Some(frame) = backward.poll(now) {
            match frame {
                ControlFrame::Ack(leading) => sending.handle_ack(now, leading),
                ControlFrame::Notification(notification) => sending.handle_notification(now, &notification),
                ControlFrame::Pause(request) => sending.handle_pause(now, request),
            }
        } else if sending.poll_timeout() <= now {
            sending.step(now, forward);
        } else if let Some((_, arrival)) = forward.arrivals.pop_due(now) {
            receiving.receive(now, arrival);
        } else if let Some((_, copy)) = forward.copies.pop_due(now) {
            receiving.receive_copy(now, copy);
        } else {
            receiving.step(now, backward);
        }
    }
}

impl<P: Payload> ProtectedLink<P> for LinkGuardianLink<P> {
    fn offer(&mut self, now: Instant, frame: Frame<P>) {
        self.sending.offer(now, frame, &mut self.forward);
    }

    fn offer_back(&mut self, now: Instant, frame: Frame<P>) {
        self.receiving.offer_back(now, frame, &mut self.backward);
    }

    fn poll_timeout(&self) -> Instant {
        self.backward
            .poll_timeout()
            .min(self.sending.poll_timeout())
            .min(self.forward.arrivals.poll_timeout())
            .min(self.forward.copies.poll_timeout())
            .min(self.receiving.poll_timeout())
    }

    fn advance(&mut self, until: Instant) -> Instant {
        let mut latest = Instant::ZERO;
        loop {
            let now = self.poll_timeout();
            if now > until || now.is_never() {
                return latest;
            }
            self.step(now);
            latest = now;
        }
    }

    fn delivered(&mut self) -> &mut Trains<Frame<P>> {
        &mut self.receiving.delivered
    }

    fn returned(&mut self) -> &mut Pipe<Frame<P>> {
        &mut self.backward.returned
    }

    fn traffic(&self) -> &Traffic {
        self.forward.wire.traffic()
    }

    fn reverse_traffic(&self) -> &Traffic {
        self.backward.wire.traffic()
    }

    fn queue(&self) -> &FrameQueue<P> {
        &self.sending.normal
    }

    fn queue_mut(&mut self) -> &mut FrameQueue<P> {
        &mut self.sending.normal
    }

    fn set_loss(&mut self, loss: LossProcess) {
        self.forward.wire.set_loss(loss);
    }

    fn losses_mut(&mut self) -> (&mut LossProcess, &mut LossProcess) {
        (self.forward.wire.loss_mut(), self.backward.wire.loss_mut())
    }

    fn gives_up(&self) -> GivesUp {
        GivesUp::Frames { lifetime: self.lifetime, together: 0 }
    }

    fn set_tap(&mut self, tap: Tap<P>) {
        self.sending.tap = tap.clone();
        self.receiving.back.tap = tap;
    }

    fn protect(&mut self, now: Instant, advice: Advice) {
        self.stay(now, advice);
    }

    fn leave(&mut self, now: Instant) -> bool {
        self.leave_when_drained(now)
    }

    fn hand_over(&self) -> Option<Handover<P>> {
        Some(self.handover())
    }

    fn take_over(&mut self, _now: Instant, from: Handover<P>) {
        self.take(from);
    }

    fn buffer_bytes(&mut self, now: Instant) -> (u64, u64) {
        (self.sending.tx_buffer_bytes(now), self.receiving.buffer.depth_bytes(now))
    }

    fn take_rx_high_water(&mut self, now: Instant) -> u64 {
        let bytes = self.receiving.buffer.high_water_bytes();
        self.receiving.buffer.reset_high_water(now);
        bytes
    }

    fn report(&mut self, now: Instant) -> Report {
        let egress = EgressCounters::of(&self.sending.normal);
        self.seen(now).report(egress)
    }

    fn state(&mut self, now: Instant) -> Ends {
        let reverse = *self.backward.wire.traffic();
        self.seen(now).ends(now, reverse)
    }
}

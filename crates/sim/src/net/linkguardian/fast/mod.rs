//! The fast twin of [`super::LinkGuardianLink`]: every frame leaves at the same time, and every count is equal.

mod apart;
mod idle_link;
mod members;
mod port_queue;
mod receiving_switch;
mod return_port;
mod rx_buffer;
mod sending_switch;
mod strides;
mod switching;
mod tx_buffer;
mod tx_loop;
mod wires;

pub use idle_link::IdleLink;

use super::circulating::Circulating;
use super::reporting::Seen;
use super::{
    Counters, Options, RetransmissionDelay, Timing, circulating, frames, retransmission_delay, shown, timing,
};
use crate::config::SwitchProfile;
use crate::kernel::{Pipe, Trains};
use crate::net::report::EgressCounters;
use crate::net::source::{NoFrames, Source};
use crate::net::{
    Advice, Blueprint, Cells, Direction, Ends, Frame, FrameQueue, GivesUp, Handover, LineRates, Losses,
    Payload, ProtectedLink, Report, Tap, Traffic, Wire, queue_limits,
};
use lossylink_core::engine::linkguardian::{Backpressure, Position, Receiver, Sender};
use lossylink_core::loss::LossProcess;
use lossylink_core::protection::LinkGuardian;
use lossylink_core::rng::{RngCore, Stream, Streams};
use lossylink_core::time::{Duration, Instant};
use receiving_switch::{ReceivingSwitch, RxBuffer};
use return_port::ReturnPort;
use rx_buffer::{RxLoop, RxMemory};
use sending_switch::SendingSwitch;
use strides::Leads;
use tx_buffer::TxBuffer;
use wires::{BackwardWire, ForwardWire};

/// A link protected in its forward direction.
#[derive(Clone, Debug)]
pub struct FastLinkGuardianLink<P: Payload> {
    sending: SendingSwitch<P>,
    receiving: ReceivingSwitch<P>,
    forward: ForwardWire<P>,
    backward: BackwardWire<P>,
    /// Whether the user chose the number of copies, so that no advice changes it.
    copies_are_chosen: bool,
    /// Whether the user chose the number of copies of control frames, so that no advice changes it.
    control_copies_are_chosen: bool,
    /// The longest time from the last copy of a frame to the last event that the frame causes.
    lifetime: Duration,
    leads: Leads,
    /// No control frame that is unknown now takes effect at the sending switch up to this instant, except after a loss
    /// ([`ForwardWire::poll_told`]).
    heard: Instant,
    /// Whether the sending switch may take in an acknowledgement after the time at which the acknowledgement takes effect.
    acks_may_wait: bool,
}

impl<P: Payload> FastLinkGuardianLink<P> {
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
        let (cells, limit) = (Cells::new(profile.buffer_cell_bytes), profile.rx_buffer_max_bytes);
        let rx_buffer = if profile.recirculates {
            RxBuffer::Loop(RxLoop::new(&timing, cells, limit))
        } else {
            RxBuffer::Memory(RxMemory::new(limit))
        };
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
        let back = ReturnPort::new(timing, circulating(), options.control_copies);
        let (forward, reverse) = losses;
        Self {
            sending,
            receiving: ReceivingSwitch::new(timing, engine, rx_buffer, backpressure, back),
            forward: ForwardWire::new(Wire::new(forward), &timing),
            backward: BackwardWire::new(Wire::new(reverse)),
            copies_are_chosen: true,
            control_copies_are_chosen: true,
            // The wait of the ordered side is doubled, to cover the ways before and after the wait.
            lifetime: wait.period * (u64::from(wait.reload) + 1) * 2 + propagation * 4,
            leads: Leads::of(&timing),
            heard: Instant::ZERO,
            acks_may_wait: false,
        }
    }

    /// Builds the link of `plan` under `chosen`.
    pub fn on(plan: &Blueprint, chosen: &LinkGuardian, losses: Losses, streams: &Streams) -> Self {
        let options = Options::of(plan, chosen);
        let phases = &mut streams.stream("link/0/phases");
        let link = Self::new(&plan.switch, plan.rates, plan.propagation, &options, losses, phases);
        Self {
            copies_are_chosen: chosen.copies.is_some(),
            control_copies_are_chosen: chosen.control_copies.is_some(),
            ..link
        }
    }

    /// Returns the counters up to `now`.
    pub fn counters(&mut self, now: Instant) -> Counters {
        self.sending.catch_up(now);
        let backpressure = self.receiving.backpressure.as_ref();
        Counters {
            sender: *self.sending.engine.counters(),
            receiver: self.receiving.engine.counters(),
            timeouts: self.receiving.engine.as_ordered().map_or(0, |side| side.skipped()),
            pauses: backpressure.map_or(0, Backpressure::pauses),
            expired_pauses: self.sending.expired_pauses(),
            tx_buffer_dropped: self.sending.copies.dropped(),
            rx_buffer_dropped: self.receiving.rx_dropped(),
            forgotten: self.receiving.rx_forgotten(),
            paused: self.sending.paused(now),
            tx_high_water_bytes: self.sending.copies.high_water_bytes(),
            rx_high_water_bytes: self.receiving.rx_high_water_bytes(),
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
        self.sending.copies_held(now)
    }

    /// Starts both ends over at `position`, as the control plane does when it switches protection on while traffic runs (LG-30).
    ///
    /// `position` lies at most a window ahead of [`FastLinkGuardianLink::next_position`], so that frames in flight are recognised
    /// as stale.
    pub fn synchronise(&mut self, now: Instant, position: Position) {
        self.sending.synchronise(now, position);
        self.receiving.synchronise(now, position);
    }

    /// Returns the state of both ends at `now`, for a report.
    fn seen(&mut self, now: Instant) -> Seen<'_> {
        let counters = self.counters(now);
        let tx_bytes = self.sending.tx_buffer_bytes(now);
        let rx_bytes = self.receiving.rx_buffer_bytes(now);
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
}

impl<P: Payload> ProtectedLink<P> for FastLinkGuardianLink<P> {
    #[inline]
    fn offer(&mut self, now: Instant, frame: Frame<P>) {
        self.sending.offer(now, frame, &mut self.forward);
    }

    fn offer_back(&mut self, now: Instant, frame: Frame<P>) {
        self.receiving.offer_back(now, frame, &mut self.backward);
    }

    #[inline]
    fn poll_timeout(&self) -> Instant {
        self.next_near().min(self.next_far())
    }

    fn advance(&mut self, until: Instant) -> Instant {
        self.go_ahead(until, &mut NoFrames, &mut NoFrames)
    }

    fn run(
        &mut self,
        until: Instant,
        forward: &mut impl Source<P>,
        backward: &mut impl Source<P>,
    ) -> Instant {
        self.go_ahead(until, forward, backward)
    }

    #[inline]
    fn poll_apart(&self) -> Option<Instant> {
        self.next_forward()
    }

    fn run_apart(&mut self, direction: Direction, until: Instant, frames: &mut Trains<Frame<P>>) -> Instant {
        match direction {
            Direction::Forward => self.go_forward(until, frames),
            Direction::Backward => self.go_back(until, frames),
        }
    }

    #[inline]
    fn delivered(&mut self) -> &mut Trains<Frame<P>> {
        &mut self.receiving.delivered
    }

    #[inline]
    fn returned(&mut self) -> &mut Pipe<Frame<P>> {
        &mut self.backward.returned
    }

    fn backlog(&self) -> usize {
        self.sending.normal.len()
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
        // A tap sees the frames of both switches in order of time, so neither switch may run ahead of the other.
        self.heard = Instant::ZERO;
        self.leads = if tap.is_open() { Leads::none() } else { Leads::of(&self.sending.timing) };
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
        (self.sending.tx_buffer_bytes(now), self.receiving.rx_buffer_bytes(now))
    }

    fn take_rx_high_water(&mut self, now: Instant) -> u64 {
        let bytes = self.receiving.rx_high_water_bytes();
        self.receiving.reset_rx_high_water(now);
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

#[cfg(test)]
mod tests;

//! A link with link-level retry in its forward direction: two ends that drive the engine of
//! `lossylink-core`.
//!
//! ```text
//!  offer -> [queue] -> [Sender] == frames, INIT ==> [Receiver] -> delivered
//!                  replay buffer <== ACK, NACK, INIT_ECHO ==
//! ```
//!
//! The delays are the switch profile's, as on a plain link. The number is in the preamble, so frames keep the length with which
//! they came. Not modelled: that a control set lengthens the frame in which it stands (the next frame waits for its eight octets
//! instead), and frames that were poisoned upstream.

mod build;
mod label;
mod lag;
mod options;
mod receiving_end;
mod reporting;
mod sending_end;
mod shown;
mod wires;

use crate::net::Payload;
pub use options::LlrOptions;

use super::{
    Advice, Ends, Frame, FrameQueue, GivesUp, LineRates, ProtectedLink, Report, Tap, Traffic, Wire,
    queue_limits,
};
use crate::config::SwitchProfile;
use crate::kernel::{Pipe, Trains};
use lossylink_core::engine::llr::{
    Init, Receiver, ReceiverCounters, ReceiverState, Sender, SenderCounters, SenderState,
};
use lossylink_core::loss::LossProcess;
use lossylink_core::time::{Duration, Instant};
use options::Timing;
use receiving_end::ReceivingEnd;
use sending_end::SendingEnd;
use wires::{ForwardWire, ReturnWire};

/// Counters of a protected link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LlrCounters {
    /// Counters of the sending end.
    pub sender: SenderCounters,
    /// Counters of the receiving end.
    pub receiver: ReceiverCounters,
    /// The most bytes that were ever in the replay buffer.
    pub high_water_bytes: u64,
}

/// A link protected in its forward direction by link-level retry.
#[derive(Clone, Debug)]
pub struct LlrLink<P: Payload> {
    /// The time at which the link next has an event of its own.
    due: Instant,
    timing: Timing,
    sending: SendingEnd<P>,
    receiving: ReceivingEnd<P>,
    forward: ForwardWire<P>,
    back: ReturnWire<P>,
}

impl<P: Payload> LlrLink<P> {
    /// Builds a link at `rates` between two switches of `profile`, with these losses in its directions. Its ends found each other
    /// before the run began, and number frames from `init` on.
    pub fn new(
        profile: &SwitchProfile,
        rates: impl Into<LineRates>,
        propagation: Duration,
        options: &LlrOptions,
        losses: (LossProcess, LossProcess),
        init: Init,
    ) -> Self {
        let engines = (Sender::established(options.sender, init), Receiver::established(init));
        Self::with_engines(profile, rates.into(), propagation, options, losses, engines)
    }

    /// Builds a link as [`new`](Self::new) does, with both ends off until [`start_over`](Self::start_over).
    pub fn unprotected(
        profile: &SwitchProfile,
        rates: impl Into<LineRates>,
        propagation: Duration,
        options: &LlrOptions,
        losses: (LossProcess, LossProcess),
    ) -> Self {
        let engines = (Sender::new(options.sender), Receiver::new());
        Self::with_engines(profile, rates.into(), propagation, options, losses, engines)
    }

    fn with_engines(
        profile: &SwitchProfile,
        rates: LineRates,
        propagation: Duration,
        options: &LlrOptions,
        (forward, reverse): (LossProcess, LossProcess),
        (sender, receiver): (Sender, Receiver),
    ) -> Self {
        let timing = Timing::new(profile, rates, propagation, options);
        Self {
            due: Instant::NEVER,
            timing,
            sending: SendingEnd::new(timing, sender, FrameQueue::new(queue_limits(profile))),
            receiving: ReceivingEnd::new(timing, receiver),
            forward: ForwardWire::new(Wire::new(forward), options.errors_seen),
            back: ReturnWire::new(Wire::new(reverse)),
        }
    }

    /// Returns the counters so far.
    pub const fn counters(&self) -> LlrCounters {
        LlrCounters {
            sender: *self.sending.engine.counters(),
            receiver: *self.receiving.engine.counters(),
            high_water_bytes: self.sending.high_water_bytes(),
        }
    }

    /// Returns the states of the two ends.
    pub const fn states(&self) -> (SenderState, ReceiverState) {
        (self.sending.engine.state(), self.receiving.engine.state())
    }

    /// Returns how many frames are in the replay buffer.
    pub const fn kept(&self) -> usize {
        self.sending.kept()
    }

    /// Returns the mean time from the start of a lost frame's transmission to the start of its replay, on a line that is never
    /// idle and carries frames of `octets` (LLR-20). Divided by the time of a frame, this time is the W of go-back-N.
    pub fn replay_lag(&self, octets: u32) -> Duration {
        self.timing.replay_lag(octets, self.forward.errors_seen)
    }

    /// Replaces the reverse loss process.
    pub fn set_reverse_loss(&mut self, loss: LossProcess) {
        self.back.wire.set_loss(loss);
    }

    /// Starts the protection while traffic runs, or starts it over: INIT is sent until it is echoed, and all outstanding frames
    /// are given up (LLR-15).
    pub fn start_over(&mut self, now: Instant) {
        self.catch_up(now);
        let init = self.sending.engine.next_init();
        self.sending.engine.start(now, init);
        self.serve(now);
    }

    /// Restarts the receiving end, which then knows no number, until the sender gives up and sends INIT (LLR-13, LLR-16).
    pub fn restart_receiver(&mut self, now: Instant) {
        self.catch_up(now);
        self.receiving.engine.stop(now);
        self.schedule();
    }

    /// Runs the events that are due before `now`, at which a frame comes or a call changes the link.
    #[inline]
    fn catch_up(&mut self, now: Instant) {
        if self.due <= now {
            self.advance(now);
        }
    }

    fn serve(&mut self, now: Instant) {
        self.sending.serve(now, &mut self.forward);
        self.schedule();
    }

    #[inline]
    fn schedule(&mut self) {
        let ends = self.sending.poll_timeout().min(self.receiving.poll_timeout());
        let forward = self.forward.frames.poll_timeout().min(self.forward.controls.poll_timeout());
        self.due = ends.min(forward).min(self.back.controls.poll_timeout());
    }

    /// Runs the events that are due at `now`, once round the link.
    #[inline]
    fn advance_at(&mut self, now: Instant) {
        while let Some((_, control)) = self.back.controls.pop_due(now) {
            self.sending.handle_control(now, control);
        }
        self.sending.handle_timeout(now);
        self.sending.serve(now, &mut self.forward);
        while let Some((_, control)) = self.forward.controls.pop_due(now) {
            self.receiving.handle_control(now, control);
        }
        while self.forward.frames.poll_timeout() <= now {
            let receiving = &mut self.receiving;
            self.forward.frames.take(|at, arrival| receiving.receive(at, arrival));
        }
        self.receiving.answer(now, &mut self.back);
        self.schedule();
    }
}

impl<P: Payload> ProtectedLink<P> for LlrLink<P> {
    #[inline]
    fn offer(&mut self, now: Instant, frame: Frame<P>) {
        self.catch_up(now);
        self.sending.offer(now, frame, &mut self.forward);
        self.schedule();
    }

    fn offer_back(&mut self, now: Instant, frame: Frame<P>) {
        self.catch_up(now);
        self.receiving.offer_back(now, frame, &mut self.back);
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
            self.advance_at(self.due);
        }
        latest
    }

    #[inline]
    fn delivered(&mut self) -> &mut Trains<Frame<P>> {
        &mut self.receiving.delivered
    }

    #[inline]
    fn returned(&mut self) -> &mut Pipe<Frame<P>> {
        &mut self.back.returned
    }

    fn backlog(&self) -> usize {
        self.sending.queue.len()
    }

    fn traffic(&self) -> &Traffic {
        self.forward.wire.traffic()
    }

    fn reverse_traffic(&self) -> &Traffic {
        self.back.wire.traffic()
    }

    fn queue(&self) -> &FrameQueue<P> {
        &self.sending.queue
    }

    fn queue_mut(&mut self) -> &mut FrameQueue<P> {
        &mut self.sending.queue
    }

    fn set_loss(&mut self, loss: LossProcess) {
        self.forward.wire.set_loss(loss);
    }

    fn losses_mut(&mut self) -> (&mut LossProcess, &mut LossProcess) {
        (self.forward.wire.loss_mut(), self.back.wire.loss_mut())
    }

    /// Returns the standstill: INITs go on until one is answered, and so do replays without a limit (LLR-13, LLR-15).
    fn standstill(&self) -> Instant {
        self.sending.moved.max(self.receiving.moved).saturating_add(self.timing.standstill)
    }

    fn under_way(&self) -> u64 {
        (self.backlog() + self.kept()) as u64
    }

    /// Returns all outstanding frames together, because a flush gives them up (LLR-16).
    fn gives_up(&self) -> GivesUp {
        let config = self.sending.engine.config();
        let together = u64::from(config.outstanding_frames_max);
        GivesUp::Frames { lifetime: config.replay_timer * 3, together }
    }

    fn set_tap(&mut self, tap: Tap<P>) {
        self.forward.tap = tap.clone();
        self.back.tap = tap;
    }

    /// Starts a link that is off, or has given up, with INIT (LLR-15). A link that is on, or about to leave, stays on. The number
    /// of copies is advice for other protections.
    fn protect(&mut self, now: Instant, _advice: Advice) {
        match self.sending.engine.state() {
            SenderState::Off | SenderState::Flush => self.start_over(now),
            SenderState::Init | SenderState::Advance | SenderState::Replay => {
                self.sending.engine.stay();
                self.serve(now);
            }
        }
    }

    /// Makes new frames wait until no numbered frame is outstanding. Then frames go out as on a link without protection (LLR-18).
    fn leave(&mut self, now: Instant) -> bool {
        self.catch_up(now);
        let has_left = self.sending.engine.leave(now);
        self.serve(now);
        has_left
    }

    fn report(&mut self, _now: Instant) -> Report {
        self.described()
    }

    fn state(&mut self, _now: Instant) -> Ends {
        self.both_ends()
    }

    fn buffer_bytes(&mut self, _now: Instant) -> (u64, u64) {
        (self.sending.engine.outstanding_bytes().0, 0)
    }
}

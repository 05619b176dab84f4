//! The sending end: the queue, the line, and the frames that are kept until they are acknowledged.

use super::label::Label;
use super::options::Timing;
use super::wires::ForwardWire;
use crate::kernel::Ring;
use crate::net::frame::GAP_OCTETS;
use crate::net::wire::UNNAMED;
use crate::net::{Frame, FrameQueue, Payload};
use lossylink_core::engine::llr::{Control, Number, Outlet, Sender, Transmit};
use lossylink_core::loss::Stake;
use lossylink_core::time::Instant;
use lossylink_core::units::Bytes;

/// Returns the name of a frame and of its replays.
const fn name(number: Number) -> u64 {
    number.bits() as u64
}

/// The sending end of the protected direction.
///
/// Every event of the sending end is followed by [`serve`](Self::serve), which sends the frames that may be sent.
#[derive(Clone, Debug)]
pub(super) struct SendingEnd<P: Payload> {
    timing: Timing,
    pub(super) engine: Sender,
    outlet: Outlet,
    pub(super) queue: FrameQueue<P>,
    /// Bytes of the frames in the queue. They are needed because room for a frame is asked for before the frame leaves the queue.
    sizes: Ring<u32>,
    /// The replay buffer: frames that are outstanding, oldest first (LLR-4).
    kept: Ring<Frame<P>>,
    busy_until: Instant,
    /// The time at which the line next has a frame or a control set to carry.
    port: Instant,
    high_water_bytes: u64,
    /// The time at which data last moved: came, left the queue, or was acknowledged.
    pub(super) moved: Instant,
}

impl<P: Payload> SendingEnd<P> {
    pub(super) fn new(timing: Timing, engine: Sender, queue: FrameQueue<P>) -> Self {
        Self {
            timing,
            engine,
            outlet: Outlet::new(timing.control.spacing),
            queue,
            sizes: Ring::new(),
            kept: Ring::new(),
            busy_until: Instant::ZERO,
            port: Instant::NEVER,
            high_water_bytes: 0,
            moved: Instant::ZERO,
        }
    }

    /// Returns the most bytes that were ever outstanding.
    pub(super) const fn high_water_bytes(&self) -> u64 {
        self.high_water_bytes
    }

    /// Returns how many frames are kept.
    pub(super) const fn kept(&self) -> usize {
        self.kept.len()
    }

    /// Returns when the sending end next has an event of its own.
    #[inline]
    pub(super) fn poll_timeout(&self) -> Instant {
        let control = self.outlet.poll_timeout(Some(&self.engine), None);
        self.port.min(self.engine.poll_timeout()).min(control)
    }

    /// Takes in a frame that reaches the queue. An idle line takes the frame at once.
    #[inline]
    pub(super) fn offer(&mut self, now: Instant, frame: Frame<P>, wire: &mut ForwardWire<P>) {
        self.moved = now;
        let bytes = frame.octets - GAP_OCTETS;
        let is_idle = self.queue.is_empty() && self.busy_until <= now;
        let waiting = Some(Bytes(u64::from(bytes)));
        if let Some(transmit) = is_idle.then(|| self.engine.poll_transmit(now, waiting)).flatten() {
            debug_assert!(!matches!(transmit, Transmit::Replay(_)), "a replay leaves no line idle");
            self.transmit(now, transmit, |_| frame, wire);
        } else if self.queue.offer(frame) {
            self.sizes.push(bytes);
        }
        self.schedule();
    }

    /// Handles a control set that arrives.
    #[inline]
    pub(super) fn handle_control(&mut self, now: Instant, control: Control) {
        self.engine.handle_control(now, control);
    }

    /// Runs the events of the sending end that are due.
    #[inline]
    pub(super) fn handle_timeout(&mut self, now: Instant) {
        if self.engine.poll_timeout() <= now {
            self.engine.handle_timeout(now);
        }
    }

    /// Frees the frames that have arrived, and sends the frames and control sets that may be sent at `now`.
    #[inline]
    pub(super) fn serve(&mut self, now: Instant, wire: &mut ForwardWire<P>) {
        for _ in 0..self.engine.poll_release() {
            self.moved = now;
            self.kept.skip_front();
        }
        if let Some(control) = self.outlet.poll_control(now, Some(&mut self.engine), None) {
            self.send_control(now, control, wire);
        }
        while self.busy_until <= now {
            let waiting = self.waiting();
            let Some(transmit) = self.engine.poll_transmit(now, waiting) else { break };
            if !matches!(transmit, Transmit::Replay(_)) {
                self.moved = now;
            }
            self.transmit(now, transmit, Self::dequeue, wire);
        }
        self.schedule();
    }

    /// Sends the frame that the engine names. `take` returns a new frame: the first of the queue, or the frame that was just offered.
    #[inline]
    fn transmit(
        &mut self,
        now: Instant,
        transmit: Transmit,
        take: impl FnOnce(&mut Self) -> Frame<P>,
        wire: &mut ForwardWire<P>,
    ) {
        match transmit {
            Transmit::Replay(number) => self.send_again(now, number, wire),
            Transmit::Numbered(number) => {
                let frame = take(self);
                self.kept.push(frame);
                self.high_water_bytes = self.high_water_bytes.max(self.engine.outstanding_bytes().0);
                let stake = Stake::Fresh { unit: name(number) };
                self.send(now, Label::Numbered(number), frame, false, stake, wire);
            }
            Transmit::Unnumbered => {
                let frame = take(self);
                let stake = Stake::Fresh { unit: UNNAMED };
                self.send(now, Label::Unnumbered, frame, false, stake, wire);
            }
            Transmit::Discard => {
                take(self);
            }
        }
    }

    fn send_again(&mut self, now: Instant, number: Number, wire: &mut ForwardWire<P>) {
        let place = number.steps_after(self.engine.oldest()) as usize;
        let frame = *self.kept.get(place).expect("what is outstanding is kept");
        let (unit, behind) = (name(number), self.engine.next().steps_after(number) - 1);
        // The receiver waits for the oldest frame; the other outstanding frames may have arrived.
        let stake = if place == 0 { Stake::Repair { unit } } else { Stake::Again { unit, behind } };
        self.send(now, Label::Numbered(number), frame, true, stake, wire);
    }

    #[inline]
    fn send(
        &mut self,
        now: Instant,
        label: Label,
        frame: Frame<P>,
        is_replay: bool,
        stake: Stake,
        wire: &mut ForwardWire<P>,
    ) {
        self.busy_until = now + self.timing.rates.forward.serialisation(frame.octets);
        let at = self.busy_until + self.timing.forward_flight;
        wire.send((now, at), label, frame, is_replay, || stake);
    }

    /// Sends a control set, which waits for no frame: it stands inside the frame in service. Its octets are taken off the time of
    /// the next frame, as if they followed (LLR-6).
    fn send_control(&mut self, now: Instant, control: Control, wire: &mut ForwardWire<P>) {
        self.busy_until = self.busy_until.max(now) + self.timing.control.serialisation;
        let arrives = now + self.timing.control.serialisation + self.timing.forward_flight;
        wire.send_control((now, arrives), control);
    }

    /// Takes the first waiting frame out of the queue.
    #[inline]
    fn dequeue(&mut self) -> Frame<P> {
        self.sizes.skip_front();
        self.queue.poll().expect("a frame waits for each size")
    }

    /// Returns the bytes of the first waiting frame.
    #[inline]
    fn waiting(&self) -> Option<Bytes> {
        self.sizes.front().map(|&bytes| Bytes(u64::from(bytes)))
    }

    #[inline]
    fn schedule(&mut self) {
        let wants = self.engine.wants_transmit(self.waiting());
        self.port = if wants { self.busy_until } else { Instant::NEVER };
    }
}

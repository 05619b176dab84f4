//! The receiving end, which forwards frames that are in order, and answers with control sets.

use super::label::Label;
use super::options::Timing;
use super::wires::{Arrival, ReturnWire};
use crate::kernel::Trains;
use crate::net::{Frame, Payload};
use lossylink_core::engine::llr::{Condition, Control, Outlet, Receiver, Verdict};
use lossylink_core::time::Instant;

/// The receiving end of the protected direction.
#[derive(Clone, Debug)]
pub(super) struct ReceivingEnd<P: Payload> {
    timing: Timing,
    pub(super) engine: Receiver,
    outlet: Outlet,
    /// The time at which the line back has room for a frame.
    busy_until: Instant,
    pub(super) delivered: Trains<Frame<P>>,
    /// The time at which a frame was last delivered.
    pub(super) moved: Instant,
}

impl<P: Payload> ReceivingEnd<P> {
    pub(super) fn new(timing: Timing, engine: Receiver) -> Self {
        Self {
            timing,
            engine,
            outlet: Outlet::new(timing.control_back.spacing),
            busy_until: Instant::ZERO,
            delivered: Trains::new(),
            moved: Instant::ZERO,
        }
    }

    /// Returns when the receiving end next has an event of its own.
    #[inline]
    pub(super) fn poll_timeout(&self) -> Instant {
        self.outlet.poll_timeout(None, Some(&self.engine))
    }

    /// Receives a frame.
    #[inline]
    pub(super) fn receive(&mut self, now: Instant, arrival: &Arrival<P>) {
        let (number, condition) = match arrival.label {
            Label::Unnumbered => (None, Condition::Good),
            Label::Numbered(number) => (Some(number), Condition::Good),
            Label::Bad(number) => (Some(number), Condition::Bad),
        };
        if self.engine.handle_frame(now, number, condition) == Verdict::Forward {
            self.delivered.push_apart(now, arrival.frame);
            self.moved = now;
        }
    }

    /// Handles a control set that arrives.
    pub(super) fn handle_control(&mut self, now: Instant, control: Control) {
        self.engine.handle_control(now, control);
    }

    /// Sends the control set that may leave at `now`, if there is one. The set stands inside the frame in service; its octets are
    /// taken off the time of the next frame (LLR-6).
    #[inline]
    pub(super) fn answer(&mut self, now: Instant, wire: &mut ReturnWire<P>) {
        if let Some(control) = self.outlet.poll_control(now, None, Some(&mut self.engine)) {
            let serialisation = self.timing.control_back.serialisation;
            self.busy_until = self.busy_until.max(now) + serialisation;
            wire.send_control((now, now + serialisation + self.timing.return_flight), control);
        }
    }

    /// Takes in a frame that reaches the far switch on its way back.
    pub(super) fn offer_back(&mut self, now: Instant, frame: Frame<P>, wire: &mut ReturnWire<P>) {
        let start = now.max(self.busy_until);
        self.busy_until = start + self.timing.rates.back.serialisation(frame.octets);
        wire.send(now, (start, self.busy_until + self.timing.reverse_flight), frame);
    }
}

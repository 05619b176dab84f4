//! The port toward the sender: one line for the frames of the hosts and the frames of the protection (LG-37).

use super::circulating::Circulating;
use super::frames::ControlFrame;
use super::shown;
use super::timing::{HEADER_OCTETS, Timing};
use super::wires::{BackwardWire, Passage};
use crate::kernel::Pipe;
use crate::net::frame::MINIMUM_OCTETS;
use crate::net::tap::Content;
use crate::net::{Direction, Frame, Payload, Sight, Tap};
use lossylink_core::engine::linkguardian::{AckUpdate, Acknowledgement, Notification, PauseRequest};
use lossylink_core::time::Instant;
use std::collections::VecDeque;

/// The port of the receiving switch toward the sender.
#[derive(Clone, Debug)]
pub(super) struct ReturnPort<P: Payload> {
    timing: Timing,
    /// The number of copies of each notification, pause and resume (LG-46).
    pub(super) control_copies: u8,
    /// Updates on their way from the decision to the acknowledgement register (LG-15).
    updates: Pipe<AckUpdate>,
    register: Acknowledgement,
    ack_packet: Circulating,
    /// The time at which the explicit ACK may leave, if no other frame leaves before.
    ack_due: Instant,
    /// Notifications, and pauses and resumes, on their way to the port.
    notifications: Pipe<ControlFrame>,
    requests: Pipe<ControlFrame>,
    urgent: VecDeque<ControlFrame>,
    normal: VecDeque<Frame<P>>,
    busy_until: Instant,
    pub(super) tap: Tap<P>,
}

impl<P: Payload> ReturnPort<P> {
    /// # Panics
    /// If no control frame would be sent.
    pub(super) fn new(timing: Timing, ack_packet: Circulating, control_copies: u8) -> Self {
        assert!(control_copies > 0, "a control frame is sent once at least");
        Self {
            timing,
            control_copies,
            updates: Pipe::new(),
            register: Acknowledgement::default(),
            ack_packet,
            ack_due: Instant::NEVER,
            notifications: Pipe::new(),
            requests: Pipe::new(),
            urgent: VecDeque::new(),
            normal: VecDeque::new(),
            busy_until: Instant::ZERO,
            tap: Tap::default(),
        }
    }

    /// Returns when a frame next reaches the port or leaves it, the explicit ACK apart.
    pub(super) fn poll_timeout(&self) -> Instant {
        let waits = !self.urgent.is_empty() || !self.normal.is_empty();
        let service = if waits { self.busy_until } else { Instant::NEVER };
        service.min(self.notifications.poll_timeout()).min(self.requests.poll_timeout())
    }

    /// Returns when the explicit ACK may leave next.
    pub(super) const fn poll_ack(&self) -> Instant {
        self.ack_due
    }

    /// A frame of the hosts reaches the port.
    pub(super) fn offer(&mut self, now: Instant, frame: Frame<P>, wire: &mut BackwardWire<P>) {
        self.normal.push_back(frame);
        self.serve(now, wire);
    }

    /// A notification starts on its way to the port (LG-13).
    pub(super) fn notify(&mut self, now: Instant, notification: Notification) {
        let at = now + self.timing.notification_port;
        self.notifications.push(at, ControlFrame::Notification(notification));
    }

    /// A timer packet takes a pause request along (LG-23).
    pub(super) fn request(&mut self, now: Instant, request: PauseRequest) {
        self.requests.push(now + self.timing.timer_packet, ControlFrame::Pause(request));
    }

    /// A decision at `now` changes the acknowledgement register (LG-15).
    pub(super) fn update(&mut self, now: Instant, update: AckUpdate) {
        self.updates.push(now + self.timing.ack_register, update);
        if self.ack_due.is_never() {
            self.schedule_ack(now);
        }
    }

    /// Takes in the control frames that have reached the port, and sends the frames that the line has room for: control first
    /// (LG-29).
    pub(super) fn serve(&mut self, now: Instant, wire: &mut BackwardWire<P>) {
        // The copies of a control frame leave one behind the other: nothing overtakes the last copy (LG-26, LG-46).
        let copies = 0..self.control_copies;
        for way in [&mut self.notifications, &mut self.requests] {
            way.drain_due(now, |_, frame| copies.clone().for_each(|_| self.urgent.push_back(frame)));
        }
        while self.busy_until <= now {
            if let Some(frame) = self.urgent.pop_front() {
                self.send_urgent(now, frame, wire);
            } else if let Some(frame) = self.normal.pop_front() {
                self.send(now, frame, wire);
            } else {
                return;
            }
        }
    }

    /// A frame of the hosts leaves at `now`, with an ACK if one is due (LG-17).
    fn send(&mut self, now: Instant, frame: Frame<P>, wire: &mut BackwardWire<P>) {
        self.apply_updates(now);
        let leading = self.register.poll();
        let octets = frame.octets + if leading.is_some() { HEADER_OCTETS } else { 0 };
        self.busy_until = now + self.timing.rate_back.serialisation(octets);
        let passage = Passage { leaves: now, arrives: self.busy_until + self.timing.reverse_pipeline };
        let ack = leading.map(|leading| (self.busy_until + self.timing.control_return, leading));
        let arrives = wire.send_frame(passage, frame, ack);
        self.see(now, arrives, || {
            leading.map_or(Content::Bare(frame), |leading| shown::acknowledging(frame, leading))
        });
        self.schedule_ack(now);
    }

    /// A notification, a pause or a resume leaves.
    fn send_urgent(&mut self, now: Instant, frame: ControlFrame, wire: &mut BackwardWire<P>) {
        let flight = match frame {
            ControlFrame::Pause(PauseRequest::Pause) => self.timing.pause_reaction,
            ControlFrame::Pause(PauseRequest::Resume) => self.timing.resume_flight,
            ControlFrame::Notification(_) | ControlFrame::Ack(_) => self.timing.control_return,
        };
        self.busy_until = now + self.timing.rate_back.serialisation(MINIMUM_OCTETS);
        let passage = Passage { leaves: now, arrives: self.busy_until + flight };
        let arrives = wire.send_control(passage, frame);
        self.see(now, arrives, || shown::control(&frame));
    }

    /// The circulating ACK is back. The ACK leaves when the line is free and an acknowledgement is due (LG-17).
    pub(super) fn send_ack(&mut self, now: Instant, wire: &mut BackwardWire<P>) {
        if self.busy_until > now {
            self.ack_due = self.busy_until;
            return;
        }
        self.apply_updates(now);
        if let Some(leading) = self.register.poll() {
            self.ack_packet.depart(now);
            self.busy_until = now + self.timing.rate_back.serialisation(MINIMUM_OCTETS);
            let passage = Passage { leaves: now, arrives: self.busy_until + self.timing.control_return };
            let frame = ControlFrame::Ack(leading);
            let arrives = wire.send_control(passage, frame);
            self.see(now, arrives, || shown::control(&frame));
        }
        self.schedule_ack(now);
    }

    /// The register takes the updates that have reached it by `now`.
    fn apply_updates(&mut self, now: Instant) {
        self.updates.drain_due(now, |_, update| self.register.apply(update));
    }

    /// Returns the register as of `now`.
    pub(super) fn register(&mut self, now: Instant) -> Acknowledgement {
        self.apply_updates(now);
        self.register.clone()
    }

    /// Finds when the circulating ACK next comes round with an acknowledgement due and the line free.
    fn schedule_ack(&mut self, now: Instant) {
        let since = if self.register.is_pending() { now } else { self.updates.poll_timeout() };
        self.ack_due = if since.is_never() {
            Instant::NEVER
        } else {
            self.ack_packet.next_return(since).max(self.busy_until)
        };
    }

    /// Shows a frame that leaves at `now`.
    fn see(&self, now: Instant, arrives: bool, content: impl FnOnce() -> Content<P>) {
        let sight = || Sight { at: now, direction: Direction::Backward, arrives, content: content() };
        self.tap.see_on_link(now, sight);
    }

    /// Whether no notification is on its way to the sender (LG-36).
    pub(super) fn has_no_notification(&self) -> bool {
        self.notifications.is_empty() && self.urgent.is_empty()
    }

    /// Forgets pending acknowledgements (LG-30).
    pub(super) fn forget_acknowledgements(&mut self) {
        self.updates.clear();
        self.register = Acknowledgement::default();
        self.ack_due = Instant::NEVER;
    }

    /// Sends the waiting frames of the hosts one behind the other, each with an ACK if one is due. Returns when the line is free.
    pub(super) fn leave(mut self, wire: &mut BackwardWire<P>) -> Instant {
        while let Some(frame) = self.normal.pop_front() {
            self.send(self.busy_until, frame, wire);
        }
        self.busy_until
    }

    /// Takes over the line of a link without protection. The line is busy until `busy_until`.
    pub(super) const fn take_over(&mut self, busy_until: Instant) {
        self.busy_until = busy_until;
    }
}

//! The port toward the sender: one line for the frames of the hosts and the frames of the protection (LG-37).
//!
//! ```text
//!  notifications -- notification_port --> [urgent ]
//!  pauses --------- timer_packet -------> [urgent ]
//!  frames of the hosts -----------------> [normal ] == line ==> the sender
//!  register --> circulating explicit ACK  [lowest ]
//! ```
//!
//! A frame of the hosts that finds the line idle leaves at once, without an event. The port has two deadlines. The owner calls
//! [`ReturnPort::serve`] at [`ReturnPort::poll_timeout`], and [`ReturnPort::send_ack`] at [`ReturnPort::poll_ack`], in this order
//! on a tie.

mod ack_train;

use super::circulating::Circulating;
use super::frames::ControlFrame;
use super::shown;
use super::timing::{HEADER_OCTETS, Timing};
use super::wires::BackwardWire;
use crate::kernel::{Member, Pipe, Ring, Train, Trains};
use crate::net::frame::MINIMUM_OCTETS;
use crate::net::tap::Content;
use crate::net::wire::Kind;
use crate::net::{Direction, Frame, Payload, Sight, Tap};
use ack_train::AckTrain;
use lossylink_core::engine::linkguardian::{
    AckUpdate, Acknowledgement, Notification, PauseRequest, Position,
};
use lossylink_core::time::Instant;

/// The port of the receiving switch toward the sender.
#[derive(Clone, Debug)]
pub(super) struct ReturnPort<P: Payload> {
    timing: Timing,
    /// Updates on their way from the decision to the acknowledgement register.
    updates: Trains<Update>,
    register: Acknowledgement,
    ack_packet: Circulating,
    /// The number of copies of each notification, pause and resume (LG-46).
    pub(super) control_copies: u8,
    /// Notifications and pauses on their way to the port.
    notifications: Pipe<ControlFrame>,
    requests: Pipe<ControlFrame>,
    urgent: Ring<ControlFrame>,
    normal: Ring<Frame<P>>,
    pub(super) busy_until: Instant,
    due: Instant,
    ack_due: Instant,
    pub(super) tap: Tap<P>,
}

/// A change of the acknowledgement register.
#[derive(Clone, Copy, Debug, Default)]
struct Update(AckUpdate);

impl Member for Update {
    #[inline]
    fn distance(&self, next: &Self, count: u32) -> Option<u32> {
        match (self.0, next.0) {
            (AckUpdate::Advance(first), AckUpdate::Advance(next)) => {
                (next == first.plus(count)).then_some(count)
            }
            _ => None,
        }
    }

    #[inline]
    fn follow(&mut self, count: u32, step: u32) {
        if let AckUpdate::Advance(position) = &mut self.0 {
            *position = position.plus(count * step);
        }
    }
}

impl<P: Payload> ReturnPort<P> {
    /// # Panics
    /// If no control frame would be sent.
    pub(super) fn new(timing: Timing, ack_packet: Circulating, control_copies: u8) -> Self {
        assert!(control_copies > 0, "a control frame is sent once at least");
        Self {
            timing,
            updates: Trains::new(),
            register: Acknowledgement::default(),
            ack_packet,
            control_copies,
            notifications: Pipe::new(),
            requests: Pipe::new(),
            urgent: Ring::new(),
            normal: Ring::new(),
            busy_until: Instant::ZERO,
            due: Instant::NEVER,
            ack_due: Instant::NEVER,
            tap: Tap::default(),
        }
    }

    /// Returns when a frame next reaches the port or leaves it, the explicit ACK apart.
    pub(super) const fn poll_timeout(&self) -> Instant {
        self.due
    }

    /// Returns the earliest time at which a notification or a pause that has been decided may leave; never, if there is none.
    #[inline]
    pub(super) fn next_control(&self) -> Instant {
        let waits = if self.urgent.is_empty() { Instant::NEVER } else { self.busy_until };
        waits.min(self.notifications.poll_timeout()).min(self.requests.poll_timeout())
    }

    /// Returns when the explicit ACK may leave next.
    #[inline]
    pub(super) const fn poll_ack(&self) -> Instant {
        self.ack_due
    }

    /// A frame of the hosts reaches the port.
    pub(super) fn offer(&mut self, now: Instant, frame: Frame<P>, wire: &mut BackwardWire<P>) {
        if self.busy_until <= now && now < self.due {
            self.send(now, frame, wire);
        } else {
            self.normal.push(frame);
            self.schedule();
        }
    }

    /// A notification starts on its way to the port (LG-13).
    pub(super) fn notify(&mut self, now: Instant, notification: Notification) {
        let at = now + self.timing.notification_port;
        self.notifications.push(at, ControlFrame::Notification(notification));
        self.schedule();
    }

    /// A timer packet takes a pause request along (LG-23).
    pub(super) fn request(&mut self, now: Instant, request: PauseRequest) {
        self.requests.push(now + self.timing.timer_packet, ControlFrame::Pause(request));
        self.schedule();
    }

    /// A decision at `now` changes the acknowledgement register (LG-15). Equals `ReturnPort::update` of the plain model.
    #[inline(always)]
    pub(super) fn update(&mut self, now: Instant, update: AckUpdate) {
        self.updates.push_apart(now + self.timing.ack_register, Update(update));
        if self.ack_due.is_never() {
            self.schedule_ack(now);
        }
    }

    /// Each frame of the train `decided` changes the acknowledgement register, to position `first` at first. Equals
    /// [`ReturnPort::update`] of each.
    #[inline(always)]
    pub(super) fn update_train(&mut self, decided: Train, first: Position) {
        let effective = Train { step: 1, ..decided.from(decided.first + self.timing.ack_register) };
        self.updates.push_if_many(effective, &Update(AckUpdate::Advance(first)));
        if self.ack_due.is_never() {
            self.schedule_ack(decided.first);
        }
    }

    /// Whether no notification is on its way to the sender (LG-36).
    pub(super) const fn has_no_notification(&self) -> bool {
        self.notifications.is_empty() && self.urgent.is_empty()
    }

    /// Returns the register and the packet of the explicit ACK, if no frame waits and no acknowledgement is due.
    pub(super) fn idle_state(&self) -> Option<(Acknowledgement, Circulating)> {
        let is_idle = self.has_no_notification() && self.normal.is_empty() && !self.register.is_pending();
        (is_idle && self.updates.is_empty()).then(|| (self.register.clone(), self.ack_packet))
    }

    /// Sets the state of an idle port ([`ReturnPort::idle_state`]).
    pub(super) fn restore(&mut self, busy_until: Instant, register: Acknowledgement, packet: Circulating) {
        (self.busy_until, self.register, self.ack_packet) = (busy_until, register, packet);
    }

    /// Forgets pending acknowledgements (LG-30).
    pub(super) fn forget_acknowledgements(&mut self) {
        self.updates.clear();
        self.register = Acknowledgement::default();
        self.ack_due = Instant::NEVER;
    }

    /// Sends the waiting frames of the hosts one behind the other, each with an ACK if one is due. Returns when the line is free.
    pub(super) fn leave(mut self, wire: &mut BackwardWire<P>) -> Instant {
        while let Some(frame) = self.normal.pop() {
            self.send(self.busy_until, frame, wire);
        }
        self.busy_until
    }

    /// Takes in the control frames that have reached the port, and sends the frames that the line has room for: control first
    /// (LG-29). Equals `ReturnPort::serve` of the plain model.
    #[cold]
    pub(super) fn serve(&mut self, now: Instant, wire: &mut BackwardWire<P>) {
        // The copies of a control frame leave one behind the other: nothing overtakes the last copy (LG-26, LG-46).
        let copies = 0..self.control_copies;
        for way in [&mut self.notifications, &mut self.requests] {
            way.drain_due(now, |_, frame| copies.clone().for_each(|_| self.urgent.push(frame)));
        }
        while self.busy_until <= now {
            if let Some(frame) = self.urgent.pop() {
                self.send_urgent(now, frame, wire);
            } else if let Some(frame) = self.normal.pop() {
                self.send(now, frame, wire);
            } else {
                break;
            }
        }
        self.schedule();
    }

    fn schedule(&mut self) {
        let waits = !self.urgent.is_empty() || !self.normal.is_empty();
        let service = if waits { self.busy_until } else { Instant::NEVER };
        self.due = service.min(self.notifications.poll_timeout()).min(self.requests.poll_timeout());
    }

    /// A frame of the hosts leaves, with an ACK if one is due (LG-17).
    fn send(&mut self, now: Instant, frame: Frame<P>, wire: &mut BackwardWire<P>) {
        self.apply_updates(now);
        let ack = self.register.poll();
        let header_octets = if ack.is_some() { HEADER_OCTETS } else { 0 };
        let octets = frame.octets + header_octets;
        self.busy_until = now + self.timing.rate_back.serialisation(octets);
        let arrives = wire.wire.carry(now, octets, Kind::Data { header_octets });
        self.see(now, arrives, || {
            ack.map_or(Content::Bare(frame), |leading| shown::acknowledging(frame, leading))
        });
        self.schedule_ack(now);
        if arrives {
            if let Some(leading) = ack {
                wire.push_ack(self.busy_until + self.timing.control_return, leading);
            }
            wire.returned.push(self.busy_until + self.timing.reverse_pipeline, frame);
        }
    }

    /// A notification or a pause leaves.
    fn send_urgent(&mut self, now: Instant, frame: ControlFrame, wire: &mut BackwardWire<P>) {
        let flight = match frame {
            ControlFrame::Pause(PauseRequest::Pause) => self.timing.pause_reaction,
            ControlFrame::Pause(PauseRequest::Resume) => self.timing.resume_flight,
            ControlFrame::Notification(_) | ControlFrame::Ack(_) => self.timing.control_return,
        };
        self.busy_until = now + self.timing.rate_back.serialisation(MINIMUM_OCTETS);
        let arrives = wire.send_urgent((now, self.busy_until + flight), frame);
        self.see(now, arrives, || shown::control(&frame));
    }

    /// Sends the explicit ACKs that may leave by `until`. No other frame leaves by then. Equals [`ReturnPort::send_ack`] of each.
    /// Returns when the last ACK left.
    pub(super) fn send_acks(&mut self, until: Instant, wire: &mut BackwardWire<P>) -> Instant {
        let mut latest = Instant::ZERO;
        while self.ack_due <= until {
            latest = if self.tap.is_open() { latest } else { self.send_clear_acks(until, wire) };
            if self.ack_due <= until {
                latest = self.ack_due;
                self.send_ack(latest, wire);
            }
        }
        latest
    }

    /// Sends the explicit ACKs that may leave by `until`, up to the first that may be lost. Equals [`ReturnPort::send_ack`] of
    /// each. Returns when the last ACK left.
    #[inline(always)]
    fn send_clear_acks(&mut self, until: Instant, wire: &mut BackwardWire<P>) -> Instant {
        let serialisation = self.timing.rate_back.serialisation(MINIMUM_OCTETS);
        let flight = serialisation + self.timing.control_return;
        // With a shorter period the packet would come round while its last ACK still leaves, and would find the line busy.
        let leaves_at_once = self.ack_packet.period() >= serialisation;
        let ((clear, by), mut sent) = (wire.wire.clear_frames(MINIMUM_OCTETS), 0);
        let until = until.min(by);
        let (mut due, mut busy_until, mut packet) = (self.ack_due, self.busy_until, self.ack_packet);
        let (mut register, mut updates) = (self.register.clone(), self.updates.taking());
        let mut latest = Instant::ZERO;
        while due <= until && sent < clear {
            latest = due;
            if busy_until > due {
                due = busy_until;
                continue;
            }
            let (most, known) = (clear - sent, until.min(updates.next_train().just_before()));
            if leaves_at_once
                && let (train, Update(AckUpdate::Advance(first))) = updates.front()
                && let Some(ack_train) = AckTrain::new((due, known), most, packet.period(), train, first)
            {
                latest = ack_train.leave.last();
                wire.push_acks(ack_train.leave.from(due + flight), ack_train.acks);
                updates.skip(ack_train.changes);
                register.apply(AckUpdate::Advance(ack_train.leading));
                (0..ack_train.times).for_each(|_| _ = register.poll());
                packet.depart(latest);
                busy_until = latest + serialisation;
                sent += u64::from(ack_train.leave.count);
                due = latest;
            } else {
                if let Some(newest) = updates.take_newest_due(due) {
                    register.apply(newest.0);
                }
                if let Some(leading) = register.poll() {
                    packet.depart(due);
                    busy_until = due + serialisation;
                    wire.push_ack(due + flight, leading);
                    sent += 1;
                }
            }
            let since = if register.is_pending() { due } else { updates.poll_timeout() };
            due = if since.is_never() { since } else { packet.next_return(since).max(busy_until) };
        }
        updates.finish();
        wire.wire.carry_control(sent, MINIMUM_OCTETS);
        (self.ack_due, self.busy_until, self.ack_packet) = (due, busy_until, packet);
        self.register = register;
        latest
    }

    /// The circulating ACK is back. The ACK leaves when the line is free and an acknowledgement is due. Equals
    /// `ReturnPort::send_ack` of the plain model.
    #[inline(always)]
    pub(super) fn send_ack(&mut self, now: Instant, wire: &mut BackwardWire<P>) {
        if self.busy_until > now {
            self.ack_due = self.busy_until;
            return;
        }
        self.apply_updates(now);
        if let Some(leading) = self.register.poll() {
            self.ack_packet.depart(now);
            self.busy_until = now + self.timing.rate_back.serialisation(MINIMUM_OCTETS);
            let arrives = wire.send_ack((now, self.busy_until + self.timing.control_return), leading);
            self.see(now, arrives, || shown::control(&ControlFrame::Ack(leading)));
        }
        self.schedule_ack(now);
    }

    /// Applies the newest update that has reached the register by `now`. An older update leaves no trace.
    #[inline]
    fn apply_updates(&mut self, now: Instant) {
        if let Some(newest) = self.updates.take_newest_due(now) {
            self.register.apply(newest.0);
        }
    }

    /// Returns the register as of `now`.
    pub(super) fn register(&mut self, now: Instant) -> Acknowledgement {
        self.apply_updates(now);
        self.register.clone()
    }

    /// Finds when the circulating ACK next comes round with an acknowledgement due and the line free.
    #[inline]
    fn schedule_ack(&mut self, now: Instant) {
        let since = if self.register.is_pending() { now } else { self.updates.poll_timeout() };
        let next = if since.is_never() {
            Instant::NEVER
        } else {
            self.ack_packet.next_return(since).max(self.busy_until)
        };
        self.ack_due = next;
    }

    /// Shows a frame that leaves to the tap.
    #[inline]
    fn see(&self, now: Instant, arrives: bool, content: impl FnOnce() -> Content<P>) {
        if !self.tap.is_open() {
            return;
        }
        let sight = || Sight { at: now, direction: Direction::Backward, arrives, content: content() };
        self.tap.see_on_link(now, sight);
    }
}

#[cfg(test)]
mod tests;

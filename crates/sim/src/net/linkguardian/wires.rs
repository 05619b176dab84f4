//! The two directions of the link, with what is in flight on them.

use super::timing::HEADER_OCTETS;
use super::tx_buffer::Copied;
use crate::kernel::Pipe;
use crate::net::Wire;
use crate::net::frame::MINIMUM_OCTETS;
use crate::net::wire::Kind;
use lossylink_core::engine::linkguardian::{Notification, PauseRequest, Position};
use lossylink_core::loss::Stake;
use lossylink_core::time::Instant;

/// A new frame on its way to the receiver.
#[derive(Clone, Copy, Debug)]
pub(super) enum Arrival<P> {
    Data(Copied<P>),
    Dummy(Position),
}

impl<P> Default for Arrival<P> {
    fn default() -> Self {
        Self::Dummy(Position::ZERO)
    }
}

/// The name of a data frame and its copies.
const fn unit(position: Position) -> u64 {
    position.index() as u64
}

/// From the sender to the receiver. Retransmissions bypass the egress pipeline and may overtake
/// the frame before them, so they fly apart. Frames are sent with the time of their arrival; each
/// says whether it arrives.
#[derive(Clone, Debug)]
pub(super) struct ForwardWire<P: Copy + Default> {
    pub(super) wire: Wire,
    pub(super) arrivals: Pipe<Arrival<P>>,
    pub(super) copies: Pipe<Copied<P>>,
}

impl<P: Copy + Default> ForwardWire<P> {
    pub(super) fn new(wire: Wire) -> Self {
        Self { wire, arrivals: Pipe::new(), copies: Pipe::new() }
    }

    #[inline]
    pub(super) fn send_data(&mut self, at: Instant, data: Copied<P>) -> bool {
        let kind = Kind::Data { header_octets: HEADER_OCTETS };
        let arrives =
            self.wire.carry_with(data.frame.octets, kind, || Stake::Fresh { unit: unit(data.position) });
        if arrives {
            self.arrivals.push(at, Arrival::Data(data));
        }
        arrives
    }

    pub(super) fn send_copy(&mut self, at: Instant, copy: Copied<P>) -> bool {
        let repair = || Stake::Repair { unit: unit(copy.position) };
        let arrives = self.wire.carry_with(copy.frame.octets, Kind::Copy, repair);
        if arrives {
            self.copies.push(at, copy);
        }
        arrives
    }

    pub(super) fn send_dummy(&mut self, at: Instant, position: Position) -> bool {
        let arrives = self.wire.carry(MINIMUM_OCTETS, Kind::Control);
        if arrives {
            self.arrivals.push(at, Arrival::Dummy(position));
        }
        arrives
    }
}

/// Control frames from the receiver to the sender. They take effect in the order in which they
/// were sent: nothing overtakes on a wire (LG-26). Each says whether it arrives.
#[derive(Clone, Debug)]
pub(super) struct ControlWire {
    pub(super) wire: Wire,
    acks: Pipe<Position>,
    notifications: Pipe<Notice>,
    pauses: Pipe<Request>,
    /// When the first of all these takes effect.
    due: Instant,
}

/// What a control frame says.
#[derive(Clone, Copy, Debug)]
pub(super) enum ControlFrame {
    Ack(Position),
    Notification(Notification),
    Pause(PauseRequest),
}

/// A loss notification in flight.
#[derive(Clone, Copy, Debug)]
struct Notice(Notification);

impl Default for Notice {
    fn default() -> Self {
        Self(Notification { leading: Position::ZERO, first_lost: Position::ZERO, hole_size: 0 })
    }
}

/// A pause frame in flight.
#[derive(Clone, Copy, Debug)]
struct Request(PauseRequest);

impl Default for Request {
    fn default() -> Self {
        Self(PauseRequest::Resume)
    }
}

impl ControlWire {
    pub(super) fn new(wire: Wire) -> Self {
        Self { wire, acks: Pipe::new(), notifications: Pipe::new(), pauses: Pipe::new(), due: Instant::NEVER }
    }

    /// An explicit ACK is sent, to be effective at `effective`.
    #[inline]
    pub(super) fn send_ack(&mut self, effective: Instant, leading: Position) -> bool {
        let arrives = self.wire.carry(MINIMUM_OCTETS, Kind::Control);
        if arrives {
            self.push_ack(effective, leading);
        }
        arrives
    }

    /// An ACK rode on a frame that arrived.
    pub(super) fn push_ack(&mut self, effective: Instant, leading: Position) {
        let not_before = self.acks.last_due().max(self.notifications.last_due());
        self.acks.push(effective.max(not_before), leading);
        self.due = self.due.min(self.acks.poll_timeout());
    }

    pub(super) fn send_notification(&mut self, effective: Instant, notification: Notification) -> bool {
        let repair = || Stake::Repair { unit: unit(notification.first_lost) };
        let arrives = self.wire.carry_with(MINIMUM_OCTETS, Kind::Control, repair);
        if arrives {
            let effective = effective.max(self.notifications.last_due());
            self.notifications.push(effective, Notice(notification));
            self.due = self.due.min(effective);
        }
        arrives
    }

    pub(super) fn send_pause(&mut self, effective: Instant, request: PauseRequest) -> bool {
        let arrives = self.wire.carry(MINIMUM_OCTETS, Kind::Control);
        if arrives {
            let effective = effective.max(self.pauses.last_due());
            self.pauses.push(effective, Request(request));
            self.due = self.due.min(effective);
        }
        arrives
    }

    /// When the next control frame takes effect.
    #[inline]
    pub(super) const fn poll_timeout(&self) -> Instant {
        self.due
    }

    /// Whether a loss notification is in flight.
    pub(super) const fn has_notification(&self) -> bool {
        !self.notifications.is_empty()
    }

    /// Takes a control frame that takes effect at `now`: notifications first, pauses last.
    pub(super) fn poll(&mut self, now: Instant) -> Option<ControlFrame> {
        let frame = if let Some((_, notice)) = self.notifications.pop_due(now) {
            ControlFrame::Notification(notice.0)
        } else if let Some((_, leading)) = self.acks.pop_due(now) {
            ControlFrame::Ack(leading)
        } else {
            ControlFrame::Pause(self.pauses.pop_due(now)?.1.0)
        };
        self.due =
            self.acks.poll_timeout().min(self.notifications.poll_timeout()).min(self.pauses.poll_timeout());
        Some(frame)
    }
}

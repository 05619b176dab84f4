//! The two directions of the link, with the frames that are in flight.

use super::frames::{Arrival, ControlFrame, Copied};
use super::timing::HEADER_OCTETS;
use crate::kernel::Pipe;
use crate::net::frame::MINIMUM_OCTETS;
use crate::net::wire::Kind;
use crate::net::{Frame, Payload, Wire};
use lossylink_core::engine::linkguardian::Position;
use lossylink_core::loss::Stake;
use lossylink_core::time::Instant;

/// The times at which a frame begins to leave, and at which it arrives or takes effect.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passage {
    pub(super) leaves: Instant,
    pub(super) arrives: Instant,
}

/// Returns the name of a data frame and its copies.
const fn unit(position: Position) -> u64 {
    position.index() as u64
}

/// The wire from the sender to the receiver. A retransmission bypasses the egress pipeline and may overtake the frame before it.
///
/// Each of the `send` methods returns whether the frame arrives whole.
#[derive(Clone, Debug)]
pub(super) struct ForwardWire<P: Payload> {
    pub(super) wire: Wire,
    /// New frames and dummies.
    pub(super) arrivals: Pipe<Arrival<P>>,
    /// Retransmissions.
    pub(super) copies: Pipe<Copied<P>>,
}

impl<P: Payload> ForwardWire<P> {
    pub(super) fn new(wire: Wire) -> Self {
        Self { wire, arrivals: Pipe::new(), copies: Pipe::new() }
    }

    pub(super) fn send_data(&mut self, passage: Passage, data: Copied<P>) -> bool {
        let (octets, kind) = (data.frame.octets, Kind::Data { header_octets: HEADER_OCTETS });
        let stake = || Stake::Fresh { unit: unit(data.position) };
        let arrives = self.wire.carry_with(passage.leaves, octets, kind, stake);
        if arrives {
            self.arrivals.push(passage.arrives, Arrival::Data(data));
        }
        arrives
    }

    pub(super) fn send_copy(&mut self, passage: Passage, copy: Copied<P>) -> bool {
        let stake = || Stake::Repair { unit: unit(copy.position) };
        let arrives = self.wire.carry_with(passage.leaves, copy.frame.octets, Kind::Copy, stake);
        if arrives {
            self.copies.push(passage.arrives, copy);
        }
        arrives
    }

    pub(super) fn send_dummy(&mut self, passage: Passage, position: Position) -> bool {
        let arrives = self.wire.carry(passage.leaves, MINIMUM_OCTETS, Kind::Control);
        if arrives {
            self.arrivals.push(passage.arrives, Arrival::Dummy(position));
        }
        arrives
    }
}

/// The wire from the receiver to the sender, for frames of the hosts and control frames.
///
/// No frame overtakes another on the wire. Acknowledgements and notifications take effect in the order in which they were sent, and
/// so do pauses, which take a way of their own through the sender (LG-26).
#[derive(Clone, Debug)]
pub(super) struct BackwardWire<P: Payload> {
    pub(super) wire: Wire,
    pub(super) returned: Pipe<Frame<P>>,
    /// Acknowledgements and notifications.
    reports: Pipe<ControlFrame>,
    pauses: Pipe<ControlFrame>,
}

impl<P: Payload> BackwardWire<P> {
    pub(super) fn new(wire: Wire) -> Self {
        Self { wire, returned: Pipe::new(), reports: Pipe::new(), pauses: Pipe::new() }
    }

    /// Sends a control frame. Returns whether the frame arrives.
    pub(super) fn send_control(&mut self, passage: Passage, frame: ControlFrame) -> bool {
        let stake = || match &frame {
            ControlFrame::Notification(notification) => Stake::Repair { unit: unit(notification.first_lost) },
            ControlFrame::Ack(_) | ControlFrame::Pause(_) => Stake::Nothing,
        };
        let arrives = self.wire.carry_with(passage.leaves, MINIMUM_OCTETS, Kind::Control, stake);
        if arrives {
            self.take_effect(passage.arrives, frame);
        }
        arrives
    }

    /// Sends a frame of the hosts, on which an ACK may ride (LG-17). The ACK takes effect at `heard`. Returns whether the frame
    /// arrives.
    pub(super) fn send_frame(
        &mut self,
        passage: Passage,
        frame: Frame<P>,
        ack: Option<(Instant, Position)>,
    ) -> bool {
        let header_octets = if ack.is_some() { HEADER_OCTETS } else { 0 };
        let octets = frame.octets + header_octets;
        let arrives = self.wire.carry(passage.leaves, octets, Kind::Data { header_octets });
        if arrives {
            self.returned.push(passage.arrives, frame);
            if let Some((heard, leading)) = ack {
                self.take_effect(heard, ControlFrame::Ack(leading));
            }
        }
        arrives
    }

    /// A control frame takes effect at `at`, behind the frames of its kind (LG-26).
    fn take_effect(&mut self, at: Instant, frame: ControlFrame) {
        let way = match frame {
            ControlFrame::Ack(_) | ControlFrame::Notification(_) => &mut self.reports,
            ControlFrame::Pause(_) => &mut self.pauses,
        };
        way.push(at.max(way.last_due()), frame);
    }

    /// Returns when the next control frame takes effect.
    pub(super) fn poll_timeout(&self) -> Instant {
        self.reports.poll_timeout().min(self.pauses.poll_timeout())
    }

    /// Whether a loss notification is in flight.
    pub(super) fn has_notification(&self) -> bool {
        self.reports.iter().any(|frame| matches!(frame, ControlFrame::Notification(_)))
    }

    /// Takes the next control frame that takes effect at `now`. Pauses come last.
    pub(super) fn poll(&mut self, now: Instant) -> Option<ControlFrame> {
        let (_, frame) = self.reports.pop_due(now).or_else(|| self.pauses.pop_due(now))?;
        Some(frame)
    }
}

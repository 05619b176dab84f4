//! The frames of the protection: data frames with a position, arrivals, and control frames.

use super::timing::HEADER_OCTETS;
use crate::net::Frame;
use lossylink_core::engine::linkguardian::{Notification, PauseRequest, Position};

/// A data frame behind the protection's header: on the wire, as a copy at the sender, or held by the receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Copied<P> {
    pub(super) position: Position,
    /// The number of data frames that the sender had numbered before, modulo 2^32. The number tells an abandoned copy from a newer
    /// copy with the same position (LG-33).
    pub(super) number: u32,
    /// The frame, with the protection's header.
    pub(super) frame: Frame<P>,
}

impl<P> Copied<P> {
    /// Returns the frame without the protection's header.
    #[inline]
    pub(super) fn bare(self) -> Frame<P> {
        Frame { octets: self.frame.octets - HEADER_OCTETS, ..self.frame }
    }
}

/// A new frame or a dummy on its way to the receiver.
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

/// The content of a control frame.
#[derive(Clone, Copy, Debug)]
pub(super) enum ControlFrame {
    Ack(Position),
    Notification(Notification),
    Pause(PauseRequest),
}

impl Default for ControlFrame {
    fn default() -> Self {
        Self::Ack(Position::ZERO)
    }
}

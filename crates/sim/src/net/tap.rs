//! Taps: whoever looks at frames as they set out on a hop, without touching them.
//!
//! A world is generic over its tap. With [`NoTap`] every look compiles to nothing, so a run that
//! records nothing runs the code it would run without taps.

use super::Frame;
use lossylink_core::engine::linkguardian::{Notification, PauseRequest, Position};
use lossylink_core::time::Instant;

/// Which way a frame goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// As the data: from the near host to the far one.
    Forward,
    /// As the acknowledgements.
    Backward,
}

/// A sequence of hops in one direction, between a host and the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LegName {
    /// From the near host to the link.
    ToLink,
    /// From the link to the far host.
    ToFar,
    /// From the far host back to the link.
    BackToLink,
    /// From the link back to the near host.
    ToNear,
}

impl LegName {
    /// Which way its frames go.
    pub const fn direction(self) -> Direction {
        match self {
            Self::ToLink | Self::ToFar => Direction::Forward,
            Self::BackToLink | Self::ToNear => Direction::Backward,
        }
    }
}

/// What is on the wire; frames are as the hosts made them, without the protection's header.
#[derive(Clone, Copy, Debug)]
pub enum Content<P> {
    /// A frame without any header of the protection.
    Bare(Frame<P>),
    /// A frame of the unprotected direction on which an ACK rides.
    Acknowledging(Frame<P>, Position),
    /// A protected frame in its first transmission.
    Protected(Frame<P>, Position),
    /// A protected frame, sent again.
    Copy(Frame<P>, Position),
    /// A dummy that announces the next position.
    Dummy(Position),
    /// An explicit ACK.
    Ack(Position),
    /// A loss notification.
    Notification(Notification),
    /// A pause frame.
    Pause(PauseRequest),
}

/// A frame that sets out on a hop.
#[derive(Clone, Copy, Debug)]
pub struct Sight<P> {
    /// When its first bit is on the wire; not before the present.
    pub at: Instant,
    /// Which way it goes.
    pub direction: Direction,
    /// Whether it will arrive whole.
    pub arrives: bool,
    /// What it is.
    pub content: Content<P>,
}

/// Looks at frames that carry `P`. Handles of the same tap are clones of each other.
pub trait Tap<P>: Clone {
    /// A frame sets out on the protected link; `now` is the present.
    #[inline]
    fn see_on_link(&self, _now: Instant, _sight: Sight<P>) {}

    /// Which hop of `leg` the tap looks at, if any.
    #[inline]
    fn watched_hop(&self, _leg: LegName) -> Option<usize> {
        None
    }

    /// A frame sets out on the watched hop of a leg; `now` is the present.
    #[inline]
    fn see_on_hop(&self, _now: Instant, _sight: Sight<P>) {}

    /// The frames to come belong to the flow with this number.
    #[inline]
    fn begin_flow(&self, _number: u64) {}
}

/// Looks at nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoTap;

impl<P> Tap<P> for NoTap {}

//! Any of the links, chosen when a run starts.

use super::{Frame, FrameQueue, LinkGuardianLink, PlainLink, ProtectedLink, Traffic};
use crate::kernel::Pipe;
use lossylink_core::loss::LossProcess;
use lossylink_core::time::Instant;

/// A link under one of the protections.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "one a world, and looked at for every frame")]
pub enum AnyLink<P: Copy + Default> {
    /// No protection.
    Plain(PlainLink<P>),
    /// LinkGuardian, ordered or non-blocking.
    LinkGuardian(LinkGuardianLink<P>),
}

/// Calls the same method on whichever link it is.
macro_rules! each {
    ($link:expr, $inner:ident => $call:expr) => {
        match $link {
            Self::Plain($inner) => $call,
            Self::LinkGuardian($inner) => $call,
        }
    };
}

impl<P: Copy + Default> AnyLink<P> {
    /// Replaces the forward loss process.
    pub fn set_loss(&mut self, loss: LossProcess) {
        each!(self, link => link.set_loss(loss));
    }

    /// The LinkGuardian link, if it is one.
    pub const fn as_linkguardian(&self) -> Option<&LinkGuardianLink<P>> {
        match self {
            Self::LinkGuardian(link) => Some(link),
            Self::Plain(_) => None,
        }
    }

    /// The unprotected link, if it is one.
    pub const fn as_plain_mut(&mut self) -> Option<&mut PlainLink<P>> {
        match self {
            Self::Plain(link) => Some(link),
            Self::LinkGuardian(_) => None,
        }
    }
}

impl<P: Copy + Default> ProtectedLink<P> for AnyLink<P> {
    #[inline]
    fn offer(&mut self, now: Instant, frame: Frame<P>) {
        each!(self, link => link.offer(now, frame));
    }

    #[inline]
    fn offer_back(&mut self, now: Instant, frame: Frame<P>) {
        each!(self, link => link.offer_back(now, frame));
    }

    #[inline]
    fn deadline(&self) -> Instant {
        each!(self, link => link.deadline())
    }

    #[inline]
    fn advance(&mut self, until: Instant) {
        each!(self, link => link.advance(until));
    }

    #[inline]
    fn delivered(&mut self) -> &mut Pipe<Frame<P>> {
        each!(self, link => link.delivered())
    }

    #[inline]
    fn returned(&mut self) -> &mut Pipe<Frame<P>> {
        each!(self, link => link.returned())
    }

    #[inline]
    fn backlog(&self) -> usize {
        each!(self, link => link.backlog())
    }

    #[inline]
    fn traffic(&self) -> &Traffic {
        each!(self, link => link.traffic())
    }

    fn queue(&self) -> &FrameQueue<P> {
        each!(self, link => link.queue())
    }

    fn queue_mut(&mut self) -> &mut FrameQueue<P> {
        each!(self, link => link.queue_mut())
    }

    fn buffer_bytes(&mut self, now: Instant) -> (u64, u64) {
        each!(self, link => link.buffer_bytes(now))
    }
}

//! Any of the links, chosen when a run starts.

use super::{
    FecLink, FecModelLink, Frame, FrameQueue, LinkGuardianLink, NoTap, PlainLink, ProtectedLink, Tap, Traffic,
};
use crate::kernel::Pipe;
use lossylink_core::loss::LossProcess;
use lossylink_core::time::Instant;

/// A link under one of the protections.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "one a world, and looked at for every frame")]
pub enum AnyLink<P: Copy + Default, T = NoTap> {
    /// No protection.
    Plain(PlainLink<P, T>),
    /// LinkGuardian, ordered or non-blocking.
    LinkGuardian(LinkGuardianLink<P, T>),
    /// Forward error correction, without taps.
    Fec(FecLink<P>),
    /// The switch model of forward error correction, without taps.
    FecModel(FecModelLink<P>),
}

/// Calls the same method on whichever link it is.
macro_rules! each {
    ($link:expr, $inner:ident => $call:expr) => {
        match $link {
            Self::Plain($inner) => $call,
            Self::LinkGuardian($inner) => $call,
            Self::Fec($inner) => $call,
            Self::FecModel($inner) => $call,
        }
    };
}

impl<P: Copy + Default, T: Tap<P>> AnyLink<P, T> {
    /// Replaces the forward loss process.
    pub fn set_loss(&mut self, loss: LossProcess) {
        each!(self, link => link.set_loss(loss));
    }

    /// Puts LinkGuardian on a link without protection while traffic runs (LG-30).
    ///
    /// # Panics
    /// If the link has a protection already.
    pub fn protect(&mut self, guarded: LinkGuardianLink<P, T>) {
        let before = std::mem::replace(self, Self::LinkGuardian(guarded));
        match (self, before) {
            (Self::LinkGuardian(link), Self::Plain(plain)) => link.take_over(plain.hand_over()),
            _ => panic!("the link is protected already"),
        }
    }

    /// The LinkGuardian link, to be changed, if it is one.
    pub const fn as_linkguardian_mut(&mut self) -> Option<&mut LinkGuardianLink<P, T>> {
        match self {
            Self::LinkGuardian(link) => Some(link),
            _ => None,
        }
    }

    /// The LinkGuardian link, if it is one.
    pub const fn as_linkguardian(&self) -> Option<&LinkGuardianLink<P, T>> {
        match self {
            Self::LinkGuardian(link) => Some(link),
            _ => None,
        }
    }

    /// The link with forward error correction, if it is one.
    pub const fn as_fec(&self) -> Option<&FecLink<P>> {
        match self {
            Self::Fec(link) => Some(link),
            _ => None,
        }
    }

    /// The switch model of forward error correction, if it is one.
    pub const fn as_fec_model(&self) -> Option<&FecModelLink<P>> {
        match self {
            Self::FecModel(link) => Some(link),
            _ => None,
        }
    }

    /// The unprotected link, if it is one.
    pub const fn as_plain_mut(&mut self) -> Option<&mut PlainLink<P, T>> {
        match self {
            Self::Plain(link) => Some(link),
            _ => None,
        }
    }
}

impl<P: Copy + Default, T: Tap<P>> ProtectedLink<P> for AnyLink<P, T> {
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
    fn advance(&mut self, now: Instant) {
        each!(self, link => link.advance(now));
    }

    #[inline]
    fn run_until(&mut self, until: Instant) {
        each!(self, link => link.run_until(until));
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

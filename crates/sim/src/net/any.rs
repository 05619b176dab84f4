//! Any of the protected links: chosen when a run starts, and switched on and off while traffic runs.
//!
//! This file alone lists the families of protections in the simulator, and how the link of each is built.

use super::blueprint::{Blueprint, Losses, clean};
use super::inspected::Inspectable;
use super::source::Source;
use super::{
    Advice, Ends, FecLink, FecModelLink, Frame, FrameQueue, GivesUp, Handover, Inspected, Latency,
    LinkGuardianLink, LlrLink, Payload, PlainLink, ProtectedLink, Report, State, Tap, Traffic,
};
#[cfg(feature = "fast")]
use super::{Direction, FastLinkGuardianLink, Passage};
use crate::ConfigError;
#[cfg(feature = "fast")]
use crate::kernel::Train;
use crate::kernel::{Pipe, Trains};
use lossylink_core::loss::LossProcess;
use lossylink_core::protection::{Protection, ProtectionError};
use lossylink_core::rng::Streams;
use lossylink_core::time::Instant;

/// A link under one of the protections.
#[derive(Clone, Debug)]
pub struct AnyLink<P: Payload> {
    line: Line<P>,
    /// The parts from which the protection is switched on again; only on a link that was built waiting.
    standby: Option<Box<Standby<P>>>,
}

/// A link of any of the families, or any of them under inspection.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "one a world, and looked at for every frame")]
enum Line<P: Payload> {
    Plain(PlainLink<P>),
    LinkGuardian(LinkGuardianLink<P>),
    #[cfg(feature = "fast")]
    FastLinkGuardian(FastLinkGuardianLink<P>),
    Fec(FecLink<P>),
    FecModel(FecModelLink<P>),
    Llr(LlrLink<P>),
    Inspected(Inspected<P, AnyLink<P>>),
}

/// Calls the same method on the link of whichever family `$line` holds.
macro_rules! each {
    ($line:expr, $link:ident => $call:expr) => {
        match $line {
            Line::Plain($link) => $call,
            Line::LinkGuardian($link) => $call,
            #[cfg(feature = "fast")]
            Line::FastLinkGuardian($link) => $call,
            Line::Fec($link) => $call,
            Line::FecModel($link) => $call,
            Line::Llr($link) => $call,
            Line::Inspected($link) => $call,
        }
    };
}

/// Builds the link that the blueprint's protection asks for.
fn build<P: Payload>(plan: &Blueprint, losses: Losses, streams: &Streams) -> Result<Line<P>, ConfigError> {
    Ok(match &plan.protection {
        Protection::None => Line::Plain(PlainLink::new(plan.direct(), losses.0, losses.1)),
        #[cfg(feature = "fast")]
        Protection::LinkGuardian(options) if plan.is_fast => {
            Line::FastLinkGuardian(FastLinkGuardianLink::on(plan, options, losses, streams))
        }
        Protection::LinkGuardian(options) => {
            Line::LinkGuardian(LinkGuardianLink::on(plan, options, losses, streams))
        }
        Protection::Fec(options) => Line::Fec(FecLink::on(plan, options, losses)?),
        Protection::FecModel(options) => Line::FecModel(FecModelLink::on(plan, options, losses)?),
        Protection::Llr(options) => Line::Llr(LlrLink::on(plan, options, losses)?),
        Protection::Routed => return Err(ConfigError(ProtectionError::RoutedOnly.to_string())),
    })
}

#[derive(Clone, Debug)]
struct Standby<P> {
    plan: Blueprint,
    streams: Streams,
    tap: Tap<P>,
    /// The report on earlier turns of the protection, if it was on before.
    earlier: Option<Report>,
}

/// An operation on a link, compiled anew for each type of link.
pub trait Visit<P: Payload> {
    /// The result of the operation.
    type Output;

    /// Carries out the operation on `link`.
    fn visit(self, link: &mut impl ProtectedLink<P>) -> Self::Output;
}

impl<P: Payload> AnyLink<P> {
    /// Builds the link of `plan` with these losses; `streams` are its random streams.
    ///
    /// # Errors
    /// If the protection does not go with the link: one line that says why, and the mend.
    pub fn new(plan: &Blueprint, losses: Losses, streams: &Streams) -> Result<Self, ConfigError> {
        Ok(Self { line: build(plan, losses, streams)?, standby: None })
    }

    /// Builds the link of `plan` without losses and without its protection.
    pub fn bare(plan: &Blueprint, streams: &Streams) -> Self {
        let (forward, reverse) = clean(streams);
        PlainLink::new(plan.direct(), forward, reverse).into()
    }

    /// Builds the link of `plan` without losses; its protection waits to be switched on.
    ///
    /// # Errors
    /// As [`AnyLink::new`].
    pub fn waiting(plan: &Blueprint, streams: &Streams) -> Result<Self, ConfigError> {
        let standby = Standby { plan: plan.clone(), streams: *streams, tap: Tap::default(), earlier: None };
        let line = build(plan, clean(streams), streams)?;
        let mut link = Self { line, standby: Some(Box::new(standby)) };
        assert!(link.leave(Instant::ZERO), "a link that has carried nothing has nothing to finish");
        if let Some(standby) = &mut link.standby {
            standby.earlier = None;
        }
        Ok(link)
    }

    /// Puts an unprotected link in the place of a link that hands over, and keeps the report of the link that goes.
    fn become_plain(&mut self, now: Instant) {
        let Some(standby) = &mut self.standby else { return };
        let Some(from) = each!(&self.line, link => link.hand_over()) else { return };
        let report = each!(&mut self.line, link => link.report(now));
        standby.earlier = Some(match standby.earlier.take() {
            Some(earlier) => report.after(&earlier),
            None => report,
        });
        let (forward, reverse) = clean(&standby.streams);
        let mut plain = PlainLink::new(standby.plan.direct(), forward, reverse);
        plain.take_over(now, from);
        plain.set_tap(standby.tap.clone());
        self.line = Line::Plain(plain);
    }

    /// Makes the link one under inspection, which takes its state at these instants; [`AnyLink::states`] returns the states.
    #[must_use]
    pub fn inspected(self, instants: Vec<Instant>) -> Self {
        Self { line: Line::Inspected(Inspected::new(self, instants)), standby: None }
    }

    /// Returns the states of a link under inspection up to `end`, at which the run has ended, and the first instant that lies
    /// beyond, if any. Any other link has no states.
    pub fn states(&mut self, end: Instant) -> (Vec<State>, Option<Instant>) {
        match &mut self.line {
            Line::Inspected(link) => link.finish(end),
            _ => (Vec::new(), None),
        }
    }

    /// Does `visit` with the link in its own type, so that no call within asks again for the type of the link.
    pub fn visit<V: Visit<P>>(&mut self, visit: V) -> V::Output {
        each!(&mut self.line, link => visit.visit(link))
    }
}

impl<P: Payload> From<PlainLink<P>> for AnyLink<P> {
    fn from(link: PlainLink<P>) -> Self {
        Self { line: Line::Plain(link), standby: None }
    }
}

#[cfg(feature = "fast")]
impl<P: Payload> From<FastLinkGuardianLink<P>> for AnyLink<P> {
    fn from(link: FastLinkGuardianLink<P>) -> Self {
        Self { line: Line::FastLinkGuardian(link), standby: None }
    }
}

impl<P: Payload> From<LinkGuardianLink<P>> for AnyLink<P> {
    fn from(link: LinkGuardianLink<P>) -> Self {
        Self { line: Line::LinkGuardian(link), standby: None }
    }
}

impl<P: Payload> Inspectable<P> for AnyLink<P> {
    fn run_inspected(
        &mut self,
        until: Instant,
        forward: &mut impl Source<P>,
        backward: &mut impl Source<P>,
    ) -> Instant {
        match &mut self.line {
            Line::Inspected(_) => unreachable!("a link is inspected once"),
            Line::Plain(link) => link.run(until, forward, backward),
            Line::LinkGuardian(link) => link.run(until, forward, backward),
            #[cfg(feature = "fast")]
            Line::FastLinkGuardian(link) => link.run(until, forward, backward),
            Line::Fec(link) => link.run(until, forward, backward),
            Line::FecModel(link) => link.run(until, forward, backward),
            Line::Llr(link) => link.run(until, forward, backward),
        }
    }
}

impl<P: Payload> ProtectedLink<P> for AnyLink<P> {
    #[inline]
    fn offer(&mut self, now: Instant, frame: Frame<P>) {
        each!(&mut self.line, link => link.offer(now, frame));
    }

    #[inline]
    fn offer_back(&mut self, now: Instant, frame: Frame<P>) {
        each!(&mut self.line, link => link.offer_back(now, frame));
    }

    #[inline]
    fn poll_timeout(&self) -> Instant {
        each!(&self.line, link => link.poll_timeout())
    }

    #[inline]
    fn advance(&mut self, until: Instant) -> Instant {
        each!(&mut self.line, link => link.advance(until))
    }

    fn run(
        &mut self,
        until: Instant,
        forward: &mut impl Source<P>,
        backward: &mut impl Source<P>,
    ) -> Instant {
        each!(&mut self.line, link => link.run(until, forward, backward))
    }

    #[inline]
    fn delivered(&mut self) -> &mut Trains<Frame<P>> {
        each!(&mut self.line, link => link.delivered())
    }

    #[inline]
    fn returned(&mut self) -> &mut Pipe<Frame<P>> {
        each!(&mut self.line, link => link.returned())
    }

    #[inline]
    fn backlog(&self) -> usize {
        each!(&self.line, link => link.backlog())
    }

    fn waiting_bytes(&self) -> u64 {
        each!(&self.line, link => link.waiting_bytes())
    }

    #[inline]
    fn traffic(&self) -> &Traffic {
        each!(&self.line, link => link.traffic())
    }

    fn reverse_traffic(&self) -> &Traffic {
        each!(&self.line, link => link.reverse_traffic())
    }

    fn queue(&self) -> &FrameQueue<P> {
        each!(&self.line, link => link.queue())
    }

    fn queue_mut(&mut self) -> &mut FrameQueue<P> {
        each!(&mut self.line, link => link.queue_mut())
    }

    fn set_loss(&mut self, loss: LossProcess) {
        each!(&mut self.line, link => link.set_loss(loss));
    }

    fn losses_mut(&mut self) -> (&mut LossProcess, &mut LossProcess) {
        each!(&mut self.line, link => link.losses_mut())
    }

    fn standstill(&self) -> Instant {
        each!(&self.line, link => link.standstill())
    }

    fn under_way(&self) -> u64 {
        each!(&self.line, link => link.under_way())
    }

    fn gives_up(&self) -> GivesUp {
        each!(&self.line, link => link.gives_up())
    }

    fn set_tap(&mut self, tap: Tap<P>) {
        if let Some(standby) = &mut self.standby {
            standby.tap = tap.clone();
        }
        each!(&mut self.line, link => link.set_tap(tap));
    }

    /// Switches the protection on. A link that handed over to an unprotected link when its protection left is built anew, and
    /// takes over from the unprotected link in turn.
    fn protect(&mut self, now: Instant, advice: Advice) {
        if let (Line::Plain(plain), Some(standby)) = (&self.line, &self.standby) {
            let from = plain.hand_over().expect("an unprotected link gives all that it has");
            let mut line = build(&standby.plan, clean(&standby.streams), &standby.streams)
                .expect("it has been built before");
            each!(&mut line, link => {
                link.take_over(now, from);
                link.set_tap(standby.tap.clone());
            });
            self.line = line;
        }
        each!(&mut self.line, link => link.protect(now, advice));
    }

    fn leave(&mut self, now: Instant) -> bool {
        let has_left = each!(&mut self.line, link => link.leave(now));
        if has_left && !matches!(self.line, Line::Plain(_)) {
            self.become_plain(now);
        }
        has_left
    }

    fn hand_over(&self) -> Option<Handover<P>> {
        each!(&self.line, link => link.hand_over())
    }

    fn take_over(&mut self, now: Instant, from: Handover<P>) {
        each!(&mut self.line, link => link.take_over(now, from));
    }

    fn buffer_bytes(&mut self, now: Instant) -> (u64, u64) {
        each!(&mut self.line, link => link.buffer_bytes(now))
    }

    fn take_rx_high_water(&mut self, now: Instant) -> u64 {
        each!(&mut self.line, link => link.take_rx_high_water(now))
    }

    fn burst_frames(&self) -> usize {
        each!(&self.line, link => link.burst_frames())
    }

    fn latency(&self) -> Option<&Latency> {
        each!(&self.line, link => link.latency())
    }

    fn report(&mut self, now: Instant) -> Report {
        let report = each!(&mut self.line, link => link.report(now));
        match self.standby.as_ref().and_then(|standby| standby.earlier.as_ref()) {
            Some(earlier) => report.after(earlier),
            None => report,
        }
    }

    /// Returns the state of the two ends. A link whose protection was on before tells of the present turn alone.
    fn state(&mut self, now: Instant) -> Ends {
        each!(&mut self.line, link => link.state(now))
    }

    #[cfg(feature = "fast")]
    fn decide_until(&mut self, until: Instant) -> bool {
        each!(&mut self.line, link => link.decide_until(until))
    }

    #[cfg(feature = "fast")]
    #[inline]
    fn take(&mut self, direction: Direction, train: Train, frame: &Frame<P>, until: Instant) -> Passage {
        each!(&mut self.line, link => link.take(direction, train, frame, until))
    }

    #[cfg(feature = "fast")]
    #[inline]
    fn poll_apart(&self) -> Option<Instant> {
        each!(&self.line, link => link.poll_apart())
    }

    #[cfg(feature = "fast")]
    fn run_apart(&mut self, direction: Direction, until: Instant, frames: &mut Trains<Frame<P>>) -> Instant {
        each!(&mut self.line, link => link.run_apart(direction, until, frames))
    }
}

#[cfg(feature = "fast")]
mod clean;

#[cfg(test)]
mod tests;

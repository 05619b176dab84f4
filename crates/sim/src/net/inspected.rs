//! A link under inspection: the state of its two ends is taken at chosen instants, and nothing is changed.
//!
//! The state at an instant is read from a copy of the link. The copy is taken once everything up to the instant has happened, and
//! as soon as something later happens. So the run goes on as if nobody had looked.

use super::source::{Counted, Source};
use super::state::{Outside, State};
use super::{
    Advice, Frame, FrameQueue, GivesUp, Handover, Latency, Payload, ProtectedLink, Report, Tap, Traffic,
};
use crate::kernel::{Pipe, Trains};
use lossylink_core::engine::report::Queued;
use lossylink_core::loss::LossProcess;
use lossylink_core::time::Instant;
use lossylink_core::units::Bytes;
use std::collections::VecDeque;
use std::mem;

/// A link that can be inspected, and is not under inspection yet.
pub trait Inspectable<P: Payload>: ProtectedLink<P> + Clone {
    /// Equals [`ProtectedLink::run`]. A link that may itself be an [`Inspected`] link would wrap its sources without end.
    fn run_inspected(
        &mut self,
        until: Instant,
        forward: &mut impl Source<P>,
        backward: &mut impl Source<P>,
    ) -> Instant;
}

/// A link under inspection.
#[derive(Clone, Debug)]
pub struct Inspected<P: Payload, L> {
    link: Box<L>,
    /// The instants to come, the earliest first.
    instants: VecDeque<Instant>,
    taken: Vec<State>,
    offered: u64,
    /// Frames that have been delivered by the next instant.
    handed_on: u64,
    /// Frames that will be delivered after the next instant.
    leaving: Pipe<()>,
    delivered: Trains<Frame<P>>,
}

impl<P: Payload, L: Inspectable<P>> Inspected<P, L> {
    /// Puts `link` under inspection at these instants, in whatever order they are given.
    pub(super) fn new(link: L, mut instants: Vec<Instant>) -> Self {
        instants.sort_unstable();
        instants.dedup();
        Self {
            link: Box::new(link),
            instants: instants.into(),
            taken: Vec::new(),
            offered: 0,
            handed_on: 0,
            leaving: Pipe::new(),
            delivered: Trains::new(),
        }
    }

    /// Returns the states up to `end`, at which the run has ended, and the first instant that lies beyond, if any.
    pub(super) fn finish(&mut self, end: Instant) -> (Vec<State>, Option<Instant>) {
        while self.next() <= end && !self.next().is_never() {
            self.look();
        }
        let mut states = mem::take(&mut self.taken);
        let beyond = states.iter().map(|state| state.at).find(|&at| at > end);
        states.retain(|state| state.at <= end);
        (states, beyond.or_else(|| self.instants.front().copied()))
    }

    /// Returns the link under inspection, once no instant is to come.
    #[cfg(feature = "fast")]
    pub(super) fn seen(&mut self) -> Option<&mut L> {
        self.instants.is_empty().then_some(&mut *self.link)
    }

    /// Returns the next instant; never, when all instants have passed.
    fn next(&self) -> Instant {
        self.instants.front().copied().unwrap_or(Instant::NEVER)
    }

    /// Takes the states at the instants before `now`, at which an event is due.
    fn look_before(&mut self, now: Instant) {
        while self.next() < now {
            self.look();
        }
    }

    /// Takes the state at the next instant.
    #[cold]
    fn look(&mut self) {
        let Some(&at) = self.instants.front() else { return };
        self.link.advance(at);
        self.collect();
        let mut link = self.link.clone();
        let (ends, egress) = (link.state(at), link.report(at).egress);
        let queued = Queued {
            waiting: Bytes(link.waiting_bytes()),
            longest: Bytes(link.queue().high_water_bytes()),
            dropped: egress.data_dropped + egress.parity_dropped,
            marked: link.queue().marked(),
        };
        let (offered, delivered) = (self.offered, self.handed_on);
        let to_be_delivered = self.leaving.len() as u64;
        let outside = Outside { offered, delivered, to_be_delivered, queued };
        self.taken.push(State::new(at, ends, link.traffic(), &outside));
        self.instants.pop_front();
        let next = self.next();
        let handed_on = &mut self.handed_on;
        self.leaving.drain_due(next, |_, ()| *handed_on += 1);
    }

    /// Takes the frames that the link delivers, and counts those that are delivered by the next instant.
    fn collect(&mut self) {
        let next = self.next();
        let Self { link, handed_on, leaving, delivered, .. } = self;
        link.delivered().take_all(|at, frame| {
            delivered.push_apart(at, *frame);
            if at <= next {
                *handed_on += 1;
            } else {
                leaving.push(at, ());
            }
        });
    }
}

impl<P: Payload, L: Inspectable<P>> ProtectedLink<P> for Inspected<P, L> {
    fn offer(&mut self, now: Instant, frame: Frame<P>) {
        self.look_before(now);
        self.offered += 1;
        self.link.offer(now, frame);
    }

    fn offer_back(&mut self, now: Instant, frame: Frame<P>) {
        self.look_before(now);
        self.link.offer_back(now, frame);
    }

    fn poll_timeout(&self) -> Instant {
        self.link.poll_timeout()
    }

    /// Advances the link, and takes the states on the way. An instant after the link's last event is left, because it may lie
    /// beyond the end of the run.
    fn advance(&mut self, until: Instant) -> Instant {
        let mut latest = Instant::ZERO;
        while self.next() < until {
            latest = latest.max(self.link.advance(self.next()));
            if self.link.poll_timeout() > until || self.link.poll_timeout().is_never() {
                break;
            }
            self.look();
        }
        latest.max(self.link.advance(until))
    }

    fn run(
        &mut self,
        until: Instant,
        forward: &mut impl Source<P>,
        backward: &mut impl Source<P>,
    ) -> Instant {
        let mut latest = Instant::ZERO;
        let mut forward = Counted::new(forward);
        while self.next() < until {
            latest = latest.max(self.link.run_inspected(self.next(), &mut forward, backward));
            self.offered += mem::take(&mut forward.taken);
            let entries = forward.poll_timeout(self.link.backlog()).min(backward.poll_timeout(0));
            let next = self.link.poll_timeout().min(entries);
            if next > until || next.is_never() {
                break;
            }
            self.look();
        }
        latest = latest.max(self.link.run_inspected(until, &mut forward, backward));
        self.offered += forward.taken;
        latest
    }

    fn delivered(&mut self) -> &mut Trains<Frame<P>> {
        self.collect();
        &mut self.delivered
    }

    fn returned(&mut self) -> &mut Pipe<Frame<P>> {
        self.link.returned()
    }

    fn backlog(&self) -> usize {
        self.link.backlog()
    }

    fn waiting_bytes(&self) -> u64 {
        self.link.waiting_bytes()
    }

    fn traffic(&self) -> &Traffic {
        self.link.traffic()
    }

    fn reverse_traffic(&self) -> &Traffic {
        self.link.reverse_traffic()
    }

    fn queue(&self) -> &FrameQueue<P> {
        self.link.queue()
    }

    fn queue_mut(&mut self) -> &mut FrameQueue<P> {
        self.link.queue_mut()
    }

    fn set_loss(&mut self, loss: LossProcess) {
        self.link.set_loss(loss);
    }

    fn losses_mut(&mut self) -> (&mut LossProcess, &mut LossProcess) {
        self.link.losses_mut()
    }

    fn standstill(&self) -> Instant {
        self.link.standstill()
    }

    fn under_way(&self) -> u64 {
        self.link.under_way()
    }

    fn gives_up(&self) -> GivesUp {
        self.link.gives_up()
    }

    fn set_tap(&mut self, tap: Tap<P>) {
        self.link.set_tap(tap);
    }

    fn protect(&mut self, now: Instant, advice: Advice) {
        self.look_before(now);
        self.link.protect(now, advice);
    }

    fn leave(&mut self, now: Instant) -> bool {
        self.look_before(now);
        self.link.leave(now)
    }

    /// Returns nothing: the link within takes over from itself.
    fn hand_over(&self) -> Option<Handover<P>> {
        None
    }

    fn buffer_bytes(&mut self, now: Instant) -> (u64, u64) {
        self.look_before(now);
        self.link.buffer_bytes(now)
    }

    fn take_rx_high_water(&mut self, now: Instant) -> u64 {
        self.look_before(now);
        self.link.take_rx_high_water(now)
    }

    fn burst_frames(&self) -> usize {
        self.link.burst_frames()
    }

    fn latency(&self) -> Option<&Latency> {
        self.link.latency()
    }

    fn report(&mut self, now: Instant) -> Report {
        self.link.report(now)
    }

    fn state(&mut self, now: Instant) -> super::Ends {
        self.link.state(now)
    }
}

//! A link that decides on each frame at once: no buffer at either end, no feedback, no timer.
//!
//! ```text
//!  offer -> [queue] -> scheme: send == wire ==> delivered
//! ```
//!
//! A [`Scheme`] sends each frame over the wire, and decides whether the receiver delivers the frame. The unprotected link is the
//! simplest scheme.

#[cfg(feature = "fast")]
use super::Passage;
use super::backward::Backward;
use super::queue::QueueLimits;
use super::report::EgressCounters;
use super::tap::Content;
use super::wire::Kind;
use super::{
    Advice, Direction, Ends, Frame, FrameQueue, LineRate, LineRates, Payload, ProtectedLink, Report, Sight,
    Tap, Traffic, Wire,
};
#[cfg(feature = "fast")]
use crate::kernel::Train;
use crate::kernel::{Pipe, Trains};
use lossylink_core::loss::LossProcess;
use lossylink_core::time::{Duration, Instant};

/// Parameters of a direct link.
#[derive(Clone, Copy, Debug)]
pub struct DirectConfig {
    /// Line rates of the two directions.
    pub rates: LineRates,
    /// Time from the sender's dequeue to the receiver's decision, without serialisation; equal on the way back.
    pub flight: Duration,
    /// The limits of the queue in front of the link.
    pub queue: QueueLimits,
}

/// How a frame crosses a direct link.
pub trait Scheme<P: Payload> {
    /// Whether a frame that the wire is certain to carry changes nothing but the wire's counts.
    const SKIPS_CLEAN: bool = false;
    /// Whether the scheme does anything about losses.
    const PROTECTS: bool = true;

    /// Carries `frame`, whose turn has come at `now`, over `line`, and delivers the frame if enough of it arrived.
    fn send(&mut self, now: Instant, line: &mut Line<P>, frame: Frame<P>);

    /// Adds the counts of the scheme to the report of its link.
    fn describe(&self, report: &mut Report);
}

/// The forward direction: a wire that is free or busy, and the frames that will arrive.
#[derive(Clone, Debug)]
pub struct Line<P: Payload> {
    rate: LineRate,
    flight: Duration,
    wire: Wire,
    busy_until: Instant,
    delivered: Trains<Frame<P>>,
    tap: Tap<P>,
}

impl<P: Payload> Line<P> {
    /// Puts `frame` on the wire behind the frames that are on it; true if the frame arrives whole. `now` is the present.
    #[inline]
    pub fn carry(&mut self, now: Instant, frame: &Frame<P>, kind: Kind) -> bool {
        let at = self.busy_until;
        self.busy_until = at + self.rate.serialisation(frame.octets);
        let arrives = self.wire.carry(at, frame.octets, kind);
        self.tap.see_on_link(now, || {
            let (direction, content) = (Direction::Forward, Content::Bare(*frame));
            Sight { at, direction, arrives, content }
        });
        arrives
    }

    /// Lets the receiver hand `frame` on when the last octets that were carried have reached the receiver.
    #[inline]
    pub fn deliver(&mut self, frame: Frame<P>) {
        self.delivered.push_apart(self.busy_until + self.flight, frame);
    }
}

/// A link with the scheme `S` in its forward direction. While its queue is empty the link needs no events: a frame's fate and its
/// time of arrival are known when the frame is offered.
#[derive(Clone, Debug)]
pub struct DirectLink<P: Payload, S: Scheme<P>> {
    queue: FrameQueue<P>,
    line: Line<P>,
    scheme: S,
    backward: Backward<P>,
}

impl<P: Payload, S: Scheme<P> + Default> DirectLink<P, S> {
    /// Builds a link with these losses in its two directions.
    pub fn new(config: DirectConfig, forward: LossProcess, reverse: LossProcess) -> Self {
        let DirectConfig { rates, flight, queue } = config;
        let line = Line {
            rate: rates.forward,
            flight,
            wire: Wire::new(forward),
            busy_until: Instant::ZERO,
            delivered: Trains::new(),
            tap: Tap::default(),
        };
        let backward = Backward::new(rates.back, flight, Wire::new(reverse));
        Self { queue: FrameQueue::new(queue), line, scheme: S::default(), backward }
    }
}

impl<P: Payload, S: Scheme<P>> DirectLink<P, S> {
    /// Sends a frame at `now`, when the line is free. Inlined, this function costs a stress run a seventh more instructions.
    #[inline(never)]
    fn send(&mut self, now: Instant, frame: Frame<P>) {
        self.line.busy_until = now;
        self.scheme.send(now, &mut self.line, frame);
    }

    /// Sends the frames of the queue for which the line is free by `now`; returns when the last of them was sent.
    #[inline]
    fn serve(&mut self, now: Instant) -> Instant {
        if self.poll_timeout() <= now { self.serve_some(now) } else { Instant::ZERO }
    }

    fn serve_some(&mut self, now: Instant) -> Instant {
        let mut latest = Instant::ZERO;
        while self.poll_timeout() <= now {
            latest = self.line.busy_until;
            self.queue.settle(latest);
            let Some(frame) = self.queue.poll() else { break };
            self.send(latest, frame);
        }
        latest
    }
}

/// A link's frames and wires, on their way from one protection to another.
#[derive(Clone, Debug)]
pub struct Handover<P: Payload> {
    /// Frames that wait in front of the link.
    pub queue: FrameQueue<P>,
    /// The time at which the frame in service has left.
    pub busy_until: Instant,
    /// The time at which the frame in service on the way back has left.
    pub reverse_busy_until: Instant,
    /// The wire, its losses and its counters.
    pub forward: Wire,
    /// The wire back.
    pub reverse: Wire,
    /// Frames in flight that will arrive.
    pub delivered: Trains<Frame<P>>,
    /// Frames in flight on the way back that will arrive.
    pub returned: Pipe<Frame<P>>,
}

impl<P: Payload, S: Scheme<P>> ProtectedLink<P> for DirectLink<P, S> {
    #[inline]
    fn offer(&mut self, now: Instant, frame: Frame<P>) {
        self.serve(now);
        if self.queue.is_empty() && self.line.busy_until <= now {
            self.send(now, frame);
        } else {
            self.queue.settle(now);
            self.queue.offer(frame);
        }
    }

    fn offer_back(&mut self, now: Instant, frame: Frame<P>) {
        self.backward.offer(now, frame);
    }

    #[inline]
    fn poll_timeout(&self) -> Instant {
        if self.queue.is_empty() { Instant::NEVER } else { self.line.busy_until }
    }

    fn advance(&mut self, until: Instant) -> Instant {
        self.serve(until)
    }

    #[inline]
    fn delivered(&mut self) -> &mut Trains<Frame<P>> {
        &mut self.line.delivered
    }

    #[inline]
    fn returned(&mut self) -> &mut Pipe<Frame<P>> {
        &mut self.backward.returned
    }

    fn backlog(&self) -> usize {
        self.queue.len()
    }

    fn traffic(&self) -> &Traffic {
        self.line.wire.traffic()
    }

    fn reverse_traffic(&self) -> &Traffic {
        self.backward.traffic()
    }

    fn queue(&self) -> &FrameQueue<P> {
        &self.queue
    }

    fn queue_mut(&mut self) -> &mut FrameQueue<P> {
        &mut self.queue
    }

    fn set_loss(&mut self, loss: LossProcess) {
        self.line.wire.set_loss(loss);
    }

    fn losses_mut(&mut self) -> (&mut LossProcess, &mut LossProcess) {
        (self.line.wire.loss_mut(), self.backward.wire.loss_mut())
    }

    fn set_tap(&mut self, tap: Tap<P>) {
        self.line.tap = tap.clone();
        self.backward.tap = tap;
    }

    /// Does nothing: the scheme is on as long as the link is in place. An unprotected link takes its place when the scheme leaves.
    fn protect(&mut self, _now: Instant, _advice: Advice) {}

    /// Returns true: the ends keep no frames for which the caller would have to wait.
    fn leave(&mut self, _now: Instant) -> bool {
        true
    }

    fn hand_over(&self) -> Option<Handover<P>> {
        Some(Handover {
            queue: self.queue.clone(),
            busy_until: self.line.busy_until,
            reverse_busy_until: self.backward.busy_until,
            forward: self.line.wire.clone(),
            reverse: self.backward.wire.clone(),
            delivered: self.line.delivered.clone(),
            returned: self.backward.returned.clone(),
        })
    }

    /// Takes over from a link whose protection has left (LG-36).
    fn take_over(&mut self, now: Instant, from: Handover<P>) {
        self.queue = from.queue;
        // A frame that waits in the queue does not leave in the past.
        self.line.busy_until = from.busy_until.max(now);
        self.backward.busy_until = from.reverse_busy_until;
        self.line.wire = from.forward;
        self.backward.wire = from.reverse;
        self.line.delivered = from.delivered;
        self.backward.returned = from.returned;
    }

    fn report(&mut self, _now: Instant) -> Report {
        let mut report = Report { egress: EgressCounters::of(&self.queue), ..Report::default() };
        self.scheme.describe(&mut report);
        report
    }

    /// Returns an empty state but for the way back: the ends keep nothing to tell of.
    fn state(&mut self, _now: Instant) -> Ends {
        Ends { is_on: S::PROTECTS, reverse: *self.backward.traffic(), ..Ends::default() }
    }

    #[cfg(feature = "fast")]
    fn decide_until(&mut self, until: Instant) -> bool {
        self.decide_waiting(until);
        true
    }

    #[cfg(feature = "fast")]
    #[inline]
    fn take(&mut self, direction: Direction, train: Train, frame: &Frame<P>, until: Instant) -> Passage {
        match direction {
            Direction::Forward => self.take_forward(train, frame, until),
            Direction::Backward => self.backward.take(train, frame),
        }
    }
}

#[cfg(feature = "fast")]
mod fast;

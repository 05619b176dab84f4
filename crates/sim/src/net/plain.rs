//! A link without protection: the passthrough engine between the same queue and wire.

use super::tap::Content;
use super::wire::Kind;
use super::{
    Advice, Direction, Frame, FrameQueue, LineRate, ProtectedLink, Report, Sight, Tap, Traffic, Wire,
};
use crate::kernel::Pipe;
use crate::net::coded::EgressCounters;
use crate::net::queue::QueueLimits;
use lossylink_core::engine::passthrough::Passthrough;
use lossylink_core::loss::LossProcess;
use lossylink_core::time::{Duration, Instant};

/// Parameters of an unprotected link.
#[derive(Clone, Copy, Debug)]
pub struct PlainConfig {
    /// Line rate, both directions.
    pub rate: LineRate,
    /// Sender's dequeue to the receiver's decision, without serialisation; the same way back.
    pub flight: Duration,
    /// The queue in front of the link.
    pub queue: QueueLimits,
}

/// An unprotected link. While its queue is empty it needs no events: a frame's fate and its time
/// of arrival are known when it is offered.
#[derive(Clone, Debug)]
pub struct PlainLink<P: Copy + Default> {
    config: PlainConfig,
    queue: FrameQueue<P>,
    busy_until: Instant,
    reverse_busy_until: Instant,
    forward: Wire,
    reverse: Wire,
    engine: Passthrough,
    delivered: Pipe<Frame<P>>,
    returned: Pipe<Frame<P>>,
    tap: Tap<P>,
}

impl<P: Copy + Default> PlainLink<P> {
    /// A link with these losses in its two directions.
    pub fn new(config: PlainConfig, forward: LossProcess, reverse: LossProcess) -> Self {
        Self {
            config,
            queue: FrameQueue::new(config.queue),
            busy_until: Instant::ZERO,
            reverse_busy_until: Instant::ZERO,
            forward: Wire::new(forward),
            reverse: Wire::new(reverse),
            engine: Passthrough::new(),
            delivered: Pipe::new(),
            returned: Pipe::new(),
            tap: Tap::default(),
        }
    }

    /// Puts a frame on the wire at `now`.
    #[inline]
    fn send(&mut self, now: Instant, frame: Frame<P>) {
        self.busy_until = now + self.config.rate.serialisation(frame.octets);
        let arrives = self.forward.carry(frame.octets, Kind::Data { header_octets: 0 });
        self.tap.see_on_link(now, || bare(now, Direction::Forward, arrives, frame));
        if arrives {
            self.engine.handle_frame();
            self.delivered.push(self.busy_until + self.config.flight, frame);
        }
    }

    /// Sends what the queue holds and the line has room for at `now`.
    #[inline]
    fn serve(&mut self, now: Instant) {
        while self.poll_timeout() <= now {
            let start = self.busy_until;
            let Some(frame) = self.queue.poll() else { return };
            self.send(start, frame);
        }
    }

    /// The reverse direction's traffic.
    pub const fn reverse_traffic(&self) -> &Traffic {
        self.reverse.traffic()
    }
}

/// A link's frames and wires, on their way from one protection to another.
#[derive(Clone, Debug)]
pub struct Handover<P: Copy + Default> {
    /// Frames that wait in front of the link.
    pub queue: FrameQueue<P>,
    /// When the frame in service has left.
    pub busy_until: Instant,
    /// The same on the way back.
    pub reverse_busy_until: Instant,
    /// The wire, its losses and its counters.
    pub forward: Wire,
    /// The wire back.
    pub reverse: Wire,
    /// Frames in flight that will arrive.
    pub delivered: Pipe<Frame<P>>,
    /// The same on the way back.
    pub returned: Pipe<Frame<P>>,
}

impl<P: Copy + Default> ProtectedLink<P> for PlainLink<P> {
    #[inline]
    fn offer(&mut self, now: Instant, frame: Frame<P>) {
        self.serve(now);
        if self.queue.is_empty() && self.busy_until <= now {
            self.send(now, frame);
        } else {
            self.queue.offer(frame);
        }
    }

    fn offer_back(&mut self, now: Instant, frame: Frame<P>) {
        let start = now.max(self.reverse_busy_until);
        self.reverse_busy_until = start + self.config.rate.serialisation(frame.octets);
        let arrives = self.reverse.carry(frame.octets, Kind::Data { header_octets: 0 });
        self.tap.see_on_link(now, || bare(start, Direction::Backward, arrives, frame));
        if arrives {
            self.returned.push(self.reverse_busy_until + self.config.flight, frame);
        }
    }

    #[inline]
    fn poll_timeout(&self) -> Instant {
        if self.queue.is_empty() { Instant::NEVER } else { self.busy_until }
    }

    fn advance(&mut self, until: Instant) {
        self.serve(until);
    }

    #[inline]
    fn delivered(&mut self) -> &mut Pipe<Frame<P>> {
        &mut self.delivered
    }

    #[inline]
    fn returned(&mut self) -> &mut Pipe<Frame<P>> {
        &mut self.returned
    }

    fn backlog(&self) -> usize {
        self.queue.len()
    }

    fn traffic(&self) -> &Traffic {
        self.forward.traffic()
    }

    fn queue(&self) -> &FrameQueue<P> {
        &self.queue
    }

    fn queue_mut(&mut self) -> &mut FrameQueue<P> {
        &mut self.queue
    }

    fn set_loss(&mut self, loss: LossProcess) {
        self.forward.set_loss(loss);
    }

    fn set_tap(&mut self, tap: Tap<P>) {
        self.tap = tap;
    }

    /// There is nothing to switch on.
    fn protect(&mut self, _now: Instant, _advice: Advice) {}

    fn leave(&mut self, _now: Instant) -> bool {
        true
    }

    fn hand_over(&self) -> Option<Handover<P>> {
        Some(Handover {
            queue: self.queue.clone(),
            busy_until: self.busy_until,
            reverse_busy_until: self.reverse_busy_until,
            forward: self.forward.clone(),
            reverse: self.reverse.clone(),
            delivered: self.delivered.clone(),
            returned: self.returned.clone(),
        })
    }

    /// Takes over from a link whose protection has left (LG-36).
    fn take_over(&mut self, now: Instant, from: Handover<P>) {
        self.queue = from.queue;
        // What waits in its queue does not leave in the past.
        self.busy_until = from.busy_until.max(now);
        self.reverse_busy_until = from.reverse_busy_until;
        self.forward = from.forward;
        self.reverse = from.reverse;
        self.delivered = from.delivered;
        self.returned = from.returned;
    }

    fn skip_clean(&mut self, frames: u64, octets: u32) -> bool {
        let certain = self.forward.clear_frames(octets) >= frames;
        if certain {
            self.forward.skip(frames, octets);
        }
        certain
    }

    fn report(&mut self, _now: Instant) -> Report {
        let egress = EgressCounters { data_dropped: self.queue.dropped(), ..EgressCounters::default() };
        Report { egress, ..Report::default() }
    }
}

/// A frame as it came, setting out on the wire.
#[inline]
fn bare<P>(at: Instant, direction: Direction, arrives: bool, frame: Frame<P>) -> Sight<P> {
    Sight { at, direction, arrives, content: Content::Bare(frame) }
}

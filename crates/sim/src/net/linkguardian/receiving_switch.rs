//! The switch at the receiving end: detection, order, pauses.

use super::frames::{Arrival, Copied};
use super::retransmission_delay::RetransmissionDelay;
use super::return_port::ReturnPort;
use super::rx_buffer::RxBuffer;
use super::timing::Timing;
use super::wires::BackwardWire;
use crate::kernel::Trains;
use crate::net::{Frame, Payload};
use lossylink_core::engine::linkguardian::{
    AckUpdate, Backpressure, Delivery, Detection, Position, Receiver,
};
use lossylink_core::time::Instant;

/// The receiving switch of a protected link.
#[derive(Clone, Debug)]
pub(super) struct ReceivingSwitch<P: Payload> {
    timing: Timing,
    pub(super) engine: Receiver,
    pub(super) back: ReturnPort<P>,
    pub(super) buffer: RxBuffer<P>,
    pub(super) backpressure: Option<Backpressure>,
    /// The time at which a timer packet takes a pause request along.
    pause_tick: Instant,
    pub(super) delays: RetransmissionDelay,
    /// Positions given up because more than a window waited, whatever the time (LG-33).
    pub(super) overrun: u64,
    /// Frames dropped because the protection started over while they waited (LG-30).
    pub(super) forgotten: u64,
    pub(super) delivered: Trains<Frame<P>>,
}

impl<P: Payload> ReceivingSwitch<P> {
    pub(super) fn new(
        timing: Timing,
        engine: Receiver,
        buffer: RxBuffer<P>,
        backpressure: Option<Backpressure>,
        back: ReturnPort<P>,
    ) -> Self {
        Self {
            timing,
            engine,
            back,
            buffer,
            backpressure,
            pause_tick: Instant::NEVER,
            delays: RetransmissionDelay::default(),
            overrun: 0,
            forgotten: 0,
            delivered: Trains::new(),
        }
    }

    /// Returns when the switch next has an event of its own.
    pub(super) fn poll_timeout(&self) -> Instant {
        self.engine
            .poll_timeout()
            .min(self.poll_round())
            .min(self.poll_departure())
            .min(self.pause_tick)
            .min(self.back.poll_timeout())
            .min(self.back.poll_ack())
    }

    /// Returns when a frame next comes round in the reorder loop.
    fn poll_round(&self) -> Instant {
        match &self.buffer {
            RxBuffer::Loop(buffer) => buffer.poll_round(),
            RxBuffer::Memory(_) => Instant::NEVER,
        }
    }

    /// Returns when a frame next leaves the queue of the reorder loop, where backpressure looks at the depth.
    fn poll_departure(&self) -> Instant {
        match &self.buffer {
            RxBuffer::Loop(buffer) if self.backpressure.is_some() => buffer.poll_departure(),
            RxBuffer::Loop(_) | RxBuffer::Memory(_) => Instant::NEVER,
        }
    }

    /// Runs the first event that is due at `now`.
    pub(super) fn step(&mut self, now: Instant, wire: &mut BackwardWire<P>) {
        if self.engine.poll_timeout() <= now {
            self.give_up(now);
        } else if self.poll_round() <= now {
            self.come_round(now);
        } else if self.poll_departure() <= now {
            self.depart(now);
        } else if self.pause_tick <= now {
            self.request_pause(now);
        } else if self.back.poll_timeout() <= now {
            self.back.serve(now, wire);
        } else {
            self.back.send_ack(now, wire);
        }
    }

    /// A new frame or a dummy arrives.
    pub(super) fn receive(&mut self, now: Instant, arrival: Arrival<P>) {
        match arrival {
            Arrival::Data(data) => {
                let detection = self.engine.detect(now, data.position);
                self.report(now, detection);
                let delivery = self.engine.deliver(now, data.position);
                self.dispose(now, data, delivery);
            }
            Arrival::Dummy(position) => {
                let detection = self.engine.detect_dummy(now, position);
                self.report(now, detection);
            }
        }
    }

    /// A retransmitted copy arrives.
    pub(super) fn receive_copy(&mut self, now: Instant, copy: Copied<P>) {
        self.delays.note_arrival(now, copy.position);
        let delivery = self.engine.deliver_retransmission(now, copy.position);
        self.dispose(now, copy, delivery);
    }

    /// A frame of the hosts reaches the port back.
    pub(super) fn offer_back(&mut self, now: Instant, frame: Frame<P>, wire: &mut BackwardWire<P>) {
        self.back.offer(now, frame, wire);
    }

    /// Tells the sender of a loss at once (LG-13), and the register of the arrival (LG-15). Gives up the positions that lie more
    /// than a window back (LG-33).
    fn report(&mut self, now: Instant, detection: Detection) {
        if let Some(notification) = detection.notification {
            self.delays.note_detection(now, &notification);
            self.back.notify(now, notification);
        }
        if detection.ack != AckUpdate::None {
            self.back.update(now, detection.ack);
        }
        while self.engine.is_overrun() {
            self.overrun += 1;
            self.give_up(now);
        }
    }

    /// Carries out the engine's decision about a frame.
    fn dispose(&mut self, now: Instant, item: Copied<P>, delivery: Delivery) {
        match delivery {
            Delivery::Forward => {
                self.delivered.push_apart(now, item.bare());
                self.release(now);
            }
            Delivery::Hold => self.hold(now, item),
            Delivery::Duplicate => {}
        }
    }

    /// The position whose turn it is has changed. A reorder memory at once forwards the held frames whose turn comes.
    fn release(&mut self, now: Instant) {
        let RxBuffer::Memory(memory) = &mut self.buffer else { return };
        let mut has_released = false;
        while let Some(held) = self.engine.as_ordered().and_then(|side| memory.take(side.next())) {
            self.engine.deliver_buffered(now, held.position);
            self.delivered.push_apart(now, held.bare());
            has_released = true;
        }
        if has_released {
            self.observe_depth(now);
        }
    }

    fn hold(&mut self, now: Instant, item: Copied<P>) {
        match &mut self.buffer {
            RxBuffer::Loop(buffer) => buffer.hold(now, item),
            RxBuffer::Memory(memory) => {
                memory.hold(item);
                self.observe_depth(now);
            }
        }
    }

    /// A frame comes round in the reorder loop.
    fn come_round(&mut self, now: Instant) {
        let RxBuffer::Loop(buffer) = &mut self.buffer else { return };
        if let Some(held) = buffer.pop() {
            let delivery = self.engine.deliver_buffered(now, held.position);
            self.dispose(now, held, delivery);
        }
    }

    /// A frame leaves the queue of the reorder loop.
    fn depart(&mut self, now: Instant) {
        let RxBuffer::Loop(buffer) = &mut self.buffer else { return };
        let depth_bytes = buffer.depart(now);
        self.observe(now, depth_bytes);
    }

    fn observe_depth(&mut self, now: Instant) {
        let depth_bytes = self.buffer.depth_bytes(now);
        self.observe(now, depth_bytes);
    }

    /// Backpressure looks at the depth of the reorder buffer (LG-23). A request waits for the next timer packet.
    fn observe(&mut self, now: Instant, depth_bytes: u64) {
        let Some(backpressure) = &mut self.backpressure else { return };
        backpressure.observe(depth_bytes);
        if backpressure.has_request() && self.pause_tick.is_never() {
            let period = self.timing.timer_period.as_ps();
            self.pause_tick = Instant::from_ps(now.as_ps().div_ceil(period) * period);
        }
    }

    /// A timer packet takes the pause request along (LG-23).
    fn request_pause(&mut self, now: Instant) {
        self.pause_tick = Instant::NEVER;
        if let Some(request) = self.backpressure.as_mut().and_then(Backpressure::poll_request) {
            self.back.request(now, request);
        }
    }

    /// The missing frame did not come back in time (LG-21), or more than a window waits (LG-33).
    fn give_up(&mut self, now: Instant) {
        if self.engine.handle_timeout(now).is_some() {
            self.release(now);
        }
    }

    /// Takes over from a link without protection, with the frames in flight toward this end.
    pub(super) fn take_over(&mut self, reverse_busy_until: Instant, delivered: Trains<Frame<P>>) {
        self.back.take_over(reverse_busy_until);
        self.delivered = delivered;
    }

    /// Whether the switch waits for no frame and holds no frame back (LG-36).
    pub(super) fn is_drained(&self) -> bool {
        self.buffer.is_empty() && !self.engine.is_blocked() && self.back.has_no_notification()
    }

    /// Starts over at `position`, and drops the held frames, which belong to the old numbering (LG-30).
    pub(super) fn synchronise(&mut self, now: Instant, position: Position) {
        self.engine.synchronise(now, position);
        self.back.forget_acknowledgements();
        self.delays.forget();
        self.forgotten += self.buffer.forget(now);
        self.observe(now, 0);
    }
}

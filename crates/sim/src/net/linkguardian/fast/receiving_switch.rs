//! The switch at the receiving end: detection, order, pauses.

mod trains;

use super::frames::{Arrival, Copied};
use super::retransmission_delay::RetransmissionDelay;
use super::return_port::ReturnPort;
use super::rx_buffer::{RxLoop, RxMemory};
use super::timing::Timing;
use super::tx_loop::MANY_ROUNDS;
use super::wires::BackwardWire;
use crate::fast::{Path as Fast, takes};
use crate::kernel::{Agenda, Trains};
use crate::net::source::MANY;
use crate::net::{Frame, Payload};
use lossylink_core::engine::linkguardian::{
    AckUpdate, Backpressure, Delivery, Detection, Notification, Position, Receiver,
};
use lossylink_core::time::{Duration, Instant};

/// Rare events, in the order in which ties break. A frame that comes round goes between the first two, and the explicit ACK goes
/// after the last.
const TIMEOUT: usize = 0;
const DEQUEUE: usize = 1;
const PAUSE: usize = 2;
const PORT: usize = 3;
const SOURCES: usize = 4;

/// The largest number of trains in flight that [`ReceivingSwitch::octets_below_pause`] looks through.
const MOST_TRAINS: usize = 8;

/// The reorder buffer: frames that cannot be forwarded yet.
#[derive(Clone, Debug)]
pub(super) enum RxBuffer<P: Payload> {
    Loop(RxLoop<P>),
    Memory(RxMemory<P>),
}

/// The receiving switch of a protected link.
#[derive(Clone, Debug)]
pub(super) struct ReceivingSwitch<P: Payload> {
    timing: Timing,
    /// The time from the first to the last of several frames of the usual size.
    many: Duration,
    /// The time at which a frame next comes round in the reorder loop.
    round: Instant,
    agenda: Agenda<SOURCES>,
    pub(super) engine: Receiver,
    pub(super) back: ReturnPort<P>,
    pub(super) buffer: RxBuffer<P>,
    pub(super) backpressure: Option<Backpressure>,
    pub(super) delays: RetransmissionDelay,
    /// Positions given up because more than a window waited, whatever the time (LG-33).
    pub(super) overrun: u64,
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
            many: timing.many(),
            timing,
            round: Instant::NEVER,
            agenda: Agenda::new(),
            engine,
            back,
            buffer,
            backpressure,
            delays: RetransmissionDelay::default(),
            overrun: 0,
            delivered: Trains::new(),
        }
    }

    /// Returns when the switch next has an event of its own.
    #[inline]
    pub(super) fn poll_timeout(&self) -> Instant {
        self.round.min(self.agenda.poll_timeout()).min(self.back.poll_ack())
    }

    /// Whether the switch may pause or resume the sender before the switch detects a further loss.
    #[inline]
    pub(super) fn may_pause(&self) -> bool {
        let Some(backpressure) = &self.backpressure else { return false };
        let holds = match &self.buffer {
            RxBuffer::Loop(buffer) => !buffer.is_empty(),
            RxBuffer::Memory(memory) => memory.depth_bytes() > 0,
        };
        holds || self.engine.is_blocked() || backpressure.is_active()
    }

    /// Whether no frame is missing or held, no frame waits at the port back, and the sender is not paused.
    #[inline]
    pub(super) fn has_no_hole_or_pause(&self) -> bool {
        let pauses = self.backpressure.as_ref().is_some_and(Backpressure::is_active);
        let is_clear = self.agenda.poll_timeout().is_never() && self.round.is_never();
        is_clear && !self.engine.has_hole() && !pauses
    }

    /// Returns the size of the frames that cannot make the switch pause the sender, as long as no frame is lost; `None` if there is
    /// no such size.
    ///
    /// The queue stays below the pause threshold: the loop is no slower than the line, each held frame comes round in its turn, and
    /// all frames in the loop and in flight have one size. Then a held frame leaves for each frame that comes.
    #[inline]
    pub(super) fn octets_below_pause(&self, now: Instant, arrivals: &Trains<Arrival<P>>) -> Option<u32> {
        let (RxBuffer::Loop(buffer), Some(backpressure)) = (&self.buffer, &self.backpressure) else {
            return None;
        };
        let next = self.engine.may_hold(0)?;
        let is_slow = self.timing.recirculation.bit_rate() < self.timing.rate.bit_rate();
        if is_slow || backpressure.is_active() || !buffer.is_in_turn(next, self.engine.expected()) {
            return None;
        }
        let octets = buffer.is_below(now, backpressure.acts_from())?;
        let is_alike = |(_, arrival): &(_, Arrival<P>)| match arrival {
            Arrival::Data(data) => data.frame.octets == octets,
            Arrival::Dummy(_) => true,
        };
        (arrivals.trains() <= MOST_TRAINS && arrivals.iter().all(is_alike)).then_some(octets)
    }

    /// Takes in a new frame or a dummy. Equals `ReceivingSwitch::receive` of the plain model.
    #[inline(always)]
    pub(super) fn receive(&mut self, now: Instant, arrival: &Arrival<P>) {
        match arrival {
            Arrival::Data(data) => {
                if self.engine.detect_expected(data.position) {
                    self.back.update(now, AckUpdate::Advance(data.position));
                } else {
                    let detection = self.engine.detect(now, data.position);
                    self.report(now, detection);
                }
                self.shorten_wait(now);
                let delivery = self.engine.deliver(now, data.position);
                self.dispose(now, data, delivery);
            }
            Arrival::Dummy(position) => {
                let detection = self.engine.detect_dummy(now, *position);
                self.report(now, detection);
                self.shorten_wait(now);
            }
        }
    }

    /// Takes in the new frames that arrive and the frames that come round, by `until` and before the next rare event. Returns when
    /// the last frame came. Equals [`ReceivingSwitch::receive`] and `come_round` of each.
    ///
    /// An explicit ACK may wait meanwhile, because it carries the register as of its departure.
    #[inline]
    pub(super) fn take_in(&mut self, arrivals: &mut Trains<Arrival<P>>, until: Instant) -> Instant {
        let mut latest = Instant::ZERO;
        loop {
            let arrival = arrivals.poll_timeout();
            let now = arrival.min(self.round);
            if now > until || now >= self.agenda.poll_timeout() {
                return latest;
            }
            let end = until.min(self.agenda.poll_timeout().just_before());
            let alone = end.min(arrival.just_before());
            if alone.saturating_since(self.round) > self.timing.rx_loop_fixed * MANY_ROUNDS {
                latest = self.pass_rounds(alone);
                continue;
            }
            let has_many = takes(Fast::ReceivingTrains)
                && now + self.many <= end
                && (arrivals.has_due(MANY, end) || self.holds_many(end));
            if let Some(last) = if has_many { self.take_trains(arrivals, end) } else { None } {
                latest = last;
                continue;
            }
            latest = now;
            if arrival == now {
                arrivals.take(|_, arrival| self.receive(now, arrival));
            } else {
                self.come_round(now);
            }
        }
    }

    /// Lets all held frames come round once. If they then are as they were, but for the time, adds all further rounds that end by
    /// `until`. Returns when the last frame came round. Equals [`ReceivingSwitch::come_round`] of each.
    #[cold]
    #[inline(never)]
    fn pass_rounds(&mut self, until: Instant) -> Instant {
        let RxBuffer::Loop(buffer) = &self.buffer else { return Instant::ZERO };
        let (before, then) = (buffer.clone(), self.round);
        let mut latest = then;
        for _ in 0..before.len() {
            // A look of backpressure may be due before the round ends.
            if self.round > until.min(self.agenda.poll_timeout().just_before()) {
                return latest;
            }
            latest = self.round;
            self.come_round(latest);
        }
        let until = until.min(self.agenda.poll_timeout().just_before());
        let RxBuffer::Loop(buffer) = &mut self.buffer else { return latest };
        let Some(round) = buffer.round_since(&before, then) else { return latest };
        let passed = round * (until.saturating_since(latest) / round);
        buffer.put_off(passed);
        self.round = buffer.next_round();
        latest + passed
    }

    /// Whether several held frames come round by `until`.
    #[inline]
    fn holds_many(&self, until: Instant) -> bool {
        matches!(&self.buffer, RxBuffer::Loop(buffer) if self.round <= until && buffer.comes_round(MANY, until))
    }

    /// Sends the explicit ACKs that may leave by `until` and before the next rare event. Returns when the last ACK left.
    #[inline]
    pub(super) fn send_acks(&mut self, until: Instant, wire: &mut BackwardWire<P>) -> Instant {
        let until = until.min(self.agenda.poll_timeout().just_before());
        if self.back.poll_ack() > until { Instant::ZERO } else { self.back.send_acks(until, wire) }
    }

    /// Takes in a retransmitted copy. Equals `ReceivingSwitch::receive_copy` of the plain model.
    pub(super) fn receive_copy(&mut self, now: Instant, copy: &Copied<P>) {
        self.delays.note_arrival(now, copy.position);
        let delivery = self.engine.deliver_retransmission(now, copy.position);
        self.dispose(now, copy, delivery);
        self.watch();
    }

    /// Runs the first event that is due at `now`. Equals `ReceivingSwitch::step` of the plain model.
    #[inline]
    pub(super) fn step(&mut self, now: Instant, wire: &mut BackwardWire<P>) {
        if self.round <= now && self.agenda.get(TIMEOUT) > now {
            self.come_round(now);
        } else if self.agenda.poll_timeout() <= now {
            self.step_rarely(now, wire);
        } else {
            self.back.send_ack(now, wire);
        }
    }

    /// Runs the first rare event that is due at `now`.
    #[cold]
    fn step_rarely(&mut self, now: Instant, wire: &mut BackwardWire<P>) {
        match self.agenda.poll(now) {
            Some(TIMEOUT) => self.give_up(now),
            Some(DEQUEUE) => self.dequeue(now),
            Some(PAUSE) => self.request_pause(now),
            _ => {
                self.back.serve(now, wire);
                self.agenda.set(PORT, self.back.poll_timeout());
            }
        }
    }

    /// A frame of the hosts reaches the port back.
    pub(super) fn offer_back(&mut self, now: Instant, frame: Frame<P>, wire: &mut BackwardWire<P>) {
        self.back.offer(now, frame, wire);
        self.agenda.set(PORT, self.back.poll_timeout());
    }

    /// Tells the sender of a loss at once (LG-13), and the register of the arrival (LG-15).
    #[cold]
    fn report(&mut self, now: Instant, detection: Detection) {
        if let Some(notification) = detection.notification {
            self.notify(now, notification);
        }
        if detection.ack != AckUpdate::None {
            self.back.update(now, detection.ack);
        }
    }

    #[cold]
    fn notify(&mut self, now: Instant, notification: Notification) {
        self.delays.note_detection(now, &notification);
        self.back.notify(now, notification);
        self.agenda.set(PORT, self.back.poll_timeout());
        self.watch();
    }

    /// Carries out the engine's decision about a frame.
    #[inline]
    fn dispose(&mut self, now: Instant, item: &Copied<P>, delivery: Delivery) {
        match delivery {
            Delivery::Forward => {
                self.forward(now, item);
                self.release(now);
            }
            Delivery::Hold => self.hold(now, item),
            Delivery::Duplicate => {}
        }
    }

    /// Removes the header, and forwards the frame to the next hop.
    #[inline]
    fn forward(&mut self, now: Instant, item: &Copied<P>) {
        self.delivered.push_apart(now, item.bare());
    }

    /// A frame was forwarded. A reorder memory at once forwards the held frames behind it.
    #[inline]
    fn release(&mut self, now: Instant) {
        if matches!(&self.buffer, RxBuffer::Memory(memory) if memory.depth_bytes() > 0) {
            self.release_held(now);
        }
    }

    fn release_held(&mut self, now: Instant) {
        let RxBuffer::Memory(memory) = &mut self.buffer else { return };
        while let Some(held) = self.engine.as_ordered().and_then(|side| memory.take(side.next())) {
            self.engine.deliver_buffered(now, held.position);
            self.delivered.push_apart(now, held.bare());
        }
        let depth = memory.depth_bytes();
        self.observe(now, depth);
    }

    #[inline]
    fn hold(&mut self, now: Instant, item: &Copied<P>) {
        match &mut self.buffer {
            RxBuffer::Loop(buffer) => {
                buffer.hold(now, item);
                self.round = buffer.next_round();
                // A frame at the end of the queue makes no other frame leave sooner.
                if let Some(backpressure) = &self.backpressure
                    && self.agenda.get(DEQUEUE).is_never()
                {
                    let dequeue = buffer.next_dequeue(now, backpressure);
                    if !dequeue.is_never() {
                        self.agenda.set(DEQUEUE, dequeue);
                    }
                }
            }
            RxBuffer::Memory(memory) => {
                memory.hold(*item);
                let depth = memory.depth_bytes();
                self.observe(now, depth);
            }
        }
    }

    /// Backpressure looks at the depth when a frame is dequeued (LG-23).
    fn observe(&mut self, now: Instant, depth_bytes: u64) {
        let Some(backpressure) = &mut self.backpressure else { return };
        backpressure.observe(depth_bytes);
        if backpressure.has_request() && self.agenda.get(PAUSE).is_never() {
            let period = self.timing.timer_period.as_ps();
            let tick = now.as_ps().div_ceil(period) * period;
            self.agenda.set(PAUSE, Instant::from_ps(tick));
        }
    }

    /// A timer packet takes the pause request along (LG-23).
    fn request_pause(&mut self, now: Instant) {
        self.agenda.set(PAUSE, Instant::NEVER);
        if let Some(request) = self.backpressure.as_mut().and_then(Backpressure::poll_request) {
            self.back.request(now, request);
            self.agenda.set(PORT, self.back.poll_timeout());
        }
    }

    /// A frame leaves the queue of the reorder loop. The departure is an event only while backpressure could act on it.
    fn dequeue(&mut self, now: Instant) {
        let RxBuffer::Loop(buffer) = &mut self.buffer else { return };
        let depth = buffer.depth_bytes(now);
        self.observe(now, depth);
        let (RxBuffer::Loop(buffer), Some(backpressure)) = (&mut self.buffer, &self.backpressure) else {
            return;
        };
        // The departing frame counts at `now`, and not from the next instant on.
        self.agenda.set(DEQUEUE, buffer.next_dequeue(now + Duration::from_ps(1), backpressure));
    }

    /// A frame comes round, and in most cases is forwarded. Equals `ReceivingSwitch::come_round` of the plain model.
    #[inline(always)]
    fn come_round(&mut self, now: Instant) {
        let RxBuffer::Loop(buffer) = &mut self.buffer else { return };
        let Some(held) = buffer.front() else { return };
        if self.engine.deliver_in_turn(now, held.position) {
            self.delivered.push_apart(now, held.bare());
            buffer.skip();
            self.round = buffer.next_round();
        } else {
            self.come_round_out_of_turn(now);
        }
        self.watch();
    }

    #[cold]
    fn come_round_out_of_turn(&mut self, now: Instant) {
        let RxBuffer::Loop(buffer) = &mut self.buffer else { return };
        let Some(held) = buffer.pop() else { return };
        self.round = buffer.next_round();
        let delivery = self.engine.deliver_buffered(now, held.position);
        self.dispose(now, &held, delivery);
    }

    /// Arms the timer while a frame is missing. Called after a loss, and after a frame that was missing or held.
    #[inline]
    fn watch(&mut self) {
        let timeout = self.engine.poll_timeout();
        if timeout != self.agenda.get(TIMEOUT) {
            self.agenda.set(TIMEOUT, timeout);
        }
    }

    /// The missing frame did not come back in time (LG-21).
    fn give_up(&mut self, now: Instant) {
        if self.engine.handle_timeout(now).is_some() {
            self.release(now);
        }
        self.watch();
    }

    /// Gives up the positions that lie more than a window back (LG-33).
    #[inline]
    fn shorten_wait(&mut self, now: Instant) {
        while self.engine.is_overrun() {
            self.overrun += 1;
            self.give_up(now);
        }
    }

    /// Returns the bytes in the reorder buffer at `now`.
    pub(super) fn rx_buffer_bytes(&mut self, now: Instant) -> u64 {
        match &mut self.buffer {
            RxBuffer::Loop(buffer) => buffer.depth_bytes(now),
            RxBuffer::Memory(memory) => memory.depth_bytes(),
        }
    }

    /// Returns the most bytes that were ever in the reorder buffer.
    pub(super) const fn rx_high_water_bytes(&self) -> u64 {
        match &self.buffer {
            RxBuffer::Loop(buffer) => buffer.high_water_bytes(),
            RxBuffer::Memory(memory) => memory.high_water_bytes(),
        }
    }

    /// Returns how many frames were dropped because the reorder buffer was full.
    pub(super) const fn rx_dropped(&self) -> u64 {
        match &self.buffer {
            RxBuffer::Loop(buffer) => buffer.dropped(),
            RxBuffer::Memory(memory) => memory.dropped(),
        }
    }

    /// Returns how many frames were dropped because the protection started over while they waited.
    pub(super) const fn rx_forgotten(&self) -> u64 {
        match &self.buffer {
            RxBuffer::Loop(buffer) => buffer.forgotten(),
            RxBuffer::Memory(memory) => memory.forgotten(),
        }
    }

    /// Takes over the receiving end of a link without protection, with the frames in flight toward this end.
    pub(super) fn take_over(&mut self, reverse_busy_until: Instant, delivered: Trains<Frame<P>>) {
        self.back.busy_until = reverse_busy_until;
        self.delivered = delivered;
    }

    /// Whether the switch waits for no frame and holds no frame back (LG-36).
    pub(super) fn is_drained(&self) -> bool {
        let holds_nothing = match &self.buffer {
            RxBuffer::Loop(buffer) => buffer.is_empty(),
            RxBuffer::Memory(memory) => memory.depth_bytes() == 0,
        };
        holds_nothing && !self.engine.is_blocked() && self.back.has_no_notification()
    }

    /// Whether no frame waits or is missing, the sequence is unbroken, and the sender is not paused.
    pub(super) fn is_idle(&self) -> bool {
        let pauses = self.backpressure.as_ref().is_some_and(Backpressure::is_active);
        self.is_drained() && self.engine.is_in_sequence() && !pauses
    }

    /// Starts the high-water mark of the reorder buffer anew at `now`.
    pub(super) fn reset_rx_high_water(&mut self, now: Instant) {
        match &mut self.buffer {
            RxBuffer::Loop(buffer) => buffer.reset_high_water(now),
            RxBuffer::Memory(memory) => memory.reset_high_water(),
        }
    }

    /// Starts over at `position`, and drops the held frames, which belong to the old numbering (LG-30).
    pub(super) fn synchronise(&mut self, now: Instant, position: Position) {
        self.engine.synchronise(now, position);
        self.back.forget_acknowledgements();
        self.delays.forget();
        match &mut self.buffer {
            RxBuffer::Loop(buffer) => buffer.forget(now),
            RxBuffer::Memory(memory) => memory.forget(),
        }
        self.round = Instant::NEVER;
        self.agenda.set(TIMEOUT, Instant::NEVER);
        self.agenda.set(DEQUEUE, Instant::NEVER);
        self.observe(now, 0);
    }
}

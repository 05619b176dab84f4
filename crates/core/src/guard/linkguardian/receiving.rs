//! The receiving end on whole frames: detects losses, holds frames that came too early, gives up in time
//! (G-13..G-16).

use super::super::{Frame, FramePool};
use crate::engine::linkguardian::{
    AckNoTimeout, Acknowledgement, Backpressure, Delivery, Detection, Notification, OrderState, PauseRequest,
    PausingState, Position, Receiver, ReceivingState, Thresholds,
};
use crate::time::{Duration, Instant};
use crate::units::Bytes;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// The number of places in the reorder buffer: one for every number of an era.
const PLACES: usize = 1 << 16;
/// The most bytes in the reorder buffer. A frame beyond is dropped, and its position is given up in the end
/// (G-16).
const HELD_LIMIT: Bytes = Bytes(32 << 20);
/// The depths at which the sender is paused and resumed (LG-23): half and a quarter of the limit.
const THRESHOLDS: Thresholds = Thresholds { pause_bytes: HELD_LIMIT.0 / 2, resume_bytes: HELD_LIMIT.0 / 4 };
/// The timer of the engine, which is not used: every hole has its own deadline (G-14).
const NO_TIMER: AckNoTimeout = AckNoTimeout { period: Duration::from_secs(3600), reload: u32::MAX };
/// The wait for a hole before the loop has been measured.
const UNMEASURED_WAIT: Duration = Duration::from_ms(20);
/// The slack of a wait beside two rounds of the loop: a late wake-up of the other end.
const WAIT_SLACK: Duration = Duration::from_ms(1);
/// The time between two ACKs, for which the sender keeps 125 KB more at 1 Gb/s (G-13).
const ACK_INTERVAL: Duration = Duration::from_ms(1);

/// A run of lost positions, and the time at which they are given up.
#[derive(Clone, Copy, Debug)]
struct Hole {
    last: Position,
    deadline: Instant,
}

/// An arrived data frame, already in the form that it had on the LAN.
#[derive(Debug)]
pub(super) struct Arrival {
    pub(super) position: Position,
    pub(super) is_retransmission: bool,
    pub(super) frame: Frame,
}

/// The state of the receiving end.
#[derive(Debug)]
pub(super) struct Receiving {
    engine: Receiver,
    is_ordered: bool,
    ack: Acknowledgement,
    ack_at: Instant,
    /// Frames ahead of their turn, each at the place of its number; empty until the first one.
    places: Vec<Option<Frame>>,
    held: Bytes,
    most_held: Bytes,
    overflowed: u64,
    given_up: u64,
    holes: VecDeque<Hole>,
    pausing: Backpressure,
}

impl Receiving {
    pub(super) fn new(is_ordered: bool, deduplicate: bool) -> Self {
        let engine =
            if is_ordered { Receiver::ordered(NO_TIMER) } else { Receiver::non_blocking(deduplicate) };
        Self {
            engine,
            is_ordered,
            ack: Acknowledgement::default(),
            ack_at: Instant::ZERO,
            places: Vec::new(),
            held: Bytes::ZERO,
            most_held: Bytes::ZERO,
            overflowed: 0,
            given_up: 0,
            holes: VecDeque::new(),
            pausing: Backpressure::new(THRESHOLDS),
        }
    }

    /// Whether frames are delivered in order.
    pub(super) fn is_ordered(&self) -> bool {
        self.is_ordered
    }

    /// Takes in a genuine data frame, which is delivered once, in its turn if order is kept (G-1). Returns the
    /// notification to send, if any.
    pub(super) fn handle_data(
        &mut self,
        now: Instant,
        arrival: Arrival,
        wait: Option<Duration>,
        to_lan: &mut VecDeque<Frame>,
        pool: &mut FramePool,
    ) -> Option<Notification> {
        let Arrival { position, is_retransmission, frame } = arrival;
        // A new frame behind the expected one was overtaken by others. Its hole has been reported, and the
        // frame fills the hole like a retransmission (LG-32, G-15).
        let is_late = position.steps_from(self.engine.expected()) < 0;
        let detection = if is_retransmission || is_late {
            Detection::default()
        } else {
            self.engine.detect(now, position)
        };
        self.note(now, &detection, position, wait);
        self.give_up_overrun(now, to_lan);
        let delivery = if is_retransmission || is_late {
            self.engine.deliver_retransmission(now, position)
        } else {
            self.engine.deliver(now, position)
        };
        match delivery {
            Delivery::Forward => to_lan.push_back(frame),
            Delivery::Duplicate => pool.give_back(frame),
            Delivery::Hold => self.hold(position, frame, pool),
        }
        self.release(now, to_lan);
        detection.notification
    }

    /// Takes in a dummy, or a hello that carries the sender's next number (LG-12). Returns the notification to
    /// send, if any.
    pub(super) fn handle_dummy(
        &mut self,
        now: Instant,
        next: Position,
        wait: Option<Duration>,
        to_lan: &mut VecDeque<Frame>,
    ) -> Option<Notification> {
        let detection = self.engine.detect_dummy(now, next);
        self.note(now, &detection, next, wait);
        self.give_up_overrun(now, to_lan);
        detection.notification
    }

    /// Applies a detection: to the ACK register, and to the deadline of a hole that ends before `after` (LG-15,
    /// G-14).
    fn note(&mut self, now: Instant, detection: &Detection, after: Position, wait: Option<Duration>) {
        self.ack.apply(detection.ack);
        if detection.notification.is_some() {
            let wait = wait.map_or(UNMEASURED_WAIT, |round| round * 2 + WAIT_SLACK);
            self.holes.push_back(Hole { last: after.previous(), deadline: now + wait });
        }
    }

    /// Holds a frame that came too early. A second copy of a held frame is dropped.
    fn hold(&mut self, position: Position, frame: Frame, pool: &mut FramePool) {
        if self.places.is_empty() {
            self.places.resize_with(PLACES, || None);
        }
        let place = &mut self.places[usize::from(position.number())];
        let length = Bytes(frame.len() as u64);
        if place.is_some() || self.held + length > HELD_LIMIT {
            self.overflowed += u64::from(place.is_none());
            pool.give_back(frame);
            return;
        }
        *place = Some(frame);
        self.held += length;
        self.most_held = self.most_held.max(self.held);
        self.pausing.observe(self.held.0);
    }

    /// Delivers the held frames whose turn has come (LG-20).
    fn release(&mut self, now: Instant, to_lan: &mut VecDeque<Frame>) {
        while let Some((position, frame)) = self.take_next() {
            let delivery = self.engine.deliver_buffered(now, position);
            assert_eq!(delivery, Delivery::Forward, "the frame at its turn is forwarded");
            to_lan.push_back(frame);
            self.pausing.observe(self.held.0);
        }
    }

    /// Takes the held frame whose turn has come.
    fn take_next(&mut self) -> Option<(Position, Frame)> {
        if self.held == Bytes::ZERO {
            return None;
        }
        let next = self.engine.as_ordered()?.next();
        let frame = self.places[usize::from(next.number())].take()?;
        self.held -= Bytes(frame.len() as u64);
        Some((next, frame))
    }

    /// Returns when the oldest hole is given up (G-14).
    pub(super) fn poll_timeout(&self) -> Instant {
        self.holes.front().map_or(Instant::NEVER, |hole| hole.deadline)
    }

    /// Gives up every position of the holes whose time has come, and delivers the frames that waited behind.
    pub(super) fn handle_timeout(&mut self, now: Instant, to_lan: &mut VecDeque<Frame>) {
        while self.holes.front().is_some_and(|hole| hole.deadline <= now) {
            let hole = self.holes.pop_front().expect("the front was just looked at");
            if self.is_ordered {
                self.give_up_to(now, hole.last, to_lan);
            }
        }
    }

    fn give_up_to(&mut self, now: Instant, last: Position, to_lan: &mut VecDeque<Frame>) {
        while self.engine.as_ordered().is_some_and(|side| !side.next().is_after(last)) {
            if !self.pass_next(now, to_lan) {
                break;
            }
        }
        self.release(now, to_lan);
    }

    /// Gives up the positions that lie further back than positions can be compared, before their deadlines.
    /// After a blackout the numbers may have run that far ahead (LG-33, G-14).
    fn give_up_overrun(&mut self, now: Instant, to_lan: &mut VecDeque<Frame>) {
        if !self.engine.is_overrun() {
            return;
        }
        while self.engine.is_overrun() && self.pass_next(now, to_lan) {}
        self.release(now, to_lan);
    }

    /// Passes the next position: delivers its frame, or gives the position up. Returns `false` when no position
    /// waits.
    fn pass_next(&mut self, now: Instant, to_lan: &mut VecDeque<Frame>) -> bool {
        if let Some((position, frame)) = self.take_next() {
            self.engine.deliver_buffered(now, position);
            to_lan.push_back(frame);
            return true;
        }
        let given_up = self.engine.give_up(now).is_some();
        self.given_up += u64::from(given_up);
        given_up
    }

    /// Ends the session: held frames are delivered in their order, without the missing frames (G-6).
    pub(super) fn start_over(&mut self, now: Instant, to_lan: &mut VecDeque<Frame>) {
        if self.is_ordered && self.held > Bytes::ZERO {
            self.give_up_to(now, self.engine.expected().previous(), to_lan);
        }
        self.engine.synchronise(now, Position::ZERO);
        self.ack = Acknowledgement::default();
        self.holes.clear();
    }

    /// Returns when an ACK may leave; never when none is due (G-13).
    pub(super) fn ack_at(&self) -> Instant {
        if self.ack.is_pending() { self.ack_at } else { Instant::NEVER }
    }

    /// Takes the ACK, if one is due and its time has come.
    pub(super) fn poll_ack(&mut self, now: Instant) -> Option<Position> {
        if self.ack_at > now {
            return None;
        }
        let leading = self.ack.poll()?;
        self.ack_at = now + ACK_INTERVAL;
        Some(leading)
    }

    /// Returns the last position up to which every frame has arrived or been asked for. Before the first frame
    /// this is the position in front of the session's first.
    pub(super) fn leading(&self) -> Position {
        self.engine.expected().previous()
    }

    /// Takes the pause or resume that is to be sent (LG-23, LG-24).
    pub(super) fn poll_pause(&mut self) -> Option<PauseRequest> {
        self.pausing.poll_request()
    }

    /// Returns the figures of the receiving end. The leading position comes from the expected one, because the
    /// register knows no position in front of the first frame. The figures of the reorder buffer are always
    /// there, because any agreement may bring order.
    pub(super) fn state(&self) -> ReceivingState {
        ReceivingState {
            leading: self.leading(),
            order: Some(OrderState {
                given_up: self.given_up,
                held: self.held,
                most_held: self.most_held,
                overflowed: self.overflowed,
            }),
            pausing: Some(PausingState::from(&self.pausing)),
            ..ReceivingState::of(&self.engine, &self.ack)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    /// A receiving end with the pool and the queue that it needs.
    struct Bench {
        receiving: Receiving,
        to_lan: VecDeque<Frame>,
        pool: FramePool,
    }

    impl Bench {
        fn new(is_ordered: bool) -> Self {
            let pool = FramePool::new(100, 2 << 20);
            Self { receiving: Receiving::new(is_ordered, true), to_lan: VecDeque::new(), pool }
        }

        fn arrive(&mut self, number: u16, is_retransmission: bool, length: usize) -> Option<Notification> {
            let frame = self.pool.copy(&vec![number as u8; length]).unwrap();
            let position = Position::new(number, false);
            let arrival = Arrival { position, is_retransmission, frame };
            let Self { receiving, to_lan, pool } = self;
            receiving.handle_data(Instant::ZERO, arrival, None, to_lan, pool)
        }

        fn delivered(&mut self) -> Vec<u8> {
            self.to_lan.drain(..).map(|frame| frame[0]).collect()
        }
    }

    // G-15
    #[test]
    fn an_overtaken_frame_fills_its_hole() {
        for is_ordered in [true, false] {
            let mut bench = Bench::new(is_ordered);
            bench.arrive(0, false, 60);
            assert!(bench.arrive(2, false, 60).is_some(), "a gap is reported");
            assert_eq!(bench.arrive(1, false, 60), None);
            bench.arrive(1, true, 60);
            let mut delivered = bench.delivered();
            delivered.sort_unstable();
            assert_eq!(delivered, [0, 1, 2], "{is_ordered}");
        }
    }

    // G-13
    #[test]
    fn acks_are_a_millisecond_apart() {
        let mut bench = Bench::new(false);
        bench.arrive(0, false, 60);
        assert_eq!(bench.receiving.ack_at(), Instant::ZERO);
        assert_eq!(bench.receiving.poll_ack(Instant::ZERO), Some(Position::new(0, false)));
        let soon = Instant::ZERO + ACK_INTERVAL - Duration::from_ps(1);
        assert_eq!(bench.receiving.poll_ack(soon), None);
        let later = Instant::ZERO + ACK_INTERVAL;
        assert_eq!(bench.receiving.ack_at(), later);
        assert!(bench.receiving.poll_ack(later).is_some());
        assert!(bench.receiving.ack_at().is_never());
    }

    // G-14
    #[test]
    fn each_hole_has_its_own_deadline() {
        let mut bench = Bench::new(true);
        bench.arrive(1, false, 60);
        assert_eq!(bench.receiving.poll_timeout(), Instant::ZERO + UNMEASURED_WAIT);
        let just_before = Instant::ZERO + UNMEASURED_WAIT - Duration::from_ps(1);
        bench.receiving.handle_timeout(just_before, &mut bench.to_lan);
        assert!(bench.delivered().is_empty());
        bench.receiving.handle_timeout(Instant::ZERO + UNMEASURED_WAIT, &mut bench.to_lan);
        assert_eq!(bench.delivered(), [1]);
        assert_eq!(bench.receiving.state().order.unwrap().given_up, 1);
    }

    // LG-33, G-14: the numbers run ahead by more than can be compared, and one position is given up at once.
    #[test]
    fn what_lies_too_far_back_is_given_up_before_its_deadline() {
        for (furthest, delivered) in [(32_767, vec![]), (32_768, vec![1])] {
            let mut bench = Bench::new(true);
            bench.arrive(1, false, 60);
            bench.arrive(furthest, false, 60);
            assert_eq!(bench.delivered(), delivered);
            assert_eq!(bench.receiving.state().order.unwrap().given_up, delivered.len() as u64);
        }
        let mut bench = Bench::new(true);
        bench.arrive(1, false, 60);
        let next = Position::new(32_769, false);
        bench.receiving.handle_dummy(Instant::ZERO, next, None, &mut bench.to_lan);
        assert_eq!(bench.delivered(), [1]);
    }

    // G-16
    #[test]
    fn the_reorder_buffer_pauses_the_sender_and_drops_beyond_its_limit() {
        const MEGABYTE: usize = 1 << 20;
        let mut bench = Bench::new(true);
        for number in 1..=15 {
            bench.arrive(number, false, MEGABYTE);
        }
        assert_eq!(bench.receiving.poll_pause(), None);
        bench.arrive(16, false, MEGABYTE);
        assert_eq!(bench.receiving.poll_pause(), Some(PauseRequest::Pause));
        for number in 17..=33 {
            bench.arrive(number, false, MEGABYTE);
        }
        let state = bench.receiving.state().order.unwrap();
        assert_eq!((state.held, state.overflowed), (HELD_LIMIT, 1));
        bench.arrive(0, true, 60);
        assert_eq!(bench.receiving.poll_pause(), Some(PauseRequest::Resume));
        assert_eq!(bench.delivered(), Vec::from_iter(0..=32));
    }
}

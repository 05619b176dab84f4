//! The receiving end of a protected link: detects losses, and orders or forwards (LG-11..14).

use super::{AckNoTimeout, AckUpdate, Delivery, NonBlocking, Ordered, Position};
use crate::time::Instant;

/// The largest hole that a notification can describe: its size field has eight bits (LG-13).
pub const LARGEST_HOLE: u32 = 255;

/// A loss notification (LG-13).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notification {
    /// The last position up to which every frame has arrived, except for the hole.
    pub leading: Position,
    /// The first lost position.
    pub first_lost: Position,
    /// How many positions from `first_lost` on were lost, at most 255.
    pub hole_size: u8,
}

/// The notification and the acknowledgement that follow from the number of an arriving frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Detection {
    /// The notification to be sent at once, ahead of all traffic toward the sender.
    pub notification: Option<Notification>,
    /// The change of the acknowledgement register.
    pub ack: AckUpdate,
}

/// Events at the receiver, each a count of frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiverCounters {
    /// Data frames that arrived for the first time.
    pub data: u64,
    /// Retransmitted copies that arrived.
    pub retransmissions: u64,
    /// Dummies that arrived.
    pub dummies: u64,
    /// Positions found missing.
    pub lost: u64,
    /// Missing positions that their notification could not tell of, being beyond 255 (LG-13).
    pub unreported: u64,
    /// Loss notifications made.
    pub notifications: u64,
    /// Frames handed to the next hop.
    pub forwarded: u64,
    /// Copies dropped because their position had been forwarded or given up.
    pub duplicates: u64,
    /// Lost positions that were forwarded after all.
    pub recovered: u64,
    /// Numbered frames behind the expected position (LG-32).
    pub stale: u64,
    /// Positions that came after they had been given up, back from the sender or round from the
    /// reorder buffer (LG-21).
    pub late: u64,
}

/// The ordering discipline of a receiver.
#[derive(Clone, Debug)]
enum Order {
    Ordered(Ordered),
    NonBlocking(NonBlocking),
}

/// The receiving engine. Calls come in the order of arrival; `now` never goes back.
///
/// An arrival takes two calls. [`Receiver::detect`] says what the frame tells about the link (normal frames and dummies). Then
/// [`Receiver::deliver`] decides about the frame (all but dummies).
#[derive(Clone, Debug)]
pub struct Receiver {
    /// The position that the next new frame should carry.
    expected: Position,
    order: Order,
    counters: ReceiverCounters,
}

impl Receiver {
    /// Returns a receiver that keeps order (LG-20).
    pub fn ordered(timeout: AckNoTimeout) -> Self {
        Self::with(Order::Ordered(Ordered::new(timeout)))
    }

    /// Returns a receiver that forwards at once (LG-27).
    pub fn non_blocking(deduplicate: bool) -> Self {
        Self::with(Order::NonBlocking(NonBlocking::new(deduplicate)))
    }

    fn with(order: Order) -> Self {
        Self { expected: Position::ZERO, order, counters: ReceiverCounters::default() }
    }

    /// Starts over: the next new frame will carry `position` (LG-30).
    pub fn synchronise(&mut self, now: Instant, position: Position) {
        self.expected = position;
        match &mut self.order {
            Order::Ordered(side) => side.synchronise(now, position),
            Order::NonBlocking(side) => side.synchronise(),
        }
    }

    /// Returns the position that the next new frame should carry.
    pub const fn expected(&self) -> Position {
        self.expected
    }

    /// Returns the ordered side, if this receiver keeps order.
    pub const fn as_ordered(&self) -> Option<&Ordered> {
        match &self.order {
            Order::Ordered(side) => Some(side),
            Order::NonBlocking(_) => None,
        }
    }

    /// Whether a frame that the link lost is missing. A non-blocking receiver misses a frame that does not come back for the next
    /// 65,536 positions.
    pub fn has_hole(&self) -> bool {
        match &self.order {
            Order::Ordered(side) => side.next() != self.expected,
            Order::NonBlocking(side) => side.missing() > 0,
        }
    }

    /// Whether the receiver holds frames back for one that the link lost. A non-blocking receiver never does.
    pub fn is_blocked(&self) -> bool {
        self.as_ordered().is_some_and(|side| side.next() != self.expected)
    }

    /// Returns the counters of the receiver.
    pub const fn counters(&self) -> ReceiverCounters {
        let (recovered, late) = match &self.order {
            Order::Ordered(side) => (side.recovered(), side.late()),
            Order::NonBlocking(side) => (side.recovered(), 0),
        };
        ReceiverCounters { recovered, late, ..self.counters }
    }

    /// Takes in an arriving new frame if it is the expected one, which tells that no frame was lost, and returns whether it is.
    /// Its position then goes to the acknowledgement register (LG-15). Otherwise nothing has changed, and [`Receiver::detect`]
    /// tells about the loss.
    #[inline]
    pub fn detect_expected(&mut self, position: Position) -> bool {
        let is_expected = position == self.expected;
        if is_expected {
            self.counters.data += 1;
            self.expected = position.next();
            if let Order::NonBlocking(side) = &mut self.order {
                side.note_passed(position);
            }
        }
        is_expected
    }

    /// Whether no position is missing and none of the last 65,536 positions was given up: then each new frame that is the expected
    /// one is forwarded.
    #[inline]
    pub fn is_in_sequence(&self) -> bool {
        match &self.order {
            Order::Ordered(side) => side.is_in_sequence(self.expected),
            Order::NonBlocking(side) => side.missing() == 0,
        }
    }

    /// Forwards `count` frames that arrived in sequence, the last of them at `last`. Equals [`Receiver::detect_expected`] and
    /// [`Receiver::deliver`] of each, while [`Receiver::is_in_sequence`] (LG-11, LG-20, LG-27).
    #[inline]
    pub fn pass_in_sequence(&mut self, last: Instant, count: u32) {
        debug_assert!(self.is_in_sequence(), "a frame is missing");
        self.expected = self.expected.plus(count);
        self.counters.data += u64::from(count);
        self.counters.forwarded += u64::from(count);
        if let Order::Ordered(side) = &mut self.order {
            side.pass_in_sequence(last, self.expected);
        }
    }

    /// Counts `count` dummies that announce the expected position. Equals [`Receiver::detect_dummy`] of each (LG-12).
    #[inline]
    pub fn pass_dummies(&mut self, count: u64) {
        self.counters.dummies += count;
    }

    /// Returns the position to be forwarded next, if the reorder buffer may take `count` new frames and no position is given up
    /// for want of room in the window. `None` on a receiver that does not keep order, or on which a given-up position may still
    /// come late (LG-33).
    #[inline]
    pub fn may_hold(&self, count: u32) -> Option<Position> {
        match &self.order {
            Order::Ordered(side) => side.may_hold(self.expected, count),
            Order::NonBlocking(_) => None,
        }
    }

    /// Holds `count` frames that arrived in sequence. Equals [`Receiver::detect_expected`] and [`Receiver::deliver`] of each,
    /// while another frame is awaited (LG-11, LG-20).
    #[inline]
    pub fn hold_in_sequence(&mut self, count: u32) {
        self.expected = self.expected.plus(count);
        self.counters.data += u64::from(count);
    }

    /// Forwards `count` frames that came round in their turn, the last of them at `last`. Equals [`Receiver::deliver_in_turn`] of
    /// each (LG-20).
    #[inline]
    pub fn deliver_many_in_turn(&mut self, last: Instant, count: u32) {
        self.counters.forwarded += u64::from(count);
        if let Order::Ordered(side) = &mut self.order {
            side.pass_in_sequence(last, side.next().plus(count));
        }
    }

    /// Detects from the number of an arriving new frame which positions the link lost (LG-11).
    pub fn detect(&mut self, now: Instant, position: Position) -> Detection {
        if self.detect_expected(position) {
            return Detection { notification: None, ack: AckUpdate::Advance(position) };
        }
        self.counters.data += 1;
        let ahead = position.steps_from(self.expected);
        if ahead < 0 {
            self.counters.stale += 1; // LG-32
            return Detection::default();
        }
        if let Order::NonBlocking(side) = &mut self.order {
            side.note_passed(position);
        }
        self.report_loss(now, ahead as u32, position, position.next())
    }

    /// Detects lost positions from a dummy, which carries the number that the next data frame will take (LG-12).
    pub fn detect_dummy(&mut self, now: Instant, position: Position) -> Detection {
        self.counters.dummies += 1;
        let ahead = position.steps_from(self.expected);
        if ahead < 0 {
            self.counters.stale += 1; // LG-32
        }
        if ahead <= 0 {
            return Detection::default();
        }
        self.report_loss(now, ahead as u32, position.previous(), position)
    }

    /// Reports that `lost` positions from the expected one on are missing (LG-13, LG-16).
    #[cold]
    fn report_loss(&mut self, now: Instant, lost: u32, leading: Position, expected: Position) -> Detection {
        let first_lost = self.expected;
        match &mut self.order {
            Order::Ordered(side) => side.note_lost(now, first_lost, lost),
            Order::NonBlocking(side) => side.note_lost(first_lost, lost),
        }
        self.expected = expected;
        self.counters.lost += u64::from(lost);
        self.counters.unreported += u64::from(lost.saturating_sub(LARGEST_HOLE));
        self.counters.notifications += 1;
        let notification = Notification { leading, first_lost, hole_size: lost.min(LARGEST_HOLE) as u8 };
        Detection { notification: Some(notification), ack: AckUpdate::Notified(leading) }
    }

    /// Decides about a new frame, after [`Receiver::detect`] (LG-20, LG-27).
    #[inline]
    pub fn deliver(&mut self, now: Instant, position: Position) -> Delivery {
        let delivery = match &mut self.order {
            Order::Ordered(side) => side.offer(now, position),
            Order::NonBlocking(_) => Delivery::Forward,
        };
        self.count(delivery)
    }

    /// Decides about a retransmitted copy, which tells nothing about the link (LG-14).
    pub fn deliver_retransmission(&mut self, now: Instant, position: Position) -> Delivery {
        self.counters.retransmissions += 1;
        let delivery = match &mut self.order {
            Order::Ordered(side) => side.offer_awaited(now, position),
            Order::NonBlocking(side) => side.offer_retransmission(position),
        };
        self.count(delivery)
    }

    /// Forwards a frame that comes round from the reorder buffer if its turn has come and no given-up position may still come
    /// late. Returns whether the frame is forwarded. Otherwise nothing has changed, and [`Receiver::deliver_buffered`] decides
    /// about the frame.
    #[inline]
    pub fn deliver_in_turn(&mut self, now: Instant, position: Position) -> bool {
        let is_forwarded = match &mut self.order {
            Order::Ordered(side) => side.offer_in_turn(now, position),
            Order::NonBlocking(_) => false,
        };
        self.counters.forwarded += u64::from(is_forwarded);
        is_forwarded
    }

    /// Decides about a frame that comes round from the reorder buffer (LG-20).
    ///
    /// # Panics
    /// On a non-blocking receiver, which buffers nothing.
    pub fn deliver_buffered(&mut self, now: Instant, position: Position) -> Delivery {
        let Order::Ordered(side) = &mut self.order else {
            panic!("a non-blocking receiver has no reorder buffer");
        };
        let delivery = side.offer_awaited(now, position);
        self.count(delivery)
    }

    #[inline]
    fn count(&mut self, delivery: Delivery) -> Delivery {
        match delivery {
            Delivery::Forward => self.counters.forwarded += 1,
            Delivery::Duplicate => self.counters.duplicates += 1,
            Delivery::Hold => {}
        }
        delivery
    }

    /// Gives up the next missing position on the word of a driver that keeps time itself, and returns that position. `None` when
    /// no position is missing, or when the receiver does not keep order.
    pub fn give_up(&mut self, now: Instant) -> Option<Position> {
        match &mut self.order {
            Order::Ordered(side) if side.next() != self.expected => Some(side.skip(now)),
            Order::Ordered(_) | Order::NonBlocking(_) => None,
        }
    }

    /// Returns when [`Receiver::handle_timeout`] is due (LG-21).
    pub fn poll_timeout(&self) -> Instant {
        match &self.order {
            Order::Ordered(side) => side.poll_timeout(self.expected),
            Order::NonBlocking(_) => Instant::NEVER,
        }
    }

    /// Whether more positions wait than comparisons can tell apart. A driver asks after every [`Receiver::detect`] and
    /// [`Receiver::detect_dummy`], and calls [`Receiver::handle_timeout`] as long as this is true, at any time (LG-33).
    #[inline]
    pub const fn is_overrun(&self) -> bool {
        match &self.order {
            Order::Ordered(side) => side.is_overrun(self.expected),
            Order::NonBlocking(_) => false,
        }
    }

    /// Gives up one position, and returns it, if the wait is over or more than a window waits (LG-21, LG-33). `None` when neither
    /// is so.
    pub fn handle_timeout(&mut self, now: Instant) -> Option<Position> {
        if self.poll_timeout() > now && !self.is_overrun() {
            return None;
        }
        match &mut self.order {
            Order::Ordered(side) => Some(side.skip(now)),
            Order::NonBlocking(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Duration;

    const NOW: Instant = Instant::ZERO;

    fn at(number: u16) -> Position {
        Position::new(number, false)
    }

    fn ordered() -> Receiver {
        Receiver::ordered(AckNoTimeout { period: Duration::from_ns(100), reload: 70 })
    }

    // LG-11, LG-15
    #[test]
    fn frames_in_sequence_advance_the_acknowledgement() {
        let mut receiver = ordered();
        let detection = receiver.detect(NOW, at(0));
        assert_eq!(detection, Detection { notification: None, ack: AckUpdate::Advance(at(0)) });
        assert_eq!(receiver.expected(), at(1));
    }

    // LG-13, LG-16
    #[test]
    fn a_gap_is_reported_once() {
        let mut receiver = ordered();
        assert!(!receiver.detect_expected(at(3)), "a frame behind a gap is not the expected one");
        receiver.detect(NOW, at(0));
        let detection = receiver.detect(NOW, at(3));
        let notification = Notification { leading: at(3), first_lost: at(1), hole_size: 2 };
        assert_eq!(detection.notification, Some(notification));
        assert_eq!(detection.ack, AckUpdate::Notified(at(3)));
        assert_eq!(receiver.detect(NOW, at(4)).notification, None);
    }

    // LG-13
    #[test]
    fn the_hole_size_saturates() {
        for (lost, size) in [(254, 254), (255, 255), (256, 255), (5000, 255)] {
            let mut receiver = ordered();
            let notification = receiver.detect(NOW, at(lost)).notification.unwrap();
            assert_eq!(notification.hole_size, size);
            assert_eq!(receiver.counters().lost, u64::from(lost));
            assert_eq!(receiver.counters().unreported, u64::from(lost) - u64::from(size));
        }
    }

    // LG-12
    #[test]
    fn a_dummy_reveals_a_lost_tail() {
        let mut receiver = ordered();
        receiver.detect(NOW, at(0));
        assert_eq!(receiver.detect_dummy(NOW, at(1)), Detection::default());
        let detection = receiver.detect_dummy(NOW, at(2));
        let notification = Notification { leading: at(1), first_lost: at(1), hole_size: 1 };
        assert_eq!(detection.notification, Some(notification));
        assert_eq!(receiver.expected(), at(2));
    }

    // LG-12: the leading position of a dummy with number zero lies in the other era.
    #[test]
    fn a_dummy_at_the_wrap_turns_the_era_back() {
        let mut receiver = ordered();
        receiver.synchronise(NOW, at(65535));
        let notification = receiver.detect_dummy(NOW, Position::new(0, true)).notification.unwrap();
        assert_eq!(notification.leading, at(65535));
    }

    // LG-14, LG-20
    #[test]
    fn a_retransmission_fills_the_hole_without_a_new_report() {
        let mut receiver = ordered();
        receiver.detect(NOW, at(1));
        assert_eq!(receiver.deliver(NOW, at(1)), Delivery::Hold);
        assert_eq!(receiver.deliver_retransmission(NOW, at(0)), Delivery::Forward);
        assert_eq!(receiver.deliver_retransmission(NOW, at(0)), Delivery::Duplicate);
        assert!(!receiver.deliver_in_turn(NOW, at(0)) && receiver.deliver_in_turn(NOW, at(1)));
        assert!(!receiver.has_hole() && !receiver.is_blocked());
    }

    // LG-21, LG-31
    #[test]
    fn a_frame_that_does_not_come_back_is_skipped() {
        let mut receiver = ordered();
        let start = Instant::from_ps(50_000);
        receiver.detect(start, at(1));
        let due = receiver.poll_timeout();
        assert_eq!(due, Instant::from_ps(7_100_000));
        assert_eq!(receiver.handle_timeout(due - Duration::from_ps(1)), None);
        assert_eq!(receiver.handle_timeout(due), Some(at(0)));
        assert_eq!(receiver.deliver_buffered(due, at(1)), Delivery::Forward);
        assert_eq!(receiver.poll_timeout(), Instant::NEVER);
    }

    // LG-33: after a blackout the numbers may have run ahead by more than half the space.
    #[test]
    fn what_waits_too_far_back_is_given_up_at_once() {
        let mut receiver = ordered();
        receiver.detect(NOW, at(1));
        (2..=Position::WINDOW as u16).for_each(|number| {
            receiver.detect(NOW, at(number - 1));
        });
        assert_eq!((receiver.expected(), receiver.is_overrun()), (at(32768), false));
        let newest = at(32768).plus(65535);
        receiver.detect(NOW, newest);
        let given_up = core::iter::from_fn(|| receiver.is_overrun().then(|| receiver.handle_timeout(NOW)));
        assert_eq!(given_up.count(), 65536);
        assert_eq!(receiver.as_ordered().map(Ordered::next), Some(Position::ZERO.plus(65536)));
        assert_eq!(receiver.deliver(NOW, newest), Delivery::Hold);
        assert_eq!(receiver.handle_timeout(NOW), None);
    }

    // LG-27, LG-28
    #[test]
    fn a_non_blocking_receiver_forwards_past_the_hole() {
        let mut receiver = Receiver::non_blocking(true);
        receiver.detect(NOW, at(1));
        assert_eq!(receiver.deliver(NOW, at(1)), Delivery::Forward);
        assert!(receiver.has_hole() && !receiver.is_blocked(), "it holds nothing back");
        assert_eq!(receiver.deliver_retransmission(NOW, at(0)), Delivery::Forward);
        assert_eq!(receiver.deliver_retransmission(NOW, at(0)), Delivery::Duplicate);
        assert_eq!(receiver.poll_timeout(), Instant::NEVER);
    }

    // LG-30
    #[test]
    fn a_receiver_switched_on_in_mid_stream_expects_the_next_frame() {
        let mut receiver = ordered();
        let start = Position::new(40_000, true);
        receiver.synchronise(NOW, start);
        assert_eq!(receiver.detect(NOW, start).notification, None);
        assert_eq!(receiver.deliver(NOW, start), Delivery::Forward);
    }

    // LG-32
    #[test]
    fn a_stale_frame_reports_nothing() {
        let mut receiver = ordered();
        receiver.detect(NOW, at(0));
        receiver.deliver(NOW, at(0));
        assert_eq!(receiver.detect(NOW, at(0)), Detection::default());
        assert_eq!(receiver.deliver(NOW, at(0)), Delivery::Duplicate);
        assert_eq!(receiver.counters().stale, 1);
        assert_eq!(receiver.expected(), at(1));
    }
}

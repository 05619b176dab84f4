//! Tests that the engines take many frames at once as they take one frame after the other.

use super::{
    AckNoTimeout, AckUpdate, Backpressure, CopyFate, Delivery, Notification, Position, Receiver, Sender,
};
use super::{SenderConfig, Thresholds};
use crate::time::{Duration, Instant};
use alloc::collections::VecDeque;
use alloc::format;
use alloc::vec::Vec;
use proptest::prelude::*;

/// Returns the positions at which a sequence starts: any position, or one just before a wrap (LG-1).
fn starts() -> impl Strategy<Value = Position> {
    let count = Position::COUNT as u32;
    prop_oneof![0..count, (count - 200)..count, (count / 2 - 200)..count / 2]
        .prop_map(|at| Position::ZERO.plus(at))
}

/// The next event at both receivers.
#[derive(Clone, Copy, Debug)]
enum Step {
    InSequence(u32),
    Dummies(u32),
    Lose(u32),
    Repair(u32),
    Round(u32),
    Wait,
}

fn steps() -> impl Strategy<Value = Vec<(u64, Step)>> {
    let step = prop_oneof![
        4 => (1u32..100).prop_map(Step::InSequence),
        1 => (1u32..5).prop_map(Step::Dummies),
        2 => (1u32..4).prop_map(Step::Lose),
        3 => (0u32..4).prop_map(Step::Repair),
        3 => (1u32..100).prop_map(Step::Round),
        1 => Just(Step::Wait),
    ];
    prop::collection::vec((0u64..1_000_000, step), 1..40)
}

/// Two receivers of one sequence of frames: `many` takes frames together where it may, and `each` takes them
/// one by one.
struct Pair {
    many: Receiver,
    each: Receiver,
    now: Instant,
    missing: Vec<Position>,
    /// Positions in the reorder buffer, in the order in which they come round.
    held: VecDeque<Position>,
}

impl Pair {
    fn new(receiver: Receiver, start: Position) -> Self {
        let mut each = receiver;
        each.synchronise(Instant::ZERO, start);
        Self { many: each.clone(), each, now: Instant::ZERO, missing: Vec::new(), held: VecDeque::new() }
    }

    fn both(&mut self) -> [&mut Receiver; 2] {
        [&mut self.many, &mut self.each]
    }

    /// Hands `count` expected frames to `receiver`, a picosecond apart. Returns the delivery of the last
    /// frame.
    fn take_each(receiver: &mut Receiver, from: Instant, count: u32) -> Option<Delivery> {
        let one = |step: u32| {
            let (now, position) = (from + Duration::from_ps(u64::from(step)), receiver.expected());
            assert_eq!(receiver.detect(now, position).ack, AckUpdate::Advance(position));
            assert!(!receiver.is_overrun());
            receiver.deliver(now, position)
        };
        (0..count).map(one).last()
    }

    fn in_sequence(&mut self, count: u32) {
        let (from, first) = (self.now, self.each.expected());
        self.now += Duration::from_ps(u64::from(count - 1));
        if self.many.is_in_sequence() {
            self.many.pass_in_sequence(self.now, count);
        } else if self.many.is_blocked() && self.many.may_hold(count).is_some() {
            self.many.hold_in_sequence(count);
        } else {
            Self::take_each(&mut self.many, from, count);
        }
        if Self::take_each(&mut self.each, from, count) == Some(Delivery::Hold) {
            self.held.extend((0..count).map(|step| first.plus(step)));
        }
    }

    fn round(&mut self, most: u32) {
        let Some(next) = self.many.may_hold(0) else { return };
        let in_turn = |(step, held): &(u32, &Position)| **held == next.plus(*step);
        let count = (0..most).zip(&self.held).take_while(in_turn).count();
        if count == 0 {
            return;
        }
        for (step, position) in (0..).zip(self.held.drain(..count)) {
            assert!(self.each.deliver_in_turn(self.now + Duration::from_ps(step), position));
        }
        self.now += Duration::from_ps(count as u64 - 1);
        self.many.deliver_many_in_turn(self.now, count as u32);
    }

    fn lose(&mut self, count: u32) {
        let (now, first) = (self.now, self.each.expected());
        let position = first.plus(count);
        self.missing.extend((0..count).map(|step| first.plus(step)));
        let deliveries = self.both().map(|receiver| {
            receiver.detect(now, position);
            receiver.deliver(now, position)
        });
        if deliveries[1] == Delivery::Hold {
            self.held.push_back(position);
        }
    }

    fn repair(&mut self, place: u32) {
        if self.missing.is_empty() {
            return;
        }
        let (now, position) = (self.now, self.missing.remove(place as usize % self.missing.len()));
        let deliveries = self.both().map(|receiver| receiver.deliver_retransmission(now, position));
        if deliveries[1] == Delivery::Hold {
            let place = self.held.partition_point(|held| position.is_after(*held));
            self.held.insert(place, position);
        }
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::InSequence(count) => self.in_sequence(count),
            Step::Dummies(count) => {
                let (now, expected) = (self.now, self.each.expected());
                self.many.pass_dummies(u64::from(count));
                (0..count)
                    .for_each(|_| assert_eq!(self.each.detect_dummy(now, expected).ack, AckUpdate::None));
            }
            Step::Lose(count) => self.lose(count),
            Step::Repair(place) => self.repair(place),
            Step::Round(most) => self.round(most),
            Step::Wait => {
                let due = self.each.poll_timeout();
                if !due.is_never() {
                    self.now = due;
                    self.both().into_iter().for_each(|receiver| _ = receiver.handle_timeout(due));
                }
            }
        }
    }

    fn check(receiver: Receiver, start: Position, steps: Vec<(u64, Step)>) -> Result<(), TestCaseError> {
        let mut pair = Self::new(receiver, start);
        for (wait, step) in steps {
            pair.now += Duration::from_ps(wait);
            pair.take(step);
            prop_assert_eq!(format!("{:?}", pair.many), format!("{:?}", pair.each));
        }
        Ok(())
    }
}

fn ordered() -> Receiver {
    Receiver::ordered(AckNoTimeout { period: Duration::from_ns(100), reload: 7 })
}

proptest! {
    // LG-11, LG-12, LG-20, LG-21
    #[test]
    fn an_ordered_receiver_takes_many_as_each(start in starts(), steps in steps()) {
        Pair::check(ordered(), start, steps)?;
    }

    // LG-11, LG-12, LG-27, LG-28
    #[test]
    fn a_non_blocking_receiver_takes_many_as_each(start in starts(), steps in steps(), deduplicate: bool) {
        Pair::check(Receiver::non_blocking(deduplicate), start, steps)?;
    }

    // LG-33: frames are held up to the end of the window, and not beyond.
    #[test]
    fn many_are_held_as_long_as_they_fit_in_the_window(start in starts(), short in 0u32..3, count in 1u32..200) {
        let mut pair = Pair::new(ordered(), start);
        pair.lose(1);
        // The lost frame and the frame that showed the loss are two of the window.
        pair.in_sequence(Position::WINDOW - 2 - count - short);
        prop_assert_eq!(pair.many.may_hold(count + short), Some(start));
        prop_assert_eq!(pair.many.may_hold(count + short + 1), None);
        pair.in_sequence(count);
        prop_assert_eq!(format!("{:?}", &pair.many), format!("{:?}", &pair.each));
        let mut overruns = (0..=short).map(|_| {
            let position = pair.many.expected();
            pair.many.detect(pair.now, position);
            pair.many.is_overrun()
        });
        prop_assert_eq!(overruns.position(|is_overrun| is_overrun), Some(short as usize));
    }
}

// LG-27: only frames in order are held.
#[test]
fn a_non_blocking_receiver_holds_none() {
    let mut receiver = Receiver::non_blocking(true);
    assert!(receiver.is_in_sequence() && receiver.may_hold(0).is_none());
    receiver.detect(Instant::ZERO, Position::ZERO.next());
    assert!(!receiver.is_in_sequence(), "one is missing");
}

// LG-21: a frame that was given up may come late, and late frames are counted.
#[test]
fn none_are_taken_together_while_one_given_up_may_come() {
    let mut receiver = ordered();
    receiver.detect(Instant::ZERO, Position::ZERO.next());
    assert_eq!((receiver.is_in_sequence(), receiver.may_hold(1)), (false, Some(Position::ZERO)));
    let due = receiver.poll_timeout();
    receiver.handle_timeout(due);
    assert_eq!(receiver.deliver_buffered(due, Position::ZERO.next()), Delivery::Forward);
    assert!(!receiver.has_hole() && !receiver.is_in_sequence() && receiver.may_hold(0).is_none());
}

/// The next event at both senders: frames leave, a dummy leaves, an acknowledgement or a notification
/// arrives, or a copy is looked at.
#[derive(Clone, Copy, Debug)]
enum SenderStep {
    Stamp(u32),
    Dummy,
    Ack(u32),
    Lose(u32, u8),
    Inspect(u32),
}

fn sender_steps() -> impl Strategy<Value = Vec<SenderStep>> {
    let step = prop_oneof![
        4 => (0u32..200).prop_map(SenderStep::Stamp),
        1 => Just(SenderStep::Stamp(u32::MAX)),
        2 => Just(SenderStep::Dummy),
        2 => (0u32..300).prop_map(SenderStep::Ack),
        1 => (0u32..20, 1u8..8).prop_map(|(behind, lost)| SenderStep::Lose(behind, lost)),
        2 => (0u32..20).prop_map(SenderStep::Inspect),
    ];
    prop::collection::vec(step, 1..30)
}

fn sender(dummies: u8, start: Position) -> Sender {
    let mut sender = Sender::new(SenderConfig { copies: 2, dummies, hole_cap: Some(5) });
    sender.synchronise(start);
    sender
}

/// Carries out `step` at both senders. Frames leave one by one at the second sender.
fn step_both(many: &mut Sender, each: &mut Sender, step: SenderStep) {
    let oldest = each.leading_ack();
    match step {
        SenderStep::Stamp(count) => {
            let count = count.min(many.may_stamp());
            let positions: Vec<_> = (0..count).map(|step| many.next().plus(step)).collect();
            many.stamp_many(count);
            assert!(positions.into_iter().all(|position| each.stamp() == position));
        }
        SenderStep::Dummy => assert_eq!(many.poll_dummy(), each.poll_dummy()),
        SenderStep::Ack(ahead) => {
            [many, each].into_iter().for_each(|side| side.handle_ack(oldest.plus(ahead)))
        }
        SenderStep::Lose(behind, lost) => {
            let leading = each.next().plus(Position::COUNT as u32 - 1 - behind);
            let first_lost = leading.plus(Position::COUNT as u32 - u32::from(lost));
            let notification = Notification { leading, first_lost, hole_size: lost };
            [many, each].into_iter().for_each(|side| side.handle_notification(&notification));
        }
        SenderStep::Inspect(behind) => {
            let position = oldest.plus(Position::COUNT as u32 - behind);
            assert_eq!(many.inspect_copy(position), each.inspect_copy(position));
        }
    }
}

proptest! {
    // LG-3, LG-4, LG-33
    #[test]
    fn a_sender_numbers_many_as_each(start in starts(), dummies in 0u8..4, steps in sender_steps()) {
        let (mut many, mut each) = (sender(dummies, start), sender(dummies, start));
        for step in steps {
            step_both(&mut many, &mut each, step);
            prop_assert_eq!(format!("{many:?}"), format!("{each:?}"));
        }
        prop_assert_eq!(each.counters().abandoned, 0, "none was let go for want of room");
    }
}

// LG-33
#[test]
fn as_many_are_numbered_together_as_fit_in_the_window() {
    let mut many = sender(3, Position::new(65_000, true));
    assert_eq!(many.may_stamp(), Position::WINDOW);
    many.stamp_many(Position::WINDOW - 1);
    assert_eq!(many.may_stamp(), 1);
    many.stamp_many(1);
    assert_eq!((many.may_stamp(), many.outstanding(), many.counters().abandoned), (0, Position::WINDOW, 0));
    many.stamp();
    assert_eq!(many.counters().abandoned, 1, "the next costs the oldest its copy");
}

// LG-9, LG-10: a mark may have to go when its position is used again.
#[test]
fn none_are_numbered_together_while_a_loss_is_asked_for() {
    let mut many = sender(3, Position::ZERO);
    many.stamp_many(3);
    let (leading, lost) = (Position::ZERO.next(), Position::ZERO);
    many.handle_notification(&Notification { leading, first_lost: lost, hole_size: 1 });
    assert_eq!((many.holes(), many.may_stamp()), (1, 0));
    assert_eq!(many.inspect_copy(lost), CopyFate::Retransmit);
    assert_eq!(many.may_stamp(), Position::WINDOW - 1);
}

proptest! {
    // LG-23, LG-24
    #[test]
    fn backpressure_acts_on_no_depth_that_it_need_not_see(depths in prop::collection::vec(80u64..130, 1..50)) {
        let mut side = Backpressure::new(Thresholds { pause_bytes: 110, resume_bytes: 100 });
        for depth in depths {
            let acts_from = side.acts_from();
            prop_assert_eq!(side.may_act(depth), depth >= acts_from);
            if depth < acts_from {
                let mut seen = side.clone();
                // No frame enters while the queue empties.
                (0..=depth).rev().for_each(|depth| seen.observe(depth));
                prop_assert_eq!(format!("{seen:?}"), format!("{side:?}"));
            }
            side.observe(depth);
        }
        side.observe(110);
        prop_assert_eq!(side.acts_from(), 0, "a paused sender waits for the queue to empty");
    }
}

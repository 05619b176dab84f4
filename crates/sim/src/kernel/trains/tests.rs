//! Trains beside a list of their members.

use super::*;
use lossylink_core::time::Duration;
use proptest::prelude::*;
use std::collections::VecDeque;

/// Numbers follow each other if they are close.
impl Member for u64 {
    fn distance(&self, next: &Self, _count: u32) -> Option<u32> {
        next.checked_sub(*self).filter(|&distance| distance < 50).map(|distance| distance as u32)
    }

    fn follow(&mut self, count: u32, step: u32) {
        *self += Self::from(count * step);
    }
}

/// An operation on trains.
#[derive(Clone, Debug)]
enum Move {
    /// `count` members come, `spacing` apart and with `step` between their numbers. The first comes `gap` after the last member
    /// that came, and its number is `further` beyond that member's number.
    Come {
        count: u32,
        spacing: u64,
        step: u32,
        gap: u64,
        further: u64,
    },
    /// `count` members come, each as a train by itself.
    ComeApart {
        count: u32,
        spacing: u64,
    },
    Skip(u32),
    Pop,
    TurnFront(u64),
    TakeNewestDue(u64),
    DrainDue(u64),
    Clear,
}

fn moves() -> impl Strategy<Value = Move> {
    prop_oneof![
        6 => (1u32..6, 0u64..3, 0u32..3, 0u64..3, 0u64..3)
            .prop_map(|(count, spacing, step, gap, further)| Move::Come { count, spacing, step, gap, further }),
        1 => (1u32..4, 0u64..3).prop_map(|(count, spacing)| Move::ComeApart { count, spacing }),
        2 => (1u32..4).prop_map(Move::Skip),
        2 => Just(Move::Pop),
        2 => (0u64..3).prop_map(Move::TurnFront),
        2 => (0u64..20).prop_map(Move::TakeNewestDue),
        1 => (0u64..10).prop_map(Move::DrainDue),
        1 => Just(Move::Clear),
    ]
}

/// Takes the members that are due at `now`, one by one.
fn due(plain: &mut VecDeque<(Instant, u64)>, now: Instant) -> Vec<(Instant, u64)> {
    let count = plain.iter().take_while(|&&(at, _)| at <= now).count();
    plain.drain(..count).collect()
}

proptest! {
    #[test]
    fn trains_hold_what_went_in(moves in prop::collection::vec(moves(), 1..120)) {
        let (mut trains, mut plain) = (Trains::new(), VecDeque::new());
        let (mut at, mut number) = (Instant::ZERO, 0);
        for step in moves {
            match step {
                Move::Come { count, spacing, step, gap, further } => {
                    at += Duration::from_ps(gap);
                    number += further;
                    let train = Train { spacing: Duration::from_ps(spacing), count, step, ..Train::of_one(at) };
                    trains.push_train(train, &number);
                    plain.extend((0..count).map(|index| (train.nth(index), number + u64::from(index * step))));
                    (at, number) = (train.last(), number + u64::from((count - 1) * step));
                }
                Move::ComeApart { count, spacing } => for _ in 0..count {
                    (at, number) = (at + Duration::from_ps(spacing), number + 1);
                    trains.push_apart(at, number);
                    plain.push_back((at, number));
                },
                Move::Skip(most) => if let Some((train, _)) = trains.front() {
                    let count = most.min(train.count);
                    trains.skip(count);
                    plain.drain(..count as usize);
                },
                Move::Pop => prop_assert_eq!(trains.pop(), plain.pop_front()),
                Move::TurnFront(gap) => {
                    at += Duration::from_ps(gap);
                    trains.turn_front(at);
                    if let Some((_, first)) = plain.pop_front() {
                        plain.push_back((at, first));
                        number = number.max(first);
                    }
                }
                Move::TakeNewestDue(ps) => {
                    let now = plain.front().map_or(at, |&(first, _)| first) + Duration::from_ps(ps);
                    let newest = due(&mut plain, now).last().map(|&(_, number)| number);
                    let mut apart = trains.clone();
                    let mut taking = apart.taking();
                    prop_assert_eq!(taking.take_newest_due(now), newest);
                    taking.finish();
                    prop_assert_eq!(trains.take_newest_due(now), newest);
                    prop_assert_eq!((apart.members(), apart.poll_timeout()), (trains.members(), trains.poll_timeout()));
                }
                Move::DrainDue(ps) => {
                    let now = plain.front().map_or(at, |&(first, _)| first) + Duration::from_ps(ps);
                    let mut drained = Vec::new();
                    trains.drain_due(now, |at, number| drained.push((at, number)));
                    prop_assert_eq!(drained, due(&mut plain, now));
                }
                Move::Clear => {
                    trains.clear();
                    plain.clear();
                }
            }
            prop_assert_eq!(trains.members(), plain.iter().copied().collect::<Vec<_>>());
            prop_assert_eq!(trains.poll_timeout(), plain.front().map_or(Instant::NEVER, |&(at, _)| at));
            prop_assert_eq!((trains.len(), trains.is_empty()), (plain.len(), plain.is_empty()));
            prop_assert_eq!(trains.newest(), plain.back().map(|&(_, number)| number));
            prop_assert_eq!(trains.last_due(), plain.back().map_or(Instant::ZERO, |&(at, _)| at));
            let before = trains.partition_point(|&first| first < number / 2);
            prop_assert!(before.checked_sub(1).and_then(|place| trains.get(place)).is_none_or(|&(_, first)| first < number / 2));
            prop_assert!(trains.get(before).is_none_or(|&(_, first)| first >= number / 2));
        }
    }
}

#[test]
fn what_goes_on_evenly_is_one_entry() {
    let mut trains = Trains::new();
    for (at, number) in [(10, 1u64), (12, 2), (14, 3), (15, 4)] {
        trains.push(Instant::from_ps(at), &number);
    }
    assert_eq!(trains.front().map(|(train, &number)| (train.count, number)), Some((3, 1)));
    let five = Train { count: 5, ..Train::of_one(Instant::from_ps(20)) };
    assert!(!trains.push_train(five, &9) && trains.push_train(five, &14));
    trains.skip(3);
    trains.skip(1);
    assert_eq!(trains.front().map(|(train, &number)| (train.count, number)), Some((10, 9)));
}

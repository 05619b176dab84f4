//! The reorder buffer in trains is compared with the reorder buffer frame by frame.

use super::*;
use crate::config::switch_profile;
use crate::net::{Ecn, Frame, LineRate};
use lossylink_core::engine::linkguardian::Thresholds;
use lossylink_core::units::BitRate;
use proptest::prelude::*;
use std::collections::VecDeque;

fn held(number: u16) -> Copied<u32> {
    let frame = Frame::of_frame_bytes(1514, Ecn::NotCapable, u32::from(number));
    Copied { position: Position::new(number, false), number: u32::from(number), frame }
}

#[test]
fn a_memory_finds_frames_by_position_and_grows() {
    let mut memory = RxMemory::new(u64::MAX);
    let numbers = [3u16, 3 + 256, 3 + 512, 9];
    numbers.iter().for_each(|&number| memory.hold(held(number)));
    memory.hold(held(9));
    assert_eq!(memory.depth_bytes(), 4 * 1518);
    assert!(memory.take(Position::new(4, false)).is_none());
    for number in numbers {
        assert_eq!(memory.take(Position::new(number, false)).unwrap().frame.payload, u32::from(number));
    }
    assert_eq!((memory.depth_bytes(), memory.high_water_bytes()), (0, 4 * 1518));
}

proptest! {
    // LG-34
    #[test]
    fn what_has_left_the_loop_is_counted_when_it_matters(
        frames in prop::collection::vec((0u64..200, 60u32..1515, any::<bool>()), 1..300),
    ) {
        let rate = LineRate::new(BitRate::from_gbps(100));
        let timing = Timing::new(&switch_profile("tofino1"), rate, Duration::ZERO);
        let mut buffer = RxLoop::<u32>::new(&timing, Cells::new(80), 12_000);
        let (mut queue, mut busy_until) = (Vec::new(), Instant::ZERO);
        let (mut now, mut most, mut dropped) = (Instant::ZERO, 0, 0);
        for (wait, bytes, asks) in frames {
            now += Duration::from_ns(wait);
            let frame = Frame::of_frame_bytes(bytes, Ecn::NotCapable, 0);
            buffer.hold(now, &Copied { frame, ..Copied::default() });
            queue.retain(|&(start, _)| start >= now);
            let space = u64::from(frame.frame_bytes_with_fcs().div_ceil(80) * 80);
            let depth: u64 = queue.iter().map(|&(_, space)| space).sum();
            if depth + space > 12_000 {
                dropped += 1;
            } else {
                let start = now.max(busy_until);
                queue.push((start, space));
                most = most.max(depth + space);
                busy_until = start + rate.serialisation(frame.octets);
            }
            prop_assert_eq!((buffer.high_water_bytes(), buffer.dropped()), (most, dropped));
            if asks {
                prop_assert_eq!(buffer.depth_bytes(now), queue.iter().map(|&(_, space)| space).sum::<u64>());
            }
        }
    }
}

/// Builds a loop at 100 Gb/s. Returns the loop, and the time that one of the frames of [`held`] takes.
fn rx_loop() -> (RxLoop<u32>, Duration) {
    let rate = LineRate::new(BitRate::from_gbps(100));
    let timing = Timing::new(&switch_profile("tofino1"), rate, Duration::ZERO);
    (RxLoop::new(&timing, Cells::new(80), 1_000_000), rate.serialisation(held(0).frame.octets))
}

// LG-23: the queue held at most five frames, of which three still wait. Each frame takes 1520 bytes of cells.
#[test]
fn a_sequence_is_held_below_backpressure_and_the_high_water_mark() {
    let (mut buffer, serialisation) = rx_loop();
    (0..5).for_each(|number| buffer.hold(Instant::ZERO, &held(number)));
    let now = Instant::ZERO + serialisation + Duration::from_ps(1);
    let train = Train { count: 10, ..Train::of_one(now) };
    let depth = 1520;
    for (acts_from_bytes, expected) in
        [(u64::MAX, 2), (5 * depth + 1, 2), (5 * depth, 1), (4 * depth, 0), (0, 0)]
    {
        let mut buffer = buffer.clone();
        let count = buffer.hold_train(train, &held(5), acts_from_bytes);
        assert_eq!((count, buffer.high_water_bytes()), (expected, 5 * depth), "{acts_from_bytes}");
    }
}

// LG-20: each frame finds the line of the loop idle, and a frame before is still on its way round.
#[test]
fn a_sequence_is_held_behind_a_gap() {
    let (mut buffer, serialisation) = rx_loop();
    buffer.hold(Instant::ZERO, &held(0));
    let last_round = buffer.next_round();
    for (spacing, expected) in [
        (serialisation, 10),
        (serialisation * 2, 10),
        (buffer.way_round, 10),
        (buffer.way_round + Duration::from_ps(1), 1),
    ] {
        let train = Train { count: 10, spacing, ..Train::of_one(last_round) };
        let mut apart = buffer.clone();
        assert_eq!(apart.hold_train(train, &held(1), u64::MAX), expected, "{spacing:?}");
        let depth = apart.depth_bytes(train.nth(expected - 1));
        assert_eq!((depth, apart.high_water_bytes()), (1520, 1520), "{spacing:?}");
        let late = train.from(last_round + Duration::from_ps(1));
        assert_eq!(buffer.clone().hold_train(late, &held(1), u64::MAX), 0, "{spacing:?}");
    }
}

/// Draws the distance of two frames: mostly close to the time that a frame takes on the line, and often equal to that time.
fn spacing() -> impl Strategy<Value = Duration> {
    let (_, serialisation) = rx_loop();
    prop_oneof![
        2 => (90u64..150).prop_map(Duration::from_ns),
        1 => Just(serialisation),
        1 => (0u64..1_500).prop_map(Duration::from_ns),
    ]
}

proptest! {
    // LG-20
    #[test]
    fn a_train_is_held_as_its_frames_one_by_one(
        before_ns in prop::collection::vec(0u64..200, 1..40),
        trains in prop::collection::vec(
            (prop_oneof![3 => 0u64..400, 1 => 0u64..2_000], spacing(), 1u32..60),
            1..6,
        ),
        resets: bool,
        acts_from_bytes in prop_oneof![Just(u64::MAX), 0u64..40_000],
    ) {
        let (mut together, _) = rx_loop();
        let (mut now, mut number) = (Instant::ZERO, 0);
        for wait in before_ns {
            now += Duration::from_ns(wait);
            together.hold(now, &held(number));
            number += 1;
        }
        if resets {
            together.reset_high_water(now);
        }
        for (wait, spacing, count) in trains {
            let train = Train { spacing, count, ..Train::of_one(now + Duration::from_ns(wait)) };
            let mut apart = together.clone();
            let count = together.hold_train(train, &held(number), acts_from_bytes);
            let most = apart.high_water_bytes();
            for index in 0..count {
                let at = train.nth(index);
                prop_assert!(apart.rounds.last_due() >= at);
                apart.hold(at, &held(number + index as u16));
                prop_assert!(apart.depth_bytes(at) < acts_from_bytes && apart.high_water_bytes() == most);
            }
            prop_assert_eq!(together.rounds.members(), apart.rounds.members());
            let rest = |buffer: &RxLoop<u32>| (format!("{:?}", buffer.queue), buffer.in_turn, buffer.held);
            prop_assert_eq!(rest(&together), rest(&apart));
            (now, number) = (train.nth(count.max(1) - 1), number + count as u16);
        }
    }
}

/// Returns the state of the loop as text: the frames by the time at which they come round, the queue, and the counts.
fn state(buffer: &RxLoop<u32>) -> String {
    format!("{:?} {:?} {:?}", buffer.rounds.members(), buffer.queue, (buffer.in_turn, buffer.held))
}

proptest! {
    // LG-20
    #[test]
    fn what_turns_together_turns_as_frame_by_frame(
        positions in prop::collection::vec((1u16..60, 0u64..200), 1..40),
        spacing_ns in 90u64..150,
        count in 0u32..60,
        (span_ns, wait_ns) in (0u64..9_000, 0u64..400),
        came_back: bool,
        acts_from_bytes in prop_oneof![Just(u64::MAX), 0u64..60_000],
    ) {
        let (mut together, _) = rx_loop();
        let mut now = Instant::ZERO;
        for (position, wait) in positions {
            now += Duration::from_ns(wait);
            together.hold(now, &held(position));
        }
        let (first, expected) = (held(60), held(60).position);
        let next = held(u16::from(came_back)).position;
        let (spacing, starts) = (Duration::from_ns(spacing_ns), now + Duration::from_ns(wait_ns));
        let train = Train { spacing, count, ..Train::of_one(starts) };
        let until = starts + Duration::from_ns(span_ns);
        let come = (count > 0).then_some((train, &first));
        let (mut apart, mut delivered) = (together.clone(), Trains::new());
        let most = together.high_water_bytes();
        let turned = together.turn(come, (next, expected), (until, acts_from_bytes), &mut delivered);
        prop_assert!(turned.last <= until && together.high_water_bytes() == most);
        let (mut came, mut gone) = (0, Vec::new());
        while state(&apart) != state(&together) {
            let comes = if came < turned.held { train.nth(came) } else { Instant::NEVER };
            now = comes.min(apart.next_round());
            prop_assert!(now <= turned.last);
            let frame = if comes == now { held(60 + came as u16) } else { apart.pop().unwrap() };
            if comes == now {
                came += 1;
            } else if frame.position == next.plus(gone.len() as u32) {
                gone.push((now, frame.bare()));
                continue;
            }
            apart.hold(now, &frame);
            prop_assert!(apart.depth_bytes(now) < acts_from_bytes);
        }
        let last = gone.last().map_or(Instant::ZERO, |&(at, _)| at);
        prop_assert_eq!((came, last), (turned.held, turned.delivered));
        prop_assert_eq!(next.plus(gone.len() as u32), turned.next);
        prop_assert_eq!(delivered.members(), gone);
    }

    // LG-23
    #[test]
    fn backpressure_looks_where_it_may_act(
        frames in prop::collection::vec((0u64..300, prop_oneof![4 => Just(1514u32), 1 => 60u32..1515]), 1..300),
    ) {
        let (mut buffer, _) = rx_loop();
        let thresholds = Thresholds { pause_bytes: 12_000, resume_bytes: 8_000 };
        let (mut each, mut few) = (Backpressure::new(thresholds), Backpressure::new(thresholds));
        let mut asked = [Vec::new(), Vec::new()];
        let (mut now, mut leaves, mut acts) = (Instant::ZERO, VecDeque::new(), Instant::NEVER);
        for (wait, bytes) in frames {
            now += Duration::from_ns(wait);
            while let Some(&leave) = leaves.front().filter(|&&leave| leave < now) {
                leaves.pop_front();
                let depth = buffer.depth_bytes(leave);
                each.observe(depth);
                asked[0].extend(each.poll_request().map(|request| (leave, request)));
                if leave == acts {
                        few.observe(depth);
                    asked[1].extend(few.poll_request().map(|request| (leave, request)));
                    acts = buffer.next_dequeue(leave + Duration::from_ps(1), &few);
                }
            }
            let frame = Frame::of_frame_bytes(bytes, Ecn::NotCapable, 0);
            buffer.hold(now, &Copied { frame, ..Copied::default() });
            leaves.push_back(buffer.queue.next_start(now) - buffer.queue.serialisation(frame.octets));
            if acts.is_never() {
                acts = buffer.next_dequeue(now, &few);
            }
        }
        prop_assert_eq!(&asked[0], &asked[1]);
    }
}

// LG-20: the lowest of ten comes round first, and no new frame before.
#[test]
fn frames_turn_together() {
    let (mut buffer, serialisation) = rx_loop();
    (1..=10).for_each(|number| buffer.hold(Instant::ZERO, &held(number)));
    let train = Train { count: 5, spacing: serialisation, ..Train::of_one(buffer.next_round()) };
    let until = train.last();
    let both = (held(0).position, held(11).position);
    let mut delivered = Trains::new();
    let turned = buffer.turn(Some((train, &held(11))), both, (until, u64::MAX), &mut delivered);
    assert_eq!((turned.held, turned.next, buffer.held), (5, both.0, 15));
    assert!(delivered.is_empty());
}

// LG-20: a frame that arrives behind the last awaited frame is left to the caller.
#[test]
fn frames_turn_as_long_as_one_is_awaited() {
    let (mut buffer, serialisation) = rx_loop();
    (0..10).for_each(|_| buffer.hold(Instant::ZERO, &held(0)));
    let train = Train { count: 5, spacing: serialisation, ..Train::of_one(buffer.next_round()) };
    let (come, until) = (train.from(train.first + Duration::from_ps(1)), train.last());
    let (next, expected) = (held(0).position, held(1).position);
    let mut delivered = Trains::new();
    let turned = buffer.turn(Some((come, &held(1))), (next, expected), (until, u64::MAX), &mut delivered);
    assert_eq!((turned.held, turned.next, turned.last), (0, expected, train.first));
}

// LG-34
#[test]
fn a_full_memory_drops() {
    let mut memory = RxMemory::new(2 * 1518);
    (0..3).for_each(|number| memory.hold(held(number)));
    assert_eq!(memory.dropped(), 1);
    assert!(memory.take(Position::new(2, false)).is_none());
}

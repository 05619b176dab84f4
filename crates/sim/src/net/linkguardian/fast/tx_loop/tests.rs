//! The loop is compared with a list of its copies that are looked at one by one.

use super::*;
use crate::config::switch_profile;
use crate::net::{Ecn, Frame, LineRate};
use lossylink_core::engine::linkguardian::{Notification, Position, SenderConfig};
use lossylink_core::units::BitRate;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// The next look at a copy: its time, whether the copy is fresh, its place among looks of one time, its number and its octets.
type Look = (Instant, bool, usize, u32, u32);

/// The model of the loop: a list of looks.
struct Model {
    first_check: Duration,
    way_round: Duration,
    queue: PortQueue,
    looks: BTreeSet<Look>,
    entries: usize,
    copies: Vec<Copied<u64>>,
}

impl Model {
    fn new(timing: &Timing, limit_bytes: u64) -> Self {
        Self {
            first_check: timing.copy_first_check,
            way_round: timing.tx_loop_fixed,
            queue: PortQueue::new(timing, Cells::new(80), limit_bytes, Counts::UntilItLeaves),
            looks: BTreeSet::new(),
            entries: 0,
            copies: Vec::new(),
        }
    }

    fn insert(&mut self, now: Instant, copy: Copied<u64>) {
        self.entries += 1;
        let look = (now + self.first_check, true, self.entries, copy.number, copy.frame.octets);
        self.looks.insert(look);
        self.copies.push(copy);
    }

    fn next_look(&self) -> Instant {
        self.looks.first().map_or(Instant::NEVER, |&(look, ..)| look)
    }

    /// Sends a copy on another round after its look at `look`.
    fn send_round(&mut self, look: Instant, number: u32, octets: u32) {
        if let Some(left) = self.queue.enter(look, octets) {
            self.entries += 1;
            self.looks.insert((left + self.way_round, false, self.entries, number, octets));
        }
    }

    /// Looks at each copy whose turn came before `until`. Frames from number `oldest` on are outstanding.
    fn look(&mut self, until: Instant, oldest: u32) {
        while self.next_look() < until {
            let Some((look, _, _, number, octets)) = self.looks.pop_first() else { break };
            if is_outstanding(number, oldest) {
                self.send_round(look, number, octets);
            }
        }
    }

    /// Looks at each copy whose turn came before `until`. Returns the lost copies, and the times at which they were found.
    fn find_lost(&mut self, until: Instant, engine: &mut Sender) -> Vec<(Instant, u32)> {
        let mut lost = Vec::new();
        while self.next_look() < until {
            let Some((look, _, _, number, octets)) = self.looks.pop_first() else { break };
            if is_outstanding(number, engine.oldest_outstanding()) {
                self.send_round(look, number, octets);
            } else if is_lost(number, engine) {
                lost.push((look, number));
            }
        }
        lost
    }
}

proptest! {
    // LG-34
    #[test]
    fn what_has_left_the_loop_is_counted_when_it_matters(
        copies in prop::collection::vec((0u64..200, 60u32..1515, any::<bool>()), 1..300),
    ) {
        let rate = LineRate::new(BitRate::from_gbps(100));
        let timing = Timing::new(&switch_profile("tofino1"), rate, Duration::ZERO);
        let mut buffer = TxLoop::<u64>::new(&timing, Cells::new(80), 12_000);
        let (mut queue, mut busy_until) = (Vec::new(), Instant::ZERO);
        let (mut now, mut most, mut dropped) = (Instant::ZERO, 0, 0);
        for (wait, bytes, asks) in copies {
            now += Duration::from_ns(wait);
            let frame = Frame::of_frame_bytes(bytes, Ecn::NotCapable, 0_u64);
            buffer.send_round(now, Ticket { number: 0, octets: frame.octets });
            queue.retain(|&(start, _)| start > now);
            let space = u64::from(frame.frame_bytes_with_fcs().div_ceil(80) * 80);
            let depth: u64 = queue.iter().map(|&(_, space)| space).sum();
            let start = now.max(busy_until);
            if start > now && depth + space > 12_000 {
                dropped += 1;
            } else {
                if start > now {
                    queue.push((start, space));
                    most = most.max(depth + space);
                }
                busy_until = start + rate.serialisation(frame.octets);
            }
            prop_assert_eq!((buffer.high_water_bytes(), buffer.dropped()), (most, dropped));
            if asks {
                prop_assert_eq!(buffer.depth_bytes(now), queue.iter().map(|&(_, space)| space).sum::<u64>());
            }
        }
    }

    // LG-5, LG-6: no acknowledgement comes between two turns.
    #[test]
    fn copies_that_are_looked_at_late_are_looked_at_in_time(
        turns in prop::collection::vec(
            (0u64..150, 87u32..1542, 0u32..100, 0u64..4_000, 0u32..60, 0u8..20, any::<bool>()),
            1..40,
        ),
        limit_bytes in prop_oneof![Just(12_000_u64), Just(8_000_000)],
    ) {
        let rate = LineRate::new(BitRate::from_gbps(100));
        let timing = Timing::new(&switch_profile("tofino1"), rate, Duration::ZERO);
        let mut late = TxLoop::<u64>::new(&timing, Cells::new(80), limit_bytes);
        let mut in_time = Model::new(&timing, limit_bytes);
        let config = SenderConfig { copies: 1, dummies: 0, hole_cap: None };
        let mut engines = [(); 2].map(|()| Sender::new(config));
        let mut now = Instant::ZERO;
        for (apart, octets, count, wait, acked, lost, together) in turns {
            let (number, first) = (engines[0].counters().data as u32, engines[0].next());
            let apart = rate.serialisation(octets) + Duration::from_ns(apart);
            let copy = |step: u32| Copied {
                position: first.plus(step),
                number: number.wrapping_add(step),
                frame: Frame { octets, ..Frame::default() },
            };
            if count > 0 {
                let train = Train { spacing: apart, count, step: 0, ..Train::of_one(now) };
                if together { late.insert_train(train, &copy(0)) } else { (0..count).for_each(|step| late.insert(train.nth(step), &copy(step))) }
            }
            (0..count).for_each(|step| in_time.insert(now + apart * u64::from(step), copy(step)));
            now += apart * u64::from(count) + Duration::from_ns(wait);
            for engine in &mut engines {
                (0..count).for_each(|_| _ = engine.stamp());
                if lost == 0 && acked > 0 && engine.outstanding() > acked {
                    let leading = engine.leading_ack().plus(acked);
                    engine.handle_notification(&Notification { leading, first_lost: leading, hole_size: 1 });
                } else {
                    engine.handle_ack(engine.leading_ack().plus(acked.min(engine.outstanding())));
                }
            }
            let [one, other] = &mut engines;
            let found = std::iter::from_fn(|| late.find_lost(now, one)).map(|(at, copy)| (at, copy.number));
            prop_assert_eq!(found.collect::<Vec<_>>(), in_time.find_lost(now, other));
            prop_assert_eq!((late.len(), late.next_look()), (in_time.looks.len(), in_time.next_look()));
            prop_assert_eq!(late.depth_bytes(now), in_time.queue.bytes_at(now));
            prop_assert_eq!(late.high_water_bytes(), in_time.queue.high_water_bytes());
            prop_assert_eq!(late.dropped(), in_time.queue.dropped());
            prop_assert_eq!(one.holes(), other.holes());
        }
    }
}

/// A train of frames, and the pause after the last frame.
#[derive(Clone, Copy, Debug)]
struct Sending {
    count: u32,
    apart: Duration,
    octets: u32,
    wait: Duration,
}

/// Draws trains on lines of several rates, full or nearly full.
fn sendings() -> impl Strategy<Value = Vec<Sending>> {
    let octets = prop_oneof![6 => Just(1541_u32), 1 => 87u32..1542];
    let slower = prop_oneof![4 => Just(10_u64), 2 => Just(1), 1 => Just(4), 1 => 1u64..12];
    let gap = prop_oneof![4 => Just(0), 2 => Just(1_310), 1 => 0u64..400_000];
    let wait = prop_oneof![5 => Just(0), 2 => 0u64..10_000, 1 => 0u64..5_000_000];
    let sending = (1u32..60, octets, slower, gap, wait).prop_map(|(count, octets, slower, gap, wait)| {
        let serialisation = LineRate::new(BitRate::from_gbps(100)).serialisation(octets);
        let apart = serialisation * slower + Duration::from_ps(gap);
        Sending { count, apart, octets, wait: Duration::from_ps(wait) }
    });
    // Most trains extend the train before.
    prop::collection::vec((sending, 1usize..5), 1..12)
        .prop_map(|some| some.into_iter().flat_map(|(sending, times)| vec![sending; times]).collect())
}

/// The loop and its model.
struct Both {
    late: TxLoop<u64>,
    in_time: Model,
    /// The time at which each frame left.
    left: Vec<Instant>,
    oldest: u32,
    /// The largest number of frames that one train of acknowledgements freed.
    most_changes: u32,
}

impl Both {
    fn new(limit_bytes: u64) -> Self {
        let rate = LineRate::new(BitRate::from_gbps(100));
        let timing = Timing::new(&switch_profile("tofino1"), rate, Duration::ZERO);
        let late = TxLoop::new(&timing, Cells::new(80), limit_bytes);
        let in_time = Model::new(&timing, limit_bytes);
        Self { late, in_time, left: Vec::new(), oldest: 0, most_changes: 0 }
    }

    /// Sends a train of frames, together or one by one.
    fn send(&mut self, train: Train, octets: u32, together: bool) {
        let copies: Vec<_> = (self.left.len() as u32..)
            .take(train.count as usize)
            .map(|number| {
                let frame = Frame { octets, ..Frame::default() };
                Copied { position: Position::ZERO.plus(number), number, frame }
            })
            .collect();
        for (place, copy) in (0..).zip(&copies) {
            let left = train.nth(place);
            self.left.push(left);
            self.in_time.insert(left, *copy);
            if !together {
                self.late.insert(left, copy);
            }
        }
        if together {
            self.late.insert_train(Train { step: 0, ..train }, &copies[0]);
        }
    }

    /// Returns the oldest frame that left after `known`.
    fn left_behind(&self, known: Instant) -> u32 {
        self.left.partition_point(|&left| left <= known) as u32
    }

    /// Takes in acknowledgements, each of which frees the frames that left up to `round_trip` before. Equally spaced
    /// acknowledgements are taken in as trains.
    fn acknowledge(&mut self, mut acks: &[Instant], round_trip: Duration, cycle: Duration) {
        let known = |at: Instant| Instant::from_ps(at.as_ps().saturating_sub(round_trip.as_ps()));
        while let Some(&at) = acks.first() {
            let first = self.left_behind(known(at));
            let (mut count, mut train_acks) = (1, Acks::default());
            if let [.., newest] = self.left[..first as usize]
                && let Some(&next) = self.left.get(first as usize)
                && known(at) < next
            {
                train_acks =
                    Acks { held: known(at) - newest, every: cycle, step: next - newest, ..train_acks };
                let told = |place: u64| (train_acks.held + cycle * place).as_ps() / train_acks.step.as_ps();
                let is_of_train = |&&(place, &at): &&(u64, &Instant)| {
                    self.left_behind(known(at)) == first + told(place) as u32
                };
                count += (1..).zip(&acks[1..]).collect::<Vec<_>>().iter().take_while(is_of_train).count();
            }
            let (some, others) = acks.split_at(count);
            let before = self.oldest;
            for &at in some {
                self.in_time.look(at, self.oldest);
                self.oldest = self.left_behind(known(at));
            }
            let train = Train { spacing: cycle, count: count as u32, ..Train::of_one(at) };
            self.late.free(train, before, (first, self.oldest), &train_acks);
            self.most_changes = self.most_changes.max(self.oldest - first);
            acks = others;
        }
    }

    /// Looks at all copies whose turn came before `now`, in the loop and in the model.
    fn catch_up(&mut self, now: Instant) {
        self.in_time.look(now, self.oldest);
        self.late.catch_up();
        self.late.look_at_all(now.just_before(), &mut Pending::none(self.oldest));
    }

    fn compare(&mut self, now: Instant) -> Result<(), TestCaseError> {
        let Self { late, in_time, .. } = self;
        prop_assert_eq!((late.len(), late.next_look()), (in_time.looks.len(), in_time.next_look()));
        let mut rest = late.clone();
        let numbers: Vec<_> = std::iter::from_fn(|| rest.pop_round().or_else(|| rest.fresh.pop()))
            .map(|(at, ticket)| (at, ticket.number))
            .collect();
        let by_way = |is_fresh| in_time.looks.iter().filter(move |look| look.1 == is_fresh);
        let model: Vec<_> =
            by_way(false).chain(by_way(true)).map(|&(at, _, _, number, _)| (at, number)).collect();
        prop_assert_eq!(numbers, model);
        prop_assert_eq!(late.depth_bytes(now), in_time.queue.bytes_at(now));
        prop_assert_eq!(late.high_water_bytes(), in_time.queue.high_water_bytes());
        prop_assert_eq!(late.dropped(), in_time.queue.dropped());
        Ok(())
    }

    /// Sends every train. An acknowledgement every `cycle` frees the frames that left up to `round_trip` before. Each item of
    /// `looks` is a number of frames, and whether the loop is compared with its model after them.
    fn run(
        &mut self,
        sendings: &[Sending],
        round_trip: Duration,
        cycle: Duration,
        together: bool,
        looks: &[(u32, bool)],
    ) -> Result<(), TestCaseError> {
        let (mut now, mut acked) = (Instant::ZERO + cycle, Instant::ZERO);
        let mut looks = looks.iter().cycle();
        for sending in sendings {
            let mut rest = Train { spacing: sending.apart, count: sending.count, ..Train::of_one(now) };
            now = rest.last() + sending.apart + sending.wait;
            loop {
                let &(frames, compares) = looks.next().unwrap_or(&(1, true));
                let some = rest.up_to(frames.min(rest.count));
                self.send(some, sending.octets, together && some.count > 1);
                let count = (some.last() - acked).as_ps() / cycle.as_ps();
                let acks: Vec<_> = (1..=count).map(|place| acked + cycle * place).collect();
                acked += cycle * count;
                self.acknowledge(&acks, round_trip, cycle);
                if compares {
                    self.catch_up(some.last());
                    self.compare(some.last())?;
                }
                if some.count == rest.count {
                    break;
                }
                rest = rest.behind(some.count);
            }
        }
        self.catch_up(now);
        self.compare(now)
    }
}

proptest! {
    // LG-5, LG-6: acknowledgements come all the time.
    #[test]
    fn copies_that_are_looked_at_together_are_looked_at_in_time(
        sendings in sendings(),
        round_trip_ns in prop_oneof![3 => 1_500u64..5_000, 1 => 0u64..20_000],
        cycle_ns in prop_oneof![Just(600_u64), 100u64..3_000],
        together in prop::sample::select(vec![true, true, true, false]),
        looks in prop::collection::vec((1u32..70, prop::sample::select(vec![true, false, false, false])), 1..12),
        limit_bytes in prop_oneof![1 => Just(12_000_u64), 3 => Just(8_000_000)],
    ) {
        let (round_trip, cycle) = (Duration::from_ns(round_trip_ns), Duration::from_ns(cycle_ns));
        Both::new(limit_bytes).run(&sendings, round_trip, cycle, together, &looks)?;
    }
}

/// Draws trains of a line so slow that a copy makes hundreds of rounds before its acknowledgement comes. From a dozen copies on,
/// copies wait for each other.
fn slow_sendings() -> impl Strategy<Value = Vec<Sending>> {
    let octets = prop_oneof![6 => Just(1541_u32), 1 => 87u32..1542];
    let count = prop_oneof![3 => 1u32..5, 1 => 10u32..40];
    let apart = prop_oneof![1 => Just(0_u64), 3 => 1u64..200_000];
    let sending = (count, octets, apart, 0u64..500_000).prop_map(|(count, octets, apart, wait)| {
        let apart = LineRate::new(BitRate::from_gbps(100)).serialisation(octets) + Duration::from_ns(apart);
        Sending { count, apart, octets, wait: Duration::from_ns(wait) }
    });
    prop::collection::vec((sending, 1usize..4), 1..6)
        .prop_map(|some| some.into_iter().flat_map(|(sending, times)| vec![sending; times]).collect())
}

proptest! {
    // LG-5, LG-6
    #[test]
    fn copies_that_go_round_many_times_at_once_are_looked_at_in_time(
        sendings in slow_sendings(),
        round_trip_ns in prop_oneof![1u64..300_000, Just(3_000)],
        cycle_ns in prop_oneof![Just(600_u64), 10_000u64..80_000],
        together in any::<bool>(),
        looks in prop::collection::vec((1u32..6, any::<bool>()), 1..6),
    ) {
        let (round_trip, cycle) = (Duration::from_ns(round_trip_ns), Duration::from_ns(cycle_ns));
        Both::new(8_000_000).run(&sendings, round_trip, cycle, together, &looks)?;
    }
}

#[test]
fn copies_of_a_slow_line_are_uncontended_and_those_of_a_fast_line_go_round_in_trains() {
    let octets = 1541;
    let serialisation = LineRate::new(BitRate::from_gbps(100)).serialisation(octets);
    for (apart, expected) in [(serialisation * 10, (true, false)), (serialisation, (false, true))] {
        let mut both = Both::new(8_000_000);
        let sendings = [Sending { count: 200, apart, octets, wait: Duration::ZERO }; 3];
        both.run(&sendings, Duration::from_ns(3_000), Duration::from_ns(600), true, &[(9, true)]).unwrap();
        assert_eq!((both.late.first_looks.is_uncontended, !both.late.trains.is_empty()), expected);
        assert!(both.most_changes > 3, "acknowledgements come in trains");
    }
}

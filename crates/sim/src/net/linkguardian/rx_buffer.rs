//! The reorder buffer of the receiving switch (LG-20).
//!
//! A switch recirculates what it cannot forward yet: new arrivals mix with what comes round, one
//! round may release only part of it, and filled at line rate the loop empties only while the
//! sender pauses. A program keeps the frames by position and releases them at once.

use super::port_queue::{Counts, PortQueue};
use super::timing::Timing;
use super::tx_buffer::Copied;
use crate::kernel::{Train, Trains};
use crate::net::{Cells, Frame, Payload};
use lossylink_core::engine::linkguardian::{Backpressure, Position};
use lossylink_core::time::{Duration, Instant};

/// Slots of a memory before it grows; a power of two.
const INITIAL_SLOTS: usize = 256;

/// A recirculation port: a queue at its own rate and a fixed way round. When a frame leaves the
/// queue and when it comes round is known as it enters.
#[derive(Clone, Debug)]
pub(super) struct RxLoop<P: Payload> {
    queue: PortQueue,
    way_round: Duration,
    rounds: Trains<Copied<P>>,
    /// The newest frames in the loop whose positions follow each other, and perhaps some that have left it since.
    in_turn: usize,
    /// How many there are.
    held: usize,
    forgotten: u64,
}

impl<P: Payload> RxLoop<P> {
    pub(super) fn new(timing: &Timing, cells: Cells, limit_bytes: u64) -> Self {
        Self {
            queue: PortQueue::new(timing, cells, limit_bytes, Counts::WhileItLeaves),
            way_round: timing.rx_loop_fixed,
            rounds: Trains::new(),
            in_turn: 0,
            held: 0,
            forgotten: 0,
        }
    }

    /// Holds a frame for another round, or drops it when there is no room (LG-34).
    #[inline(always)]
    pub(super) fn hold(&mut self, now: Instant, held: &Copied<P>) {
        if let Some(left) = self.queue.enter(now, held.frame.octets) {
            let follows = self.rounds.newest().is_some_and(|newest| newest.position.next() == held.position);
            self.in_turn = if follows { self.in_turn + 1 } else { 1 };
            self.rounds.push_apart(left + self.way_round, *held);
            self.held += 1;
        }
    }

    /// Whether what is in the loop are all positions from `next` to `expected`, and each comes round in its turn.
    #[inline]
    pub(super) fn is_in_turn(&self, next: Position, expected: Position) -> bool {
        let is_first = |(_, held): (Train, &Copied<P>)| held.position == next;
        let is_last = |held: Copied<P>| held.position.next() == expected;
        self.in_turn >= self.held
            && self.rounds.front().is_some_and(is_first)
            && self.rounds.newest().is_some_and(is_last)
    }

    /// Whether so many frames come round by `until`.
    #[inline]
    pub(super) fn comes_round(&self, count: u32, until: Instant) -> bool {
        self.rounds.has_due(count, until)
    }

    /// The size of the frames in its queue at `now`, if all are of one size, and no more such frames than come over a line
    /// that is no faster make it hold `bytes`.
    #[inline]
    pub(super) fn is_below(&self, now: Instant, bytes: u64) -> Option<u32> {
        self.queue.is_below(now, bytes)
    }

    /// Holds frames of a train that arrives, `first` first, as long as others are in the loop when each comes, and the queue is
    /// neither fuller than ever before nor holds `calm_below` bytes. The depths are those of [`RxLoop::hold`]. Says how many
    /// it holds.
    #[inline]
    pub(super) fn hold_train(&mut self, train: Train, first: &Copied<P>, calm_below: u64) -> u32 {
        let most = self.queue.high_water_bytes().min(calm_below.saturating_sub(1));
        let level = self.queue.level(most);
        let Some(left) = self.queue.enter_train_below(train, first.frame.octets, level) else { return 0 };
        self.rounds.push_if_many(left.from(left.first + self.way_round), first);
        self.in_turn += left.count as usize;
        self.held += left.count as usize;
        left.count
    }

    /// Hands on what comes round by `until`, which is in its turn; says how many do, and when the last of them does.
    #[inline]
    pub(super) fn come_round_in_turn(
        &mut self,
        until: Instant,
        delivered: &mut Trains<Frame<P>>,
    ) -> (u32, Instant) {
        let (mut count, mut last) = (0, Instant::ZERO);
        while self.rounds.poll_timeout() <= until {
            let Some((train, held)) = self.rounds.front() else { break };
            let train = train.up_to(train.come_by(until));
            delivered.push_train(train, &held.bare());
            self.rounds.skip(train.count);
            (count, last) = (count + train.count, train.last());
        }
        self.held -= count as usize;
        (count, last)
    }

    /// When the queue next lets a frame go on which backpressure may act; never, if it may act on none before
    /// another frame is held.
    #[inline]
    pub(super) fn next_dequeue(&mut self, now: Instant, backpressure: &Backpressure) -> Instant {
        let may_act = backpressure.may_act(self.queue.bytes_at(now));
        if may_act { self.queue.next_leave(now) } else { Instant::NEVER }
    }

    /// When a frame next comes round.
    #[inline]
    pub(super) const fn next_round(&self) -> Instant {
        self.rounds.poll_timeout()
    }

    /// The frame that comes round next.
    #[inline]
    pub(super) fn front(&self) -> Option<&Copied<P>> {
        self.rounds.front().map(|(_, held)| held)
    }

    /// Removes that frame.
    #[inline]
    pub(super) fn skip(&mut self) {
        self.rounds.skip(1);
        self.held -= 1;
    }

    /// Takes that frame.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<Copied<P>> {
        let (_, held) = self.rounds.pop()?;
        self.held -= 1;
        Some(held)
    }

    /// Whether no frame is on its way round.
    pub(super) const fn is_empty(&self) -> bool {
        self.rounds.is_empty()
    }

    /// Bytes in the queue at `now`.
    pub(super) fn depth_bytes(&mut self, now: Instant) -> u64 {
        self.queue.bytes_at(now)
    }

    pub(super) const fn high_water_bytes(&self) -> u64 {
        self.queue.high_water_bytes()
    }

    pub(super) fn reset_high_water(&mut self, now: Instant) {
        self.queue.reset_high_water(now);
    }

    pub(super) const fn dropped(&self) -> u64 {
        self.queue.dropped()
    }

    pub(super) const fn forgotten(&self) -> u64 {
        self.forgotten
    }

    /// Drops everything in the loop (LG-30). The port stays busy with the frame in service.
    pub(super) fn forget(&mut self, now: Instant) {
        self.queue.forget(now);
        self.forgotten += self.held as u64;
        self.held = 0;
        self.rounds.clear();
    }
}

/// Frames in random-access memory, found by position.
#[derive(Clone, Debug)]
pub(super) struct RxMemory<P> {
    slots: Vec<Option<Copied<P>>>,
    limit_bytes: u64,
    bytes: u64,
    high_water_bytes: u64,
    dropped: u64,
    forgotten: u64,
}

impl<P: Payload> RxMemory<P> {
    pub(super) fn new(limit_bytes: u64) -> Self {
        Self {
            slots: vec![None; INITIAL_SLOTS],
            limit_bytes,
            bytes: 0,
            high_water_bytes: 0,
            dropped: 0,
            forgotten: 0,
        }
    }

    /// Holds a frame until its turn comes, or drops it when there is no room (LG-34); a second copy
    /// of one that is held is not kept.
    pub(super) fn hold(&mut self, held: Copied<P>) {
        while let Some(other) = self.slot(held.position) {
            if other.position == held.position {
                return;
            }
            self.grow();
        }
        let bytes = self.bytes + u64::from(held.frame.frame_bytes_with_fcs());
        if bytes > self.limit_bytes {
            self.dropped += 1;
            return;
        }
        let index = self.index(held.position);
        self.slots[index] = Some(held);
        self.bytes = bytes;
        self.high_water_bytes = self.high_water_bytes.max(bytes);
    }

    /// Takes the frame at `position`, if it is held.
    pub(super) fn take(&mut self, position: Position) -> Option<Copied<P>> {
        self.slot(position).filter(|held| held.position == position)?;
        let index = self.index(position);
        let held = self.slots[index].take()?;
        self.bytes -= u64::from(held.frame.frame_bytes_with_fcs());
        Some(held)
    }

    fn index(&self, position: Position) -> usize {
        position.index() & (self.slots.len() - 1)
    }

    fn slot(&self, position: Position) -> Option<Copied<P>> {
        self.slots[self.index(position)]
    }

    /// Doubles the memory. Positions are 17 bits long, so it stops at 2^17 slots, where no two
    /// positions share one.
    #[cold]
    fn grow(&mut self) {
        let slots = vec![None; 2 * self.slots.len()];
        let held = std::mem::replace(&mut self.slots, slots);
        for frame in held.into_iter().flatten() {
            let index = self.index(frame.position);
            self.slots[index] = Some(frame);
        }
    }

    pub(super) const fn depth_bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) const fn high_water_bytes(&self) -> u64 {
        self.high_water_bytes
    }

    pub(super) const fn reset_high_water(&mut self) {
        self.high_water_bytes = self.bytes;
    }

    pub(super) const fn dropped(&self) -> u64 {
        self.dropped
    }

    pub(super) const fn forgotten(&self) -> u64 {
        self.forgotten
    }

    /// Drops everything (LG-30).
    pub(super) fn forget(&mut self) {
        self.forgotten += self.slots.iter().flatten().count() as u64;
        self.slots.fill(None);
        self.bytes = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::switch_profile;
    use crate::net::{Ecn, Frame, LineRate};
    use lossylink_core::units::BitRate;
    use proptest::prelude::*;

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

    /// A loop at 100 Gb/s, and how long it takes for one of the frames of [`held`].
    fn rx_loop() -> (RxLoop<u32>, Duration) {
        let rate = LineRate::new(BitRate::from_gbps(100));
        let timing = Timing::new(&switch_profile("tofino1"), rate, Duration::ZERO);
        (RxLoop::new(&timing, Cells::new(80), 1_000_000), rate.serialisation(held(0).frame.octets))
    }

    // LG-23: five frames were there at the most, of which three still wait. Each takes 1520 bytes of cells.
    #[test]
    fn a_sequence_is_held_while_the_queue_is_calm_and_no_fuller_than_ever() {
        let (mut buffer, serialisation) = rx_loop();
        (0..5).for_each(|number| buffer.hold(Instant::ZERO, &held(number)));
        let now = Instant::ZERO + serialisation + Duration::from_ps(1);
        let train = Train { count: 10, ..Train::of_one(now) };
        let depth = 1520;
        for (calm_below, expected) in
            [(u64::MAX, 2), (5 * depth + 1, 2), (5 * depth, 1), (4 * depth, 0), (0, 0)]
        {
            let mut buffer = buffer.clone();
            let count = buffer.hold_train(train, &held(5), calm_below);
            assert_eq!((count, buffer.high_water_bytes()), (expected, 5 * depth), "{calm_below}");
        }
    }

    proptest! {
        // LG-20
        #[test]
        fn a_train_is_held_as_its_frames_one_by_one(
            before_ns in prop::collection::vec(0u64..200, 1..40),
            trains in prop::collection::vec((0u64..400, 90u64..150, 1u32..60), 1..6),
            resets: bool,
            calm_below in prop_oneof![Just(u64::MAX), 0u64..40_000],
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
                let spacing = Duration::from_ns(spacing);
                let train = Train { spacing, count, ..Train::of_one(now + Duration::from_ns(wait)) };
                let mut apart = together.clone();
                let count = together.hold_train(train, &held(number), calm_below);
                let most = apart.high_water_bytes();
                for index in 0..count {
                    let at = train.nth(index);
                    prop_assert!(!apart.is_empty());
                    apart.hold(at, &held(number + index as u16));
                    prop_assert!(apart.depth_bytes(at) < calm_below && apart.high_water_bytes() == most);
                }
                prop_assert_eq!(together.rounds.members(), apart.rounds.members());
                let rest = |buffer: &RxLoop<u32>| (format!("{:?}", buffer.queue), buffer.in_turn, buffer.held);
                prop_assert_eq!(rest(&together), rest(&apart));
                (now, number) = (train.nth(count.max(1) - 1), number + count as u16);
            }
        }
    }

    // LG-34
    #[test]
    fn a_full_memory_drops() {
        let mut memory = RxMemory::new(2 * 1518);
        (0..3).for_each(|number| memory.hold(held(number)));
        assert_eq!(memory.dropped(), 1);
        assert!(memory.take(Position::new(2, false)).is_none());
    }
}

//! The reorder buffer of the receiving switch (LG-20).
//!
//! A switch recirculates what it cannot forward yet: new arrivals mix with what comes round, one
//! round may release only part of it, and filled at line rate the loop empties only while the
//! sender pauses. A program keeps the frames by position and releases them at once.

use super::FRAMES_TOGETHER;
use super::port_queue::{Counts, PortQueue};
use super::timing::Timing;
use super::tx_buffer::Copied;
use super::wires::Arrival;
use crate::kernel::Pipe;
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
    rounds: Pipe<Copied<P>>,
    /// The newest frames in the loop whose positions follow each other, and perhaps some that have left it since.
    in_turn: usize,
    forgotten: u64,
}

impl<P: Payload> RxLoop<P> {
    pub(super) fn new(timing: &Timing, cells: Cells, limit_bytes: u64) -> Self {
        Self {
            queue: PortQueue::new(timing, cells, limit_bytes, Counts::WhileItLeaves),
            way_round: timing.rx_loop_fixed,
            rounds: Pipe::new(),
            in_turn: 0,
            forgotten: 0,
        }
    }

    /// Holds a frame for another round, or drops it when there is no room (LG-34).
    #[inline(always)]
    pub(super) fn hold(&mut self, now: Instant, held: &Copied<P>) {
        if let Some(left) = self.queue.enter(now, held.frame.octets) {
            let follows = self.rounds.newest().is_some_and(|newest| newest.position.next() == held.position);
            self.in_turn = if follows { self.in_turn + 1 } else { 1 };
            self.rounds.push(left + self.way_round, *held);
        }
    }

    /// Whether what is in the loop are all positions from `next` to `expected`, and each comes round in its turn.
    #[inline]
    pub(super) fn is_in_turn(&self, next: Position, expected: Position) -> bool {
        let is_first = |held: &Copied<P>| held.position == next;
        let is_last = |held: &Copied<P>| held.position.next() == expected;
        self.in_turn >= self.rounds.len()
            && self.rounds.front().is_some_and(is_first)
            && self.rounds.newest().is_some_and(is_last)
    }

    /// Holds frames that arrive by `until` one after another, from position `next` on, as long as others are in the loop when
    /// each comes, and the queue is neither fuller than ever before nor holds `calm_below` bytes. The depths are those
    /// of [`RxLoop::hold`]. Hands to `note` when each came; says how many did.
    #[inline]
    pub(super) fn hold_sequence(
        &mut self,
        entries: &[(Instant, Arrival<P>)],
        next: Position,
        until: Instant,
        calm_below: u64,
        mut note: impl FnMut(Instant, Position),
    ) -> u32 {
        let most = self.queue.high_water_bytes().min(calm_below.saturating_sub(1));
        let level = self.queue.level(most);
        let (mut expected, mut count) = (next, 0);
        for (at, arrival) in entries {
            let Arrival::Data(data) = arrival else { break };
            if data.position != expected || *at > until {
                break;
            }
            // One that enters below the level follows another that is in the loop.
            let Some(left) = self.queue.enter_below(*at, data.frame.octets, level) else { break };
            self.rounds.push(left + self.way_round, *data);
            note(*at, expected);
            (expected, count) = (expected.next(), count + 1);
        }
        self.in_turn += count as usize;
        count
    }

    /// Hands on the frames that come round by `until`, if they come in their turn; says how many did, and when the last of them
    /// came.
    #[inline]
    pub(super) fn come_round_in_turn(
        &mut self,
        until: Instant,
        delivered: &mut Pipe<Frame<P>>,
    ) -> (u32, Instant) {
        let (mut count, mut last) = (0, Instant::ZERO);
        while self.rounds.poll_timeout() <= until {
            let entries = self.rounds.oldest();
            let mut taken = 0;
            let places = delivered.room(entries.len().min(FRAMES_TOGETHER));
            for ((at, held), place) in entries.iter().zip(places) {
                if *at > until {
                    break;
                }
                *place = (*at, held.bare());
                (last, taken) = (*at, taken + 1);
            }
            delivered.extend_by(taken);
            self.rounds.skip_many(taken);
            count += taken as u32;
        }
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

    /// Whether so many frames come round by `until`.
    #[inline]
    pub(super) fn comes_round(&self, count: usize, until: Instant) -> bool {
        self.rounds.has_due(count, until)
    }

    /// The frame that comes round next.
    #[inline]
    pub(super) fn front(&self) -> Option<&Copied<P>> {
        self.rounds.front()
    }

    /// Removes that frame.
    #[inline]
    pub(super) fn skip(&mut self) {
        self.rounds.skip();
    }

    /// Takes that frame.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<Copied<P>> {
        self.rounds.pop().map(|(_, held)| held)
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
        self.forgotten += self.rounds.len() as u64;
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
        let entries: Vec<_> = (5..15).map(|number| (now, Arrival::Data(held(number)))).collect();
        let depth = 1520;
        for (calm_below, expected) in
            [(u64::MAX, 2), (5 * depth + 1, 2), (5 * depth, 1), (4 * depth, 0), (0, 0)]
        {
            let mut buffer = buffer.clone();
            let count = buffer.hold_sequence(&entries, held(5).position, now, calm_below, |_, _| {});
            assert_eq!((count, buffer.high_water_bytes()), (expected, 5 * depth), "{calm_below}");
        }
        assert_eq!(
            buffer.hold_sequence(&entries, held(5).position, now.just_before(), u64::MAX, |_, _| {}),
            0
        );
        assert_eq!(buffer.hold_sequence(&entries, held(6).position, now, u64::MAX, |_, _| {}), 0);
    }

    proptest! {
        // LG-20
        #[test]
        fn a_sequence_is_held_as_its_frames_one_by_one(
            before_ns in prop::collection::vec(0u64..200, 1..40),
            waits_ns in prop::collection::vec(0u64..200, 1..60),
            resets: bool,
            calm_below in prop_oneof![Just(u64::MAX), 0u64..40_000],
            within_ns in 0u64..6_000,
        ) {
            let (mut together, _) = rx_loop();
            let (mut now, mut number) = (Instant::ZERO, 0);
            let mut next = |now: Instant| {
                number += 1;
                (now, held(number))
            };
            for wait in before_ns {
                now += Duration::from_ns(wait);
                together.hold(now, &next(now).1);
            }
            if resets {
                together.reset_high_water(now);
            }
            let until = now + Duration::from_ns(within_ns);
            let mut frames = Vec::new();
            for wait in waits_ns {
                now += Duration::from_ns(wait);
                frames.push(next(now));
            }
            let entries: Vec<_> = frames.iter().map(|&(at, frame)| (at, Arrival::Data(frame))).collect();
            let (mut apart, mut noted) = (together.clone(), Vec::new());
            let first = frames[0].1.position;
            let count = together.hold_sequence(&entries, first, until, calm_below, |at, position| {
                noted.push((at, position));
            });
            let most = apart.high_water_bytes();
            for (at, frame) in &frames[..count as usize] {
                prop_assert!(*at <= until && !apart.is_empty());
                apart.hold(*at, frame);
                prop_assert!(apart.depth_bytes(*at) < calm_below && apart.high_water_bytes() == most);
            }
            prop_assert_eq!(format!("{together:?}"), format!("{apart:?}"));
            prop_assert!(noted.into_iter().eq(frames.iter().take(count as usize).map(|(at, held)| (*at, held.position))));
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

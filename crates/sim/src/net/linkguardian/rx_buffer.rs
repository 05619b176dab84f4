//! The reorder buffer of the receiving switch (LG-20).
//!
//! A switch recirculates what it cannot forward yet: new arrivals mix with what comes round, one
//! round may release only part of it, and filled at line rate the loop empties only while the
//! sender pauses. A program keeps the frames by position and releases them at once.

use super::timing::Timing;
use super::tx_buffer::Copied;
use crate::kernel::Pipe;
use crate::net::{Cells, LineRate};
use lossylink_core::engine::linkguardian::{Backpressure, Position};
use lossylink_core::time::{Duration, Instant};

/// Slots of a memory before it grows; a power of two.
const INITIAL_SLOTS: usize = 256;

/// A recirculation port: a queue at its own rate and a fixed way round. When a frame leaves the
/// queue and when it comes round is known as it enters.
#[derive(Clone, Debug)]
pub(super) struct RxLoop<P: Copy + Default> {
    rate: LineRate,
    way_round: Duration,
    cells: Cells,
    limit_bytes: u64,
    busy_until: Instant,
    rounds: Pipe<Copied<P>>,
    /// Space of the frames in the queue, by the time at which they leave it; some may have left it since.
    queued: Pipe<u64>,
    bytes: u64,
    high_water_bytes: u64,
    dropped: u64,
    forgotten: u64,
}

impl<P: Copy + Default> RxLoop<P> {
    pub(super) fn new(timing: &Timing, cells: Cells, limit_bytes: u64) -> Self {
        Self {
            rate: timing.recirculation,
            way_round: timing.rx_loop_fixed,
            cells,
            limit_bytes,
            busy_until: Instant::ZERO,
            rounds: Pipe::new(),
            queued: Pipe::new(),
            bytes: 0,
            high_water_bytes: 0,
            dropped: 0,
            forgotten: 0,
        }
    }

    /// Holds a frame for another round, or drops it when there is no room (LG-34).
    #[inline(always)]
    pub(super) fn hold(&mut self, now: Instant, held: &Copied<P>) {
        let space = self.cells.space(held.frame.frame_bytes_with_fcs());
        if self.bytes + space > self.high_water_bytes && !self.has_room(now, space) {
            self.dropped += 1;
            return;
        }
        self.bytes += space;
        let start = now.max(self.busy_until);
        self.queued.push(start, space);
        self.busy_until = start + self.rate.serialisation(held.frame.octets);
        self.rounds.push(self.busy_until + self.way_round, *held);
    }

    /// Whether the queue has room for `space` bytes more, which may fill it as never before: only then, and when
    /// backpressure looks, the account must be exact.
    fn has_room(&mut self, now: Instant, space: u64) -> bool {
        self.leave_queue(now);
        let bytes = self.bytes + space;
        let fits = bytes <= self.limit_bytes;
        if fits {
            self.high_water_bytes = self.high_water_bytes.max(bytes);
        }
        fits
    }

    /// When the queue next lets a frame go on which backpressure may act; never, if it may act on none before
    /// another frame is held.
    #[inline]
    pub(super) fn next_dequeue(&mut self, now: Instant, backpressure: &Backpressure) -> Instant {
        if backpressure.may_act(self.bytes) { self.exact_dequeue(now, backpressure) } else { Instant::NEVER }
    }

    /// The same by an exact account, out of the way of the frames that find the queue far from the thresholds.
    #[inline(never)]
    fn exact_dequeue(&mut self, now: Instant, backpressure: &Backpressure) -> Instant {
        self.leave_queue(now);
        if backpressure.may_act(self.bytes) { self.queued.poll_timeout() } else { Instant::NEVER }
    }

    /// A frame leaves the queue at `now`; returns the depth before that.
    pub(super) fn dequeue(&mut self, now: Instant) -> u64 {
        self.leave_queue(now);
        let depth_bytes = self.bytes;
        self.bytes -= self.queued.pop_due(now).map_or(0, |(_, space)| space);
        depth_bytes
    }

    /// When a frame next comes round.
    #[inline]
    pub(super) const fn next_round(&self) -> Instant {
        self.rounds.poll_timeout()
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

    /// Takes those out of the queue's account that have left it before `now`.
    fn leave_queue(&mut self, now: Instant) {
        while self.queued.poll_timeout() < now {
            self.bytes -= self.queued.pop().map_or(0, |(_, space)| space);
        }
    }

    /// Whether no frame is on its way round.
    pub(super) const fn is_empty(&self) -> bool {
        self.rounds.is_empty()
    }

    /// Bytes in the queue at `now`.
    pub(super) fn depth_bytes(&mut self, now: Instant) -> u64 {
        self.leave_queue(now);
        self.bytes
    }

    pub(super) const fn high_water_bytes(&self) -> u64 {
        self.high_water_bytes
    }

    pub(super) fn reset_high_water(&mut self, now: Instant) {
        self.leave_queue(now);
        self.high_water_bytes = self.bytes;
    }

    pub(super) const fn dropped(&self) -> u64 {
        self.dropped
    }

    pub(super) const fn forgotten(&self) -> u64 {
        self.forgotten
    }

    /// Drops everything in the loop (LG-30). The port stays busy with the frame in service.
    pub(super) fn forget(&mut self, now: Instant) {
        self.leave_queue(now);
        self.busy_until = self.busy_until.min(self.queued.poll_timeout());
        self.forgotten += self.rounds.len() as u64;
        self.queued.clear();
        self.rounds.clear();
        self.bytes = 0;
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

impl<P: Copy + Default> RxMemory<P> {
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
    use crate::net::{Ecn, Frame};
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
            let mut buffer = RxLoop::new(&timing, Cells::new(80), 12_000);
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

    // LG-34
    #[test]
    fn a_full_memory_drops() {
        let mut memory = RxMemory::new(2 * 1518);
        (0..3).for_each(|number| memory.hold(held(number)));
        assert_eq!(memory.dropped(), 1);
        assert!(memory.take(Position::new(2, false)).is_none());
    }
}

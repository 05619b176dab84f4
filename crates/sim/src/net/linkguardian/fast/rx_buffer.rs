//! The reorder buffer of the receiving switch (LG-20).
//!
//! A switch recirculates the frames that it cannot forward yet. New arrivals mix with frames that come round, and one round may
//! release only some of the frames. A loop that is filled at line rate empties only while the sender pauses. A program keeps the
//! frames by position and releases them at once.

use super::frames::Copied;
use super::port_queue::{Counts, PortQueue};
use super::timing::Timing;
use crate::kernel::{Member, Train, Trains};
use crate::net::{Cells, Frame, Payload};
use lossylink_core::engine::linkguardian::{Backpressure, PauseState, Position};
use lossylink_core::time::{Duration, Instant};
use std::iter;

/// The number of slots of a memory before the memory grows; a power of two.
const INITIAL_SLOTS: usize = 256;

/// A recirculation port: a queue at its own rate, and a fixed way round. The times at which a frame leaves the queue and comes
/// round are known as the frame enters.
#[derive(Clone, Debug)]
pub(super) struct RxLoop<P: Payload> {
    queue: PortQueue,
    way_round: Duration,
    rounds: Trains<Copied<P>>,
    /// The number of newest frames whose positions follow each other, some of which may have left the loop.
    in_turn: usize,
    /// The number of frames in the loop.
    held: usize,
    forgotten: u64,
}

/// The outcome of [`RxLoop::turn`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Turned {
    /// The number of new frames that the loop took.
    pub(super) held: u32,
    /// The position that is awaited now, and the time at which the position before was forwarded.
    pub(super) next: Position,
    pub(super) delivered: Instant,
    /// The time of the last event, or [`Instant::ZERO`].
    pub(super) last: Instant,
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

    /// Holds a frame for another round, or drops the frame when there is no room (LG-34). Equals `RxLoop::hold` of the plain model.
    #[inline(always)]
    pub(super) fn hold(&mut self, now: Instant, held: &Copied<P>) {
        if let Some(left) = self.queue.enter(now, held.frame.octets) {
            let follows = self.rounds.newest().is_some_and(|newest| newest.position.next() == held.position);
            self.in_turn = if follows { self.in_turn + 1 } else { 1 };
            self.rounds.push_apart(left + self.way_round, *held);
            self.held += 1;
        }
    }

    /// Whether the loop holds all positions from `next` to `expected`, and each frame comes round in its turn.
    #[inline]
    pub(super) fn is_in_turn(&self, next: Position, expected: Position) -> bool {
        let is_first = |(_, held): (Train, &Copied<P>)| held.position == next;
        let is_last = |held: Copied<P>| held.position.next() == expected;
        self.in_turn >= self.held
            && self.rounds.front().is_some_and(is_first)
            && self.rounds.newest().is_some_and(is_last)
    }

    /// Whether `count` frames come round by `until`.
    #[inline]
    pub(super) fn comes_round(&self, count: u32, until: Instant) -> bool {
        self.rounds.has_due(count, until)
    }

    /// Returns the size of the frames in the queue at `now`, if all have one size and the queue stays below `bytes`
    /// ([`PortQueue::is_below`]).
    #[inline]
    pub(super) fn is_below(&self, now: Instant, bytes: u64) -> Option<u32> {
        self.queue.is_below(now, bytes)
    }

    /// Holds the first frames of a train that arrives, `first` first, and returns their number. Equals [`RxLoop::hold`] of each.
    ///
    /// The queue stays below its high-water mark and below `acts_from_bytes`, and each frame finds another in the loop.
    #[inline]
    pub(super) fn hold_train(&mut self, train: Train, first: &Copied<P>, acts_from_bytes: u64) -> u32 {
        // A frame that comes more than a way round behind the frame before may find the loop empty.
        let train = if train.spacing <= self.way_round { train } else { train.up_to(1) };
        if train.first > self.rounds.last_due() {
            return 0;
        }
        let (octets, level) = (first.frame.octets, self.queue.level_below(acts_from_bytes));
        let goes_on = self.queue.enter_train_below(train, octets, level);
        let Some(left) = goes_on.or_else(|| self.queue.enter_train_idle(train, octets, level)) else {
            return 0;
        };
        self.rounds.push_if_many(left.from(left.first + self.way_round), first);
        self.in_turn += left.count as usize;
        self.held += left.count as usize;
        left.count
    }

    /// Whether a frame as large as the frame that comes round next, held at `now`, extends the newest run of the queue.
    #[inline]
    pub(super) fn goes_on(&self, now: Instant) -> bool {
        self.front().is_some_and(|held| self.queue.goes_on(now, held.frame.octets))
    }

    /// Holds the frames of a train that arrives. A frame that comes round is forwarded if its position is awaited, and otherwise
    /// goes round again. Equals [`RxLoop::hold`] and the plain model's `ReceivingSwitch::come_round` of each.
    ///
    /// The position `next`, before `expected`, is awaited at the start. The method ends by `until`, when no position is awaited,
    /// before the queue exceeds its high-water mark or reaches `acts_from_bytes`, and before a frame whose position lies before
    /// `next`.
    #[inline]
    pub(super) fn turn(
        &mut self,
        come: Option<(Train, &Copied<P>)>,
        (next, expected): (Position, Position),
        (until, acts_from_bytes): (Instant, u64),
        delivered: &mut Trains<Frame<P>>,
    ) -> Turned {
        let level = self.queue.level_below(acts_from_bytes);
        let mut turned = Turned { next, ..Turned::default() };
        let mut awaited = expected.steps_after(next);
        let mut comes = come.map_or(Instant::NEVER, |(train, _)| train.first);
        let mut newest = self.rounds.newest().map(|newest| newest.position);
        loop {
            let round = self.rounds.poll_timeout();
            let now = comes.min(round);
            if now > until {
                return turned;
            }
            let position = if let Some((train, first)) = come.filter(|_| comes <= round) {
                let Some(left) = self.queue.enter_below(now, first.frame.octets, level) else {
                    return turned;
                };
                let mut arriving = *first;
                if turned.held > 0 {
                    arriving.follow(turned.held, train.step);
                }
                self.rounds.push_apart(left + self.way_round, arriving);
                self.held += 1;
                turned.held += 1;
                awaited += 1;
                comes = if turned.held < train.count { comes + train.spacing } else { Instant::NEVER };
                arriving.position
            } else {
                let Some(held) = self.front() else { return turned };
                let (position, octets) = (held.position, held.frame.octets);
                let ahead = position.steps_from(turned.next);
                if ahead <= 0 {
                    if ahead < 0 {
                        return turned;
                    }
                    delivered.push_apart(now, held.bare());
                    self.skip();
                    (turned.next, turned.delivered, turned.last) = (position.next(), now, now);
                    awaited -= 1;
                    if awaited == 0 {
                        return turned;
                    }
                    continue;
                }
                let Some(left) = self.queue.enter_below(now, octets, level) else { return turned };
                self.rounds.turn_front(left + self.way_round);
                position
            };
            let follows = newest.is_some_and(|newest| newest.next() == position);
            self.in_turn = if follows { self.in_turn + 1 } else { 1 };
            newest = Some(position);
            turned.last = now;
        }
    }

    /// Forwards the frames that come round by `until`, each in its turn. Returns their number, and when the last frame comes round.
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

    /// Returns when a frame next leaves the queue so that backpressure may act, if no other frame is held by then; never, if there
    /// is no such frame. Further held frames make backpressure act no sooner.
    #[inline]
    pub(super) fn next_dequeue(&mut self, now: Instant, backpressure: &Backpressure) -> Instant {
        if !backpressure.may_act(self.queue.bytes_at(now)) {
            return Instant::NEVER;
        }
        match backpressure.state() {
            PauseState::Running => self.queue.next_leave(now),
            PauseState::Paused => self.queue.next_leave_below(now, backpressure.thresholds().resume_bytes),
        }
    }

    /// Returns when a frame next comes round.
    #[inline]
    pub(super) const fn next_round(&self) -> Instant {
        self.rounds.poll_timeout()
    }

    /// Returns the frame that comes round next.
    #[inline]
    pub(super) fn front(&self) -> Option<&Copied<P>> {
        self.rounds.front().map(|(_, held)| held)
    }

    /// Removes the frame that comes round next.
    #[inline]
    pub(super) fn skip(&mut self) {
        self.rounds.skip(1);
        self.held -= 1;
    }

    /// Takes the frame that comes round next.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<Copied<P>> {
        let (_, held) = self.rounds.pop()?;
        self.held -= 1;
        Some(held)
    }

    /// Returns how many frames the loop holds.
    #[inline]
    pub(super) const fn len(&self) -> usize {
        self.held
    }

    /// Returns the time after which the loop equals `before`, but for the time; `None` if the loop differs. The first frame of
    /// `before` came round at `then`.
    pub(super) fn round_since(&self, before: &Self, then: Instant) -> Option<Duration> {
        let now = self.next_round();
        let round = now.saturating_since(then);
        let is_as_it_was = |((at, held), (earlier, it)): ((Instant, Copied<P>), (Instant, Copied<P>))| {
            (at, held.position, held.frame.octets) == (earlier + round, it.position, it.frame.octets)
        };
        let are_all = self.held == before.held && self.frames().zip(before.frames()).all(is_as_it_was);
        (are_all && self.queue.is_alike(now, &before.queue, then)).then_some(round)
    }

    /// Puts off the return of every frame by `delay`.
    pub(super) fn put_off(&mut self, delay: Duration) {
        self.queue.put_off(delay);
        let frames = self.frames();
        self.rounds.clear();
        for (at, held) in frames {
            self.rounds.push_apart(at + delay, held);
        }
    }

    /// Returns the held frames, each with the time at which the frame comes round.
    fn frames(&self) -> impl Iterator<Item = (Instant, Copied<P>)> + use<P> {
        let mut rounds = self.rounds.clone();
        iter::from_fn(move || rounds.pop())
    }

    /// Whether no frame is on its way round.
    pub(super) const fn is_empty(&self) -> bool {
        self.rounds.is_empty()
    }

    /// Returns the bytes in the queue at `now`.
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

    /// Drops every frame in the loop (LG-30). The port stays busy with the frame in service.
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

    /// Holds a frame until its turn comes, or drops the frame when there is no room (LG-34). A second copy of a held frame is not
    /// kept.
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

    /// Doubles the memory, at most to 2^17 slots. Positions have 17 bits, so no two positions then share a slot.
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

    /// Drops every frame (LG-30).
    pub(super) fn forget(&mut self) {
        self.forgotten += self.slots.iter().flatten().count() as u64;
        self.slots.fill(None);
        self.bytes = 0;
    }
}

#[cfg(test)]
mod tests;

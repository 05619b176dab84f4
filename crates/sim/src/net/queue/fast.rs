//! Frames that come to the queue and leave it in trains, or are decided on before they leave.

use super::FrameQueue;
use crate::kernel::{Member, Train};
use crate::net::{Ecn, Frame, Payload};
use lossylink_core::time::{Duration, Instant};

impl<P: Payload> FrameQueue<P> {
    /// Takes in a train of frames, `frame` first, while others leave: if there is room for them with never more than `more` frames
    /// like it beyond what waits now, and none would be marked. Otherwise false, and nothing has happened. (The caller takes out
    /// those that leave in between afterwards.)
    #[inline]
    pub fn take_in(&mut self, train: Train, frame: &Frame<P>, more: u64) -> bool {
        let space = self.space(frame.octets);
        let bytes = self.bytes + u64::from(train.count) * space;
        let most = self.bytes + more * space;
        let may_mark = (frame.ecn == Ecn::Capable || self.capable > 0) && self.marker.marks_from() <= bytes;
        if most > self.limits.limit_bytes || may_mark {
            return false;
        }
        (self.bytes, self.high_water_bytes) = (bytes, self.high_water_bytes.max(most));
        let train = Train { first: Instant::ZERO, spacing: Duration::ZERO, ..train };
        if let Some((last, first)) = self.frames.from_back_mut(0) {
            let count = last.count;
            if last.append(train, || first.distance(frame, count)) {
                self.note_waiting(train.count, frame.ecn);
                return true;
            }
        }
        self.wait(train, *frame);
        true
    }

    /// The first frame that waits, and how many wait that follow it, itself among them, with how far apart they are.
    #[inline]
    pub fn front(&self) -> Option<(Train, &Frame<P>)> {
        self.frames.front().map(|(train, frame)| (*train, frame))
    }

    /// Takes out `count` of the frames that [`FrameQueue::front`] gives, none of which is marked.
    #[inline]
    pub fn leave(&mut self, count: u32) {
        let Some((_, frame)) = self.frames.front() else { return };
        self.bytes -= u64::from(count) * self.space(frame.octets);
        self.skip(count);
    }

    /// Whether a frame like this is marked if it leaves while as much waits as now.
    #[inline]
    pub fn may_mark(&self, frame: &Frame<P>) -> bool {
        frame.ecn == Ecn::Capable && self.marker.marks_from() <= self.bytes
    }

    /// Whether it has room for frames of these octets, all at once, and marks none of them.
    pub fn holds_unmarked(&self, octets: impl Iterator<Item = u32>) -> bool {
        let bytes = octets.map(|octets| self.space(octets)).sum();
        self.limits.limit_bytes >= bytes && self.marker.marks_from() > bytes
    }

    /// Whether it held as much before as with `count` frames of `octets` more.
    #[inline]
    pub fn was_as_full(&self, count: u32, octets: u32) -> bool {
        self.bytes + u64::from(count) * self.space(octets) <= self.high_water_bytes
    }

    /// The octets of the frames that wait, if there are some and all are of one size.
    #[inline]
    pub const fn octets(&self) -> Option<u32> {
        if self.waiting > 0 { self.octets } else { None }
    }

    /// Takes in frames of `octets` that come as `train` says, are never marked, and are sure to leave at `leave`, as many
    /// and one behind another: up to the first that is dropped; how many come before it. None may wait of those that are polled.
    #[inline]
    pub fn let_through(&mut self, train: Train, leave: Train, octets: u32) -> u32 {
        debug_assert!(self.is_empty(), "a frame would overtake those that wait");
        self.settle(train.first);
        let space = self.space(octets);
        let most = self.bytes + u64::from(train.count) * space;
        if most <= self.limits.limit_bytes.min(self.high_water_bytes) {
            self.bytes = most;
            self.leaving.push((leave, space));
            return train.count;
        }
        let enter = |index: u32| {
            self.settle(train.nth(index));
            let has_room = self.occupy(space);
            if has_room {
                self.leaving.push((Train::of_one(leave.nth(index)), space));
            }
            has_room
        };
        (0..train.count).map(enter).take_while(|&has_room| has_room).count() as u32
    }

    /// Takes the first frame that waits out, if it is never marked: it is sure to leave at `leaves_at`, and holds its space until
    /// then.
    pub fn poll_ahead(&mut self, leaves_at: Instant) -> Option<Frame<P>> {
        let (_, frame) = *self.frames.front().filter(|(_, frame)| frame.ecn != Ecn::Capable)?;
        self.skip(1);
        self.leaving.push((Train::of_one(leaves_at), self.space(frame.octets)));
        Some(frame)
    }
}

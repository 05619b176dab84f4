//! Frames that come to the queue and leave it in trains, or are decided on before they leave.

use super::FrameQueue;
use crate::kernel::{Member, Train};
use crate::net::{Ecn, Frame, Payload};
use lossylink_core::time::{Duration, Instant};

impl<P: Payload> FrameQueue<P> {
    /// Takes in a train of frames, `frame` first, while other frames leave. This needs room for the train with never more than
    /// `more` frames like `frame` beyond the frames that wait now, and no frame may be marked. Otherwise returns false, and
    /// nothing has happened. (The caller afterwards takes out the frames that leave in between.)
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

    /// Returns the first frame that waits, and the train of frames that follow it, itself included, with their spacing.
    #[inline]
    pub fn front(&self) -> Option<(Train, &Frame<P>)> {
        self.frames.front().map(|(train, frame)| (*train, frame))
    }

    /// Takes out `count` of the frames that [`FrameQueue::front`] returns, none of which is marked.
    #[inline]
    pub fn leave(&mut self, count: u32) {
        let Some((_, frame)) = self.frames.front() else { return };
        self.bytes -= u64::from(count) * self.space(frame.octets);
        self.skip(count);
    }

    /// Whether a frame like `frame` is marked if it leaves while as many bytes wait as now.
    #[inline]
    pub fn may_mark(&self, frame: &Frame<P>) -> bool {
        frame.ecn == Ecn::Capable && self.marker.marks_from() <= self.bytes
    }

    /// Whether the queue has room for frames of these octets, all at once, and marks none of them.
    pub fn holds_unmarked(&self, octets: impl Iterator<Item = u32>) -> bool {
        let bytes = octets.map(|octets| self.space(octets)).sum();
        self.limits.limit_bytes >= bytes && self.marker.marks_from() > bytes
    }

    /// Whether the queue with `count` frames of `octets` more stays within its high-water mark.
    #[inline]
    pub fn was_as_full(&self, count: u32, octets: u32) -> bool {
        self.bytes + u64::from(count) * self.space(octets) <= self.high_water_bytes
    }

    /// Returns the octets of the frames that wait, if any frames wait and all are of one size.
    #[inline]
    pub const fn octets(&self) -> Option<u32> {
        if self.waiting > 0 { self.octets } else { None }
    }

    /// Takes in frames of `octets` that come as `train` says, are never marked, and are sure to leave as `leave` says, one after
    /// another. `leave` has as many frames as `train`. Takes frames up to the first that is dropped, and returns how many came
    /// before it. No frame may wait to be polled.
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

    /// Takes out the first frame that waits, if it is never marked. The frame is sure to leave at `leaves_at`, and holds its
    /// space until then.
    pub fn poll_ahead(&mut self, leaves_at: Instant) -> Option<Frame<P>> {
        let (_, frame) = *self.frames.front().filter(|(_, frame)| frame.ecn != Ecn::Capable)?;
        self.skip(1);
        self.leaving.push((Train::of_one(leaves_at), self.space(frame.octets)));
        Some(frame)
    }
}

//! A drop-tail queue of whole buffer cells that marks at dequeue.

use super::frame::GAP_OCTETS;
use super::{Cells, Ecn, Frame, Marker, Payload};
use crate::kernel::{Member, Ring, Train};
use lossylink_core::time::{Duration, Instant};

/// Limits of a queue.
#[derive(Clone, Copy, Debug)]
pub struct QueueLimits {
    /// Bytes, in whole cells, that the queue may hold; a frame that does not fit is dropped.
    pub limit_bytes: u64,
    /// Depth at dequeue, in bytes behind the frame, from which a capable frame is marked.
    pub ecn_threshold_bytes: u64,
    /// Allocation unit.
    pub cells: Cells,
    /// Bytes that the switch adds to every frame in its buffer.
    pub header_bytes: u32,
}

impl QueueLimits {
    /// Buffer space of a frame of `octets` on the wire.
    #[inline]
    pub const fn space(&self, octets: u32) -> u64 {
        self.cells.space(octets - GAP_OCTETS + self.header_bytes)
    }

    /// Frames of `octets` on the wire for which there is room.
    pub fn frames(&self, octets: u32) -> usize {
        usize::try_from(self.limit_bytes / self.space(octets)).unwrap_or(usize::MAX)
    }
}

/// The normal-priority queue of a port.
#[derive(Clone, Debug)]
pub struct FrameQueue<P: Payload> {
    limits: QueueLimits,
    marker: Marker,
    /// Those that wait: such as follow each other are one entry, of which the times mean nothing.
    frames: Ring<(Train, Frame<P>)>,
    /// How many frames wait.
    waiting: usize,
    /// The octets of all frames that wait, if they are of one size.
    octets: Option<u32>,
    /// How many of them can be marked.
    capable: usize,
    /// When frames leave that are sure to, and the space that each holds until then.
    leaving: Ring<(Train, u64)>,
    bytes: u64,
    high_water_bytes: u64,
    dropped: u64,
    marked: u64,
}

impl<P: Payload> FrameQueue<P> {
    /// An empty queue.
    pub fn new(limits: QueueLimits) -> Self {
        let marker = Marker::threshold(limits.ecn_threshold_bytes);
        Self {
            limits,
            marker,
            frames: Ring::new(),
            waiting: 0,
            octets: None,
            capable: 0,
            leaving: Ring::new(),
            bytes: 0,
            high_water_bytes: 0,
            dropped: 0,
            marked: 0,
        }
    }

    /// Replaces the rule by which frames are marked.
    pub fn set_marker(&mut self, marker: Marker) {
        self.marker = marker;
    }

    /// From now on takes in whatever comes: the source of the frames is the queue.
    pub const fn lift_limit(&mut self) {
        self.limits.limit_bytes = u64::MAX;
    }

    /// Buffer space of a frame of `octets` on the wire.
    #[inline]
    fn space(&self, octets: u32) -> u64 {
        self.limits.space(octets)
    }

    /// Takes a frame in, or drops it; false when dropped.
    #[inline]
    pub fn offer(&mut self, frame: Frame<P>) -> bool {
        let has_room = self.occupy(self.space(frame.octets));
        if has_room {
            self.wait(Train::of_one(Instant::ZERO), frame);
        }
        has_room
    }

    /// Frames wait from now on, `frame` and those that follow it.
    #[inline]
    fn wait(&mut self, train: Train, frame: Frame<P>) {
        self.octets = if self.waiting == 0 {
            Some(frame.octets)
        } else {
            self.octets.filter(|&octets| octets == frame.octets)
        };
        self.note_waiting(train.count, frame.ecn);
        self.frames.push((train, frame));
    }

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

    #[inline]
    fn note_waiting(&mut self, count: u32, ecn: Ecn) {
        self.waiting += count as usize;
        if ecn == Ecn::Capable {
            self.capable += count as usize;
        }
    }

    /// Takes out `count` of the first frames that follow each other.
    #[inline]
    fn skip(&mut self, count: u32) {
        let Some((train, frame)) = self.frames.front_mut() else { return };
        self.waiting -= count as usize;
        if frame.ecn == Ecn::Capable {
            self.capable -= count as usize;
        }
        if count < train.count {
            frame.follow(count, train.step);
            train.count -= count;
        } else {
            self.frames.skip_front();
        }
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

    /// Frees the space of the frames that were sure to leave by `now`.
    #[inline]
    pub fn settle(&mut self, now: Instant) {
        while let Some((train, space)) = self.leaving.front_mut().filter(|(train, _)| train.first <= now) {
            let left = train.come_by(now);
            self.bytes -= u64::from(left) * *space;
            if left < train.count {
                *train = train.behind(left);
                return;
            }
            self.leaving.skip_front();
        }
    }

    /// Takes `space` bytes, or counts a drop.
    #[inline]
    fn occupy(&mut self, space: u64) -> bool {
        let bytes = self.bytes + space;
        if bytes > self.limits.limit_bytes {
            self.dropped += 1;
            return false;
        }
        self.bytes = bytes;
        self.high_water_bytes = self.high_water_bytes.max(bytes);
        true
    }

    /// Takes the first frame out, marked if what it leaves behind is deep enough.
    #[inline(always)]
    pub fn poll(&mut self) -> Option<Frame<P>> {
        if self.is_empty() {
            return None;
        }
        let mut frame = Frame::default();
        self.poll_into(&mut frame);
        Some(frame)
    }

    /// Takes the first frame out into `frame`, as [`Self::poll`] does. Nothing happens if no frame waits.
    #[inline(always)]
    pub fn poll_into(&mut self, frame: &mut Frame<P>) {
        let Some((_, first)) = self.frames.front() else { return };
        *frame = *first;
        self.skip(1);
        self.bytes -= self.space(frame.octets);
        if frame.ecn == Ecn::Capable && self.marker.marks(self.bytes) {
            frame.ecn = Ecn::Experienced;
            self.marked += 1;
        }
    }

    /// How many frames wait to be polled.
    #[inline]
    pub const fn len(&self) -> usize {
        self.waiting
    }

    /// Whether none waits.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// Buffer space in use.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The most buffer space that was ever in use.
    pub const fn high_water_bytes(&self) -> u64 {
        self.high_water_bytes
    }

    /// Forgets how full the queue has been: from now on the high-water mark counts afresh.
    pub const fn reset_high_water(&mut self) {
        self.high_water_bytes = self.bytes;
    }

    /// Frames dropped because the queue was full.
    pub const fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Frames marked.
    pub const fn marked(&self) -> u64 {
        self.marked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(limit_bytes: u64, ecn_threshold_bytes: u64) -> FrameQueue<u32> {
        FrameQueue::new(QueueLimits {
            limit_bytes,
            ecn_threshold_bytes,
            cells: Cells::new(80),
            header_bytes: 3,
        })
    }

    fn full_frame(payload: u32) -> Frame<u32> {
        Frame::of_frame_bytes(1514, Ecn::Capable, payload)
    }

    #[test]
    fn the_tail_is_dropped_when_the_limit_is_reached() {
        let mut queue = queue(2 * 1600, u64::MAX);
        assert!(queue.offer(full_frame(0)) && queue.offer(full_frame(1)));
        assert!(!queue.offer(full_frame(2)));
        assert_eq!((queue.len(), queue.dropped(), queue.high_water_bytes()), (2, 1, 3200));
    }

    #[test]
    fn marking_looks_at_what_is_left_behind() {
        let mut queue = queue(u64::MAX, 2 * 1600);
        (0..3).for_each(|n| assert!(queue.offer(full_frame(n))));
        let marks: Vec<Ecn> = std::iter::from_fn(|| queue.poll()).map(|frame| frame.ecn).collect();
        assert_eq!(marks, [Ecn::Experienced, Ecn::Capable, Ecn::Capable]);
        assert_eq!(queue.marked(), 1);
    }
}

//! A drop-tail queue of whole buffer cells that marks at dequeue.

#[cfg(feature = "fast")]
mod fast;

use super::frame::GAP_OCTETS;
use super::{Cells, Ecn, Frame, Marker, Payload};
use crate::kernel::{Member, Ring, Train};
use lossylink_core::time::Instant;

/// Limits of a queue.
#[derive(Clone, Copy, Debug)]
pub struct QueueLimits {
    /// Bytes, in whole cells, that the queue may hold. A frame that does not fit is dropped.
    pub limit_bytes: u64,
    /// Depth at dequeue, in bytes behind the frame, from which a capable frame is marked.
    pub ecn_threshold_bytes: u64,
    /// Cells in which buffer memory is given out.
    pub cells: Cells,
    /// Bytes that the switch adds to every frame in its buffer.
    pub header_bytes: u32,
}

impl QueueLimits {
    /// Returns the buffer space of a frame of `octets` on the wire.
    #[inline]
    pub const fn space(&self, octets: u32) -> u64 {
        self.cells.space(octets - GAP_OCTETS + self.header_bytes)
    }

    /// Returns how many frames of `octets` on the wire the queue has room for.
    pub fn frames(&self, octets: u32) -> usize {
        usize::try_from(self.limit_bytes / self.space(octets)).unwrap_or(usize::MAX)
    }
}

/// The normal-priority queue of a port.
#[derive(Clone, Debug)]
pub struct FrameQueue<P: Payload> {
    limits: QueueLimits,
    marker: Marker,
    /// The frames that wait. Frames that follow each other are one entry, whose times mean nothing.
    frames: Ring<(Train, Frame<P>)>,
    /// The number of frames that wait.
    waiting: usize,
    /// The octets of all frames that wait, if they are of one size.
    octets: Option<u32>,
    /// The number of waiting frames that can be marked.
    capable: usize,
    /// The times at which frames leave that are sure to leave, and the space that each holds until then.
    leaving: Ring<(Train, u64)>,
    bytes: u64,
    high_water_bytes: u64,
    dropped: u64,
    marked: u64,
}

impl<P: Payload> FrameQueue<P> {
    /// Builds an empty queue.
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

    /// Lifts the limit of the queue, which from now on takes in every frame: the source of the frames is the queue.
    pub const fn lift_limit(&mut self) {
        self.limits.limit_bytes = u64::MAX;
    }

    /// Returns the buffer space of a frame of `octets` on the wire.
    #[inline]
    fn space(&self, octets: u32) -> u64 {
        self.limits.space(octets)
    }

    /// Takes a frame in, or drops it. Returns false when the frame is dropped.
    #[inline]
    pub fn offer(&mut self, frame: Frame<P>) -> bool {
        let has_room = self.occupy(self.space(frame.octets));
        if has_room {
            self.wait(Train::of_one(Instant::ZERO), frame);
        }
        has_room
    }

    /// Makes `frame`, and the frames that follow it in `train`, wait from now on.
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

    #[inline]
    fn note_waiting(&mut self, count: u32, ecn: Ecn) {
        self.waiting += count as usize;
        if ecn == Ecn::Capable {
            self.capable += count as usize;
        }
    }

    /// Takes out the first `count` of the frames that follow each other at the front.
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

    /// Takes the first frame out, marked if the queue behind it is deep enough.
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

    /// Returns how many frames wait to be polled.
    #[inline]
    pub const fn len(&self) -> usize {
        self.waiting
    }

    /// Whether no frame waits.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// Returns the buffer space in use.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the most buffer space that was ever in use.
    pub const fn high_water_bytes(&self) -> u64 {
        self.high_water_bytes
    }

    /// Resets the high-water mark to the present depth of the queue.
    pub const fn reset_high_water(&mut self) {
        self.high_water_bytes = self.bytes;
    }

    /// Returns how many frames were dropped because the queue was full.
    pub const fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Returns how many frames were marked.
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

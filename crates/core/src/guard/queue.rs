//! The output queue of a port: drop-tail in bytes, with an optional ECN threshold at dequeue.

use super::{Frame, ecn};
use crate::units::Bytes;
use alloc::collections::VecDeque;
use serde::Deserialize;

/// The capacity of a queue, and the depth at which it marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueueLimits {
    /// Bytes of frames (without FCS, preamble and gap) that may wait. One frame may always wait.
    #[serde(rename = "bytes")]
    pub capacity: Bytes,
    /// The depth at or above which a frame that leaves is marked CE; `None` never marks.
    #[serde(rename = "mark_from_bytes", default)]
    pub mark_from: Option<Bytes>,
}

/// A first-in first-out queue of frames.
#[derive(Debug)]
pub struct DropTail {
    frames: VecDeque<Frame>,
    waiting: Bytes,
    limits: QueueLimits,
    counters: QueueCounters,
}

/// Events at a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueCounters {
    /// Frames dropped because the queue was full.
    pub dropped: u64,
    /// Frames marked CE.
    pub marked: u64,
    /// The most bytes that ever waited.
    pub longest: Bytes,
}

impl DropTail {
    /// Returns an empty queue.
    pub fn new(limits: QueueLimits) -> Self {
        Self { frames: VecDeque::new(), waiting: Bytes::ZERO, limits, counters: QueueCounters::default() }
    }

    /// Appends a frame, or returns it when the queue is full.
    pub fn push(&mut self, frame: Frame) -> Result<(), Frame> {
        let after = self.waiting + length(&frame);
        if after > self.limits.capacity && !self.frames.is_empty() {
            self.counters.dropped += 1;
            return Err(frame);
        }
        self.waiting = after;
        self.counters.longest = self.counters.longest.max(after);
        self.frames.push_back(frame);
        Ok(())
    }

    /// Takes the oldest frame, marked if the queue was too deep.
    pub fn pop(&mut self) -> Option<Frame> {
        let mut frame = self.frames.pop_front()?;
        let congested = self.limits.mark_from.is_some_and(|threshold| self.waiting >= threshold);
        self.waiting -= length(&frame);
        if congested && ecn::mark(&mut frame) {
            self.counters.marked += 1;
        }
        Some(frame)
    }

    /// Returns the bytes of the frames that wait.
    pub fn waiting(&self) -> Bytes {
        self.waiting
    }

    /// Whether no frame waits.
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Returns the counters of the queue.
    pub fn counters(&self) -> QueueCounters {
        self.counters
    }
}

fn length(frame: &Frame) -> Bytes {
    Bytes(frame.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn queue(capacity: u64, mark_from: Option<u64>) -> DropTail {
        DropTail::new(QueueLimits { capacity: Bytes(capacity), mark_from: mark_from.map(Bytes) })
    }

    #[test]
    fn the_queue_drops_its_tail_at_the_limit() {
        let mut queue = queue(300, None);
        for _ in 0..3 {
            queue.push(vec![0; 100]).unwrap();
        }
        assert_eq!(queue.push(vec![0; 1]).unwrap_err().len(), 1);
        queue.pop().unwrap();
        queue.push(vec![0; 100]).unwrap();
        assert_eq!(queue.counters(), QueueCounters { dropped: 1, marked: 0, longest: Bytes(300) });
    }

    #[test]
    fn a_frame_longer_than_the_queue_passes_an_empty_queue() {
        let mut queue = queue(10, None);
        queue.push(vec![0; 100]).unwrap();
        assert_eq!(queue.pop().unwrap().len(), 100);
        assert!(queue.is_empty());
    }

    #[test]
    fn marking_begins_at_the_threshold() {
        let mut capable = vec![0; 60];
        capable[12..16].copy_from_slice(&[0x08, 0x00, 0x45, 0x02]);
        let mut queue = queue(1000, Some(120));
        queue.push(capable.clone()).unwrap();
        queue.push(capable).unwrap();
        // The first frame leaves a queue of 120 bytes: marked. The second leaves a queue of 60:
        // not.
        assert_eq!(queue.pop().unwrap()[15], 0x03);
        assert_eq!(queue.pop().unwrap()[15], 0x02);
        assert_eq!(queue.counters().marked, 1);
    }
}

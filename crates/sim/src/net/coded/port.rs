//! The egress port behind an encoder: one queue for data and parity, or data first (FEC-21, FEC-23).

use crate::kernel::Ring;
use crate::net::queue::QueueLimits;
use crate::net::{Frame, FrameQueue, LineRate, Payload};
use lossylink_core::time::Instant;

/// A receiver of the frames that leave a port.
pub(super) trait Line<P, T> {
    /// Takes a frame that occupies the line from its first bit to its last.
    fn send(&mut self, span: (Instant, Instant), tag: T, frame: Frame<P>);
}

/// A queue of tagged frames.
#[derive(Clone, Debug)]
struct Lane<P: Payload, T: Copy + Default> {
    frames: FrameQueue<P>,
    tags: Ring<T>,
}

impl<P: Payload, T: Copy + Default> Lane<P, T> {
    fn new(limits: QueueLimits) -> Self {
        Self { frames: FrameQueue::new(limits), tags: Ring::new() }
    }

    fn offer(&mut self, tag: T, frame: Frame<P>) -> bool {
        let accepted = self.frames.offer(frame);
        if accepted {
            self.tags.push(tag);
        }
        accepted
    }

    fn poll(&mut self) -> Option<(T, Frame<P>)> {
        self.frames.poll().zip(self.tags.pop()).map(|(frame, tag)| (tag, frame))
    }
}

/// A port with its queue. While the queue is empty, a frame is sent as soon as it is offered, without an event.
#[derive(Clone, Debug)]
pub(super) struct Port<P: Payload, T: Copy + Default> {
    rate: LineRate,
    first: Lane<P, T>,
    /// The queue of parity, when data have priority. This queue is served when the first queue is empty.
    second: Option<Lane<P, T>>,
    busy_until: Instant,
}

impl<P: Payload, T: Copy + Default> Port<P, T> {
    pub(super) fn new(rate: LineRate, limits: QueueLimits, data_first: bool) -> Self {
        Self {
            rate,
            first: Lane::new(limits),
            second: data_first.then(|| Lane::new(limits)),
            busy_until: Instant::ZERO,
        }
    }

    /// Takes in a data frame that reaches the port. Returns false when the frame is dropped.
    #[inline]
    pub(super) fn offer(
        &mut self,
        now: Instant,
        tag: T,
        frame: Frame<P>,
        line: &mut impl Line<P, T>,
    ) -> bool {
        if self.is_idle(now, line) {
            self.send(now, tag, frame, line);
            return true;
        }
        self.first.offer(tag, frame)
    }

    /// Takes in a parity frame that reaches the port. Returns false when the frame is dropped.
    #[inline]
    pub(super) fn offer_parity(
        &mut self,
        now: Instant,
        tag: T,
        frame: Frame<P>,
        line: &mut impl Line<P, T>,
    ) -> bool {
        if self.is_idle(now, line) {
            self.send(now, tag, frame, line);
            return true;
        }
        self.second.as_mut().unwrap_or(&mut self.first).offer(tag, frame)
    }

    /// Returns when the port next sends a frame by itself.
    #[inline]
    pub(super) fn poll_timeout(&self) -> Instant {
        if self.backlog() == 0 { Instant::NEVER } else { self.busy_until }
    }

    /// Sends the waiting frames for which the line has room. Returns when the last of them left, or [`Instant::ZERO`].
    #[inline]
    pub(super) fn serve(&mut self, now: Instant, line: &mut impl Line<P, T>) -> Instant {
        let mut latest = Instant::ZERO;
        while self.busy_until <= now {
            let start = self.busy_until;
            let second = self.second.as_mut();
            let Some((tag, frame)) = self.first.poll().or_else(|| second?.poll()) else { break };
            self.send(start, tag, frame, line);
            latest = start;
        }
        latest
    }

    /// Returns how many frames wait.
    #[inline]
    pub(super) fn backlog(&self) -> usize {
        self.first.frames.len() + self.second.as_ref().map_or(0, |lane| lane.frames.len())
    }

    /// Returns the buffer space of all frames that wait.
    pub(super) fn bytes(&self) -> u64 {
        self.first.frames.bytes() + self.second.as_ref().map_or(0, |lane| lane.frames.bytes())
    }

    /// Returns the queue of data, and of parity unless data have priority.
    pub(super) const fn queue(&self) -> &FrameQueue<P> {
        &self.first.frames
    }

    /// Returns the queue of data to write to, to start a measurement.
    pub(super) const fn queue_mut(&mut self) -> &mut FrameQueue<P> {
        &mut self.first.frames
    }

    /// Serves the frames that are due. Returns whether a frame offered at `now` can be sent at once.
    #[inline]
    fn is_idle(&mut self, now: Instant, line: &mut impl Line<P, T>) -> bool {
        self.serve(now, line);
        self.busy_until <= now && self.backlog() == 0
    }

    #[inline]
    fn send(&mut self, start: Instant, tag: T, frame: Frame<P>, line: &mut impl Line<P, T>) {
        self.busy_until = start + self.rate.serialisation(frame.octets);
        line.send((start, self.busy_until), tag, frame);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::{Cells, Ecn};
    use lossylink_core::units::BitRate;

    impl Line<(), char> for Vec<(u64, char)> {
        fn send(&mut self, (_, end): (Instant, Instant), tag: char, _: Frame<()>) {
            self.push((end.as_ps() / 1000, tag));
        }
    }

    /// Returns the frames that leave a port that is offered a data frame, two parity frames and a data frame at once, and has
    /// room for two.
    fn leaves(data_first: bool) -> (Vec<(u64, char)>, [bool; 4]) {
        let limits = QueueLimits {
            limit_bytes: 2 * 1518,
            ecn_threshold_bytes: u64::MAX,
            cells: Cells::new(1),
            header_bytes: 0,
        };
        let mut port = Port::new(LineRate::new(BitRate::from_gbps(10)), limits, data_first);
        let (frame, now, mut line) =
            (Frame::of_frame_bytes(1514, Ecn::NotCapable, ()), Instant::ZERO, Vec::new());
        let accepted = [
            port.offer(now, 'a', frame, &mut line),
            port.offer_parity(now, 'p', frame, &mut line),
            port.offer_parity(now, 'q', frame, &mut line),
            port.offer(now, 'b', frame, &mut line),
        ];
        while !port.poll_timeout().is_never() {
            port.serve(port.poll_timeout(), &mut line);
        }
        (line, accepted)
    }

    // FEC-21
    #[test]
    fn one_queue_keeps_the_order_and_drops_the_tail() {
        let (line, accepted) = leaves(false);
        assert_eq!(line, [(1230, 'a'), (2460, 'p'), (3691, 'q')]);
        assert_eq!(accepted, [true, true, true, false]);
    }

    // FEC-23
    #[test]
    fn data_pass_parity_when_they_come_first() {
        let (line, accepted) = leaves(true);
        assert_eq!(line, [(1230, 'a'), (2460, 'b'), (3691, 'p'), (4921, 'q')]);
        assert_eq!(accepted, [true; 4]);
    }
}

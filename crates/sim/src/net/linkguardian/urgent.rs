//! Retransmissions at the sending switch: on their way to the most urgent queue, and in it (LG-7, LG-29).
//!
//! ```text
//!  a lost copy is found --- requeued --> [queue] --> line
//! ```

use super::frames::Copied;
use crate::kernel::Pipe;
use crate::net::Payload;
use lossylink_core::time::Instant;
use std::collections::VecDeque;

/// The most urgent queue of the sending switch, and the way to it.
#[derive(Clone, Debug)]
pub(super) struct Urgent<P: Payload> {
    /// Retransmissions between the decision and the queue.
    requeued: Pipe<Copied<P>>,
    queue: VecDeque<Copied<P>>,
}

impl<P: Payload> Urgent<P> {
    pub(super) fn new() -> Self {
        Self { requeued: Pipe::new(), queue: VecDeque::new() }
    }

    /// The frame of a lost copy reaches the queue at `at`, or together with the frame before it if that frame comes later: several
    /// copies take the multicast engine, and their number may fall meanwhile.
    pub(super) fn requeue(&mut self, at: Instant, copy: Copied<P>) {
        self.requeued.push(at.max(self.requeued.last_due()), copy);
    }

    /// Returns when a retransmission next reaches the queue.
    pub(super) fn poll_timeout(&self) -> Instant {
        self.requeued.poll_timeout()
    }

    /// Retransmissions reach the queue, each in all its `copies` (LG-7).
    pub(super) fn enqueue(&mut self, now: Instant, copies: u8) {
        while let Some((_, copy)) = self.requeued.pop_due(now) {
            (0..copies).for_each(|_| self.queue.push_back(copy));
        }
    }

    /// Whether a frame waits for the line.
    pub(super) fn is_waiting(&self) -> bool {
        !self.queue.is_empty()
    }

    /// Takes the frame that leaves next.
    pub(super) fn poll(&mut self) -> Option<Copied<P>> {
        self.queue.pop_front()
    }

    /// Whether no retransmission waits in the queue or is on its way to it.
    pub(super) fn is_empty(&self) -> bool {
        self.requeued.is_empty() && self.queue.is_empty()
    }

    /// Forgets every retransmission (LG-30).
    pub(super) fn clear(&mut self) {
        self.requeued.clear();
        self.queue.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::{Ecn, Frame};
    use lossylink_core::engine::linkguardian::Position;

    fn at_ns(ns: u64) -> Instant {
        Instant::from_ps(ns * 1000)
    }

    fn copy(number: u32) -> Copied<()> {
        let frame = Frame::of_frame_bytes(1514, Ecn::NotCapable, ());
        Copied { position: Position::ZERO.plus(number), number, frame }
    }

    /// Returns when each frame reaches the queue, and its number.
    fn arrivals(urgent: &mut Urgent<()>, copies: u8) -> Vec<(Instant, u32)> {
        let mut arrivals = Vec::new();
        while !urgent.is_empty() {
            let now = urgent.poll_timeout();
            urgent.enqueue(now, copies);
            arrivals.extend(std::iter::from_fn(|| urgent.poll()).map(|copy| (now, copy.number)));
        }
        arrivals
    }

    // LG-7
    #[test]
    fn all_copies_of_a_frame_reach_the_queue_together() {
        let mut urgent = Urgent::new();
        urgent.requeue(at_ns(700), copy(3));
        urgent.requeue(at_ns(900), copy(5));
        let together = [700, 700, 900, 900].map(at_ns).into_iter().zip([3, 3, 5, 5]);
        assert_eq!(arrivals(&mut urgent, 2), together.collect::<Vec<_>>());
    }

    // LG-7: two copies take 400 ns more than one. The number of copies falls between two losses.
    #[test]
    fn retransmissions_reach_the_queue_in_the_order_of_their_decisions() {
        let mut urgent = Urgent::new();
        urgent.requeue(at_ns(1100), copy(3));
        urgent.requeue(at_ns(900), copy(5));
        assert_eq!(arrivals(&mut urgent, 1), [(at_ns(1100), 3), (at_ns(1100), 5)]);
    }

    // LG-30
    #[test]
    fn nothing_is_left_of_what_is_forgotten() {
        let mut urgent = Urgent::new();
        urgent.requeue(at_ns(700), copy(3));
        urgent.enqueue(at_ns(700), 2);
        urgent.requeue(at_ns(900), copy(5));
        assert!(urgent.is_waiting());
        urgent.clear();
        assert!(urgent.is_empty() && urgent.poll_timeout().is_never());
        assert_eq!(urgent.poll(), None);
    }
}

//! Frames that overtake each other on their way to a host, until they have arrived.

use lossylink_core::time::Instant;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Frames under way, in the order of their arrival; of equal arrivals the frame that set out first comes
/// first.
#[derive(Clone, Debug)]
pub(super) struct Overtaking<F> {
    frames: BinaryHeap<Reverse<Coming<F>>>,
    set_out: u64,
}

#[derive(Clone, Debug)]
struct Coming<F> {
    at: Instant,
    number: u64,
    frame: F,
}

impl<F> Coming<F> {
    const fn key(&self) -> (Instant, u64) {
        (self.at, self.number)
    }
}

impl<F> PartialEq for Coming<F> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<F> Eq for Coming<F> {}

impl<F> PartialOrd for Coming<F> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<F> Ord for Coming<F> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl<F> Default for Overtaking<F> {
    fn default() -> Self {
        Self { frames: BinaryHeap::new(), set_out: 0 }
    }
}

impl<F> Overtaking<F> {
    /// Adds a frame that sets out, to arrive at `at`.
    pub(super) fn push(&mut self, at: Instant, frame: F) {
        self.frames.push(Reverse(Coming { at, number: self.set_out, frame }));
        self.set_out += 1;
    }

    /// Returns when the next frame arrives.
    pub(super) fn poll_timeout(&self) -> Instant {
        self.frames.peek().map_or(Instant::NEVER, |Reverse(coming)| coming.at)
    }

    /// Removes the next frame, and returns it with the time of its arrival.
    pub(super) fn pop(&mut self) -> Option<(Instant, F)> {
        self.frames.pop().map(|Reverse(coming)| (coming.at, coming.frame))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_to_arrive_is_the_next_and_equal_ones_keep_their_order() {
        let mut overtaking = Overtaking::default();
        assert_eq!((overtaking.poll_timeout(), overtaking.pop()), (Instant::NEVER, None));
        for (ps, name) in [(30, 'a'), (10, 'b'), (20, 'c'), (10, 'd')] {
            overtaking.push(Instant::from_ps(ps), name);
        }
        assert_eq!(overtaking.poll_timeout(), Instant::from_ps(10));
        let order: String = std::iter::from_fn(|| overtaking.pop()).map(|(_, name)| name).collect();
        assert_eq!(order, "bdca");
    }
}

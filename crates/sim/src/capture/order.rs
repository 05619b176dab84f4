//! Puts departures from the order in which they are decided into the order in which they happen.
//!
//! A frame's departure is known when the frame is queued, so a frame that leaves later may be seen first. No frame is seen that
//! leaves before the present. So all frames up to the present can go to the file. The frames that wait are those queued in front
//! of the hop.

use lossylink_core::time::Instant;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Items with the time at which they happen. Items of equal times keep the order in which they came.
#[derive(Debug)]
pub(super) struct InOrder<T> {
    heap: BinaryHeap<Entry<T>>,
    pushed: u64,
}

#[derive(Debug)]
struct Entry<T> {
    at: Instant,
    sequence: u64,
    item: T,
}

impl<T> InOrder<T> {
    pub(super) const fn new() -> Self {
        Self { heap: BinaryHeap::new(), pushed: 0 }
    }

    pub(super) fn push(&mut self, at: Instant, item: T) {
        self.heap.push(Entry { at, sequence: self.pushed, item });
        self.pushed += 1;
    }

    /// Returns the earliest item, if it happens at or before `now`.
    pub(super) fn pop_due(&mut self, now: Instant) -> Option<(Instant, T)> {
        if self.heap.peek()?.at > now {
            return None;
        }
        self.heap.pop().map(|entry| (entry.at, entry.item))
    }
}

impl<T> Ord for Entry<T> {
    /// Compares entries so that the earliest is the greatest, as the heap wants it.
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.sequence).cmp(&(self.at, self.sequence))
    }
}

impl<T> PartialOrd for Entry<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Entry<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<T> Eq for Entry<T> {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn items_come_out_by_time_and_then_as_they_came(times in prop::collection::vec(0u64..20, 0..50)) {
            let mut ordered = InOrder::new();
            for (index, at) in times.iter().enumerate() {
                ordered.push(Instant::from_ps(*at), index);
            }
            let mut expected: Vec<_> = times.iter().copied().zip(0..).collect();
            expected.sort_unstable();
            let drained = std::iter::from_fn(|| ordered.pop_due(Instant::NEVER));
            prop_assert_eq!(drained.map(|(at, index)| (at.as_ps(), index)).collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn what_lies_ahead_waits() {
        let mut ordered = InOrder::new();
        ordered.push(Instant::from_ps(5), 'b');
        ordered.push(Instant::from_ps(4), 'a');
        assert_eq!(ordered.pop_due(Instant::from_ps(3)), None);
        assert_eq!(ordered.pop_due(Instant::from_ps(4)), Some((Instant::from_ps(4), 'a')));
        assert_eq!(ordered.pop_due(Instant::from_ps(4)), None);
    }
}

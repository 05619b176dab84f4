//! The next deadline among a fixed set of event sources.

use lossylink_core::time::Instant;

/// Deadlines of `N` event sources. The source with the earliest deadline is next; of sources with equal deadlines, the first in order.
///
/// Reading is free: the earliest deadline is kept, and looked for only when it moves later.
#[derive(Clone, Debug)]
pub struct Agenda<const N: usize> {
    deadlines: [Instant; N],
    earliest: Instant,
}

impl<const N: usize> Agenda<N> {
    /// Builds an agenda on which no source is due.
    pub const fn new() -> Self {
        Self { deadlines: [Instant::NEVER; N], earliest: Instant::NEVER }
    }

    /// Sets when `source` is due; [`Instant::NEVER`] when the source is not due.
    #[inline]
    pub fn set(&mut self, source: usize, deadline: Instant) {
        let was_earliest = self.deadlines[source] == self.earliest;
        self.deadlines[source] = deadline;
        if deadline <= self.earliest {
            self.earliest = deadline;
        } else if was_earliest {
            self.earliest = self.deadlines.iter().fold(Instant::NEVER, |earliest, &at| earliest.min(at));
        }
    }

    /// Returns when `source` is due.
    #[inline]
    pub const fn get(&self, source: usize) -> Instant {
        self.deadlines[source]
    }

    /// Returns the earliest deadline.
    #[inline]
    pub const fn poll_timeout(&self) -> Instant {
        self.earliest
    }

    /// Returns the source whose turn it is at `now`, if any is due.
    #[inline]
    pub fn poll(&self, now: Instant) -> Option<usize> {
        if self.earliest > now {
            return None;
        }
        self.deadlines.iter().position(|&deadline| deadline == self.earliest)
    }
}

impl<const N: usize> Default for Agenda<N> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_kept_earliest_is_the_earliest(moves in prop::collection::vec((0usize..5, 0u64..9), 1..80)) {
            let mut agenda = Agenda::<5>::new();
            let mut model = [u64::MAX; 5];
            for (source, at) in moves {
                agenda.set(source, Instant::from_ps(at));
                model[source] = at;
                let first = (0..5).min_by_key(|&source| model[source]).unwrap();
                prop_assert_eq!(agenda.poll_timeout(), Instant::from_ps(model[first]));
                prop_assert_eq!(agenda.poll(agenda.poll_timeout()), Some(first));
            }
        }
    }

    #[test]
    fn the_earliest_comes_first_and_ties_keep_their_order() {
        let mut agenda = Agenda::<4>::new();
        assert!(agenda.poll_timeout().is_never());
        agenda.set(3, Instant::from_ps(5));
        agenda.set(1, Instant::from_ps(7));
        assert_eq!(agenda.poll(Instant::from_ps(4)), None);
        assert_eq!(agenda.poll(Instant::from_ps(5)), Some(3));
        agenda.set(1, Instant::from_ps(5));
        assert_eq!(agenda.poll(Instant::from_ps(5)), Some(1));
        assert_eq!(agenda.get(3), Instant::from_ps(5));
    }
}

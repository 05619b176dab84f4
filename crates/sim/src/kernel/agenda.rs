//! The next deadline among a fixed set of event sources.

use lossylink_core::time::Instant;

/// Deadlines of `N` event sources; the earliest is next, and of equal ones the first in order.
///
/// Reading is free: the earliest is kept, and looked for only when it moves later.
#[derive(Clone, Debug)]
pub struct Agenda<const N: usize> {
    deadlines: [Instant; N],
    /// The earliest deadline and its source.
    next: (Instant, usize),
}

impl<const N: usize> Agenda<N> {
    /// An agenda on which nothing is due.
    pub const fn new() -> Self {
        Self { deadlines: [Instant::NEVER; N], next: (Instant::NEVER, 0) }
    }

    /// Sets when `source` is due; [`Instant::NEVER`] when it is not.
    #[inline]
    pub fn set(&mut self, source: usize, deadline: Instant) {
        self.deadlines[source] = deadline;
        if (deadline, source) <= self.next {
            self.next = (deadline, source);
        } else if source == self.next.1 {
            self.search();
        }
    }

    /// When `source` is due.
    #[inline]
    pub fn get(&self, source: usize) -> Instant {
        self.deadlines[source]
    }

    /// The earliest deadline and its source.
    #[inline]
    pub const fn next(&self) -> (Instant, usize) {
        self.next
    }

    fn search(&mut self) {
        self.next = (self.deadlines[0], 0);
        for source in 1..N {
            if self.deadlines[source] < self.next.0 {
                self.next = (self.deadlines[source], source);
            }
        }
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
                prop_assert_eq!(agenda.next(), (Instant::from_ps(model[first]), first));
            }
        }
    }

    #[test]
    fn the_earliest_comes_first_and_ties_keep_their_order() {
        let mut agenda = Agenda::<4>::new();
        assert!(agenda.next().0.is_never());
        agenda.set(3, Instant::from_ps(5));
        agenda.set(1, Instant::from_ps(7));
        assert_eq!(agenda.next(), (Instant::from_ps(5), 3));
        agenda.set(1, Instant::from_ps(5));
        assert_eq!(agenda.next(), (Instant::from_ps(5), 1));
        assert_eq!(agenda.get(3), Instant::from_ps(5));
    }
}

//! The next deadline among a fixed set of event sources.

use lossylink_core::time::Instant;

/// Deadlines of `N` event sources; the earliest is next, and of equal ones the first in order.
#[derive(Clone, Debug)]
pub struct Agenda<const N: usize> {
    deadlines: [Instant; N],
}

impl<const N: usize> Agenda<N> {
    /// An agenda on which nothing is due.
    pub const fn new() -> Self {
        Self { deadlines: [Instant::NEVER; N] }
    }

    /// Sets when `source` is due; [`Instant::NEVER`] when it is not.
    #[inline]
    pub fn set(&mut self, source: usize, deadline: Instant) {
        self.deadlines[source] = deadline;
    }

    /// When `source` is due.
    #[inline]
    pub fn get(&self, source: usize) -> Instant {
        self.deadlines[source]
    }

    /// The earliest deadline and its source.
    #[inline]
    pub fn next(&self) -> (Instant, usize) {
        let mut earliest = self.deadlines[0];
        let mut source = 0;
        for (index, &deadline) in self.deadlines.iter().enumerate().skip(1) {
            if deadline < earliest {
                earliest = deadline;
                source = index;
            }
        }
        (earliest, source)
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

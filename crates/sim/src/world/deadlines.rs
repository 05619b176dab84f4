//! The earliest of many deadlines that mostly move later.

use lossylink_core::time::Instant;

/// One deadline for each of a number of owners, and the earliest of them.
#[derive(Clone, Debug)]
pub(super) struct Deadlines {
    times: Vec<Instant>,
    earliest: usize,
}

impl Deadlines {
    /// `count` deadlines, none of them armed.
    pub(super) fn new(count: usize) -> Self {
        Self { times: vec![Instant::NEVER; count.max(1)], earliest: 0 }
    }

    /// Makes room for `count` deadlines.
    pub(super) fn grow(&mut self, count: usize) {
        self.times.resize(count.max(self.times.len()), Instant::NEVER);
    }

    /// The earliest deadline.
    #[inline]
    pub(super) fn next(&self) -> Instant {
        self.times[self.earliest]
    }

    /// Whose deadline is the earliest; the first in order when several are.
    #[inline]
    pub(super) const fn owner(&self) -> usize {
        self.earliest
    }

    /// Moves the deadline of `owner`. Only when the earliest moves later are all looked at.
    #[inline]
    pub(super) fn set(&mut self, owner: usize, deadline: Instant) {
        let earliest = self.next();
        self.times[owner] = deadline;
        if owner == self.earliest {
            if deadline > earliest && self.times.len() > 1 {
                self.search();
            }
        } else if (deadline, owner) < (earliest, self.earliest) {
            self.earliest = owner;
        }
    }

    fn search(&mut self) {
        let first = (0..self.times.len()).min_by_key(|&owner| self.times[owner]);
        self.earliest = first.unwrap_or(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_earliest_is_found(moves in prop::collection::vec((0usize..5, 0u64..20), 1..100)) {
            let mut deadlines = Deadlines::new(5);
            let mut model = [u64::MAX; 5];
            for (owner, at) in moves {
                deadlines.set(owner, Instant::from_ps(at));
                model[owner] = at;
                let expected = (0..5).min_by_key(|&owner| model[owner]).unwrap();
                prop_assert_eq!(deadlines.owner(), expected);
                prop_assert_eq!(deadlines.next(), Instant::from_ps(model[expected]));
            }
        }
    }
}

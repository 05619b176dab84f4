//! The earliest of many deadlines: a tournament in which a change replays one path to the top.

use lossylink_core::time::Instant;

/// One deadline for each of a number of owners, and the earliest of them.
#[derive(Clone, Debug)]
pub(super) struct Deadlines {
    /// A deadline for each owner; as many as a power of two.
    times: Vec<Instant>,
    /// The winner below each inner node; node 1 is the top, and 2 n and 2 n + 1 lie below n.
    winners: Vec<u32>,
}

impl Deadlines {
    /// `count` deadlines, none of them armed.
    pub(super) fn new(count: usize) -> Self {
        let mut deadlines = Self { times: Vec::new(), winners: Vec::new() };
        deadlines.grow(count.max(1));
        deadlines
    }

    /// Makes room for `count` deadlines.
    pub(super) fn grow(&mut self, count: usize) {
        if count <= self.times.len() {
            return;
        }
        let leaves = count.next_power_of_two();
        self.times.resize(leaves, Instant::NEVER);
        self.winners = vec![0; leaves];
        (1..leaves).rev().for_each(|node| self.winners[node] = self.play(node));
    }

    /// The earliest deadline.
    #[inline]
    pub(super) fn next(&self) -> Instant {
        self.times[self.owner()]
    }

    /// Whose deadline is the earliest; the first in order when several are.
    #[inline]
    pub(super) fn owner(&self) -> usize {
        self.winner(1)
    }

    /// Moves the deadline of `owner`.
    #[inline]
    pub(super) fn set(&mut self, owner: usize, deadline: Instant) {
        if self.times[owner] == deadline {
            return;
        }
        self.times[owner] = deadline;
        let mut node = (owner + self.times.len()) / 2;
        while node > 0 {
            let winner = self.play(node);
            // Above a node that another owner won before and wins again nothing changes.
            if winner == self.winners[node] && winner as usize != owner {
                return;
            }
            self.winners[node] = winner;
            node /= 2;
        }
    }

    /// The owner that wins below a node, inner or not.
    #[inline]
    fn winner(&self, node: usize) -> usize {
        node.checked_sub(self.times.len()).unwrap_or_else(|| self.winners[node] as usize)
    }

    /// Lets the winners of the two nodes below `node` play; the first in order wins a draw.
    #[inline]
    fn play(&self, node: usize) -> u32 {
        let (first, second) = (self.winner(2 * node), self.winner(2 * node + 1));
        if self.times[second] < self.times[first] { second as u32 } else { first as u32 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_earliest_is_found(count in 1usize..9, moves in prop::collection::vec((0usize..9, 0u64..20), 1..100)) {
            let mut deadlines = Deadlines::new(1);
            let mut model = vec![u64::MAX; count];
            for (number, (owner, at)) in moves.into_iter().enumerate() {
                deadlines.grow(count.min(number + 1));
                let owner = owner % count.min(number + 1);
                deadlines.set(owner, Instant::from_ps(at));
                model[owner] = at;
                let expected = (0..count).min_by_key(|&owner| model[owner]).unwrap();
                prop_assert_eq!(deadlines.owner(), expected);
                prop_assert_eq!(deadlines.next(), Instant::from_ps(model[expected]));
            }
        }
    }
}

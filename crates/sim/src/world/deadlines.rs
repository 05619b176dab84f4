//! The earliest deadline of many owners, most of whose deadlines are not armed.

use lossylink_core::time::Instant;

/// The deadlines of a number of owners, one each, and the earliest deadline.
///
/// The owners play a tournament: the tree has a leaf for each owner, and an inner node has the earlier one of its two children.
/// A deadline that moves plays again on its way to the root alone, so thousands of owners cost little more than a few.
#[derive(Clone, Debug)]
pub(super) struct Deadlines {
    /// A deadline and its owner for each node. The root has the place 1. The children of the node at `i` have the places `2 i`
    /// and `2 i + 1`. The leaves come last.
    nodes: Vec<(Instant, u32)>,
}

impl Deadlines {
    /// Returns `count` deadlines, none of them armed.
    pub(super) fn new(count: usize) -> Self {
        let mut deadlines = Self { nodes: Vec::new() };
        deadlines.grow(count.max(1));
        deadlines
    }

    /// Makes room for `count` deadlines.
    pub(super) fn grow(&mut self, count: usize) {
        let before = self.leaves();
        if count <= before {
            return;
        }
        let leaves = count.next_power_of_two();
        let mut nodes = vec![(Instant::NEVER, 0); leaves];
        nodes.extend_from_slice(&self.nodes[before..]);
        nodes.extend((before..leaves).map(|owner| (Instant::NEVER, owner as u32)));
        for place in (1..leaves).rev() {
            nodes[place] = nodes[2 * place].min(nodes[2 * place + 1]);
        }
        self.nodes = nodes;
    }

    /// Returns the number of owners for which there is room, which is the place of the first owner's leaf.
    #[inline]
    const fn leaves(&self) -> usize {
        self.nodes.len() / 2
    }

    /// Returns the earliest deadline.
    #[inline]
    pub(super) fn next(&self) -> Instant {
        self.nodes[1].0
    }

    /// Returns the owner of the earliest deadline. Returns the first owner in order if several deadlines are the earliest, and
    /// if none is armed.
    #[inline]
    pub(super) fn owner(&self) -> usize {
        self.nodes[1].1 as usize
    }

    /// Returns the earliest deadline of all owners but `owner`.
    #[inline]
    #[cfg(feature = "fast")]
    pub(super) fn next_of_others(&self, owner: usize) -> Instant {
        if self.owner() != owner {
            return self.next();
        }
        let mut place = self.leaves() + owner;
        let mut next = Instant::NEVER;
        while place > 1 {
            next = next.min(self.nodes[place ^ 1].0);
            place /= 2;
        }
        next
    }

    /// Moves the deadline of `owner`; [`Instant::NEVER`] disarms it.
    #[inline]
    pub(super) fn set(&mut self, owner: usize, deadline: Instant) {
        let leaf = self.leaves() + owner;
        self.nodes[leaf] = (deadline, owner as u32);
        if leaf > 1 {
            self.play(leaf);
        }
    }

    /// Takes a changed node at `place` up to the root, as far as it wins. Not inlined: in line this function costs a flow more
    /// instructions than the call.
    #[inline(never)]
    fn play(&mut self, mut place: usize) {
        while place > 1 {
            let winner = self.nodes[place].min(self.nodes[place ^ 1]);
            place /= 2;
            if self.nodes[place] == winner {
                return;
            }
            self.nodes[place] = winner;
        }
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
                // One deadline of four is disarmed.
                let at = if at % 4 == 0 { u64::MAX } else { at };
                #[cfg(feature = "fast")]
                {
                    let first_of_others = (0..count).filter(|&other| other != owner).map(|other| model[other]).min();
                    let first_of_others = first_of_others.map_or(Instant::NEVER, Instant::from_ps);
                    prop_assert_eq!(deadlines.next_of_others(owner), first_of_others);
                }
                deadlines.set(owner, Instant::from_ps(at));
                model[owner] = at;
                let expected = (0..count).min_by_key(|&owner| model[owner]).unwrap();
                prop_assert_eq!(deadlines.owner(), expected);
                prop_assert_eq!(deadlines.next(), Instant::from_ps(model[expected]));
            }
        }
    }
}

//! The least of many values, of which one changes at a time.

/// A minimum of values: the values are the leaves of a binary tree whose nodes hold the lesser of their two
/// children.
#[derive(Clone, Debug)]
pub(super) struct Least {
    /// The nodes of the tree. The root is at 1, the leaves begin in the middle.
    nodes: Vec<u32>,
}

impl Least {
    /// Builds the tree of `count` values, all of them `value`.
    pub(super) fn new(count: usize, value: u32) -> Self {
        let leaves = count.next_power_of_two();
        let mut nodes = vec![u32::MAX; 2 * leaves];
        nodes[leaves..leaves + count].fill(value);
        for node in (1..leaves).rev() {
            nodes[node] = nodes[2 * node].min(nodes[2 * node + 1]);
        }
        Self { nodes }
    }

    /// Returns the value at a place.
    pub(super) fn at(&self, place: usize) -> u32 {
        self.nodes[self.nodes.len() / 2 + place]
    }

    /// Returns the least of all values.
    pub(super) fn least(&self) -> u32 {
        self.nodes[1]
    }

    /// Changes the value at a place. If a node stays as it was, the nodes above it stay as well.
    pub(super) fn set(&mut self, place: usize, value: u32) {
        let mut node = self.nodes.len() / 2 + place;
        self.nodes[node] = value;
        while node > 1 {
            node /= 2;
            let lesser = self.nodes[2 * node].min(self.nodes[2 * node + 1]);
            if self.nodes[node] == lesser {
                break;
            }
            self.nodes[node] = lesser;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_the_least_after_every_change(
            count in 1_usize..40,
            changes in prop::collection::vec((any::<prop::sample::Index>(), 0_u32..50), 0..200),
        ) {
            let mut values = vec![25; count];
            let mut least = Least::new(count, 25);
            prop_assert_eq!(least.least(), 25);
            for (place, value) in changes {
                let place = place.index(count);
                values[place] = value;
                least.set(place, value);
                prop_assert_eq!(least.at(place), value);
                prop_assert_eq!(least.least(), *values.iter().min().unwrap());
            }
        }
    }
}

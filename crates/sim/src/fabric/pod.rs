//! A pod: which of its links are in service, and how many paths its ToR switches have.
//!
//! A link constrains the ToR switches of its own pod alone. Most ToR switches have all their links, so ToR
//! switches are counted by the set of links that they have. The fewest paths, and the links that can be
//! spared, follow from these counts.

use super::topology::{Place, Topology};

/// ToR switches that have one set of links in service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Group {
    /// The set of links: a bit for each aggregation switch that the ToR switches reach.
    links: u64,
    tors: u32,
}

/// The links of one pod that are in service, and the paths over them.
#[derive(Clone, Debug)]
pub(super) struct Pod {
    /// Links in service above each aggregation switch.
    up: Vec<u32>,
    /// Links in service of each ToR switch, a bit for each aggregation switch.
    links: Vec<u64>,
    groups: Vec<Group>,
    /// Paths of all ToR switches together.
    paths: u64,
}

impl Pod {
    /// Builds a pod with every link in service.
    pub(super) fn new(topology: &Topology) -> Self {
        let all = u64::MAX >> (64 - topology.aggs);
        Self {
            up: vec![topology.cores; topology.aggs as usize],
            links: vec![all; topology.tors as usize],
            groups: vec![Group { links: all, tors: topology.tors }],
            paths: u64::from(topology.tors) * u64::from(topology.paths()),
        }
    }

    /// Returns the paths of all ToR switches together.
    pub(super) const fn paths(&self) -> u64 {
        self.paths
    }

    /// Returns the paths of the ToR switch that has the fewest.
    pub(super) fn least_paths(&self) -> u32 {
        self.groups.iter().map(|group| self.paths_over(group.links)).min().unwrap_or(0)
    }

    /// Whether every ToR switch would keep `need` paths without this link, which is in service. ToR switches
    /// that the link does not concern have that many paths already.
    pub(super) fn can_spare(&self, place: Place, need: u32) -> bool {
        match place {
            Place::Lower { tor, agg, .. } => {
                self.paths_over(self.links[tor as usize]) - self.up[agg as usize] >= need
            }
            Place::Upper { agg, .. } => {
                let concerned = self.groups.iter().filter(|group| group.links >> agg & 1 == 1);
                concerned.map(|group| self.paths_over(group.links) - 1).all(|paths| paths >= need)
            }
        }
    }

    /// Whether every ToR switch has `need` paths.
    #[cfg(test)]
    pub(super) fn is_feasible(&self, need: u32) -> bool {
        self.groups.iter().all(|group| self.paths_over(group.links) >= need)
    }

    /// Returns a flag for each ToR switch: whether it has fewer than `need` paths.
    pub(super) fn short_of(&self, need: u32) -> Vec<bool> {
        self.links.iter().map(|&links| self.paths_over(links) < need).collect()
    }

    /// Takes a link out of service, or puts it back.
    pub(super) fn set(&mut self, place: Place, in_service: bool) {
        match place {
            Place::Lower { tor, agg, .. } => self.set_lower(tor as usize, agg, in_service),
            Place::Upper { agg, .. } => self.set_upper(agg, in_service),
        }
    }

    fn set_lower(&mut self, tor: usize, agg: u32, in_service: bool) {
        let (before, bit) = (self.links[tor], 1 << agg);
        let after = if in_service { before | bit } else { before & !bit };
        assert_ne!(before, after, "the link changes");
        self.links[tor] = after;
        self.count(before, false);
        self.count(after, true);
        let up = u64::from(self.up[agg as usize]);
        self.paths = if in_service { self.paths + up } else { self.paths - up };
    }

    fn set_upper(&mut self, agg: u32, in_service: bool) {
        let up = &mut self.up[agg as usize];
        *up = if in_service { *up + 1 } else { *up - 1 };
        let below: u32 =
            self.groups.iter().filter(|group| group.links >> agg & 1 == 1).map(|group| group.tors).sum();
        self.paths = if in_service { self.paths + u64::from(below) } else { self.paths - u64::from(below) };
    }

    /// Counts one ToR switch more with these links, or one less.
    fn count(&mut self, links: u64, is_more: bool) {
        match self.groups.iter().position(|group| group.links == links) {
            Some(place) if is_more => self.groups[place].tors += 1,
            Some(place) if self.groups[place].tors > 1 => self.groups[place].tors -= 1,
            Some(place) => drop(self.groups.swap_remove(place)),
            None => self.groups.push(Group { links, tors: 1 }),
        }
    }

    /// Returns the paths of a ToR switch with these links.
    #[inline]
    fn paths_over(&self, mut links: u64) -> u32 {
        let mut paths = 0;
        while links != 0 {
            paths += self.up[links.trailing_zeros() as usize];
            links &= links - 1;
        }
        paths
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The counts are those of a recount, whatever links leave and come back.
        #[test]
        fn counts_are_those_of_a_recount(changes in prop::collection::vec(any::<prop::sample::Index>(), 1..120)) {
            let topology = Topology::fb_fabric(3, 6, 2).unwrap();
            let mut pod = Pod::new(&topology);
            let of_pod: Vec<u32> = (0..topology.links()).filter(|&link| topology.place(link).pod() == 1).collect();
            let mut out = vec![false; topology.links() as usize];
            for change in changes {
                let link = of_pod[change.index(of_pod.len())];
                let place = topology.place(link);
                let need = 3;
                if !out[link as usize] {
                    let mut without = pod.clone();
                    without.set(place, false);
                    let spared = pod.short_of(need).iter().zip(without.short_of(need)).all(|(&a, b)| a == b);
                    if pod.is_feasible(need) {
                        prop_assert_eq!(pod.can_spare(place, need), spared);
                    }
                }
                out[link as usize] ^= true;
                pod.set(place, !out[link as usize]);
                let up = |agg| (0..topology.cores)
                    .filter(|&core| !out[topology.link(Place::Upper { pod: 1, agg, core }) as usize])
                    .count() as u32;
                let paths: Vec<u32> = (0..topology.tors).map(|tor| (0..topology.aggs)
                    .filter(|&agg| !out[topology.link(Place::Lower { pod: 1, tor, agg }) as usize])
                    .map(up).sum()).collect();
                prop_assert_eq!(pod.least_paths(), *paths.iter().min().unwrap());
                prop_assert_eq!(pod.paths(), paths.iter().map(|&paths| u64::from(paths)).sum::<u64>());
                prop_assert_eq!(pod.is_feasible(need), paths.iter().all(|&paths| paths >= need));
            }
        }
    }
}

//! The shape of a fabric of three tiers, and the names of its links.
//!
//! ```text
//!   core  core  core     plane 0        core  core  core     plane 1
//!     \    |    /                         \    |    /
//!      agg 0 of every pod                  agg 1 of every pod
//!          \________________   ______________/
//!                           \ /
//!                       ToR of a pod
//! ```
//!
//! Each ToR switch joins every aggregation switch of its pod, and aggregation switch *a* of each pod joins
//! every core switch of plane *a*. A path of a ToR goes up one of its links and one of that aggregation
//! switch's.

use crate::ConfigError;

/// Most aggregation switches of a pod: the set of a ToR's links is one word.
const MOST_AGGS: u32 = 64;

/// A fabric of three tiers, of either published family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Topology {
    /// Number of pods.
    pub pods: u32,
    /// ToR switches of a pod.
    pub tors: u32,
    /// Aggregation switches of a pod, which is also the number of planes.
    pub aggs: u32,
    /// Core switches of a plane.
    pub cores: u32,
    /// Pipes of a ToR switch, of an aggregation switch and of a core switch: the parts of a switching chip that
    /// share buffers.
    pub pipes: [u32; 3],
}

/// Ports of a pipe, in a switch with as many pipes as its ports need.
const PIPE_PORTS: u32 = 16;

/// The place of a link in the fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A link below an aggregation switch.
    Lower {
        /// The pod of the link.
        pod: u32,
        /// The ToR switch, by its number in the pod.
        tor: u32,
        /// The aggregation switch, by its number in the pod.
        agg: u32,
    },
    /// A link above an aggregation switch.
    Upper {
        /// The pod of the link.
        pod: u32,
        /// The plane, which is also the number of the aggregation switch in the pod.
        agg: u32,
        /// The core switch, by its number in the plane.
        core: u32,
    },
}

impl Place {
    /// Returns the pod of the link.
    pub const fn pod(self) -> u32 {
        match self {
            Self::Lower { pod, .. } | Self::Upper { pod, .. } => pod,
        }
    }
}

impl Topology {
    /// Builds the fabric of `pods` pods with `tors` ToR switches each, four planes, and `oversubscription` ToR
    /// switches for each core switch of a plane.
    ///
    /// # Errors
    /// If a size is zero, or the oversubscription does not divide the ToR switches of a pod.
    pub fn fb_fabric(pods: u32, tors: u32, oversubscription: u32) -> Result<Self, ConfigError> {
        if pods == 0 || tors == 0 || oversubscription == 0 {
            return Err(ConfigError(
                "a fabric has a pod, a ToR and an oversubscription of at least 1".into(),
            ));
        }
        if !tors.is_multiple_of(oversubscription) {
            return Err(ConfigError(format!(
                "an oversubscription of {oversubscription} does not divide {tors} ToR switches of a pod; take a divisor"
            )));
        }
        let pipes = [2, 6, pods.div_ceil(PIPE_PORTS)];
        Ok(Self { pods, tors, aggs: 4, cores: tors / oversubscription, pipes })
    }

    /// Builds the fat tree of switches with `k` ports.
    ///
    /// # Errors
    /// If `k` is odd, zero, or needs more aggregation switches than `MOST_AGGS`.
    pub fn fat_tree(k: u32) -> Result<Self, ConfigError> {
        if k == 0 || !k.is_multiple_of(2) || k / 2 > MOST_AGGS {
            let most = 2 * MOST_AGGS;
            return Err(ConfigError(format!("a fat tree needs an even k from 2 to {most}, not {k}")));
        }
        let pipes = [k.div_ceil(PIPE_PORTS); 3];
        Ok(Self { pods: k, tors: k / 2, aggs: k / 2, cores: k / 2, pipes })
    }

    /// Returns how many links there are between ToR and aggregation switches.
    pub const fn lower_links(&self) -> u32 {
        self.pods * self.aggs * self.tors
    }

    /// Returns how many links there are between aggregation and core switches.
    pub const fn upper_links(&self) -> u32 {
        self.pods * self.aggs * self.cores
    }

    /// Returns how many links there are in all.
    pub const fn links(&self) -> u32 {
        self.lower_links() + self.upper_links()
    }

    /// Returns how many paths lead from a ToR switch to the core where every link is in service.
    pub const fn paths(&self) -> u32 {
        self.aggs * self.cores
    }

    /// Returns the place of the link with a number. The links below aggregation switches come first, pod by pod and
    /// ToR by ToR; the links above them follow, plane by plane and core by core.
    pub const fn place(&self, link: u32) -> Place {
        let Some(above) = link.checked_sub(self.lower_links()) else {
            let (pod, rest) = (link / (self.aggs * self.tors), link % (self.aggs * self.tors));
            return Place::Lower { pod, tor: rest / self.aggs, agg: rest % self.aggs };
        };
        let (agg, rest) = (above / (self.cores * self.pods), above % (self.cores * self.pods));
        Place::Upper { pod: rest % self.pods, agg, core: rest / self.pods }
    }

    /// Returns the number of the link at a place.
    pub const fn link(&self, place: Place) -> u32 {
        match place {
            Place::Lower { pod, tor, agg } => (pod * self.tors + tor) * self.aggs + agg,
            Place::Upper { pod, agg, core } => {
                self.lower_links() + (agg * self.cores + core) * self.pods + pod
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fabric of the published evaluation.
    #[test]
    fn the_published_fabric_has_its_numbers() {
        let fabric = Topology::fb_fabric(261, 48, 1).unwrap();
        assert_eq!((fabric.links(), fabric.paths(), fabric.cores), (100_224, 192, 48));
        let tree = Topology::fat_tree(8).unwrap();
        assert_eq!((tree.links(), tree.paths()), (256, 16));
    }

    #[test]
    fn each_link_has_a_place_of_its_own() {
        for fabric in [Topology::fb_fabric(6, 16, 2).unwrap(), Topology::fat_tree(6).unwrap()] {
            for link in 0..fabric.links() {
                assert_eq!(fabric.link(fabric.place(link)), link);
            }
        }
    }

    #[test]
    fn sizes_that_do_not_fit_are_refused() {
        assert!(Topology::fb_fabric(6, 16, 3).is_err());
        assert!(Topology::fb_fabric(0, 16, 1).is_err());
        assert!(Topology::fat_tree(7).is_err());
        assert!(Topology::fat_tree(130).is_err());
    }
}

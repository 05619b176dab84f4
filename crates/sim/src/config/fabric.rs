//! The section of a fabric: its shape, the failures and repairs of its links, and the performance of the protection.

use serde::Deserialize;

/// A fabric of switches and its links' failures and repairs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FabricConfig {
    /// The shape of the fabric.
    pub topology: TopologyConfig,
    /// Paths to the core that each ToR switch keeps, in millionths of its paths in a healthy fabric.
    pub constraint_ppm: u32,
    /// Pods whose links are protected, in millionths of all pods.
    pub deployment_ppm: u32,
    /// Years to simulate, each with its own failures and repairs.
    pub years: u64,
    /// Mean time between two failures of a link, in hours.
    pub mttf_h: f64,
    /// Time from the first failure to the last possible one, in hours.
    pub span_h: u32,
    /// Time of a repair whose first attempt succeeds, in seconds.
    pub repair_s: u32,
    /// Time of a repair that needs a second attempt, in seconds.
    pub second_repair_s: u32,
    /// Share of repairs whose first attempt succeeds.
    pub first_attempt: f64,
    /// Recorded failures: second, link and loss ratio. Failures are drawn if not given.
    pub failures: Option<Vec<(u32, u32, f64)>>,
    /// The points at which the performance of the protection is known.
    pub points: PointsConfig,
}

/// The shape of a fabric.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(tag = "family", rename_all = "kebab-case", deny_unknown_fields)]
pub enum TopologyConfig {
    /// Facebook's fabric of four planes.
    FbFabric {
        /// Number of pods.
        pods: u32,
        /// ToR switches of a pod.
        tors: u32,
        /// ToR switches of a pod for each core switch of a plane.
        oversubscription: u32,
    },
    /// A fat tree.
    FatTree {
        /// Ports of a switch.
        k: u32,
    },
}

/// The source of the points of a protection: the performance of links under it.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "from", rename_all = "kebab-case", deny_unknown_fields)]
pub enum PointsConfig {
    /// The simulator of a link tries the protection.
    Simulation {
        /// Copies of the link in which a loss is steered, for each point.
        looks: u64,
    },
    /// Measured points: loss ratio, the loss that remains, and the bits per second that the link carries.
    Table {
        /// The points, in ascending order of their loss ratio.
        points: Vec<(f64, f64, u64)>,
        /// Whether a loss ratio between two points gets the values of the nearest point; else the values are
        /// interpolated.
        nearest: bool,
    },
}

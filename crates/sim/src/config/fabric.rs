//! The section of a whole fabric: its shape, how its links fail and are repaired, and what is known of the protection.

use serde::Deserialize;

/// A fabric of switches and its links' failures and repairs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FabricConfig {
    /// Its shape.
    pub topology: TopologyConfig,
    /// Paths that each ToR switch keeps, in millionths of those of a healthy fabric.
    pub constraint_ppm: u32,
    /// Pods whose links are protected, in millionths of all.
    pub deployment_ppm: u32,
    /// Years, each with its own failures and repairs.
    pub years: u64,
    /// Mean time between two failures of a link.
    pub mttf_h: f64,
    /// Time from the first failure to the last possible one.
    pub span_h: u32,
    /// A repair whose first attempt succeeds.
    pub repair_s: u32,
    /// A repair that needs a second attempt.
    pub second_repair_s: u32,
    /// Share of repairs whose first attempt succeeds.
    pub first_attempt: f64,
    /// Recorded failures: second, link and ratio. They are drawn if not given.
    pub failures: Option<Vec<(u32, u32, f64)>>,
    /// What is known of the protection.
    pub points: PointsConfig,
}

/// The shape of a fabric.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(tag = "family", rename_all = "kebab-case", deny_unknown_fields)]
pub enum TopologyConfig {
    /// Facebook's fabric of four planes.
    FbFabric {
        /// Pods.
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

/// Where it is known from what a protection makes of a link.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "from", rename_all = "kebab-case", deny_unknown_fields)]
pub enum PointsConfig {
    /// The simulator of a link tries it.
    Simulation {
        /// Copies of the link in which a loss is steered, for each point.
        looks: u64,
    },
    /// Measured points: loss, what remains of it, bits per second that the link carries.
    Table {
        /// They ascend in loss.
        points: Vec<(f64, f64, u64)>,
        /// Whether the nearest point stands for a loss between two; the values between them otherwise.
        nearest: bool,
    },
}

//! The parts of a fabric, built from a configuration and checked.

use crate::ConfigError;
use crate::config::{Config, FabricConfig, PointsConfig, TopologyConfig};
use crate::fabric::{Failure, RepairTimes, Topology, Wear, failures};
use lossylink_core::probability::Probability;
use lossylink_core::protection::Protection;
use lossylink_core::rng::{RngCore, Streams};

/// The unit of capacities: a hundredth of a Gb/s, in bits per second.
pub(super) const CAPACITY_BPS: u64 = 10_000_000;
/// The most hours of a trace: 57 years.
const MOST_HOURS: u32 = 500_000;
/// The most failures that a trace may be expected to have.
const MOST_FAILURES: f64 = 2e7;
/// The longest repair, in seconds: a year.
const MOST_REPAIR_S: u32 = 31_536_000;
/// The most links of a fabric.
const MOST_LINKS: u64 = 20_000_000;

/// A configuration of a fabric.
#[derive(Debug)]
pub(super) struct Setup<'a> {
    pub(super) config: &'a Config,
    pub(super) section: &'a FabricConfig,
    pub(super) topology: Topology,
    pub(super) repair_times: RepairTimes,
    recorded: Option<Vec<Failure>>,
}

impl<'a> Setup<'a> {
    pub(super) fn new(config: &'a Config, section: &'a FabricConfig) -> Result<Self, ConfigError> {
        let topology = topology(section.topology)?;
        let refuse = |words: String| Err(ConfigError(words));
        if config.pcap.is_some() || !config.state_at_ps.is_empty() {
            return refuse("a fabric has no packets to record and no ends to look at; leave that out".into());
        }
        let rate_bps = config.link.rate_bps;
        if rate_bps == 0 || !rate_bps.is_multiple_of(CAPACITY_BPS) {
            return refuse("link.rate is no multiple of 10 Mb/s, the unit of a fabric's capacities".into());
        }
        // The tier below the aggregation switches never has the smaller capacity.
        let tier = u64::from(topology.aggs * topology.tors) * (rate_bps / CAPACITY_BPS);
        if tier > u64::from(u32::MAX) {
            return refuse("a pod carries more than 42 Pb/s; take fewer ToR switches a pod".into());
        }
        if section.constraint_ppm > 1_000_000 {
            return refuse("fabric.constraint is above 100 %; write a share of the paths".into());
        }
        if section.deployment_ppm > 1_000_000 {
            return refuse("fabric.deployment is above 100 %; write a share of the pods".into());
        }
        if section.span_h == 0 || section.span_h > MOST_HOURS {
            return refuse(format!("fabric.span is not within 1 to {MOST_HOURS} hours"));
        }
        if !(1.0..=1e9).contains(&section.mttf_h) {
            return refuse("fabric.mttf is shorter than an hour, or longer than 1e9 hours".into());
        }
        let expected = f64::from(topology.links()) * f64::from(section.span_h) / section.mttf_h;
        if section.failures.is_none() && expected > MOST_FAILURES {
            return refuse(format!(
                "{expected:.0} failures are expected, and {MOST_FAILURES:.0} are the most; shorten fabric.span"
            ));
        }
        for (name, repair_s) in
            [("fabric.repair", section.repair_s), ("fabric.second_repair", section.second_repair_s)]
        {
            if repair_s == 0 || repair_s > MOST_REPAIR_S {
                return refuse(format!("{name} is not within a second and a year"));
            }
        }
        let Some(first_attempt) = Probability::new(section.first_attempt) else {
            return refuse(format!("fabric.first_attempt = {} is no share", section.first_attempt));
        };
        if let PointsConfig::Table { points, .. } = &section.points {
            check_points(points)?;
        }
        let repair_times =
            RepairTimes { first_attempt, first_s: section.repair_s, second_s: section.second_repair_s };
        let recorded = section.failures.as_deref().map(|events| recorded(&topology, events)).transpose()?;
        Ok(Self { config, section, topology, repair_times, recorded })
    }

    /// Returns the capacity of a link without corruption, in hundredths of Gb/s.
    pub(super) fn full(&self) -> u32 {
        (self.config.link.rate_bps / CAPACITY_BPS) as u32
    }

    /// Returns the capacity of a healthy pod: that of the lesser of its two tiers, in hundredths of Gb/s.
    pub(super) fn pod(&self) -> f64 {
        let Topology { tors, aggs, cores, .. } = self.topology;
        f64::from(aggs) * f64::from(tors.min(cores)) * f64::from(self.full())
    }

    /// Whether there is a protection.
    pub(super) fn protects(&self) -> bool {
        self.config.protection != Protection::None && self.section.deployment_ppm > 0
    }

    /// Returns the failures of a recorded trace; `None` if they are drawn.
    pub(super) fn recorded(&self) -> Option<&[Failure]> {
        self.recorded.as_deref()
    }

    /// Draws the failures of a year that has none recorded.
    pub(super) fn failures(&self, streams: &Streams) -> Vec<Failure> {
        if self.recorded.is_some() {
            return Vec::new();
        }
        let wear = Wear { mttf_h: self.section.mttf_h, span_h: self.section.span_h };
        failures(self.topology.links(), wear, &mut streams.stream("failures"))
    }

    /// Draws the pods that are protected, at random; `None` if all are.
    pub(super) fn protected_pods(&self, streams: &Streams) -> Option<Vec<bool>> {
        if self.section.deployment_ppm == 1_000_000 {
            return None;
        }
        let pods = self.topology.pods as usize;
        let share = u64::from(self.topology.pods) * u64::from(self.section.deployment_ppm);
        let count = share.div_ceil(1_000_000) as usize;
        let mut draws = streams.stream("deployment");
        let mut order: Vec<usize> = (0..pods).collect();
        // Fisher and Yates, from the front: the first of the order are drawn.
        for place in 0..count {
            let other = place + (draws.next_u64() % (pods - place) as u64) as usize;
            order.swap(place, other);
        }
        let mut protected = vec![false; pods];
        order[..count].iter().for_each(|&pod| protected[pod] = true);
        Some(protected)
    }
}

fn topology(config: TopologyConfig) -> Result<Topology, ConfigError> {
    let (topology, links) = match config {
        TopologyConfig::FbFabric { pods, tors, oversubscription } => {
            let links = 4
                * u64::from(pods)
                * (u64::from(tors) + u64::from(tors) / u64::from(oversubscription.max(1)));
            (Topology::fb_fabric(pods, tors, oversubscription)?, links)
        }
        TopologyConfig::FatTree { k } => (Topology::fat_tree(k)?, u64::from(k).pow(3) / 2),
    };
    if links > MOST_LINKS {
        return Err(ConfigError(format!(
            "a fabric of {links} links is larger than {MOST_LINKS}; take fewer pods"
        )));
    }
    Ok(topology)
}

fn recorded(topology: &Topology, events: &[(u32, u32, f64)]) -> Result<Vec<Failure>, ConfigError> {
    let mut before = None;
    let mut failures = Vec::with_capacity(events.len());
    for &(at_s, link, loss) in events {
        let refuse = |words: String| Err(ConfigError(format!("the trace: {words}")));
        if link >= topology.links() {
            let links = topology.links();
            return refuse(format!(
                "link {link} at {at_s} s is not one of the fabric's {links}, which begin at 0"
            ));
        }
        if !(1e-18..=1.0).contains(&loss) {
            return refuse(format!(
                "link {link} at {at_s} s loses {loss}, which is no ratio from 1e-18 to 1"
            ));
        }
        if before.is_some_and(|before| before >= at_s) {
            return refuse(format!(
                "the failure of link {link} at {at_s} s does not come after the one before it"
            ));
        }
        if at_s > MOST_HOURS * 3600 {
            return refuse(format!("the failure of link {link} at {at_s} s is beyond {MOST_HOURS} hours"));
        }
        before = Some(at_s);
        failures.push(Failure { at_s, link, loss });
    }
    if failures.is_empty() {
        return Err(ConfigError("the trace has no failures".into()));
    }
    Ok(failures)
}

fn check_points(points: &[(f64, f64, u64)]) -> Result<(), ConfigError> {
    let refuse = |words: &str| Err(ConfigError(format!("fabric.points: {words}")));
    let ratio = 1e-40..=1.0;
    if points.is_empty() {
        return refuse("there are none");
    }
    if points.iter().any(|(loss, effective, _)| !ratio.contains(loss) || !ratio.contains(effective)) {
        return refuse("a loss is no ratio above 0 and up to 1");
    }
    if !points.is_sorted_by(|a, b| a.0 < b.0) {
        return refuse("their losses do not ascend");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded_failures_are_of_this_fabric_and_ascend() {
        let fabric = Topology::fat_tree(4).unwrap();
        let words = |events: &[(u32, u32, f64)]| recorded(&fabric, events).unwrap_err().to_string();
        assert_eq!(recorded(&fabric, &[(5, 31, 1e-3), (6, 0, 1e-8)]).unwrap().len(), 2);
        assert_eq!(
            words(&[(5, 32, 1e-3)]),
            "the trace: link 32 at 5 s is not one of the fabric's 32, which begin at 0"
        );
        assert!(words(&[(5, 1, 1e-3), (5, 2, 1e-3)]).ends_with("does not come after the one before it"));
        assert!(words(&[(5, 1, 1.5)]).contains("loses 1.5"));
        assert_eq!(words(&[]), "the trace has no failures");
    }

    #[test]
    fn points_ascend_and_are_ratios() {
        assert!(check_points(&[(1e-5, 1e-9, 99), (1e-3, 1e-9, 90)]).is_ok());
        assert!(check_points(&[]).is_err());
        assert!(check_points(&[(1e-3, 1e-9, 90), (1e-5, 1e-9, 99)]).is_err());
        assert!(check_points(&[(1e-3, 0.0, 90)]).is_err());
    }
}

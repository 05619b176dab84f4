//! Invariants that hold after every event, recounted from scratch.

use super::*;
use crate::fabric::{Between, Point};
use proptest::prelude::*;

/// Repairs that take one of two times, in a fixed pseudo-random order.
struct Drawn(u32);

impl Repairs for Drawn {
    fn takes_s(&mut self, link: u32) -> u32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223 ^ link);
        if self.0 >> 30 == 0 { 90 } else { 40 }
    }
}

fn plan(topology: Topology, constraint_ppm: u32, pods: Option<Vec<bool>>) -> Plan {
    let point = |loss, effective_loss, carried| Point { loss, effective_loss, carried };
    let points = vec![point(1e-6, 1e-12, 9_990), point(1e-2, 1e-8, 6_000)];
    let performance = Performance::new(points, Between::Interpolated);
    Plan { topology, constraint_ppm, full: 10_000, protection: Some(Protection { performance, pods }) }
}

/// Counts every figure of a row link by link.
fn recount(year: &Year<'_, Drawn>, at_s: u32) -> Row {
    let (topology, plan) = (year.plan.topology, year.plan);
    let mut row = Row {
        at_s,
        penalty: Sum::default(),
        bare: Side::default(),
        protected: Side::default(),
        paths: 0,
        least_paths: u32::MAX,
        max_loss: HEALTHY_LOSS,
        disabled: 0,
        corrupting: 0,
    };
    let pods = topology.pods as usize;
    let (mut bare, mut carried) = (vec![[0_u32; 2]; pods], vec![[0_u32; 2]; pods]);
    for (link, state) in year.links.iter().enumerate() {
        let place = topology.place(link as u32);
        let (pod, tier) = (place.pod() as usize, usize::from(matches!(place, Place::Upper { .. })));
        let (raw, effective, share) = match *state {
            State::Disabled => {
                row.disabled += 1;
                continue;
            }
            State::Healthy => (HEALTHY_LOSS, HEALTHY_LOSS, plan.full),
            State::Corrupting { raw, .. } => {
                row.corrupting += 1;
                let protection = year.protection_of(place);
                let (effective, share) = protection.map_or((raw, plan.full), |known| known.at(raw));
                (raw, effective, share)
            }
        };
        row.penalty += Sum::of(raw);
        row.bare.penalty += Sum::of(raw);
        row.protected.penalty += Sum::of(effective);
        row.max_loss = row.max_loss.max(raw);
        bare[pod][tier] += plan.full;
        carried[pod][tier] += share;
    }
    for (side, tiers) in [(&mut row.bare, bare), (&mut row.protected, carried)] {
        let least = || tiers.iter().map(|[lower, upper]| *lower.min(upper));
        side.capacity = least().map(u64::from).sum();
        side.least_capacity = least().min().unwrap();
    }
    for pod in 0..topology.pods {
        for tor in 0..topology.tors {
            let paths = paths_of(year, pod, tor);
            row.paths += u64::from(paths);
            row.least_paths = row.least_paths.min(paths);
        }
    }
    row.protected.ports = most_ports(year);
    row
}

fn is_up(year: &Year<'_, Drawn>, place: Place) -> bool {
    year.links[year.plan.topology.link(place) as usize] != State::Disabled
}

fn paths_of(year: &Year<'_, Drawn>, pod: u32, tor: u32) -> u32 {
    let topology = year.plan.topology;
    let up = |agg| (0..topology.cores).filter(|&core| is_up(year, Place::Upper { pod, agg, core })).count();
    let reached = (0..topology.aggs).filter(|&agg| is_up(year, Place::Lower { pod, tor, agg }));
    reached.map(up).sum::<usize>() as u32
}

/// Counts the most protected ports of a pipe: ports are dealt out in turn, as the module `pipes` says.
fn most_ports(year: &Year<'_, Drawn>) -> u32 {
    let topology = year.plan.topology;
    let mut ports: BTreeMap<(u8, u32, u32, u32), u32> = BTreeMap::new();
    for (link, state) in year.links.iter().enumerate() {
        if !matches!(state, State::Corrupting { is_protected: true, .. }) {
            continue;
        }
        let [tor_pipes, agg_pipes, core_pipes] = topology.pipes;
        let ends = match topology.place(link as u32) {
            Place::Lower { pod, tor, agg } => {
                [(0, pod, tor, agg % tor_pipes), (1, pod, agg, tor % agg_pipes)]
            }
            Place::Upper { pod, agg, core } => {
                [(1, pod, agg, (topology.tors + core) % agg_pipes), (2, agg, core, pod % core_pipes)]
            }
        };
        ends.into_iter().for_each(|end| *ports.entry(end).or_default() += 1);
    }
    ports.into_values().max().unwrap_or(0)
}

fn any_topology() -> impl Strategy<Value = Topology> {
    prop_oneof![
        (1_u32..4, 1_u32..4).prop_map(|(pods, half)| Topology::fb_fabric(pods, 2 * half, 2).unwrap()),
        (1_u32..4).prop_map(|half| Topology::fat_tree(2 * half).unwrap()),
    ]
}

proptest! {
    /// After every event the row is that of a recount, no ToR switch has fewer paths than it must keep, and every
    /// corrupting link in service is one that its pod cannot spare.
    #[test]
    fn a_recount_finds_the_same_and_nothing_is_left_to_do(
        topology in any_topology(),
        percent in 0_u32..=100,
        events in prop::collection::vec((any::<prop::sample::Index>(), 1_u32..30, -8.0..-2.0_f64), 1..80),
        deployed in prop::option::of(prop::collection::vec(any::<bool>(), 6)),
    ) {
        let pods = deployed.map(|pods| pods[..topology.pods.min(6) as usize].to_vec());
        let plan = plan(topology, percent * 10_000, pods);
        let mut at_s = 0;
        let failures: Vec<Failure> = events.into_iter().map(|(link, later, power)| {
            at_s += later;
            let link = link.index(topology.links() as usize) as u32;
            Failure { at_s, link, loss: 10.0_f64.powf(power) }
        }).collect();
        let mut year = Year::new(&plan, Drawn(7));
        failures.iter().for_each(|failure| { year.claim(failure.at_s); });
        let need = plan.least_paths();
        let mut rest = failures.iter().peekable();
        loop {
            let failure = rest.peek().map_or(u32::MAX, |failure| failure.at_s);
            let due = year.due.peek().map_or(u32::MAX, |Reverse((at_s, _))| *at_s);
            year.event += 1;
            let now_s = if due < failure {
                let Some(Reverse((at_s, link))) = year.due.pop() else { break };
                year.repair(at_s, link);
                at_s
            } else {
                let Some(failure) = rest.next() else { break };
                year.fail(failure);
                failure.at_s
            };
            prop_assert_eq!(year.row(now_s), recount(&year, now_s));
            for pod in 0..topology.pods {
                prop_assert!((0..topology.tors).all(|tor| paths_of(&year, pod, tor) >= need));
            }
            for (link, state) in year.links.iter().enumerate() {
                if matches!(state, State::Corrupting { .. }) {
                    let place = topology.place(link as u32);
                    prop_assert!(!year.pods[place.pod() as usize].can_spare(place, need), "link {} could go", link);
                }
            }
        }
        // All links that failed have been repaired, unless they had to stay in service.
        prop_assert_eq!(year.disabled, 0);
    }
}

//! A fabric through its failures and repairs, with and without a protection of its corrupting links.
//!
//! CorrOpt takes a corrupting link out of service if every ToR switch below it keeps enough paths, and looks again
//! whenever a link comes back. A protection lets a corrupting link lose less and carry less, and changes none of these
//! decisions. So both are computed in one pass.

use super::exact::Sum;
use super::least::Least;
use super::optimizer::{Corrupting, to_disable};
use super::performance::Performance;
use super::pipes::Pipes;
use super::pod::Pod;
use super::topology::{Place, Topology};
use crate::Stop;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// The loss ratio of a link that does not corrupt, as published.
const HEALTHY_LOSS: f64 = 1e-18;

/// A failure of a link: the link begins to corrupt, or its loss ratio changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Failure {
    /// Seconds since the start of the trace; no two failures share one.
    pub at_s: u32,
    /// The number of the link.
    pub link: u32,
    /// The loss ratio of the link from now on.
    pub loss: f64,
}

/// A source of repair times, and of the order in which links leave service that leave it together.
pub trait Repairs {
    /// Returns how long the repair of a link takes, in seconds.
    fn takes_s(&mut self, link: u32) -> u32;

    /// Reorders the links that leave service with one event; `event` is its number, which counts from one.
    fn order(&mut self, _event: u64, _links: &mut [u32]) {}
}

/// The fabric, its constraint and its protection.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The shape of the fabric.
    pub topology: Topology,
    /// Paths that each ToR switch keeps, in millionths of its paths in a healthy fabric, rounded up to a path.
    pub constraint_ppm: u32,
    /// The capacity of a link without corruption, in hundredths of Gb/s.
    pub full: u32,
    /// The protection of corrupting links that stay in service.
    pub protection: Option<Protection>,
}

/// A protection of the links of a fabric.
#[derive(Clone, Debug)]
pub struct Protection {
    /// The performance of a protected link.
    pub performance: Performance,
    /// Whether the links below the aggregation switches of each pod are protected; if not given, all links of the fabric
    /// are.
    pub pods: Option<Vec<bool>>,
}

impl Plan {
    /// Returns the paths that each ToR switch keeps.
    pub fn least_paths(&self) -> u32 {
        let paths = u64::from(self.topology.paths()) * u64::from(self.constraint_ppm);
        paths.div_ceil(1_000_000) as u32
    }
}

/// The figures that differ between a fabric with a protection and one without.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Side {
    /// The effective penalty: the sum, over the links in service, of the loss ratio that hosts see on each.
    pub penalty: Sum,
    /// The capacity of the fabric: the sum, over the pods, of the capacity of the lesser of the pod's two tiers, in
    /// hundredths of Gb/s.
    pub capacity: u64,
    /// The least capacity of a pod, in hundredths of Gb/s.
    pub least_capacity: u32,
    /// The most protected ports of any pipe.
    pub ports: u32,
}

/// The state of the fabric after an event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// The time of the event, in seconds.
    pub at_s: u32,
    /// The penalty: the sum, over the links in service, of the loss ratio of each without protection.
    pub penalty: Sum,
    /// The figures of the fabric without a protection.
    pub bare: Side,
    /// The figures of the fabric with the protection.
    pub protected: Side,
    /// Paths of all ToR switches together.
    pub paths: u64,
    /// Paths of the ToR switch that has the fewest.
    pub least_paths: u32,
    /// The greatest loss ratio of a link in service.
    pub max_loss: f64,
    /// Links out of service.
    pub disabled: u32,
    /// Corrupting links in service.
    pub corrupting: u32,
}

/// Counts of the events of a year.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Failures of links in service.
    pub failures: u64,
    /// Failures of links out of service, which change nothing.
    pub skipped: u64,
    /// Repairs of links, which then came back into service.
    pub repairs: u64,
    /// Failures after which the link stayed in service.
    pub refused: u64,
}

/// A link that corrupts, or is out of service.
#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Healthy,
    Corrupting {
        raw: f64,
        /// The link under a protection: the loss ratio that remains, and the rate that it carries in hundredths of Gb/s.
        effective: f64,
        carried: u32,
        is_protected: bool,
    },
    Disabled,
}

/// Capacities of the two tiers of a pod, in hundredths of Gb/s.
#[derive(Clone, Copy, Debug)]
struct Tiers {
    lower: u32,
    upper: u32,
}

impl Tiers {
    const fn least(self) -> u32 {
        if self.lower < self.upper { self.lower } else { self.upper }
    }

    const fn of(&mut self, place: Place) -> &mut u32 {
        match place {
            Place::Lower { .. } => &mut self.lower,
            Place::Upper { .. } => &mut self.upper,
        }
    }
}

/// Capacities of all pods, and the sum of the lesser tiers.
#[derive(Clone, Debug)]
struct Capacities {
    tiers: Vec<Tiers>,
    pods: Least,
    sum: u64,
}

impl Capacities {
    fn new(topology: &Topology, full: u32) -> Self {
        let (lower, upper) = (topology.tors * topology.aggs * full, topology.aggs * topology.cores * full);
        let tiers = Tiers { lower, upper };
        let pods = topology.pods as usize;
        let sum = u64::from(tiers.least()) * u64::from(topology.pods);
        Self { tiers: vec![tiers; pods], pods: Least::new(pods, tiers.least()), sum }
    }

    /// Changes the capacity of the link at `place` from `from` to `to`.
    fn change(&mut self, place: Place, from: u32, to: u32) {
        let pod = place.pod() as usize;
        let tier = self.tiers[pod].of(place);
        *tier = *tier - from + to;
        let least = self.tiers[pod].least();
        self.sum = self.sum - u64::from(self.pods.at(pod)) + u64::from(least);
        self.pods.set(pod, least);
    }
}

/// A fabric in the course of its failures and repairs.
pub struct Year<'a, R> {
    plan: &'a Plan,
    need: u32,
    healthy: Sum,
    repairs: R,
    links: Vec<State>,
    pods: Vec<Pod>,
    /// The paths of the ToR switch with the fewest, for each pod.
    least_paths: Least,
    paths: u64,
    /// Corrupting links in service of each pod.
    corrupting: Vec<Vec<u32>>,
    corrupting_count: u32,
    disabled: u32,
    /// How many links in service have each loss ratio. The key is the bits of the ratio, which ascend with the ratio.
    losses: BTreeMap<u64, u32>,
    penalty: Sum,
    effective: Sum,
    bare: Capacities,
    carried: Capacities,
    pipes: Pipes,
    /// A bit for each second, set if an event happens at it at any time.
    used: Vec<u64>,
    /// Repairs under way, the earliest first.
    due: BinaryHeap<Reverse<(u32, u32)>>,
    event: u64,
    counts: Counts,
    stop: Stop,
}

impl<'a, R: Repairs> Year<'a, R> {
    /// Builds a healthy fabric.
    pub fn new(plan: &'a Plan, repairs: R) -> Self {
        let topology = &plan.topology;
        let healthy = Sum::of(HEALTHY_LOSS);
        let (pod, full) = (Pod::new(topology), plan.full);
        let all = healthy.times(topology.links());
        Self {
            need: plan.least_paths(),
            healthy,
            repairs,
            links: vec![State::Healthy; topology.links() as usize],
            least_paths: Least::new(topology.pods as usize, pod.least_paths()),
            paths: pod.paths() * u64::from(topology.pods),
            pods: vec![pod; topology.pods as usize],
            corrupting: vec![Vec::new(); topology.pods as usize],
            corrupting_count: 0,
            disabled: 0,
            losses: BTreeMap::new(),
            penalty: all,
            effective: all,
            bare: Capacities::new(topology, full),
            carried: Capacities::new(topology, full),
            pipes: Pipes::new(topology),
            used: Vec::new(),
            due: BinaryHeap::new(),
            event: 0,
            counts: Counts::default(),
            plan,
            stop: Stop::default(),
        }
    }

    /// Returns this fabric with `stop`: its run ends before its time when `stop` is asked for.
    #[must_use]
    pub fn stopping(self, stop: &Stop) -> Self {
        Self { stop: stop.clone(), ..self }
    }

    /// Lives through all failures, which ascend in time, and all repairs after them; `see` gets the state before the first
    /// event, and after each.
    pub fn run(mut self, failures: &[Failure], mut see: impl FnMut(&Row)) -> Counts {
        for failure in failures {
            self.claim(failure.at_s);
        }
        see(&self.row(failures.first().map_or(0, |first| first.at_s)));
        let mut failures = failures.iter().peekable();
        while !self.stop.is_asked() {
            let failure = failures.peek().map_or(u32::MAX, |failure| failure.at_s);
            let repair = self.due.peek().map_or(u32::MAX, |Reverse((at_s, _))| *at_s);
            self.event += 1;
            if repair < failure {
                let Some(Reverse((at_s, link))) = self.due.pop() else { break };
                self.repair(at_s, link);
                see(&self.row(at_s));
            } else {
                let Some(failure) = failures.next() else { break };
                self.fail(failure);
                see(&self.row(failure.at_s));
            }
        }
        self.counts
    }

    fn fail(&mut self, failure: &Failure) {
        let &Failure { at_s, link, loss } = failure;
        let place = self.plan.topology.place(link);
        let before = self.links[link as usize];
        if before == State::Disabled {
            self.counts.skipped += 1;
            return;
        }
        self.counts.failures += 1;
        self.corrupt(link, place, before, loss);
        if self.pods[place.pod() as usize].can_spare(place, self.need) {
            self.disable(at_s, link);
        } else {
            self.counts.refused += 1;
        }
    }

    /// Sets the loss ratio of a link in service to `raw`; a protection is switched on before any link leaves service.
    fn corrupt(&mut self, link: u32, place: Place, before: State, raw: f64) {
        self.forget(link, place, before);
        let (full, protection) = (self.plan.full, self.protection_of(place));
        let is_protected = protection.is_some();
        let (effective, carried) = protection.map_or((raw, full), |performance| performance.at(raw));
        self.penalty += Sum::of(raw);
        self.effective += Sum::of(effective);
        self.carried.change(place, full, carried);
        *self.losses.entry(raw.to_bits()).or_default() += 1;
        self.corrupting[place.pod() as usize].push(link);
        self.corrupting_count += 1;
        if is_protected {
            self.pipes.change(&self.plan.topology, place, true);
        }
        self.links[link as usize] = State::Corrupting { raw, effective, carried, is_protected };
    }

    /// Takes the share of a link in service out of all sums; its capacity then counts as that of a healthy link.
    fn forget(&mut self, link: u32, place: Place, state: State) {
        let State::Corrupting { raw, effective, carried, is_protected } = state else {
            self.penalty -= self.healthy;
            self.effective -= self.healthy;
            return;
        };
        self.penalty -= Sum::of(raw);
        self.effective -= Sum::of(effective);
        self.carried.change(place, carried, self.plan.full);
        let count = self.losses.get_mut(&raw.to_bits()).expect("the link was counted");
        *count -= 1;
        if *count == 0 {
            self.losses.remove(&raw.to_bits());
        }
        self.corrupting[place.pod() as usize].retain(|&other| other != link);
        self.corrupting_count -= 1;
        if is_protected {
            self.pipes.change(&self.plan.topology, place, false);
        }
    }

    fn disable(&mut self, now_s: u32, link: u32) {
        let place = self.plan.topology.place(link);
        self.forget(link, place, self.links[link as usize]);
        self.links[link as usize] = State::Disabled;
        self.disabled += 1;
        self.serve(place, false);
        let takes_s = self.repairs.takes_s(link);
        let at_s = self.claim(now_s + takes_s);
        self.due.push(Reverse((at_s, link)));
    }

    fn repair(&mut self, now_s: u32, link: u32) {
        let place = self.plan.topology.place(link);
        self.counts.repairs += 1;
        self.links[link as usize] = State::Healthy;
        self.disabled -= 1;
        self.penalty += self.healthy;
        self.effective += self.healthy;
        self.serve(place, true);
        self.optimize(now_s, place.pod() as usize);
    }

    /// Takes the link at `place` out of service, or puts it back.
    fn serve(&mut self, place: Place, in_service: bool) {
        let full = self.plan.full;
        let (from, to) = if in_service { (0, full) } else { (full, 0) };
        self.bare.change(place, from, to);
        self.carried.change(place, from, to);
        let pod = &mut self.pods[place.pod() as usize];
        self.paths -= pod.paths();
        pod.set(place, in_service);
        self.paths += pod.paths();
        self.least_paths.set(place.pod() as usize, pod.least_paths());
    }

    /// Takes out of service the corrupting links that a pod can spare, now that a link of it has come back.
    fn optimize(&mut self, now_s: u32, pod: usize) {
        if self.corrupting[pod].is_empty() {
            return;
        }
        let corrupting: Vec<Corrupting> = self.corrupting[pod]
            .iter()
            .filter_map(|&link| match self.links[link as usize] {
                State::Corrupting { raw, .. } => {
                    Some(Corrupting { link, place: self.plan.topology.place(link), loss: Sum::of(raw) })
                }
                _ => None,
            })
            .collect();
        let mut links = to_disable(&self.pods[pod], &corrupting, self.need);
        self.repairs.order(self.event, &mut links);
        links.into_iter().for_each(|link| self.disable(now_s, link));
    }

    /// Returns the performance of the protection of a link at this place; `None` if the link is not protected.
    fn protection_of(&self, place: Place) -> Option<&'a Performance> {
        let protection = self.plan.protection.as_ref()?;
        let is_there = match (&protection.pods, place) {
            (None, _) => true,
            (Some(pods), Place::Lower { pod, .. }) => pods[pod as usize],
            (Some(_), Place::Upper { .. }) => false,
        };
        is_there.then_some(&protection.performance)
    }

    /// Returns the first second from `at_s` on at which no event ever happens, and marks it as used.
    fn claim(&mut self, mut at_s: u32) -> u32 {
        loop {
            let (word, bit) = ((at_s / 64) as usize, 1 << (at_s % 64));
            if word >= self.used.len() {
                self.used.resize(word + 1, 0);
            }
            if self.used[word] & bit == 0 {
                self.used[word] |= bit;
                return at_s;
            }
            at_s += 1;
        }
    }

    fn row(&self, at_s: u32) -> Row {
        let max_loss = self.losses.last_key_value().map_or(HEALTHY_LOSS, |(&bits, _)| f64::from_bits(bits));
        let side = |penalty, capacities: &Capacities, ports| Side {
            penalty,
            capacity: capacities.sum,
            least_capacity: capacities.pods.least(),
            ports,
        };
        Row {
            at_s,
            penalty: self.penalty,
            bare: side(self.penalty, &self.bare, 0),
            protected: side(self.effective, &self.carried, self.pipes.most()),
            paths: self.paths,
            least_paths: self.least_paths.least(),
            max_loss,
            disabled: self.disabled,
            corrupting: self.corrupting_count,
        }
    }
}

#[cfg(test)]
mod tests;

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

/// What a link loses that does not corrupt, as published.
const HEALTHY_LOSS: f64 = 1e-18;

/// A link begins to corrupt, or corrupts otherwise than before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Failure {
    /// Seconds since the start of the trace; no two failures share one.
    pub at_s: u32,
    /// The link.
    pub link: u32,
    /// The ratio that it loses from now on.
    pub loss: f64,
}

/// How long repairs take, and in which order links leave service that leave it together.
pub trait Repairs {
    /// How long the repair of a link takes, in seconds.
    fn takes_s(&mut self, link: u32) -> u32;

    /// Puts links that leave service with the event of this number, which counts from one, into another order.
    fn order(&mut self, _event: u64, _links: &mut [u32]) {}
}

/// What a fabric is to withstand.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Its shape.
    pub topology: Topology,
    /// Paths that each ToR switch keeps, in millionths of those of a healthy fabric, rounded up to a path.
    pub constraint_ppm: u32,
    /// What a link without corruption carries, in hundredths of Gb/s.
    pub full: u32,
    /// What protects corrupting links that stay in service.
    pub protection: Option<Protection>,
}

/// A protection of the links of a fabric.
#[derive(Clone, Debug)]
pub struct Protection {
    /// What a protected link does.
    pub performance: Performance,
    /// For each pod whether its links below the aggregation switches are protected; all links of the fabric are if not
    /// given.
    pub pods: Option<Vec<bool>>,
}

impl Plan {
    /// Paths that each ToR switch keeps.
    pub fn least_paths(&self) -> u32 {
        let paths = u64::from(self.topology.paths()) * u64::from(self.constraint_ppm);
        paths.div_ceil(1_000_000) as u32
    }
}

/// What differs between a fabric with a protection and one without.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Side {
    /// The sum over the links in service of what hosts lose on each: the effective penalty.
    pub penalty: Sum,
    /// The sum over the pods of the lesser of their two tiers' capacities, in hundredths of Gb/s.
    pub capacity: u64,
    /// The least of these.
    pub least_capacity: u32,
    /// Most protected ports of any pipe.
    pub ports: u32,
}

/// The state of the fabric after an event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// When, in seconds.
    pub at_s: u32,
    /// The sum over the links in service of what each corrupts.
    pub penalty: Sum,
    /// Without protection.
    pub bare: Side,
    /// With it.
    pub protected: Side,
    /// Paths of all ToR switches together.
    pub paths: u64,
    /// Paths of the ToR switch that has the fewest.
    pub least_paths: u32,
    /// The most that a link in service corrupts.
    pub max_loss: f64,
    /// Links out of service.
    pub disabled: u32,
    /// Corrupting links in service.
    pub corrupting: u32,
}

/// What happened in all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Failures of links in service.
    pub failures: u64,
    /// Failures of links out of service, which change nothing.
    pub skipped: u64,
    /// Links that came back.
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
        /// What a protection makes of it: what is lost, and hundredths of Gb/s that are carried.
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

    /// A link goes from one capacity to another.
    fn change(&mut self, place: Place, from: u32, to: u32) {
        let pod = place.pod() as usize;
        let tier = self.tiers[pod].of(place);
        *tier = *tier - from + to;
        let least = self.tiers[pod].least();
        self.sum = self.sum - u64::from(self.pods.at(pod)) + u64::from(least);
        self.pods.set(pod, least);
    }
}

/// A fabric in the course of its failures.
pub struct Year<'a, R> {
    plan: &'a Plan,
    need: u32,
    healthy: Sum,
    repairs: R,
    links: Vec<State>,
    pods: Vec<Pod>,
    /// The least paths of each pod.
    least_paths: Least,
    paths: u64,
    /// Corrupting links in service of each pod.
    corrupting: Vec<Vec<u32>>,
    corrupting_count: u32,
    disabled: u32,
    /// How many links in service corrupt with each ratio, by its bits: these ascend with the ratio.
    losses: BTreeMap<u64, u32>,
    penalty: Sum,
    effective: Sum,
    bare: Capacities,
    carried: Capacities,
    pipes: Pipes,
    /// Seconds at which something happens, ever.
    used: Vec<u64>,
    /// Repairs under way, the earliest first.
    due: BinaryHeap<Reverse<(u32, u32)>>,
    event: u64,
    counts: Counts,
    stop: Stop,
}

impl<'a, R: Repairs> Year<'a, R> {
    /// A healthy fabric.
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

    /// Ends before its time when somebody asks for that.
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

    /// A link in service corrupts with this ratio from now on; a protection is switched on before anything else.
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

    /// Takes what a link in service adds out of all sums; its capacity stands as that of a healthy link.
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

    /// A link leaves service, or comes back.
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

    /// Takes out of service what a pod can do without, now that a link of it has come back.
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

    /// What a link at this place does while it is protected, if it can be.
    fn protection_of(&self, place: Place) -> Option<&'a Performance> {
        let protection = self.plan.protection.as_ref()?;
        let is_there = match (&protection.pods, place) {
            (None, _) => true,
            (Some(pods), Place::Lower { pod, .. }) => pods[pod as usize],
            (Some(_), Place::Upper { .. }) => false,
        };
        is_there.then_some(&protection.performance)
    }

    /// The first second from this on at which nothing ever happens, which is taken.
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

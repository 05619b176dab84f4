//! Counts of protected ports in the pipes of the switches of a fabric.

use super::topology::{Place, Topology};

/// The protected ports of every pipe, and how many pipes have each number of them.
#[derive(Clone, Debug)]
pub(super) struct Pipes {
    /// Protected ports of each pipe, by switch and pipe: of the ToR switches, then of the aggregation and of the core
    /// switches.
    ports: Vec<u16>,
    /// The places at which the pipes of the aggregation switches and of the core switches begin.
    begins: [usize; 2],
    /// How many pipes have each number of protected ports, from one port on.
    having: Vec<u32>,
}

impl Pipes {
    /// Builds the counts of a fabric in which no port is protected.
    pub(super) fn new(topology: &Topology) -> Self {
        let [tor, agg, core] = topology.pipes.map(|pipes| pipes as usize);
        let (pods, cores) = (topology.pods as usize, (topology.aggs * topology.cores) as usize);
        let lower = pods * topology.tors as usize * tor;
        let middle = lower + pods * topology.aggs as usize * agg;
        Self { ports: vec![0; middle + cores * core], begins: [lower, middle], having: Vec::new() }
    }

    /// Returns the most protected ports of any pipe.
    pub(super) fn most(&self) -> u32 {
        self.having.len() as u32
    }

    /// Counts both ports of the link at `place` as protected, or not any more.
    pub(super) fn change(&mut self, topology: &Topology, place: Place, is_protected: bool) {
        for pipe in self.pipes_of(topology, place) {
            let before = self.ports[pipe] as usize;
            let after = if is_protected { before + 1 } else { before - 1 };
            self.ports[pipe] = after as u16;
            if self.having.len() < after {
                self.having.resize(after, 0);
            }
            if before > 0 {
                self.having[before - 1] -= 1;
            }
            if after > 0 {
                self.having[after - 1] += 1;
            }
            while self.having.last() == Some(&0) {
                self.having.pop();
            }
        }
    }

    /// Returns the pipes of the two ports of a link. Ports are dealt out to the pipes of a switch in turn: at a ToR
    /// switch by aggregation switch, at an aggregation switch by ToR switch and then by core switch, at a core switch
    /// by pod.
    fn pipes_of(&self, topology: &Topology, place: Place) -> [usize; 2] {
        let [tors, aggs, cores] = topology.pipes;
        let agg_pipe = |pod: u32, agg: u32, port: u32| {
            self.begins[0] + ((pod * topology.aggs + agg) * aggs + port % aggs) as usize
        };
        match place {
            Place::Lower { pod, tor, agg } => {
                let below = ((pod * topology.tors + tor) * tors + agg % tors) as usize;
                [below, agg_pipe(pod, agg, tor)]
            }
            Place::Upper { pod, agg, core } => {
                let above = ((agg * topology.cores + core) * cores + pod % cores) as usize;
                [agg_pipe(pod, agg, topology.tors + core), self.begins[1] + above]
            }
        }
    }
}

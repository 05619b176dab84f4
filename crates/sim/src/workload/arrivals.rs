//! Start times of flows: a Poisson process at a set share of a link's rate.

use super::FlowSizes;
use lossylink_core::rng::{Stream, Streams, uniform};
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::BitRate;

/// A flow: its start time and its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The start time of the flow.
    pub at: Instant,
    /// The size of the flow in bytes.
    pub size_bytes: u64,
}

/// The error for an offered load that is not above 0 and below 1.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("load {0} is out of range: write a ratio above 0 and below 1")]
pub struct LoadError(pub f64);

/// An endless sequence of flows with random start times and sizes.
///
/// The load counts the bytes of flows against the link's rate. Headers come on top: 1460 B segments
/// at a load of 0.9 keep a link 95 % busy.
#[derive(Clone, Debug)]
pub struct Workload {
    sizes: FlowSizes,
    /// Mean time between arrivals, picoseconds.
    mean_gap_ps: f64,
    now: Instant,
    arrival_rng: Stream,
    size_rng: Stream,
}

impl Workload {
    /// Returns the flows of `sizes` that offer `load` times `rate`, drawn from two streams of
    /// `streams`.
    ///
    /// # Errors
    /// If the load is not above 0 and below 1.
    pub fn new(sizes: FlowSizes, load: f64, rate: BitRate, streams: &Streams) -> Result<Self, LoadError> {
        if !(load > 0.0 && load < 1.0) {
            return Err(LoadError(load));
        }
        let mean_gap_ps = sizes.mean() * BIT_PS_PER_BYTE / (load * rate.as_bps() as f64);
        Ok(Self {
            sizes,
            mean_gap_ps,
            now: Instant::ZERO,
            arrival_rng: streams.stream("workload/arrivals"),
            size_rng: streams.stream("workload/sizes"),
        })
    }

    /// Returns the mean time between the arrivals of two flows.
    pub fn mean_gap(&self) -> Duration {
        Duration::from_ps(self.mean_gap_ps.round() as u64)
    }
}

/// Picoseconds in a second times bits in a byte.
const BIT_PS_PER_BYTE: f64 = 8e12;

impl Iterator for Workload {
    type Item = Arrival;

    /// Returns the next flow; there always is one.
    fn next(&mut self) -> Option<Arrival> {
        // Uniform on (0, 1], whose logarithm is finite; libm's is the same on every machine.
        let uniform = 1.0 - uniform(&mut self.arrival_rng);
        let gap_ps = -libm::log(uniform) * self.mean_gap_ps;
        self.now += Duration::from_ps(gap_ps.round() as u64);
        Some(Arrival { at: self.now, size_bytes: self.sizes.draw(&mut self.size_rng) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: BitRate = BitRate::from_gbps(100);

    fn workload(load: f64, seed: u64) -> Workload {
        let sizes = FlowSizes::new(vec![(100.0, 0.5), (100_000.0, 1.0)]).unwrap();
        Workload::new(sizes, load, RATE, &Streams::new(seed)).unwrap()
    }

    /// Of an exponential law the standard deviation is the mean. So the mean of n gaps lies within
    /// four times its n-th root, and so does the share of gaps above the mean, 1/e.
    #[test]
    fn gaps_are_exponential() {
        let n = 100_000;
        let mut workload = workload(0.5, 1);
        let expected = workload.mean_gap().as_ps() as f64;
        let mut before = Instant::ZERO;
        let gaps: Vec<f64> = (0..n)
            .map(|_| {
                let at = workload.next().unwrap().at;
                let gap = at - before;
                before = at;
                gap.as_ps() as f64
            })
            .collect();
        let root = f64::from(n).sqrt();
        let mean = gaps.iter().sum::<f64>() / f64::from(n);
        assert!((mean - expected).abs() < 4.0 * expected / root, "mean gap {mean}, expected {expected}");
        let above = gaps.iter().filter(|&&gap| gap > expected).count() as f64 / f64::from(n);
        let share = (-1.0f64).exp();
        let error = (share * (1.0 - share)).sqrt() / root;
        assert!((above - share).abs() < 4.0 * error, "{above} are above the mean, expected {share}");
    }

    /// The load offered over n flows: the ratio of two sums, each with its relative error.
    #[test]
    fn the_load_is_what_was_asked_for() {
        let n = 50_000;
        for load in [0.1, 0.9] {
            let mut workload = workload(load, 2);
            let sizes = workload.sizes.clone();
            let mut bytes = 0;
            let mut at = Instant::ZERO;
            for arrival in workload.by_ref().take(n) {
                bytes += arrival.size_bytes;
                at = arrival.at;
            }
            let offered = bytes as f64 * 8.0 / (at.as_secs_f64() * RATE.as_bps() as f64);
            let spread = 1.0 + sizes.variance() / (sizes.mean() * sizes.mean());
            let error = load * (spread / n as f64).sqrt();
            assert!((offered - load).abs() < 4.0 * error, "offered {offered}, expected {load}");
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_flows_and_sizes_do_not_depend_on_the_load() {
        let flows = |load, seed| workload(load, seed).take(100).collect::<Vec<_>>();
        assert_eq!(flows(0.5, 7), flows(0.5, 7));
        assert_ne!(flows(0.5, 7), flows(0.5, 8));
        let sizes = |load| flows(load, 7).iter().map(|arrival| arrival.size_bytes).collect::<Vec<_>>();
        assert_eq!(sizes(0.2), sizes(0.8));
    }

    #[test]
    fn impossible_loads_are_refused() {
        for load in [0.0, -0.5, 1.0, 80.0, f64::NAN] {
            let refusal = Workload::new(FlowSizes::fixed(1), load, RATE, &Streams::new(1)).unwrap_err();
            assert!(refusal.to_string().contains(&format!("load {load}")), "{refusal}");
        }
    }
}

//! A year of the published fabric, for profilers: `fabric_year PERCENT [SEED]`.

use lossylink_core::rng::Streams;
use lossylink_sim::fabric::{DrawnRepairs, Performance, Plan, Point, Topology, Year, failures};

fn main() {
    let mut words = std::env::args().skip(1);
    let mut number = |usual: u64| words.next().and_then(|word| word.parse().ok()).unwrap_or(usual);
    let (percent, seed) = (number(50) as u32, number(1));
    let topology = Topology::fb_fabric(261, 48, 1).expect("the published fabric");
    let point = |(loss, effective_loss, carried)| Point { loss, effective_loss, carried };
    let points =
        [(1.43e-5, 5.97e-10, 9876), (9.16e-5, 7.56e-9, 9874), (1.16e-3, 1.29e-9, 9088), (1e-2, 1e-8, 6000)];
    let performance = Performance::new(10_000, points.map(point).to_vec());
    let plan = Plan { topology, constraint_percent: percent, performance, protected_pods: None };
    let streams = Streams::new(seed);
    let failures = failures(topology.links(), 10_000.0, 9_000, &mut streams.stream("failures"));
    let mut rows = Vec::new();
    let counts =
        Year::new(&plan, DrawnRepairs::new(streams.stream("repairs"))).run(&failures, |row| rows.push(*row));
    let least = rows.iter().map(|row| row.bare.least_capacity).min();
    let with = rows.iter().map(|row| row.protected.least_capacity).min();
    let mean = |of: fn(&lossylink_sim::fabric::Row) -> u32| {
        rows.iter().map(|row| u64::from(of(row))).sum::<u64>() as f64 / rows.len() as f64
    };
    println!(
        "{counts:?}, {} rows, disabled {:.0}, corrupting {:.1}, least capacities {least:?} {with:?}",
        rows.len(),
        mean(|row| row.disabled),
        mean(|row| row.corrupting)
    );
}

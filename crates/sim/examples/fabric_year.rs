//! A year of the published fabric, for profilers: `fabric_year PERCENT [SEED]`.

use lossylink_core::probability::Probability;
use lossylink_core::rng::Streams;
use lossylink_sim::fabric::{
    Between, DrawnRepairs, Performance, Plan, Point, Protection, RepairTimes, Topology, Wear, Year, failures,
};

fn main() {
    let mut words = std::env::args().skip(1);
    let mut number = |usual: u64| words.next().and_then(|word| word.parse().ok()).unwrap_or(usual);
    let (percent, seed) = (number(50) as u32, number(1));
    let topology = Topology::fb_fabric(261, 48, 1).expect("the published fabric");
    let point = |(loss, effective_loss, carried)| Point { loss, effective_loss, carried };
    let points =
        [(1.43e-5, 5.97e-10, 9876), (9.16e-5, 7.56e-9, 9874), (1.16e-3, 1.29e-9, 9088), (1e-2, 1e-8, 6000)];
    let performance = Performance::new(points.map(point).to_vec(), Between::Nearest);
    let protection = Some(Protection { performance, pods: None });
    let plan = Plan { topology, constraint_ppm: percent * 10_000, full: 10_000, protection };
    let streams = Streams::new(seed);
    let failures =
        failures(topology.links(), Wear { mttf_h: 10_000.0, span_h: 9_000 }, &mut streams.stream("failures"));
    let mut rows = Vec::new();
    let times = RepairTimes {
        first_attempt: Probability::new(0.8).expect("a chance"),
        first_s: 172_800,
        second_s: 345_600,
    };
    let counts = Year::new(&plan, DrawnRepairs::new(times, streams.stream("repairs")))
        .run(&failures, |row| rows.push(*row));
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

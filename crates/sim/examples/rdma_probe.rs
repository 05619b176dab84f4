//! Prints completion times of RDMA writes over a bare lossy line and what they cost to simulate:
//! `rdma_probe [TRIALS [LOSS]]`.

#[path = "../tests/rdma_pair/mod.rs"]
mod rdma_pair;

use lossylink_core::loss::{LossModel, LossProcess};
use lossylink_core::rng::Streams;
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::BitRate;
use lossylink_sim::measure::Description;
use lossylink_sim::net::LineRate;
use lossylink_sim::transport::rdma::{Config, Operation, Recovery, Requester, Responder};
use rdma_pair::Pair;
use std::hint::black_box;

const MESSAGE: Operation = Operation::Write(24_387);

fn main() {
    let mut arguments = std::env::args().skip(1);
    let trials: u64 = arguments.next().map_or(100_000, |text| text.parse().expect("TRIALS is a count"));
    let loss: f64 = arguments.next().map_or(1e-3, |text| text.parse().expect("LOSS is a ratio"));
    for recovery in Recovery::ALL {
        endpoints_alone(recovery, trials);
        for p in [0.0, loss] {
            over_a_line(recovery, p, trials);
        }
    }
}

/// Processor time of both ends of a clean write, with nothing between them.
fn endpoints_alone(recovery: Recovery, trials: u64) {
    let config = Config { recovery, ..Config::default() };
    let (mut requester, mut responder) = (Requester::new(&config), Responder::new(&config));
    let start = std::time::Instant::now();
    for trial in 0..trials {
        let now = Instant::ZERO + Duration::from_us(trial);
        requester.post(now, MESSAGE);
        while let Some(packet) = requester.poll_transmit(now) {
            responder.handle_packet(now, &packet, false);
            if let Some(answer) = responder.poll_transmit(now) {
                requester.handle_packet(now, &answer, false);
            }
        }
        black_box(requester.poll_completion().expect("a clean write completes"));
    }
    let ns = start.elapsed().as_nanos() as f64 / trials as f64;
    println!("{recovery}: both ends of a 24-packet write {ns:.0} ns");
}

fn over_a_line(recovery: Recovery, p: f64, trials: u64) {
    let config = Config { recovery, ..Config::default() };
    let streams = Streams::new(1);
    let model = LossModel::bernoulli(p).expect("LOSS is a ratio");
    let forward = LossProcess::new(&model, streams.stream("link/0/loss"));
    let back = LossProcess::new(&LossModel::None, streams.stream("link/0/reverse-loss"));
    let rate = LineRate::new(BitRate::from_gbps(100));
    let mut pair = Pair::new(&config, rate, Duration::from_ns(7_600), (forward, back));
    let start = std::time::Instant::now();
    let times = (0..trials)
        .map(|_| {
            let completion = pair.run(MESSAGE);
            (completion.completed_at - completion.posted_at).as_us_f64()
        })
        .collect();
    let ns = start.elapsed().as_nanos() as f64 / trials as f64;
    let times = Description::new(times).expect("there is at least one trial");
    let percentiles = [0.5, 0.99, 0.999, 0.9999].map(|fraction| format!("{:.2}", times.percentile(fraction)));
    println!(
        "{recovery} loss {p}: min {:.2} p50/p99/p99.9/p99.99 {} max {:.2} us; {} timeouts, {} retransmissions, \
         {ns:.0} ns a trial",
        times.min(),
        percentiles.join("/"),
        times.max(),
        pair.requester.statistics().timeouts,
        pair.requester.statistics().retransmissions,
    );
}

//! Measures the TCP model at the points where a real Linux stack was measured (see
//! `docs/protocols/tcp.md`): `cargo run --release --example tcp_linux_table -- [seeds] [seconds]`.

#[allow(dead_code, reason = "the tests use the rest")]
#[path = "../tests/all/tcp_support/mod.rs"]
mod tcp_support;

use lossylink_core::rng::Streams;
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::BitRate;
use lossylink_sim::transport::tcp::{Config, CongestionControl};
use tcp_support::{PathConfig, World};

/// One row: a flow, its path, and Linux's goodput.
struct Row {
    algorithm: CongestionControl,
    rate_gbps: u64,
    rtt_us: u64,
    loss: f64,
    linux_mbps: f64,
}

const fn row(algorithm: CongestionControl, rate_gbps: u64, rtt_us: u64, loss: f64, linux_mbps: f64) -> Row {
    Row { algorithm, rate_gbps, rtt_us, loss, linux_mbps }
}

const ROWS: [Row; 14] = {
    use CongestionControl::{Cubic, Reno};
    [
        row(Reno, 10, 20_000, 1e-3, 24.28),
        row(Reno, 10, 20_000, 5e-3, 10.23),
        row(Reno, 10, 20_000, 1e-2, 7.225),
        row(Reno, 10, 20_000, 2e-2, 5.033),
        row(Reno, 10, 6_000, 1e-3, 80.2),
        row(Reno, 10, 6_000, 1e-2, 22.9),
        row(Reno, 10, 6_000, 5e-2, 8.91),
        row(Reno, 10, 6_000, 0.1566, 2.07),
        row(Cubic, 10, 6_000, 1e-3, 71.3),
        row(Cubic, 10, 6_000, 1e-2, 18.7),
        row(Cubic, 10, 6_000, 5e-2, 6.23),
        row(Cubic, 10, 6_000, 0.1566, 1.39),
        row(Cubic, 10, 100, 1e-3, 3300.0),
        row(Cubic, 10, 60, 0.1, 9.9),
    ]
};

fn goodput_mbps(row: &Row, seed: u64, span: Duration) -> f64 {
    let config = Config { congestion_control: row.algorithm, ..Config::default() };
    let path = PathConfig {
        rate: BitRate::from_gbps(row.rate_gbps),
        rtt: Duration::from_us(row.rtt_us),
        loss: row.loss,
        queue_bytes: 1_000_000,
        marking: 0.0,
    };
    let mut world = World::new(&config, &path, None, &Streams::new(seed));
    world.open();
    world.run_until(Instant::ZERO + span);
    if std::env::var_os("TCP_DETAIL").is_some() {
        println!("{:?}", world.sender.statistics());
    }
    world.receiver.bytes_in_order() as f64 * 8.0 / span.as_secs_f64() / 1e6
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse().expect("a number"));
    let seeds = arguments.next().unwrap_or(10);
    let seconds: u64 = arguments.next().unwrap_or(300);
    for row in &ROWS {
        // Gigabit flows carry as many segments in a few seconds as the other flows in hours.
        let span = Duration::from_secs(if row.linux_mbps > 1000.0 { seconds.div_ceil(30) } else { seconds });
        let runs: Vec<f64> = (1..=seeds).map(|seed| goodput_mbps(row, seed, span)).collect();
        let mean = runs.iter().sum::<f64>() / runs.len() as f64;
        let variance =
            runs.iter().map(|run| (run - mean).powi(2)).sum::<f64>() / (runs.len() as f64 - 1.0).max(1.0);
        let error = (variance / runs.len() as f64).sqrt();
        println!(
            "{:6} rtt {:6} us p {:7} : {:9.3} +- {:6.3} Mb/s, Linux {:8.3}, ratio {:.3}",
            row.algorithm.name(),
            row.rtt_us,
            row.loss,
            mean,
            error,
            row.linux_mbps,
            mean / row.linux_mbps
        );
    }
}

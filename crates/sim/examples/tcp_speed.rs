//! The speed of the TCP model on its test path, packets and wires included:
//! `cargo run --release --example tcp_speed -- [algorithm] [loss] [RTT in us] [simulated ms]`.

#[allow(dead_code, reason = "the tests use the rest")]
#[path = "../tests/all/tcp_support/mod.rs"]
mod tcp_support;

use lossylink_core::rng::Streams;
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::BitRate;
use lossylink_sim::transport::tcp::Config;
use tcp_support::{PathConfig, World};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument =
        |index: usize, default: &str| arguments.get(index).map_or(default.to_owned(), Clone::clone);
    let algorithm = argument(0, "reno").parse().expect("an algorithm");
    let config = Config { congestion_control: algorithm, ..Config::default() };
    let path = PathConfig {
        rate: BitRate::from_gbps(10),
        rtt: Duration::from_us(argument(2, "100").parse().expect("microseconds")),
        loss: argument(1, "1e-3").parse().expect("a loss ratio"),
        queue_bytes: 1_000_000,
        marking: 0.0,
    };
    let span = Duration::from_ms(argument(3, "20000").parse().expect("milliseconds"));
    let mut world = World::new(&config, &path, None, &Streams::new(1));
    #[expect(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "it times the simulator from outside"
    )]
    let started = std::time::Instant::now();
    world.open();
    world.run_until(Instant::ZERO + span);
    let wall = started.elapsed().as_secs_f64();
    println!(
        "{} frames, {} events, {:.2} Gb/s, {:.3} s: {:.1} ns a data frame",
        world.data_frames,
        world.events,
        world.receiver.bytes_in_order() as f64 * 8e-9 / span.as_secs_f64(),
        wall,
        wall * 1e9 / world.data_frames as f64
    );
}

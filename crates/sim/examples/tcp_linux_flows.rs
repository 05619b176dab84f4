//! Flow completion times at the point where a real Linux stack was measured (see
//! `docs/protocols/tcp.md`): `cargo run --release --example tcp_linux_flows -- [flows] [loss]`.

#[allow(dead_code, reason = "the tests use the rest")]
#[path = "../tests/all/tcp_support/mod.rs"]
mod tcp_support;

use lossylink_core::time::Duration;
use tcp_support::flows::{Repairs, run_flows};

fn percentile_us(sorted: &[Duration], percent: f64) -> f64 {
    let rank = percent / 100.0 * (sorted.len() - 1) as f64;
    let (low, part) = (rank.floor(), rank.fract());
    let at = |index: f64| sorted[index as usize].as_us_f64();
    at(low) + part * (at(rank.ceil()) - at(low))
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let flows = arguments.next().map_or(40_000, |flows| flows.parse().expect("a number of flows"));
    let loss = arguments.next().map_or(1e-3, |loss| loss.parse().expect("a loss ratio"));
    let outcome = run_flows(flows, loss, 1);
    let mut times = outcome.times;
    times.sort_unstable();
    for percent in [0.0, 50.0, 99.0, 99.9, 100.0] {
        println!("p{percent:<5} {:10.3} us", percentile_us(&times, percent));
    }
    let Repairs { fast, timer, probe, timeout } = outcome.repairs;
    println!("hit {}: fast {fast}, reordering timer {timer}, probe {probe}, timeout {timeout}", outcome.hit);
}

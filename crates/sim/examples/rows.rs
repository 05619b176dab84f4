//! Prints the outcomes of random runs, without the counts of their work: `rows [RUNS]`. Builds with and without the feature
//! `fast` print the same bytes, which `tools/same-rows` compares.

use lossylink_core::rng::{RngCore, Streams};

#[path = "../tests/checks/mod.rs"]
#[expect(dead_code, reason = "shared with the tests")]
mod checks;

/// The number of runs that are printed if no number is given.
const RUNS: u64 = 300;
/// The number of octets that describe a run.
const OCTETS: usize = 110;

fn main() {
    let runs = std::env::args().nth(1).map_or(Ok(RUNS), |runs| runs.parse()).expect("a number of runs");
    let mut draws = Streams::new(1).stream("rows");
    for _ in 0..runs {
        let bytes: Vec<u8> = (0..OCTETS).map(|_| draws.next_u64() as u8).collect();
        println!("{}", checks::twins::outcome(&bytes));
    }
}

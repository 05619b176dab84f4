//! The seeds that a swarm runs. A seed that fails is one line, which runs that seed again.
//!
//! `LOSSYLINK_SWARM_SEED=17` runs one seed, `LOSSYLINK_SWARM_SEEDS=5000` the first 5000 seeds.

use std::any::Any;
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable}={text} is no number")))
}

/// Returns the message of a panic.
fn words(panic: &(dyn Any + Send)) -> &str {
    let literal = panic.downcast_ref::<&str>().copied();
    literal.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without words")
}

/// Judges the worlds of the first `seeds` seeds, and of the `finders`, which once found a defect.
///
/// # Panics
/// If a world fails, with one line for each that does. `test` is the name of the test in these lines.
pub(crate) fn every_seed<W: Debug>(
    test: &str,
    (seeds, finders): (u64, &[u64]),
    draw: fn(u64) -> W,
    judge: fn(&W) -> Result<(), String>,
) {
    let verdict = |seed: u64| {
        let world = draw(seed);
        let complaint = match catch_unwind(AssertUnwindSafe(|| judge(&world))) {
            Ok(result) => result.err(),
            Err(panic) => Some(format!("panic: {}", words(panic.as_ref()))),
        };
        complaint.map(|what| {
            format!("LOSSYLINK_SWARM_SEED={seed} cargo test -p lossylink-sim --test all {test}: {what}")
        })
    };
    if let Some(seed) = number("LOSSYLINK_SWARM_SEED") {
        println!("{:#?}", draw(seed));
        assert_eq!(verdict(seed), None);
        return;
    }
    let seeds = number("LOSSYLINK_SWARM_SEEDS").unwrap_or(seeds);
    let failures: Vec<String> = (0..seeds).chain(finders.iter().copied()).filter_map(verdict).collect();
    assert!(failures.is_empty(), "{} of {seeds} seeds fail\n{}", failures.len(), failures.join("\n"));
}

//! Whole runs of the fast half beside the plain half.

use crate::checks::twins;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::cell::Cell;

const SEEDS: u32 = 1000;

#[test]
fn both_halves_give_the_same() {
    let ran = Cell::new(0);
    let mut runner = TestRunner::new(ProptestConfig { cases: SEEDS, ..ProptestConfig::default() });
    let bytes = prop::collection::vec(any::<u8>(), 110);
    runner
        .run(&bytes, |bytes| {
            ran.set(ran.get() + u32::from(twins::run(&bytes)));
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
    assert!(ran.get() > SEEDS / 2, "only {} of {SEEDS} were runs", ran.get());
}

//! An arbitrary protection over an arbitrary link, dead links among them, in any experiment:
//! `checks::ends::run`.
#![no_main]

#[path = "../../crates/sim/tests/checks/mod.rs"]
#[allow(dead_code)]
mod checks;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::ends::run(bytes));

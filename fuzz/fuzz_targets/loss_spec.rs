//! Arbitrary bytes against the parser that `checks::loss_spec` drives.
#![no_main]

#[path = "../../crates/core/tests/checks/mod.rs"]
#[allow(dead_code)]
mod checks;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::loss_spec(bytes));

//! Arbitrary bytes against the parser that `checks::udp` drives.
#![no_main]

#[path = "../../crates/core/tests/checks/mod.rs"]
#[allow(dead_code)]
mod checks;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::udp(bytes));

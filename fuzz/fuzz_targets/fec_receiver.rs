//! Arbitrary coded frames against the receiver of forward error correction.
#![no_main]

#[path = "../../crates/codec/tests/checks/mod.rs"]
#[allow(dead_code)]
mod checks;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::receiver(bytes));

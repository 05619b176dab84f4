//! An arbitrary script of the behaviour of a path, against two routed guards with one key.
#![no_main]

#[path = "../../crates/codec/tests/checks/mod.rs"]
#[allow(dead_code)]
mod checks;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::routed::guards(bytes));

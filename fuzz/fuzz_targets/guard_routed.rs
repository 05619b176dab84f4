//! An arbitrary script of what a path does, against two routed guards with the same key.
#![no_main]

#[path = "../../crates/codec/tests/checks/mod.rs"]
#[allow(dead_code)]
mod checks;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::routed::guards(bytes));

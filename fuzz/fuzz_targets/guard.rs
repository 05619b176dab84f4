//! An arbitrary script of the behaviour of a link, against two guards:
//! `checks::guard::receive_path`.
#![no_main]

#[path = "../../crates/core/tests/checks/mod.rs"]
#[allow(dead_code)]
mod checks;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::guard::receive_path(bytes));

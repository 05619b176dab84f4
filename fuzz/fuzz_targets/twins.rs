//! An arbitrary run in the fast half and in the plain half of the simulator: `checks::twins::run`.
#![no_main]

#[path = "../../crates/sim/tests/checks/mod.rs"]
#[allow(dead_code)]
mod checks;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| -> libfuzzer_sys::Corpus {
    if checks::twins::run(bytes) { libfuzzer_sys::Corpus::Keep } else { libfuzzer_sys::Corpus::Reject }
});

//! An arbitrary script of the behaviour of a link, against two guards with link-level retry:
//! `checks::guard::receive_path_of`.
#![no_main]

#[path = "../../crates/core/tests/checks/mod.rs"]
#[allow(dead_code)]
mod checks;

use lossylink_core::guard::LlrLine;
use lossylink_core::protection::{Llr, Protection};
use lossylink_core::units::{BitRate, Bytes};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::guard::receive_path_of(
    || Box::new(LlrLine::new(BitRate::from_gbps(1), Bytes(1514))),
    &Protection::Llr(Llr::default()),
    bytes,
));

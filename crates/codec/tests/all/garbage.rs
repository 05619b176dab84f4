//! The receiver against frames that no sender would send, and routed guards against any path: the checks of the fuzz
//! targets, on the stable toolchain.

use crate::checks;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn the_receiver_survives_any_frames(script in proptest::collection::vec(any::<u8>(), 0..2000)) {
        checks::receiver(&script);
    }

    // Block numbers and indices are close together, so that blocks fill and are rebuilt from nonsense.
    #[test]
    fn the_receiver_survives_frames_that_fit_together(script in proptest::collection::vec(0u8..4, 0..4000)) {
        checks::receiver(&script);
    }

    // RT-6, RT-13
    #[test]
    fn routed_guards_survive_any_path(script in proptest::collection::vec(any::<u8>(), 0..300)) {
        checks::routed::guards(&script);
    }
}

/// Returns a step of a script: a data frame with index 0 of block 0 that carries `length` bytes, at once.
fn data_frame(length: u16) -> Vec<u8> {
    let [high, low] = length.to_be_bytes();
    vec![0, 0, 0, 0, 0x08, 0x00, 0, high, low]
}

#[test]
fn the_longest_frames_of_a_script_pass_the_check() {
    for length in [19_985, 19_987, 20_000, 20_001, u16::MAX] {
        checks::receiver(&data_frame(length));
    }
}

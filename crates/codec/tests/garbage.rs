//! The receiver against frames that no sender would send: the fuzz target's check, on the stable toolchain.

mod checks;

use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn the_receiver_survives_any_frames(script in proptest::collection::vec(any::<u8>(), 0..2000)) {
        checks::receiver(&script);
    }

    // Block numbers and indices close together, so that blocks fill and are rebuilt from nonsense.
    #[test]
    fn the_receiver_survives_frames_that_fit_together(script in proptest::collection::vec(0u8..4, 0..4000)) {
        checks::receiver(&script);
    }
}

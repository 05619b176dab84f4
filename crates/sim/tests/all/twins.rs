//! Whole runs of the fast half beside the plain half.

use crate::checks::twins;
use crate::support::{config, number, run};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::json;
use std::cell::Cell;
use std::panic::resume_unwind;
use std::thread;

/// The number of configurations, and of the threads that share them: the other tests have ended long before this one.
const SEEDS: u32 = 1000;
const THREADS: u32 = 4;
/// The number of steps towards a smaller failure: a run takes up to seconds.
const SHRINKS: u32 = 100;

/// Draws `seeds` configurations, compares the halves in each, and returns the number of those that run.
fn compare(seeds: u32) -> u32 {
    let ran = Cell::new(0);
    let config = ProptestConfig { cases: seeds, max_shrink_iters: SHRINKS, ..ProptestConfig::default() };
    let bytes = prop::collection::vec(any::<u8>(), 110);
    let compared = TestRunner::new(config).run(&bytes, |bytes| {
        ran.set(ran.get() + u32::from(twins::run(&bytes)));
        Ok(())
    });
    compared.unwrap_or_else(|error| panic!("{error}"));
    ran.get()
}

#[test]
fn both_halves_give_the_same() {
    let ran: u32 = thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(|| compare(SEEDS / THREADS))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic))).sum()
    });
    assert!(ran > SEEDS / 2, "only {ran} of {SEEDS} were runs");
}

/// A held frame goes round the reorder loop some thousand times until its notification has crossed a slow way back. Frames that
/// come in the last of these rounds find the loop full (LG-34).
#[test]
fn a_held_frame_takes_its_room_in_every_round() {
    let mut config = config("stress", "lg");
    config["link"] = json!({
        "rate_bps": 1_000_000_000_u64, "rate_back_bps": 3_000_000, "propagation_ps": 0, "mtu_bytes": 9_000,
    });
    config["loss"]["forward"] = json!({"model": "bernoulli", "p": 0.02});
    config["switch"]["rx_buffer_max_bytes"] = json!(9_500);
    config["traffic"] = json!({"source": "saturated", "frame_bytes": 9_014, "packets": 600});
    let outcomes = (0..20).map(|seed| {
        config["seed"] = json!(seed);
        let fast = run(&config);
        config["skip"] = json!(false);
        let plain = run(&config);
        config["skip"] = json!(true);
        assert_eq!(fast.row, plain.row, "seed {seed}");
        number(&fast, "rx_buffer_drops")
    });
    assert!(outcomes.sum::<f64>() > 1_000.0, "frames find the loop full");
}

/// On a long line a window is outstanding, and each further frame costs the oldest frame its copy. A look at a copy between two
/// frames still finds outstanding the frame that the second of them costs (LG-33).
#[test]
fn a_copy_stays_until_the_frame_that_costs_it_leaves() {
    for recirculates in [true, false] {
        let mut config = config("stress", "lg-nb");
        let link =
            json!({"rate_bps": 100_000_000_000_u64, "propagation_ps": 200_000_000, "mtu_bytes": 1_500});
        config["link"] = link;
        config["traffic"] = json!({"source": "saturated", "frame_bytes": 60, "packets": 40_000});
        config["switch"]["recirculates"] = json!(recirculates);
        let fast = run(&config);
        config["skip"] = json!(false);
        let plain = run(&config);
        assert_eq!(fast.row, plain.row, "{recirculates}");
        assert!(number(&fast, "tx_buffer_kb_max") > 2_000.0, "a window of copies");
    }
}

/// The last frame that is asked for is forgotten while frames leave, since half of the positions have passed (LG-10). The event of
/// its copy, which is no event any more, ends no pause (LG-25).
#[test]
fn a_forgotten_request_ends_no_pause() {
    let mut config = config("stress", "lg");
    config["link"] = json!({"rate_bps": 100_000_000_000_u64, "propagation_ps": 0, "mtu_bytes": 1_500});
    let every_second = (132_073..132_473).filter(|position| position % 2 == 0);
    let positions: Vec<u64> = (1_000..132_073).chain(every_second).chain(132_473..198_073).collect();
    config["loss"]["forward"] = json!({"model": "at", "positions": positions});
    config["traffic"] = json!({"source": "saturated", "frame_bytes": 64, "packets": 198_500});
    let fast = run(&config);
    config["skip"] = json!(false);
    let plain = run(&config);
    assert_eq!(fast.row, plain.row);
    assert_eq!((number(&fast, "pauses"), number(&fast, "pauses_expired")), (0.0, 0.0));
}

/// Copies find no room for more frames than LinkGuardian has positions, which are 131,072 (LG-3, LG-34). A copy goes round once before
/// it is dropped here, and by then the sender knows whether the frame was lost.
#[test]
fn copies_without_room_are_forgotten_with_their_positions() {
    let mut config = config("stress", "lg-nb");
    config["link"] = json!({"rate_bps": 800_000_000_000_u64, "propagation_ps": 0, "mtu_bytes": 1_500});
    config["loss"]["forward"] = json!({"model": "at", "positions": [95_000, 150_000]});
    config["switch"]["tx_buffer_max_bytes"] = json!(20_000);
    config["protection"]["copies"] = json!(1);
    config["traffic"] = json!({"source": "saturated", "frame_bytes": 590, "packets": 200_000});
    let fast = run(&config);
    config["skip"] = json!(false);
    let plain = run(&config);
    assert_eq!(fast.row, plain.row);
    assert!(number(&fast, "tx_buffer_drops") > 150_000.0, "the buffer overflows");
    assert_eq!((number(&fast, "retransmissions"), number(&fast, "effective_lost_packets")), (2.0, 0.0));
}

//! Frames that wait for long in the loops of LinkGuardian's switches: passing over rounds changes no result.

use crate::support::{config, run};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Returns losses that leave frames waiting, for their order and for copies.
fn losses() -> impl Strategy<Value = Value> {
    prop_oneof![
        (0.02f64..0.5).prop_map(|p| json!({"model": "bernoulli", "p": p})),
        Just(json!({"model": "gilbert-elliott", "p": 0.05, "r": 0.1, "loss_good": 0.0, "loss_bad": 1.0})),
    ]
}

/// Returns rates of lines: from rates at which copies and acknowledgements go round often while a frame leaves, up to a rate
/// at which they hardly do.
fn rates() -> impl Strategy<Value = u64> {
    prop::sample::select(vec![
        30_000_000,
        300_000_000,
        1_000_000_000,
        1_100_000_000,
        2_500_000_000,
        10_000_000_000,
    ])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    // LG-20, LG-21
    #[test]
    fn frames_that_wait_for_long_go_on_as_if_each_of_their_rounds_had_been_simulated(
        rate_bps in rates(),
        rate_back in prop_oneof![2 => Just(None), 1 => rates().prop_map(Some)],
        forward in losses(),
        reverse in prop_oneof![2 => Just(json!({"model": "none"})), 1 => losses()],
        (copies, has_backpressure, frame_bytes) in (prop::sample::select(vec![1_u32, 3]), any::<bool>(), 60u32..1515),
        source in prop::sample::select(vec!["saturated", "generator"]),
        seed in any::<u32>(),
    ) {
        let mut config = config("stress", "lg");
        config["seed"] = json!(seed);
        config["link"]["rate_bps"] = json!(rate_bps);
        if let Some(rate_bps) = rate_back {
            config["link"]["rate_back_bps"] = json!(rate_bps);
        }
        config["protection"]["copies"] = json!(copies);
        config["protection"]["mode"] = json!({"ordered": {"backpressure": has_backpressure}});
        config["loss"] = json!({"forward": forward, "reverse": reverse});
        config["traffic"] = json!({"packets": 60, "frame_bytes": frame_bytes, "source": source});
        let [skipping, plain] = [true, false].map(|skips| {
            config["skip"] = json!(skips);
            run(&config)
        });
        prop_assert_eq!(skipping.row, plain.row);
        prop_assert_eq!(skipping.columns, plain.columns);
    }

    // LG-20, LG-21
    #[test]
    fn datagrams_that_come_to_rest_do_so_as_event_by_event(
        rate_bps in rates(),
        rate_back in prop_oneof![2 => Just(None), 1 => rates().prop_map(Some)],
        forward in losses(),
        reverse in prop_oneof![2 => Just(json!({"model": "none"})), 1 => losses()],
        (kind, copies) in (prop::sample::select(vec!["lg", "lg-nb", "llr"]), prop::sample::select(vec![1_u32, 3])),
        frame_bytes in 60u32..1515,
        seed in any::<u32>(),
    ) {
        let mut config = config("fec", kind);
        config["seed"] = json!(seed);
        config["link"]["rate_bps"] = json!(rate_bps);
        if let Some(rate_bps) = rate_back {
            config["link"]["rate_back_bps"] = json!(rate_bps);
        }
        if kind.starts_with("lg") {
            config["protection"]["copies"] = json!(copies);
        }
        config["loss"] = json!({"forward": forward, "reverse": reverse});
        config["traffic"] = json!({
            "frame_bytes": frame_bytes, "source": "udp-smooth", "rate_bps": rate_bps / 2, "burst_packets": 8,
        });
        config["flow"]["trials"] = json!(2);
        // Thirty of the longest frames.
        config["run"]["duration_ps"] = json!(60 * 8 * 1514 * 1_000_000_000_000 / rate_bps);
        let [skipping, plain] = [true, false].map(|skips| {
            config["skip"] = json!(skips);
            run(&config)
        });
        prop_assert_eq!(skipping.row, plain.row);
    }
}

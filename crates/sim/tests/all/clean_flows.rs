//! Flows that meet no loss are not computed packet by packet: their completion time is a sum over their packets.

use crate::support::{column, config, number, profile, run};
use lossylink_sim::Outcome;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Returns the configuration of flows of `bytes` bytes between the published hosts. Some flows meet a loss.
fn flows(protection: &str, bytes: u64) -> Value {
    let mut config = config("tcp-fct", protection);
    config["host"] = profile("host", "ae-hosts");
    config["loss"]["forward"] = json!({"model": "bernoulli", "p": 4e-3});
    config["flow"]["size_bytes"] = json!(bytes);
    config["flow"]["trials"] = json!(400);
    config
}

/// Returns the outcome of a configuration, and the number of frames that were skipped. Checks that the outcome is that of a run
/// event by event.
pub(crate) fn compared(config: &Value) -> (Outcome, f64) {
    let counts = ["frames_simulated", "frames_skipped"];
    let without_counts = |outcome: &Outcome| {
        let mut row = outcome.row.clone();
        counts.iter().for_each(|key| drop(row.remove(*key)));
        row
    };
    let mut event_by_event = config.clone();
    event_by_event["skip"] = json!(false);
    let (short, long) = (run(config), run(&event_by_event));
    assert_eq!(short.columns, long.columns, "{config}");
    assert_eq!(without_counts(&short), without_counts(&long), "{config}");
    let count =
        |outcome: &Outcome| counts.map(|key| outcome.row.get(key).and_then(Value::as_f64).unwrap_or(0.0));
    let ([simulated, skipped], [all, none]) = (count(&short), count(&long));
    assert_eq!((simulated + skipped, none), (all, 0.0), "{config}");
    (short, skipped)
}

/// Sizes on both sides of a full segment, of the initial window and of twice as much, at rates whose frames leave at
/// the pace of the host's stack or at once. At 10G the initial window takes longer than some wake-ups.
#[test]
#[cfg_attr(not(feature = "fast"), ignore = "no flow is skipped")]
fn flows_of_two_windows_at_most_are_sums() {
    let all = [143, 1_461, 4_380, 14_600, 24_387, 29_200, 29_201];
    for protection in ["none", "lg", "lg-nb"] {
        for gbps in [10u64, 100] {
            for (algorithm, bytes) in ["reno", "cubic", "dctcp"].into_iter().cycle().zip(all) {
                let mut config = flows(protection, bytes);
                config["link"]["rate_bps"] = json!(gbps * 1_000_000_000);
                config["transport"]["congestion_control"] = json!(algorithm);
                let (outcome, skipped) = compared(&config);
                assert_eq!(skipped > 0.0, bytes != 29_201, "{bytes} B at {gbps}G under {protection}");
                assert!(number(&outcome, "flows_hit") > 0.0, "{bytes} B at {gbps}G under {protection}");
            }
        }
    }
}

/// A flow finds the state that earlier flows leave in the switches of LinkGuardian: circulating packets, positions, and losses
/// that are still to come.
#[test]
#[cfg_attr(not(feature = "fast"), ignore = "no flow is skipped")]
fn flows_over_linkguardian_are_sums_in_between_others() {
    for (switch, protection) in [("tofino1", "lg"), ("tofino1", "lg-nb"), ("ideal", "lg"), ("ideal", "lg-nb")]
    {
        for loss in [
            json!({"model": "bernoulli", "p": 1e-2}),
            json!({"model": "bit-error-rate", "ber": 5e-7}),
            json!({"model": "gilbert-elliott", "p": 2e-3, "r": 0.3, "loss_good": 0.0, "loss_bad": 0.7}),
        ] {
            let mut config = flows(protection, 24_387);
            config["switch"] = profile("switch", switch);
            (config["loss"]["forward"], config["loss"]["reverse"]) = (loss.clone(), loss);
            let (outcome, skipped) = compared(&config);
            let simulated = number(&outcome, "frames_simulated");
            assert!(skipped > 0.0 && simulated > 0.0, "{switch} {protection}: {skipped} and {simulated}");
        }
    }
}

/// A model of the path paces by measured rates, and timestamps carry the time, so no flow repeats another.
#[test]
fn flows_that_follow_from_what_is_measured_are_computed() {
    for (key, value) in [("congestion_control", json!("bbr")), ("timestamps", json!(true))] {
        let mut config = flows("none", 24_387);
        config["transport"][key] = value;
        assert_eq!(compared(&config).1, 0.0, "{key}");
    }
}

/// All messages take one connection, whose interface asks for an acknowledgement with every 256th number (RDMA-5). A message that
/// meets a loss starts where the messages before it have left the connection. On a slow way back the last acknowledgement waits
/// for the acknowledgement before it.
#[test]
#[cfg_attr(not(feature = "fast"), ignore = "no message is skipped")]
fn messages_that_are_skipped_take_their_numbers() {
    for (recovery, dcqcn, loss, back_gbps) in [
        ("go-back-n", false, 2e-3, 100),
        ("selective-repeat", false, 2e-3, 100),
        ("go-back-n", true, 2e-3, 100),
        ("go-back-n", false, 0.05, 100),
        ("go-back-n", false, 2e-3, 1),
        ("selective-repeat", false, 2e-3, 1),
    ] {
        let mut config = config("rdma-fct", "none");
        config["loss"]["forward"] = json!({"model": "bernoulli", "p": loss});
        config["link"]["rate_back_bps"] = json!(back_gbps * 1_000_000_000_u64);
        config["transport"]["recovery"] = json!(recovery);
        config["transport"]["dcqcn"] = json!(dcqcn);
        // 23 packets: the request falls on each of them in turn.
        config["flow"]["size_bytes"] = json!(23_000);
        config["flow"]["trials"] = json!(2_000);
        let (outcome, skipped) = compared(&config);
        let hit = number(&outcome, "flows_hit");
        assert!(skipped > 0.0 && hit > 50.0 && number(&outcome, "timeouts") > 0.0, "{recovery}: {hit}");
    }
}

/// Frames that overtake each other bring NAKs after the end of a message. These count for that message in both halves.
#[test]
fn a_repair_after_the_end_counts_for_its_flow() {
    let mut config = config("rdma-fct", "none");
    config["link"] = json!({"rate_bps": 100_000_000_000_u64, "rate_back_bps": 400_000_000_000_u64, "propagation_ps": 0, "mtu_bytes": 1_500});
    config["switch"] = profile("switch", "ideal");
    config["host"] = profile("host", "ideal");
    config["loss"]["forward"] = json!({"model": "none"});
    config["flow"]["trials"] = json!(2_000);
    config["path"] = json!({"jitter": {"forward_ps": 100_000, "back_ps": 100_000, "reorders": true}});
    config["flow"]["size_bytes"] = json!(2_914);
    config["transport"]["recovery"] = json!("selective-repeat");
    config["transport"]["mtu_bytes"] = json!(256);
    let (outcome, skipped) = compared(&config);
    assert_eq!(skipped, 0.0);
    assert!(number(&outcome, "repaired_nak") > 1_000.0, "frames overtake each other");
}

/// Flows are skipped only without losses on the way back: a loss there may hit an acknowledgement.
#[test]
fn a_lossy_way_back_is_computed() {
    let mut config = flows("none", 24_387);
    config["loss"]["reverse"] = json!({"model": "bernoulli", "p": 1e-3});
    assert_eq!(compared(&config).1, 0.0);
}

/// Returns hosts of every kind: with any latencies, merging or not, with any jiffy and any delay of acknowledgements.
fn any_hosts() -> impl Strategy<Value = Value> {
    let latency = (0u32..30_000, 0u32..60_000);
    let counts = (1u32..5, 1u32..20, 0u32..18);
    (latency.clone(), latency, any::<bool>(), 1u64..8, counts, prop_oneof![4 => Just(0), 1 => 1u32..300])
        .prop_map(
            |(
                (least, more),
                (put_off, longer),
                merges,
                tick_us,
                (delayed_ack, window, quick),
                segment_ns,
            )| {
                let table = |least: u32, more: u32| {
                    json!([
                        [0.0, f64::from(least)],
                        [0.9, f64::from(least + more / 4)],
                        [1.0, f64::from(least + more)]
                    ])
                };
                json!({
                    "receive_latency": table(least, more),
                    "moderation_latency": table(put_off / 3, longer),
                    "generic_receive_offload": merges,
                    "tick_us": tick_us * 125,
                    "quick_acks": quick,
                    "receive_segment_ns": segment_ns,
                    "delayed_ack": delayed_ack,
                    "initial_window": window,
                })
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn flows_between_any_hosts_take_what_their_packets_make(
        protection in prop::sample::select(vec!["none", "none", "lg", "lg-nb"]),
        hosts in any_hosts(),
        bytes in prop_oneof![2 => 1u64..15_000, 1 => 15_000u64..60_000],
        gbps in prop::sample::select(vec![10u64, 25, 100, 400]),
        seed: u32,
    ) {
        let mut config = flows(protection, bytes);
        config["flow"]["trials"] = json!(60);
        config["seed"] = json!(seed);
        config["link"]["rate_bps"] = json!(gbps * 1_000_000_000);
        for (key, value) in hosts.as_object().unwrap() {
            let place = if matches!(key.as_str(), "delayed_ack" | "initial_window") { "transport" } else { "host" };
            config[place][key] = value.clone();
        }
        compared(&config);
    }
}

/// The column of a run that was looked at before its end is the column of the whole run.
#[test]
fn flows_are_those_of_their_own_draws() {
    let few = compared(&flows("none", 24_387)).0;
    let mut config = flows("none", 24_387);
    config["flow"]["trials"] = json!(150);
    let fewer = compared(&config).0;
    let fct = |outcome| column(outcome, "trials", "fct_us");
    assert_eq!(fct(&few)[..150], fct(&fewer)[..]);
}

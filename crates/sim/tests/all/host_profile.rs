//! The effects of a host profile on flows: wake-ups, moderation, merging, and the rate of a flow's stack.

use crate::support;
use lossylink_sim::Outcome;
use serde_json::{Value, json};
use support::{config, number, profile, run};

/// Returns the outcome of flows of `bytes` over a link without loss, between ideal hosts with some keys
/// changed.
fn clean(bytes: u64, changes: &[(&str, Value)]) -> Outcome {
    let mut config = config("tcp-fct", "none");
    config["loss"]["forward"] = json!({"model": "none"});
    config["flow"] = json!({"size_bytes": bytes, "trials": 20, "count": 1});
    for (key, value) in changes {
        config["host"][*key] = value.clone();
    }
    run(&config)
}

/// Returns the longest completion time of these flows, microseconds.
fn takes_us(bytes: u64, changes: &[(&str, Value)]) -> f64 {
    let outcome = clean(bytes, changes);
    assert_eq!(number(&outcome, "trials"), 20.0);
    number(&outcome, "fct_us_max")
}

/// Returns the quantile function of a latency that never changes.
fn always(us: f64) -> Value {
    json!([[0.0, us * 1e3], [1.0, us * 1e3]])
}

fn close(measured: f64, expected: f64) {
    assert!((measured - expected).abs() < 0.01, "{measured} us, expected {expected} us");
}

/// 143 B cross in one round trip with two wake-ups, 24,387 B in two with four.
// HOST-1
#[test]
fn a_wake_up_takes_its_part_at_each_end_of_each_round_trip() {
    let at = |us| [("receive_latency", always(us))];
    // The wake-up is longer than the 2 us in which a window arrives, so that no packet comes after its
    // wake-up.
    close(takes_us(143, &at(20.0)) - takes_us(143, &at(10.0)), 2.0 * 10.0);
    close(takes_us(24_387, &at(20.0)) - takes_us(24_387, &at(10.0)), 4.0 * 10.0);
}

/// Windows of ten and seven segments are bursts, and so are their acknowledgements unless the segments
/// are merged; a flow of one packet has none.
// HOST-2, HOST-4
#[test]
fn moderation_puts_bursts_off_and_merging_leaves_fewer_of_them() {
    let longer = |bytes, merges: bool| {
        let with = |us| {
            let hosts = [
                ("receive_latency", always(10.0)),
                ("moderation_latency", always(us)),
                ("generic_receive_offload", json!(merges)),
            ];
            takes_us(bytes, &hosts)
        };
        with(30.0) - with(0.0)
    };
    close(longer(143, false), 0.0);
    close(longer(143, true), 0.0);
    close(longer(24_387, false), 4.0 * 30.0);
    close(longer(24_387, true), 2.0 * 30.0);
}

/// Merged, 24,387 B are two segments and two acknowledgements, one after another. The end of the
/// handshake, which comes with the first data, occupies the core before it.
// HOST-3, HOST-4
#[test]
fn a_core_takes_its_part_for_each_segment() {
    let longer = |bytes, merges: bool| {
        let with = |ns: u64| {
            let hosts = [
                ("receive_latency", always(10.0)),
                ("receive_segment_ns", json!(ns)),
                ("generic_receive_offload", json!(merges)),
            ];
            takes_us(bytes, &hosts)
        };
        with(1_000) - with(0)
    };
    close(longer(143, true), 3.0);
    close(longer(143, false), 3.0);
    close(longer(24_387, true), 5.0);
    // Without merging, the core works on seventeen segments and their acknowledgements, some of it at once.
    assert!(longer(24_387, false) > longer(24_387, true));
}

/// TCP-61
#[test]
fn a_flow_is_no_faster_than_its_stack() {
    let bytes = 2_000_000;
    let bits_per_us = 10_000.0;
    let stack = |bps: u64| [("flow_rate_bps", json!(bps))];
    let (limited, free) = (takes_us(bytes, &stack(10_000_000_000)), takes_us(bytes, &[]));
    let at_rate = 8.0 * bytes as f64 / bits_per_us;
    assert!(free < at_rate && at_rate < limited, "{free} us without, {limited} us with the limit");
    assert!(limited < at_rate + 100.0, "slow start and a round trip: {limited} us");
}

#[test]
fn a_stack_faster_than_the_interface_changes_nothing() {
    let stack = |bps: u64| [("flow_rate_bps", json!(bps)), ("nic_rate_bps", json!(10_000_000_000_u64))];
    let free = clean(200_000, &stack(0));
    assert_eq!(clean(200_000, &stack(10_000_000_000)).columns, free.columns);
    assert_ne!(clean(200_000, &stack(9_000_000_000)).columns, free.columns);
}

/// Returns the outcome of flows between the published hosts.
fn published(protection: &str, bytes: u64, trials: u64, loss: f64) -> Outcome {
    let mut config = config("tcp-fct", protection);
    config["host"] = profile("host", "ae-hosts");
    config["loss"]["forward"] = json!({"model": "bernoulli", "p": loss});
    config["flow"] = json!({"size_bytes": bytes, "trials": trials, "count": 1});
    run(&config)
}

/// 3 % at the 99.9th percentile is asked of many more flows (`lossylink reproduce --only tcp-fct-2mb`).
#[test]
fn order_hides_losses_from_a_long_flow_and_its_absence_does_not() {
    let flows = |protection, loss| published(protection, 2_000_000, 400, loss);
    let (clean, ordered, unordered) = (flows("none", 0.0), flows("lg", 1e-3), flows("lg-nb", 1e-3));
    assert!(number(&ordered, "flows_hit") > 200.0);
    assert_eq!(number(&ordered, "retransmissions"), 0.0);
    for percentile in ["fct_us_p50", "fct_us_p90", "fct_us_p99"] {
        let ratio = number(&ordered, percentile) / number(&clean, percentile);
        assert!((0.97..1.03).contains(&ratio), "{percentile}: {ratio}");
    }
    assert!(number(&unordered, "fct_us_p99") > 1.5 * number(&ordered, "fct_us_p99"));
}

/// No packet follows a lone packet: unless the link repairs it, a timer must, and timers tick in
/// milliseconds.
#[test]
fn a_lost_lone_packet_waits_for_a_timer_or_for_the_link() {
    let flows = |protection| published(protection, 143, 5_000, 1e-2);
    let (bare, ordered) = (flows("none"), flows("lg"));
    // A percent of the flows is hit: the 99.9th percentile lies amid those flows.
    assert!(number(&bare, "fct_us_p99_9") > 2000.0, "two ticks at least");
    assert_eq!((number(&ordered, "timeouts"), number(&ordered, "retransmissions")), (0.0, 0.0));
    let gain = number(&bare, "fct_us_p99_9") / number(&ordered, "fct_us_p99_9");
    assert!(gain > 40.0, "{gain}");
}

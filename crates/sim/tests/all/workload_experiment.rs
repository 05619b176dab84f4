//! Flows that share the link: pooled connections, the load, slowdowns, determinism.

use crate::support;
use serde_json::{Value, json};
use support::{column, config, number, refusal, run};

/// Returns the configuration of flows of two sizes, 2 KB and 40 KB in equal parts, at a load of 0.5.
fn workload(protection: &str, protocol: &str) -> Value {
    let mut config = config("workload", protection);
    config["workload"] = json!({
        "protocol": protocol, "distribution": "two sizes", "load": 0.5,
        "points": [[2_000.0, 0.5], [40_000.0, 0.5], [40_000.0, 1.0]],
    });
    config["flow"]["trials"] = json!(1500);
    config
}

#[test]
fn every_flow_ends_once_and_connections_are_used_again() {
    for protocol in ["tcp", "rdma"] {
        let outcome = run(&workload("lg", protocol));
        assert_eq!((number(&outcome, "trials"), number(&outcome, "flows_unfinished")), (1500.0, 0.0));
        let (small, medium) = (number(&outcome, "flows_to_10kb"), number(&outcome, "flows_to_100kb"));
        assert_eq!(small + medium, 1500.0);
        // Four standard deviations of a fair coin.
        assert!((small - 750.0).abs() < 4.0 * (1500.0_f64 / 4.0).sqrt(), "{small} small flows");
        let connections = number(&outcome, "connections_max");
        assert!((2.0..200.0).contains(&connections), "{connections} connections for 1100 flows");
    }
}

/// The load counts bytes of flows; headers, and TCP's handshakes, come on top.
#[test]
fn the_link_is_as_busy_as_was_asked_for() {
    let mut config = workload("none", "rdma");
    config["loss"]["forward"] = json!({"model": "none"});
    let busy = number(&run(&config), "link_utilisation");
    // Sizes vary by their mean, arrivals by theirs: a relative error of sqrt(1.82 / 1650) for 1650 flows.
    let expected = 0.5 * 1106.0 / 1024.0;
    assert!((busy / expected - 1.0).abs() < 4.0 * 0.034, "{busy}, expected {expected}");
}

/// On a clean link with hardly any queueing, no flow is quicker than alone, and flows are little slower.
#[test]
fn at_a_low_load_flows_take_as_long_as_alone() {
    let mut config = workload("none", "rdma");
    config["loss"]["forward"] = json!({"model": "none"});
    config["workload"]["load"] = json!(0.01);
    let outcome = run(&config);
    let slowdowns = column(&outcome, "trials", "slowdown");
    assert!(
        slowdowns.iter().all(|&slowdown| slowdown > 0.98),
        "{:?}",
        slowdowns.iter().copied().fold(9.0, f64::min)
    );
    assert!(number(&outcome, "slowdown_p50") < 1.1, "{}", number(&outcome, "slowdown_p50"));
}

/// With loss the tail is the interfaces' timer, unless the link repairs. One loss in a hundred stops
/// an ordered 100G link for much of the time, so that the load is low.
#[test]
fn protection_shortens_the_tail_under_cross_traffic() {
    let tail = |protection| {
        let mut config = workload(protection, "rdma");
        config["loss"]["forward"] = json!({"model": "bernoulli", "p": 1e-2});
        config["workload"]["load"] = json!(0.1);
        number(&run(&config), "slowdown_p99_9")
    };
    assert!(tail("none") > 5.0 * tail("lg"));
}

#[test]
fn threads_change_nothing() {
    for protocol in ["tcp", "rdma"] {
        let mut config = workload("lg-nb", protocol);
        let one = run(&config);
        config["threads"] = json!(2);
        let two = run(&config);
        assert_eq!((&two.row, &two.columns), (&one.row, &one.columns));
        config["seed"] = json!(2);
        assert_ne!(run(&config).columns, one.columns);
    }
}

#[test]
fn loads_and_distributions_that_make_no_sense_are_refused() {
    let mut overload = workload("none", "tcp");
    overload["workload"]["load"] = json!(1.2);
    assert!(refusal(&overload).contains("load 1.2 is out of range"));
    let mut incomplete = workload("none", "tcp");
    incomplete["workload"]["points"] = json!([[100.0, 0.5]]);
    assert!(refusal(&incomplete).contains("the last share is 0.5"));
}

/// Connections of the pool are open from the start: no request for one is lost, which would take a second.
#[test]
fn no_flow_waits_for_a_connection() {
    let mut config = workload("none", "tcp");
    config["loss"]["forward"] = json!({"model": "bernoulli", "p": 2e-2});
    config["workload"]["points"] = json!([[1_000.0, 1.0]]);
    config["workload"]["load"] = json!(0.01);
    let outcome = run(&config);
    assert_eq!((number(&outcome, "trials"), number(&outcome, "flows_unfinished")), (1500.0, 0.0));
    assert!(number(&outcome, "retransmissions") > 0.0, "some of 1500 segments were lost");
    // Two replicas, of which each may end with a timeout that was doubled once.
    let seconds = number(&outcome, "simulated_seconds");
    assert!(seconds < 2.0 * 0.7, "{seconds}");
}

/// On a clean path at a low load no flow is quicker than alone, and flows are little slower.
#[test]
fn at_a_low_load_flows_of_tcp_take_as_long_as_alone() {
    let mut config = workload("none", "tcp");
    config["loss"]["forward"] = json!({"model": "none"});
    config["workload"]["load"] = json!(0.01);
    let outcome = run(&config);
    let slowdowns = column(&outcome, "trials", "slowdown");
    let least = slowdowns.iter().copied().fold(f64::INFINITY, f64::min);
    assert!(least > 0.98, "{least}");
}

/// At 1 kb/s a packet and its answer take longer than all retries of an RDMA interface last, so flows have no reference time.
#[test]
fn a_line_on_which_no_message_ends_is_refused() {
    let mut config = workload("none", "rdma");
    config["link"]["rate_bps"] = json!(1_000);
    assert!(refusal(&config).starts_with("a flow of one byte fails even alone"));
}

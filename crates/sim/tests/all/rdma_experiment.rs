//! The experiment of serial RDMA writes: its floor, its shortcuts, and the effect of protection.

use crate::support;
use lossylink_sim::measure::Description;
use serde_json::{Value, json};
use support::{column, config, number, profile, refusal, run};

/// Returns the experiment between hosts whose interfaces add a latency.
fn on_calibrated_hosts(protection: &str) -> Value {
    let mut config = config("rdma-fct", protection);
    config["host"] = profile("host", "ae-hosts");
    config
}

/// The floor is the sum of the delays of a message of 24 packets on the artifact's path without
/// loss. Each of five more hops begins when it has the first packet whole, which is the longest,
/// and is then busy until it has sent all packets. The acknowledgement crosses six hops.
#[test]
fn the_floor_is_the_path_and_the_serialisation() {
    let mut config = config("rdma-fct", "none");
    config["loss"]["forward"] = json!({"model": "none"});
    config["flow"]["trials"] = json!(300);
    let outcome = run(&config);
    let one_way_ns = config["host"]["rdma_one_way_ns"].as_f64().unwrap();
    let (first, middle, last, answer) = (1122, 1106, 918, 86);
    let octets = first + 22 * middle + last + 5 * first + 6 * answer;
    let floor_us = 2.0 * one_way_ns / 1e3 + f64::from(octets) * 80e-6;
    for key in ["fct_us_min", "fct_us_max"] {
        assert!((number(&outcome, key) - floor_us).abs() < 1e-4, "{key}: {}", number(&outcome, key));
    }
    #[cfg(feature = "fast")]
    assert_eq!(
        (number(&outcome, "frames_simulated"), number(&outcome, "frames_skipped")),
        (0.0, 300.0 * 24.0)
    );
}

#[test]
fn threads_and_skipping_change_nothing() {
    for protection in ["none", "lg", "lg-nb"] {
        let mut config = on_calibrated_hosts(protection);
        let quick = run(&config);
        config["threads"] = json!(2);
        config["skip"] = json!(false);
        assert_eq!(run(&config).columns, quick.columns, "{protection}");
        config["seed"] = json!(2);
        assert_ne!(run(&config).columns, quick.columns);
    }
}

/// More messages than memory has room for lie in a file until the table is asked for.
#[test]
fn the_figures_of_very_many_messages_are_those_of_their_table() {
    let mut config = on_calibrated_hosts("none");
    config["flow"]["trials"] = json!(1_500_000);
    let outcome = run(&config);
    config["threads"] = json!(2);
    let on_two = run(&config);
    assert_eq!((&on_two.row, &on_two.columns), (&outcome.row, &outcome.columns));
    let times = Description::of(column(&outcome, "trials", "fct_us")).unwrap();
    let figures =
        [times.min(), times.mean(), times.max(), times.standard_deviation(), times.percentile(0.9999)];
    let keys = ["fct_us_min", "fct_us_mean", "fct_us_max", "fct_us_std", "fct_us_p99_99"];
    assert_eq!(keys.map(|key| number(&outcome, key)), figures);
    assert_eq!(number(&outcome, "timeouts"), column(&outcome, "trials", "timeouts").iter().sum::<f64>());
}

/// The last packet of the second message is lost: only the timer of the interface can reveal that.
#[test]
fn a_lost_tail_waits_for_the_timer() {
    let mut config = config("rdma-fct", "none");
    config["loss"]["forward"] = json!({"model": "at", "positions": [47]});
    config["flow"]["trials"] = json!(2);
    let outcome = run(&config);
    let timeout_us = config["host"]["rdma_timeout_us"].as_f64().unwrap();
    let cost_us = number(&outcome, "fct_us_max") - number(&outcome, "fct_us_min");
    // The whole message is sent again, from the moment at which the last packet left.
    assert!((cost_us - timeout_us).abs() < 3.0, "{cost_us}");
    assert_eq!((number(&outcome, "repaired_timeout"), number(&outcome, "timeouts")), (1.0, 1.0));
}

#[test]
fn linkguardian_hides_losses_from_the_interface() {
    let mut config = config("rdma-fct", "lg");
    config["flow"]["trials"] = json!(2000);
    let outcome = run(&config);
    assert!(number(&outcome, "flows_hit") > 20.0);
    assert_eq!(number(&outcome, "retransmissions"), 0.0);
    assert!(number(&outcome, "fct_us_max") < number(&outcome, "fct_us_min") + 10.0);
}

/// Go-back-N takes reordering for loss: without order a repaired packet costs a round trip and
/// more. Selective repeat keeps packets that came early.
#[test]
fn only_go_back_n_pays_for_reordering() {
    let cost_us = |protection: &str, recovery: &str| {
        let mut config = config("rdma-fct", protection);
        config["transport"]["recovery"] = json!(recovery);
        config["loss"]["forward"] = json!({"model": "bernoulli", "p": 1e-2});
        config["flow"]["trials"] = json!(500);
        let outcome = run(&config);
        number(&outcome, "fct_us_p95") - number(&outcome, "fct_us_min")
    };
    let ordered = cost_us("lg", "go-back-n");
    assert!(cost_us("lg-nb", "go-back-n") > ordered + 10.0);
    assert!(cost_us("lg-nb", "selective-repeat") <= ordered);
}

/// Every packet is lost: after the retries a message fails, and the next one has a new connection.
#[test]
fn a_message_that_fails_is_counted_and_not_timed() {
    let mut config = config("rdma-fct", "none");
    config["loss"]["forward"] = json!({"model": "bernoulli", "p": 1.0});
    config["flow"]["trials"] = json!(3);
    let outcome = run(&config);
    assert_eq!((number(&outcome, "trials"), number(&outcome, "flows_unfinished")), (0.0, 3.0));
    assert!(outcome.row["fct_us_p50"].is_null());
}

#[test]
fn an_mtu_or_a_recovery_that_does_not_exist_is_refused_with_the_list() {
    let mut mtu = config("rdma-fct", "none");
    mtu["transport"]["mtu_bytes"] = json!(1000);
    assert!(refusal(&mtu).contains("256, 512, 1024, 2048, 4096"));
    let mut recovery = config("rdma-fct", "none");
    recovery["transport"]["recovery"] = json!("go-back");
    assert!(refusal(&recovery).contains("selective-repeat"));
}

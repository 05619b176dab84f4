//! Long RDMA flows: the share of the line that one flow keeps, and how two flows share the line
//! with and without DCQCN.

use crate::support;
use lossylink_sim::Outcome;
use serde_json::{Value, json};
use support::{config, number, refusal, run};

const MS: u64 = 1_000_000_000;

/// Returns the configuration of senders that each have an interface as fast as the 100G link, 16 us
/// away.
fn writes(count: u32, dcqcn: bool) -> Value {
    let mut config = config("throughput", "none");
    config["loss"]["forward"] = json!({"model": "none"});
    config["transport"]["protocol"] = json!("rdma");
    config["transport"]["dcqcn"] = json!(dcqcn);
    config["path"] = json!({"rtt_ps": 16_000_000});
    config["flow"]["count"] = json!(count);
    config["run"] = json!({"duration_ps": 30 * MS, "warmup_ps": 15 * MS, "cooldown_ps": 0});
    config
}

/// Returns the throughput over the most that the line carries: a packet of 1024 B takes 1106 octets
/// on the wire.
fn share_of_payload(outcome: &Outcome) -> f64 {
    number(outcome, "average_throughput_gbps") / (100.0 * 1024.0 / 1106.0)
}

#[test]
fn one_sender_fills_the_line() {
    let outcome = run(&writes(1, false));
    assert!(share_of_payload(&outcome) > 0.995, "{:?}", outcome.row);
    assert_eq!((number(&outcome, "retransmissions"), number(&outcome, "fairness")), (0.0, 1.0));
    assert_eq!(number(&outcome, "congestion_notifications"), 0.0);
}

// RDMA-30..35
#[test]
fn two_senders_under_dcqcn_share_the_line_and_keep_the_queue_short() {
    let (with, without) = (run(&writes(2, true)), run(&writes(2, false)));
    assert!(number(&with, "frames_marked") > 0.0 && number(&with, "congestion_notifications") > 0.0);
    assert_eq!(number(&without, "congestion_notifications"), 0.0);
    assert!(number(&with, "fairness") > 0.95, "{:?}", with.row);
    assert!(share_of_payload(&with) > 0.9, "{:?}", with.row);
    assert_eq!(number(&with, "queue_drops"), 0.0);
    assert!(number(&without, "queue_drops") > 0.0, "together they offer twice the line's rate");
    assert!(number(&without, "retransmissions") < 1e6, "counters outlive a connection that fails");
    assert_eq!(number(&with, "connection_failures"), 0.0);
    assert!(number(&with, "queue_bytes_max") < 0.6 * number(&without, "queue_bytes_max"));
}

#[test]
fn the_same_seed_marks_the_same_frames() {
    let mut config = writes(2, true);
    config["run"] = json!({"duration_ps": 3 * MS, "warmup_ps": 0, "cooldown_ps": 0});
    let first = run(&config);
    config["threads"] = json!(2);
    assert_eq!(run(&config).row, first.row);
    config["seed"] = json!(2);
    assert_ne!(run(&config).row["frames_marked"], first.row["frames_marked"]);
}

#[test]
fn marking_depths_in_the_wrong_order_are_refused() {
    let mut config = writes(1, true);
    config["switch"]["red_min_bytes"] = json!(240_000);
    assert!(refusal(&config).contains("is not below 240000 B"));
}

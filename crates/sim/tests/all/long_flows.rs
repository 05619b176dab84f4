//! Long TCP flows: the share of the line that every algorithm keeps, with and without loss, and how flows share the
//! line.

use crate::support;
use lossylink_sim::Outcome;
use serde_json::{Value, json};
use support::{config, number, refusal, run};

const MS: u64 = 1_000_000_000;
const ALGORITHMS: [&str; 5] = ["reno", "cubic", "dctcp", "bbr", "bbr3"];

/// Returns the configuration of one flow between ideal hosts, 30 us apart on the artifact's path; half of the time
/// is counted.
fn flow(algorithm: &str, gbps: u64, ms: u64) -> Value {
    let mut config = config("throughput", "none");
    config["link"]["rate_bps"] = json!(gbps * 1_000_000_000);
    config["loss"]["forward"] = json!({"model": "none"});
    config["transport"]["congestion_control"] = json!(algorithm);
    config["run"] = json!({"duration_ps": ms * MS, "warmup_ps": ms * MS / 2, "cooldown_ps": 0});
    config
}

/// Returns the throughput over the highest possible: 1460 B of payload in 1538 octets on the wire.
fn share_of_payload(outcome: &Outcome) -> f64 {
    number(outcome, "average_throughput_gbps") / (number(outcome, "link_gbps") * 1460.0 / 1538.0)
}

/// A window-based flow has the line full once its window is a round trip's worth, but for the cost of drops in its
/// own queue. BBR drains its queue in two of every eight round trips at most, and probes the round trip every ten
/// seconds.
#[test]
fn every_algorithm_fills_a_clean_line_at_every_rate() {
    for algorithm in ALGORITHMS {
        for (gbps, ms) in [(10, 40), (25, 20), (100, 12), (400, 8)] {
            let outcome = run(&flow(algorithm, gbps, ms));
            let share = share_of_payload(&outcome);
            // The counted time may hold a frame more than fits into its length, of 16,000 frames and more.
            assert!(share > 0.94 && share < 1.0001, "{algorithm} at {gbps}G: {share} {:?}", outcome.row);
            assert_eq!(number(&outcome, "fairness"), 1.0);
        }
    }
}

/// With one loss in a thousand and 110 us, a window that halves at losses averages some 40 segments, 4
/// Gb/s at any rate of the line; a model of the path does not take such losses for congestion.
#[test]
fn a_path_model_keeps_what_loss_takes_from_cubic() {
    let lossy = |algorithm| {
        let mut config = flow(algorithm, 25, 60);
        config["loss"]["forward"] = json!({"model": "quantised", "p": 1e-3});
        config["path"] = json!({"rtt_ps": 110_000_000});
        share_of_payload(&run(&config))
    };
    let (cubic, reno) = (lossy("cubic"), lossy("reno"));
    assert!(cubic < 0.25 && reno < 0.25, "cubic {cubic}, reno {reno}");
    let (bbr, bbr3) = (lossy("bbr"), lossy("bbr3"));
    assert!(bbr > 0.85 && bbr > 4.0 * cubic, "bbr {bbr}, cubic {cubic}");
    assert!(bbr3 > 0.85, "bbr3 {bbr3}");
}

/// A host that hands bursts down whole has an interface that cuts them, over a model of the path as well: losses are
/// drawn a frame. The Mathis study's path has none, which is one of its traps.
#[test]
fn frames_on_the_link_are_those_of_the_mtu() {
    for (experiment, is_cut) in [("throughput", true), ("mathis", false)] {
        let mut config = flow("cubic", 10, 20);
        config["experiment"] = json!(experiment);
        config["path"] = json!({"rtt_ps": 2_000_000_000_u64});
        config["transport"]["segmentation_offload"] = json!(true);
        config["host"]["segmentation_max_bytes"] = json!(65_536);
        let largest = number(&run(&config), "largest_frame_bytes");
        assert_eq!(largest <= 1518.0, is_cut, "{experiment}: {largest}");
    }
}

/// Four flows with interfaces of their own meet in the queue in front of the link.
#[test]
fn flows_of_one_algorithm_share_the_link() {
    for algorithm in ALGORITHMS {
        let mut config = flow(algorithm, 10, 400);
        config["flow"]["count"] = json!(4);
        config["path"] = json!({"rtt_ps": 100_000_000});
        config["loss"]["forward"] = json!({"model": "quantised", "p": 1e-4});
        let outcome = run(&config);
        let fairness = number(&outcome, "fairness");
        assert!(fairness > 0.8, "{algorithm}: {fairness} {:?}", outcome.row);
        assert!(share_of_payload(&outcome) > 0.9, "{algorithm}: {:?}", outcome.row);
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let mut config = flow("bbr3", 10, 20);
    config["flow"]["count"] = json!(3);
    config["loss"]["forward"] = json!({"model": "quantised", "p": 1e-3});
    let one = run(&config);
    config["threads"] = json!(2);
    assert_eq!(run(&config).row, one.row);
}

#[test]
fn an_unknown_algorithm_is_refused_with_the_valid_ones() {
    let message = refusal(&flow("vegas", 10, 10));
    assert!(ALGORITHMS.iter().all(|name| message.contains(name)), "{message}");
}

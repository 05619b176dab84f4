//! The time line: the events of each bin, and that switching protection on loses no frame.

use crate::support;
use lossylink_sim::Outcome;
use serde_json::{Value, json};
use support::{config, number, profile, refusal, run};

const MS: u64 = 1_000_000_000;

/// Returns the time line of 25G DCTCP: corruption from 20 ms, protection from 60 ms, 100 ms in bins of 5
/// ms.
fn timeline(protection: &str) -> Value {
    let mut config = config("timeline", protection);
    config["link"]["rate_bps"] = json!(25_000_000_000_u64);
    // These hosts wake up in 37 us and their flow fills 25G; a flow between the published hosts does not.
    config["host"] = profile("host", "ideal");
    config["host"]["receive_latency"] = json!([[0.0, 37_000.0], [1.0, 37_000.0]]);
    config["timeline"] =
        json!({"corruption_ps": 20 * MS, "protection_ps": 60 * MS, "poll_ps": 10 * MS, "bin_ps": 5 * MS});
    config["run"]["duration_ps"] = json!(100 * MS);
    config
}

fn column(outcome: &Outcome, name: &str) -> Vec<f64> {
    support::column(outcome, "timeline", name)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[test]
fn the_rate_falls_with_the_corruption_and_comes_back_with_the_protection() {
    let outcome = run(&timeline("lg"));
    let rate = column(&outcome, "send_gbps");
    assert_eq!(rate.len(), 20);
    assert_eq!(column(&outcome, "time_s")[4], 0.02);
    let (before, during, after) = (mean(&rate[1..4]), mean(&rate[5..12]), mean(&rate[17..]));
    assert!(before > 24.9 && during < 0.5 * before && after > 0.9 * before, "{before} {during} {after}");
    let again = column(&outcome, "retransmissions");
    assert_eq!(again[..4].iter().sum::<f64>(), 0.0);
    assert!(again[4..12].iter().sum::<f64>() > 10.0);
    assert_eq!(again[13..].iter().sum::<f64>(), 0.0, "the link repairs all of them");
    assert_eq!(again.iter().sum::<f64>(), number(&outcome, "retransmissions"));
    assert!(column(&outcome, "rx_buffer_kb")[..12].iter().all(|&kb| kb == 0.0));
    assert_eq!((number(&outcome, "protected_at_s"), number(&outcome, "copies")), (0.06, 2.0));
}

/// Frames in flight when the protection comes on all arrive: on a clean link TCP notices nothing.
#[test]
fn switching_protection_on_loses_and_repeats_nothing() {
    for (protection, recirculates) in [("lg", true), ("lg", false), ("lg-nb", true)] {
        let mut config = timeline(protection);
        config["loss"]["forward"] = json!({"model": "none"});
        config["switch"]["recirculates"] = json!(recirculates);
        config["timeline"]["protection_ps"] = json!(23 * MS);
        config["run"]["duration_ps"] = json!(30 * MS);
        let outcome = run(&config);
        assert_eq!(number(&outcome, "protected_at_s"), 0.023);
        assert_eq!(number(&outcome, "retransmissions"), 0.0, "{protection}");
        assert!(column(&outcome, "send_gbps")[2..].iter().all(|&gbps| gbps > 24.8));
    }
}

#[test]
fn a_monitor_decides_at_its_first_reading_of_the_corruption() {
    let mut config = timeline("lg");
    config["run"]["duration_ps"] = json!(35 * MS);
    config["timeline"]["protection_ps"] = json!(null);
    config["timeline"]["poll_ps"] = json!(15 * MS);
    let outcome = run(&config);
    // Corruption starts at 20 ms; the readings are at 0, 15, 30 ms.
    assert_eq!(number(&outcome, "protected_at_s"), 0.03);
    assert_eq!(number(&outcome, "copies"), 2.0);
    config["loss"]["forward"] = json!({"model": "none"});
    assert!(run(&config).row["protected_at_s"].is_null());
}

#[test]
fn a_run_without_protection_stays_unprotected() {
    let mut config = timeline("none");
    config["timeline"]["protection_ps"] = json!(25 * MS);
    config["run"]["duration_ps"] = json!(60 * MS);
    let outcome = run(&config);
    assert!(outcome.row["protected_at_s"].is_null());
    assert!(mean(&column(&outcome, "send_gbps")[6..]) < 12.5);
}

#[test]
fn the_same_seed_gives_the_same_time_line() {
    let mut config = timeline("lg");
    config["timeline"]["protection_ps"] = json!(25 * MS);
    config["run"]["duration_ps"] = json!(35 * MS);
    assert_eq!(run(&config).columns, run(&config).columns);
}

#[test]
fn moments_in_the_wrong_order_are_refused() {
    let mut config = timeline("lg");
    config["timeline"]["protection_ps"] = json!(10 * MS);
    assert!(refusal(&config).contains("timeline.protection comes before timeline.corruption"));
    let mut config = timeline("lg");
    config["timeline"]["bin_ps"] = json!(0);
    assert!(refusal(&config).contains("timeline.bin"));
    let mut config = timeline("lg");
    config["timeline"]["corruption_end_ps"] = json!(20 * MS);
    assert!(refusal(&config).contains("timeline.corruption_end does not come after"));
    let mut config = timeline("lg");
    config["timeline"]["protection_ps"] = json!(null);
    config["monitor"] = monitor(1000, 1e-4);
    assert!(refusal(&config).contains("monitor: a window of 1000 frames can never show"));
}

/// Returns a monitor that takes a link for corrupting from `on_loss`, and for healed from half of that.
fn monitor(window_frames: u64, on_loss: f64) -> Value {
    json!({"window_frames": window_frames, "on_loss": on_loss, "off_loss": on_loss / 2.0,
           "confidence": 0.99, "hold_ps": 5 * MS})
}

/// Returns a time line with corruption from 20 ms to 60 ms, whose monitor reads every 5 ms. At 25G some
/// 2000 frames pass in a millisecond, so that a window of 20,000 that shows less than 5e-4 takes some 10 ms
/// to fill.
fn automatic(protection: &str) -> Value {
    let mut config = timeline(protection);
    config["timeline"] = json!({"corruption_ps": 20 * MS, "corruption_end_ps": 60 * MS,
        "protection_ps": null, "poll_ps": 5 * MS, "bin_ps": 5 * MS});
    config["loss"]["forward"] = json!({"model": "quantised", "p": 1e-2});
    config["monitor"] = monitor(20_000, 1e-3);
    config["run"]["duration_ps"] = json!(120 * MS);
    config
}

#[test]
fn a_monitor_protects_a_link_that_corrupts_and_leaves_one_that_has_healed() {
    for protection in ["lg", "lg-nb"] {
        let outcome = run(&automatic(protection));
        let (on, off) = (number(&outcome, "protected_at_s"), number(&outcome, "unprotected_at_s"));
        assert!((0.020..=0.030).contains(&on), "{protection}: on at {on} s");
        assert!((0.065..=0.100).contains(&off), "{protection}: off at {off} s");
        assert_eq!(number(&outcome, "protection_changes"), 2.0);
        assert_eq!(number(&outcome, "copies"), 3.0, "one loss in a hundred asks for three copies");
        let (protected, copies) = (column(&outcome, "protected"), column(&outcome, "copies"));
        let bin = |seconds: f64| (seconds / 0.005) as usize;
        assert!(protected[..bin(on)].iter().all(|&share| share == 0.0));
        assert!(protected[bin(on) + 1..bin(off)].iter().all(|&share| share == 1.0));
        assert!(protected[bin(off) + 1..].iter().all(|&share| share == 0.0));
        assert!(copies[bin(on) + 1..bin(off)].iter().all(|&copies| copies >= 2.0));
        assert!(copies[bin(off) + 1..].iter().all(|&copies| copies == 0.0));
        // Switching the protection off loses no frame.
        assert_eq!(column(&outcome, "retransmissions")[bin(0.06)..].iter().sum::<f64>(), 0.0);
    }
}

/// Each direction has a monitor: the monitor of the way back sets the copies of control frames, and no
/// other copies.
// LG-47
#[test]
fn the_monitor_of_the_way_back_sets_the_copies_of_control_frames() {
    for (reverse, copies) in
        [(json!({"model": "none"}), 1.0), (json!({"model": "bernoulli", "p": 1e-2}), 3.0)]
    {
        let mut config = automatic("lg-nb");
        config["loss"]["reverse"] = reverse;
        config["timeline"]["corruption_end_ps"] = json!(null);
        let outcome = run(&config);
        assert_eq!((number(&outcome, "copies"), number(&outcome, "control_copies")), (3.0, copies));
        assert_eq!(number(&outcome, "protection_changes"), 1.0);
    }
    let mut config = automatic("lg-nb");
    config["loss"]["reverse"] = json!({"model": "bernoulli", "p": 1e-2});
    config["protection"]["control_copies"] = json!(2);
    assert_eq!(number(&run(&config), "control_copies"), 2.0, "what the user chose stays");
    config["loss"]["forward"] = json!({"model": "none"});
    assert_eq!(
        number(&run(&config), "protection_changes"),
        0.0,
        "losses on the way back alone protect nothing"
    );
}

/// A link that goes on losing one frame in a hundred stays protected, whatever the seed.
#[test]
fn a_monitor_does_not_flap_on_a_constant_loss() {
    for seed in 1..=4 {
        let mut config = automatic("lg-nb");
        config["seed"] = json!(seed);
        config["timeline"]["corruption_end_ps"] = json!(null);
        let outcome = run(&config);
        assert_eq!(number(&outcome, "protection_changes"), 1.0, "seed {seed}");
        assert_eq!(column(&outcome, "protected").last(), Some(&1.0));
    }
}

/// Codes are switched on and off as well: at once, and at a block's end.
#[test]
fn every_protection_can_be_switched_on_under_traffic() {
    for kind in ["fec", "fec-model"] {
        let mut config = timeline(kind);
        config["protection"]["k"] = json!(25);
        config["protection"]["h"] = json!(5);
        let outcome = run(&config);
        let rate = column(&outcome, "send_gbps");
        let (before, during, after) = (mean(&rate[1..4]), mean(&rate[5..12]), rate[19]);
        // A code takes five frames in thirty.
        assert!(before > 24.9 && during < 0.5 * before, "{kind}: {before} {during}");
        assert!(after > 0.75 * before && after < 0.84 * before, "{kind}: {before} {after}");
        let again = column(&outcome, "retransmissions");
        // Rebuilt frames come late: TCP takes some of them for lost until it knows that path.
        assert_eq!(again[18..].iter().sum::<f64>(), 0.0, "{kind}: {again:?}");
        assert_eq!(number(&outcome, "protected_at_s"), 0.06);
        assert!(outcome.row["copies"].is_null());
    }
    let mut config = automatic("fec");
    config["protection"]["k"] = json!(25);
    config["protection"]["h"] = json!(5);
    let outcome = run(&config);
    assert_eq!(number(&outcome, "protection_changes"), 2.0);
    let rate = column(&outcome, "send_gbps");
    assert!(rate[rate.len() - 1] > 24.9, "the code is gone: {rate:?}");
}

/// The frames that entered the link between the begin and the end of the corruption, by two shorter runs.
#[test]
fn frames_at_risk_are_those_that_entered_while_the_link_corrupted() {
    let until = |end: u64| {
        let mut config = timeline("none");
        config["timeline"]["corruption_end_ps"] = json!(50 * MS);
        config["run"]["duration_ps"] = json!(end);
        number(&run(&config), "frames_offered")
    };
    let mut config = timeline("none");
    config["timeline"]["corruption_end_ps"] = json!(50 * MS);
    config["run"]["duration_ps"] = json!(60 * MS);
    let outcome = run(&config);
    let at_risk = number(&outcome, "frames_at_risk");
    assert_eq!(at_risk, until(50 * MS) - until(20 * MS));
    assert!(0.0 < at_risk && at_risk < number(&outcome, "frames_offered"));
}

/// Hosts and link that run ahead of each other give the row and the time line that they give step by step.
#[test]
#[cfg_attr(not(feature = "fast"), ignore = "nothing runs ahead")]
fn running_ahead_changes_no_course() {
    for protection in ["none", "lg"] {
        let mut config = timeline(protection);
        let ahead = run(&config);
        config["skip"] = json!(false);
        let step_by_step = run(&config);
        assert_eq!(ahead.columns, step_by_step.columns, "{protection}");
        assert_eq!(ahead.row, step_by_step.row, "{protection}");
    }
}

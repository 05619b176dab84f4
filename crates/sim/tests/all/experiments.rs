//! Whole experiments: determinism, shortcuts, and configurations that are refused.

use crate::clean_flows::compared;
use crate::support;
use lossylink_sim::{Control, Outcome, simulate};
use serde_json::json;
use support::{config, number, profile, refusal, run};

#[test]
fn the_same_seed_gives_the_same_bytes_on_any_number_of_threads() {
    for protection in ["none", "lg", "lg-nb"] {
        let mut config = config("tcp-fct", protection);
        config["flow"]["trials"] = json!(1000);
        let one = run(&config);
        assert_eq!(run(&config).row, one.row);
        config["threads"] = json!(2);
        let two = run(&config);
        assert_eq!(two.row, one.row);
        assert_eq!(two.columns, one.columns);
        config["seed"] = json!(2);
        assert_ne!(run(&config).columns, one.columns);
    }
}

/// The last block of a look may have fewer trials than the block of the whole run in its place.
#[test]
fn a_run_that_grows_ends_as_a_plain_one() {
    let mut config = config("rdma-fct", "none");
    config["threads"] = json!(2);
    for trials in [1_150, 40_000] {
        config["flow"]["trials"] = json!(trials);
        let plain = run(&config);
        let looks = vec![1, 150, 200, 999, trials];
        let grown = simulate(&config.to_string(), &Control::growing(looks, |_| false)).unwrap();
        assert_eq!((&grown.row, &grown.columns), (&plain.row, &plain.columns));
        let looks = vec![150, trials, 10 * trials];
        let enough = move |outcome: &Outcome| outcome.row["trials"] == trials;
        let ended = simulate(&config.to_string(), &Control::growing(looks, enough)).unwrap();
        assert_eq!((&ended.row, &ended.columns), (&plain.row, &plain.columns));
    }
}

#[test]
#[cfg_attr(not(feature = "fast"), ignore = "no flow is skipped")]
fn skipping_clean_flows_changes_nothing_but_the_work() {
    let mut config = config("tcp-fct", "none");
    config["loss"]["forward"] =
        json!({"model": "gilbert-elliott", "p": 2e-4, "r": 0.3, "loss_good": 0.0, "loss_bad": 0.7});
    let (skipping, skipped) = compared(&config);
    assert!(skipped > number(&skipping, "frames_simulated"));
}

/// Each flow waits for 600 s, and then no event is due: the run ends.
#[test]
fn flows_over_a_dead_link_are_unfinished() {
    let mut config = config("tcp-fct", "none");
    config["loss"]["forward"] = json!({"model": "bernoulli", "p": 1.0});
    config["flow"]["trials"] = json!(3);
    let outcome = run(&config);
    assert_eq!((number(&outcome, "trials"), number(&outcome, "flows_unfinished")), (0.0, 3.0));
    assert!(outcome.row["fct_us_min"].is_null());
    let (_, columns) = &outcome.columns[0];
    let times = columns.iter().find(|(name, _)| name == "fct_us").unwrap().1.values().unwrap();
    assert_eq!(times, [f64::INFINITY; 3]);
}

/// At 1 kb/s the flow takes 2,000 s: the run waits for the flow, though ten minutes are over.
#[test]
fn a_flow_is_given_the_time_that_its_line_takes() {
    let mut config = config("tcp-fct", "none");
    config["link"]["rate_bps"] = json!(1_000);
    config["path"] = json!({"rtt_ps": 200_000_000_000_000_u64});
    config["loss"]["forward"] = json!({"model": "none"});
    config["flow"]["size_bytes"] = json!(250_000);
    config["flow"]["trials"] = json!(1);
    let outcome = run(&config);
    assert_eq!((number(&outcome, "trials"), number(&outcome, "flows_unfinished")), (1.0, 0.0));
    assert!(number(&outcome, "fct_us_max") > 2e9);
}

/// Frames of one connection that a decoder still holds must not reach the next connection: its receiver would take
/// the handshake for finished, and a lost answer would never be repeated.
#[test]
fn packets_of_an_earlier_connection_reach_nobody() {
    let mut config = config("tcp-fct", "fec-model");
    (config["protection"]["k"], config["protection"]["h"]) = (json!(5), json!(1));
    config["path"] = json!({"rtt_ps": 40_000_000});
    config["loss"]["forward"] = json!({"model": "bernoulli", "p": 5e-2});
    config["loss"]["reverse"] = json!({"model": "bernoulli", "p": 2.5e-2});
    config["flow"]["trials"] = json!(5_000);
    let outcome = run(&config);
    assert_eq!((number(&outcome, "trials"), number(&outcome, "flows_unfinished")), (5000.0, 0.0));
}

/// Hosts and link that run ahead of each other give the bytes that they give step by step: for flows one after
/// another and for a workload, under every protection, with losses in both directions and with hosts that add
/// latency.
#[test]
#[cfg_attr(not(feature = "fast"), ignore = "nothing runs ahead")]
fn running_ahead_changes_nothing() {
    let mut cases = 0;
    for (experiment, trials) in [("tcp-fct", 1500), ("rdma-fct", 1500), ("workload", 600)] {
        for protection in ["none", "lg", "lg-nb", "fec", "fec-model", "llr"] {
            for (loss, host, path) in
                [(2e-2, "ae-hosts", json!({"rtt_ps": null})), (5e-2, "ideal", json!({"rtt_ps": 40_000_000}))]
            {
                let mut config = config(experiment, protection);
                config["host"] = profile("host", host);
                config["path"] = path;
                if protection.starts_with("fec") {
                    (config["protection"]["k"], config["protection"]["h"]) = (json!(5), json!(1));
                }
                config["loss"]["forward"] = json!({"model": "bernoulli", "p": loss});
                config["loss"]["reverse"] = json!({"model": "bernoulli", "p": loss / 2.0});
                config["flow"]["trials"] = json!(trials);
                config["workload"] = json!({
                    "distribution": "rpc", "load": 0.3, "protocol": "tcp",
                    "points": [[1_000.0, 0.4], [30_000.0, 0.9], [200_000.0, 1.0]],
                });
                let (ahead, _) = compared(&config);
                let which = format!("{experiment} {protection} {host}");
                assert!(number(&ahead, "retransmissions") > 0.0, "{which}: nothing was lost");
                cases += 1;
            }
        }
    }
    assert_eq!(cases, 36);
}

/// Long flows, of TCP and of RDMA, one or several, give equal results in both halves.
#[test]
#[cfg_attr(not(feature = "fast"), ignore = "nothing runs ahead")]
fn running_ahead_changes_no_long_flow() {
    let mut compared = 0;
    for transport in ["tcp", "rdma"] {
        for protection in ["none", "lg", "fec"] {
            for (count, delayed_ack, host) in
                [(1, 1, "ideal"), (1, 2, "ideal"), (3, 1, "ideal"), (2, 2, "ae-hosts")]
            {
                let mut config = config("throughput", protection);
                if protection == "fec" {
                    (config["protection"]["k"], config["protection"]["h"]) = (json!(5), json!(1));
                }
                config["host"] = profile("host", host);
                config["transport"]["protocol"] = json!(transport);
                config["transport"]["delayed_ack"] = json!(delayed_ack);
                config["link"]["rate_bps"] = json!(10_000_000_000u64);
                config["path"] = json!({"rtt_ps": 50_000_000});
                config["loss"]["forward"] = json!({"model": "bernoulli", "p": 1e-3});
                config["loss"]["reverse"] = json!({"model": "bernoulli", "p": 1e-3});
                config["flow"]["count"] = json!(count);
                config["run"] = json!({"duration_ps": 40_000_000_000u64, "warmup_ps": 3_000_000_000u64, "cooldown_ps": 0});
                let ahead = run(&config);
                config["skip"] = json!(false);
                let step_by_step = run(&config);
                let which = format!("{transport} {protection} {count} {delayed_ack} {host}");
                assert_eq!(ahead.row, step_by_step.row, "{which}");
                assert!(number(&ahead, "frames_lost") > 0.0, "{which}: nothing was lost");
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 24);
}

/// Connections of RDMA fail alike in both halves: both their ends begin anew at one instant. (RDMA-14)
#[test]
#[cfg_attr(not(feature = "fast"), ignore = "nothing runs ahead")]
fn running_ahead_changes_no_connection_that_fails() {
    for protection in ["none", "lg"] {
        let mut config = config("throughput", protection);
        config["host"] = profile("host", "ideal");
        config["transport"]["protocol"] = json!("rdma");
        config["link"]["rate_bps"] = json!(10_000_000_000u64);
        config["path"] = json!({"rtt_ps": 50_000_000});
        config["loss"]["forward"] = json!({"model": "bernoulli", "p": 0.4});
        config["loss"]["reverse"] = json!({"model": "bernoulli", "p": 0.3});
        config["flow"]["count"] = json!(2);
        config["run"] = json!({"duration_ps": 60_000_000_000u64, "warmup_ps": 0, "cooldown_ps": 0});
        let ahead = run(&config);
        config["skip"] = json!(false);
        assert_eq!(ahead.row, run(&config).row, "{protection}");
        assert!(number(&ahead, "connection_failures") > 0.0, "{protection}: none failed");
    }
}

/// Stress tests give equal results in both halves, whatever their source, and so do looks at the queue during the
/// run.
#[test]
#[cfg_attr(not(feature = "fast"), ignore = "nothing runs ahead")]
fn running_ahead_changes_no_stress_test() {
    let mut compared = 0;
    for protection in ["none", "lg", "lg-nb", "fec", "fec-model", "llr"] {
        for source in ["generator", "saturated", "tcp"] {
            let mut config = config(if source == "tcp" { "fec" } else { "stress" }, protection);
            if protection.starts_with("fec") {
                (config["protection"]["k"], config["protection"]["h"]) = (json!(5), json!(1));
            }
            config["loss"]["forward"] = json!({"model": "bernoulli", "p": 1e-2});
            config["loss"]["reverse"] = json!({"model": "bernoulli", "p": 1e-3});
            config["traffic"]["source"] = json!(source);
            config["traffic"]["packets"] = json!(200_000);
            config["flow"]["trials"] = json!(3);
            config["run"] = json!({"duration_ps": 40_000_000_000u64, "warmup_ps": 0, "cooldown_ps": 0});
            // The values are compared as text, in which a mean over no values equals itself.
            let lost = if source == "tcp" { "frames_lost" } else { "actual_loss_rate" };
            let mut told = || {
                let outcome = run(&config);
                assert!(number(&outcome, lost) > 0.0, "{protection} {source}: nothing was lost");
                config["skip"] = json!(false);
                format!("{:?} {:?}", outcome.row, outcome.columns)
            };
            let (ahead, step_by_step) = (told(), told());
            assert!(ahead == step_by_step, "{protection} {source}");
            compared += 1;
        }
    }
    assert_eq!(compared, 18);
}

/// Linux 6.1 in virtual time completes these flows in 60.97 us when no segment is lost, and in 90.37 us when the
/// second segment is.
#[test]
fn clean_flows_take_as_long_as_on_linux() {
    let mut config = config("tcp-fct", "none");
    config["switch"]["data_pipeline_ns"] = json!(100.0);
    config["path"] = json!({"rtt_ps": 30_000_000});
    config["loss"]["forward"] = json!({"model": "none"});
    config["flow"]["trials"] = json!(100);
    let clean = run(&config);
    assert!((number(&clean, "fct_us_max") - 60.97).abs() < 0.3);
    assert_eq!(number(&clean, "fct_us_min"), number(&clean, "fct_us_max"));
    // The lost frame is the second data frame of the first flow, after two frames of the handshake.
    config["loss"]["forward"] = json!({"model": "at", "positions": [3]});
    let hit = run(&config);
    assert_eq!(number(&hit, "flows_hit"), 1.0);
    assert_eq!(number(&hit, "repaired_fast"), 1.0);
    assert!((number(&hit, "fct_us_max") - 90.37).abs() < 0.01);
}

#[test]
fn linkguardian_hides_a_loss_from_tcp() {
    let mut config = config("tcp-fct", "lg");
    config["flow"]["trials"] = json!(2000);
    let protected = run(&config);
    assert!(number(&protected, "flows_hit") > 0.0);
    assert_eq!(number(&protected, "retransmissions"), 0.0);
    // A loss costs a retransmission on the link, microseconds and not milliseconds.
    assert!(number(&protected, "fct_us_max") < number(&protected, "fct_us_min") + 10.0);
}

#[test]
fn throughput_without_loss_is_the_line_rate_less_headers() {
    let mut config = config("throughput", "none");
    config["link"]["rate_bps"] = json!(10_000_000_000_u64);
    config["loss"]["forward"] = json!({"model": "none"});
    config["transport"]["congestion_control"] = json!("cubic");
    config["run"]["warmup_ps"] = json!(100_000_000_000_u64);
    let outcome = run(&config);
    let line = 10.0 * 1460.0 / 1538.0;
    assert!((number(&outcome, "average_throughput_gbps") - line).abs() < 0.01 * line);
    assert_eq!(number(&outcome, "retransmissions"), 0.0);
}

/// The hops around the link do not mark. Only the port behind the link can fill. With no more room than the depth
/// from which on the queue in front of the link marks, no result changes, whatever the reorder buffer releases at
/// once. The canary: with room for a frame and a half this run has another result.
#[test]
fn the_port_behind_the_link_never_has_to_mark() {
    let ordered = |backpressure: bool| json!({"ordered": {"backpressure": backpressure}});
    let cases = [(10, "cubic", true), (25, "dctcp", true), (25, "dctcp", false), (40, "dctcp", false)];
    for (gbps, algorithm, backpressure) in cases {
        let mut config = config("throughput", "lg");
        config["link"]["rate_bps"] = json!(gbps * 1_000_000_000_u64);
        config["transport"]["congestion_control"] = json!(algorithm);
        config["protection"]["mode"] = ordered(backpressure);
        config["loss"]["forward"] = json!({"model": "quantised", "p": 1e-3});
        let room = config["switch"]["receiver_queue_bytes"].clone();
        let threshold = config["switch"]["ecn_threshold_bytes"].clone();
        assert!(threshold.as_u64() < room.as_u64());
        let roomy = run(&config);
        config["switch"]["receiver_queue_bytes"] = threshold;
        assert_eq!(run(&config).row, roomy.row, "{gbps} Gb/s");
        config["switch"]["receiver_queue_bytes"] = json!(2_300);
        assert_ne!(run(&config).row, roomy.row, "{gbps} Gb/s: a canary that says nothing");
    }
}

#[test]
fn a_cancelled_run_says_so_and_keeps_what_is_finished() {
    let control = Control::default();
    control.cancel();
    let outcome = simulate(&config("tcp-fct", "lg").to_string(), &control).unwrap();
    assert!(outcome.interrupted);
    assert_eq!(number(&outcome, "trials"), 0.0);
}

#[test]
fn what_cannot_be_simulated_is_refused_in_one_line() {
    let mut unknown = config("stres", "lg");
    assert!(refusal(&unknown).contains("'stres'"));
    unknown["experiment"] = json!("tcp-fct");
    unknown["transport"]["congestion_control"] = json!("vegas");
    assert!(refusal(&unknown).contains("reno"));

    let mut typo = config("stress", "lg");
    typo["link"]["rate_bsp"] = json!(1);
    assert!(refusal(&typo).contains("rate_bsp"));

    let mut short = config("tcp-fct", "lg");
    short["path"] = json!({"rtt_ps": 1000});
    assert!(refusal(&short).contains("path.rtt"));

    let mut nothing_left = config("throughput", "none");
    nothing_left["run"]["warmup_ps"] = nothing_left["run"]["duration_ps"].clone();
    assert!(refusal(&nothing_left).contains("run.warmup"));

    let mut certain = config("stress", "none");
    certain["loss"]["forward"] = json!({"model": "bernoulli", "p": 1.5});
    assert_eq!(refusal(&certain), "loss rate 1.5 is not a probability: write a number from 0 to 1");
    for message in [&unknown, &typo, &short, &nothing_left, &certain].map(refusal) {
        assert!(!message.contains('\n'), "{message}");
    }
}

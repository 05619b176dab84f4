//! The experiment with a block code: a capped sender, datagrams, drops by kind, the series, and a
//! change of code; and every experiment under every code.

use crate::support;
use serde_json::{Value, json};
use support::{column, config, number, protection, refusal, run};

/// Returns the published set-up at a tenth of a second: 10 GbE, a queue of 1 MB, one CUBIC flow.
fn published(kind: &str, (k, h): (u32, u32), p: f64) -> Value {
    let mut config = config("fec", kind);
    config["link"] = json!({"rate_bps": 10_000_000_000_u64, "propagation_ps": 100_000, "mtu_bytes": 1522});
    config["loss"]["forward"] = json!({"model": "bernoulli", "p": p});
    config["switch"]["queue_bytes"] = json!(1_000_000);
    config["protection"]["k"] = json!(k);
    config["protection"]["h"] = json!(h);
    config["transport"]["congestion_control"] = json!("cubic");
    config["path"] = json!({"rtt_ps": 40_000_000});
    config["flow"]["trials"] = json!(1);
    config["traffic"] = json!({"frame_bytes": 1514, "source": "tcp"});
    config["run"]["duration_ps"] = json!(100_000_000_000_u64);
    config
}

fn udp(kind: &str, source: &str, rate_bps: u64) -> Value {
    let mut config = published(kind, (25, 5), 1e-2);
    config["traffic"] =
        json!({"frame_bytes": 1514, "source": source, "rate_bps": rate_bps, "burst_packets": 74});
    config["run"]["duration_ps"] = json!(1_000_000_000_000_u64);
    config
}

#[test]
fn a_flow_without_a_cap_fills_the_queue_and_a_capped_one_leaves_it_empty() {
    let mut config = published("fec-model", (5, 5), 1e-2);
    // CUBIC takes some tenths of a second to fill the line.
    config["run"]["duration_ps"] = json!(500_000_000_000_u64);
    let open = run(&config);
    // The share of the code is 0.496 of the line, less headers 4.67 Gb/s.
    assert!(number(&open, "throughput_gbps") > 4.4);
    let depth = number(&open, "queue_bytes_max");
    assert!(depth > 998e3 && depth <= 1e6, "to the last frame: {depth}");
    assert!(number(&open, "latency_us_mean") > 300.0);
    config["host"]["nic_rate_bps"] = json!(4_500_000_000_u64);
    let capped = run(&config);
    assert!(number(&capped, "throughput_gbps") > 0.9 * 4.5 * 1460.0 / 1538.0);
    assert!(number(&capped, "queue_bytes_max") < 20e3 && number(&capped, "queue_drops") == 0.0);
    // Five parity frames of 1545 octets stand in front of a data frame at worst, after the flight.
    assert!(number(&capped, "latency_intact_us_max") < 0.76 + 6.0 * 1.236);
}

#[test]
fn the_full_queue_drops_data_and_parity_and_tells_them_apart() {
    let mut config = udp("fec-model", "udp-smooth", 6_000_000_000);
    config["protection"]["k"] = json!(5);
    config["run"]["duration_ps"] = json!(100_000_000_000_u64);
    let outcome = run(&config);
    let parity = number(&outcome, "queue_drops_parity");
    let data = number(&outcome, "queue_drops_data");
    assert_eq!(number(&outcome, "queue_drops"), data + parity);
    // 6 Gb/s of data and as much parity do not fit into 10 Gb/s: bursts of parity are the first to find the queue
    // full.
    assert!(parity > 3.0 * data, "{parity} and {data}");
    assert!(number(&outcome, "throughput_gbps") > 5.0, "more than the code's share gets through");
}

// FEC-22
#[test]
fn a_meter_takes_the_place_of_the_full_queue() {
    for (meter, counter) in [("police", "meter_drops"), ("mark", "meter_marks")] {
        for kind in ["fec", "fec-model"] {
            let mut config = published(kind, (5, 5), 1e-2);
            config["transport"]["congestion_control"] = json!("dctcp");
            config["protection"]["meter"] = json!(meter);
            let outcome = run(&config);
            assert!(number(&outcome, counter) > 0.0, "{kind} {meter}");
            assert_eq!(number(&outcome, "queue_drops"), 0.0, "{kind} {meter}");
            assert!(number(&outcome, "queue_bytes_max") < 200e3, "{kind} {meter}");
        }
    }
}

// FEC-26: without a timer a marked packet of a block that pauses waits for the next burst.
#[test]
fn a_pause_of_the_source_is_the_tail_of_the_model_and_a_flush_timer_removes_it() {
    let model = run(&udp("fec-model", "udp-bursty", 100_000_000));
    let pause_us = (74.0 * 1514.0 * 8.0 / 100e6 - 74.0 * 1538.0 * 8.0 / 10e9) * 1e6;
    let longest = number(&model, "latency_recovered_us_max");
    assert!(longest > pause_us && longest < pause_us + 200.0, "{longest} us for a pause of {pause_us} us");
    assert!(number(&model, "latency_intact_us_max") < 50.0);
    assert_eq!(number(&model, "residual_lost_packets"), 0.0);
    let engine = run(&udp("fec", "udp-bursty", 100_000_000));
    assert!(number(&engine, "latency_recovered_us_max") < 200.0);
    let mut flushed = udp("fec-model", "udp-bursty", 100_000_000);
    flushed["protection"]["flush_ps"] = json!(200_000_000);
    assert!(number(&run(&flushed), "latency_recovered_us_max") < 300.0);
}

// LG-21: a frame that is given up while it goes round counts as late, though no copy of it came. Ten of 17 frames
// are lost.
#[test]
fn over_a_dead_way_back_nothing_is_recovered() {
    let mut config = udp("lg", "udp-bursty", 100_000_000);
    config["link"] = json!({"rate_bps": 100_000_000_000_u64, "propagation_ps": 25_000, "mtu_bytes": 9000});
    config["protection"] = protection("lg");
    config["protection"]["mode"] = json!({"ordered": {"backpressure": false}});
    config["traffic"]["frame_bytes"] = json!(9014);
    let lost: Vec<bool> = [0, 0, 0, 0, 0, 1, 0, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1].map(|lost| lost == 1).into();
    config["loss"]["forward"] = json!({"model": "trace", "lost": lost});
    config["loss"]["reverse"] = json!({"model": "bernoulli", "p": 1.0});
    config["run"]["duration_ps"] = json!(153_840_000_u64);
    let outcome = run(&config);
    let lost = number(&outcome, "frames_lost");
    assert!(lost > 0.0);
    assert_eq!(number(&outcome, "residual_lost_packets"), lost);
}

// LG-7, LG-28: of N copies of a frame the first to come recovers the frame, and the others recover nothing. At a loss of p =
// 0.2 the share p^4 = 0.0016 loses all three copies, of some 8,200 frames.
#[test]
fn every_lost_frame_is_recovered_once() {
    let modes = [
        json!({"ordered": {"backpressure": true}}),
        json!({"non-blocking": {"deduplicate": true}}),
        json!({"non-blocking": {"deduplicate": false}}),
    ];
    for mode in modes {
        let mut config = udp("lg", "udp-smooth", 1_000_000_000);
        config["protection"] = protection("lg");
        config["protection"]["mode"] = mode.clone();
        config["protection"]["copies"] = json!(3);
        config["protection"]["holes"] = Value::Null;
        config["loss"]["forward"] = json!({"model": "bernoulli", "p": 0.2});
        config["run"]["duration_ps"] = json!(100_000_000_000_u64);
        let outcome = run(&config);
        let (lost, residual) = (number(&outcome, "frames_lost"), number(&outcome, "residual_lost_packets"));
        assert!((1500.0..1800.0).contains(&lost), "{lost} frames were lost");
        // Poisson with a mean of 13: four standard deviations.
        assert!((1.0..28.0).contains(&residual), "{mode}: {residual} of {lost} stay lost");
    }
}

// FEC-7: the flush timer follows the largest frame of the link.
#[test]
fn a_block_of_large_frames_is_full_before_its_timer_ends() {
    let mut config = config("stress", "fec");
    config["link"]["mtu_bytes"] = json!(9_000);
    config["protection"] = json!({"family": "fec", "k": 25, "h": 5});
    config["traffic"] = json!({"source": "saturated", "frame_bytes": 9_014, "packets": 5_000});
    let outcome = run(&config);
    assert_eq!(
        number(&outcome, "frames_simulated"),
        5_000.0 * 30.0 / 25.0,
        "five parity frames for 25 of data"
    );
}

// FEC-25: packet i of a block of k waits (k - 1 - i) gaps for its end, and for h parity packets.
#[test]
fn a_smooth_source_waits_for_the_rest_of_its_block() {
    let outcome = run(&udp("fec-model", "udp-smooth", 100_000_000));
    let gap_us = 1514.0 * 8.0 / 100.0;
    let longest = number(&outcome, "latency_recovered_us_max");
    assert!(longest <= 24.0 * gap_us + 6.0 * 1.236 + 2.0, "{longest}");
    let mean = number(&outcome, "latency_recovered_us_mean");
    let count = number(&outcome, "packets_recovered");
    // The wait is uniform over the block: its deviation is 25 gaps over the root of twelve.
    let allowed = 4.0 * 25.0 * gap_us / 12f64.sqrt() / count.sqrt();
    assert!((mean - 12.0 * gap_us).abs() < allowed + 10.0, "{mean} of {}", 12.0 * gap_us);
}

#[test]
fn the_series_of_the_first_trial_adds_up_to_the_row() {
    let outcome = run(&published("fec-model", (25, 5), 1e-2));
    let time = column(&outcome, "series", "time_s");
    assert_eq!((time.len(), time[999]), (1000, 0.1));
    let mean = |name: &str| column(&outcome, "series", name).iter().sum::<f64>() / 1000.0;
    assert!((mean("throughput_gbps") / number(&outcome, "throughput_gbps") - 1.0).abs() < 1e-9);
    assert!((mean("queue_bytes") / number(&outcome, "queue_bytes_mean") - 1.0).abs() < 1e-9);
    let window = mean("cwnd_packets") / number(&outcome, "cwnd_packets_mean");
    assert!((window - 1.0).abs() < 0.05, "{window}");
    assert!(mean("latency_us_ewma") > 0.0);
}

// FEC-8
#[test]
fn the_code_changes_while_traffic_runs() {
    for kind in ["fec", "fec-model"] {
        let mut config = published(kind, (25, 1), 5e-2);
        config["protection"]["change"] = json!({"at_ps": 50_000_000_000_u64, "k": 5, "h": 5});
        let outcome = run(&config);
        let gbps = column(&outcome, "series", "throughput_gbps");
        let mean = |rows: &[f64]| rows.iter().sum::<f64>() / rows.len() as f64;
        let (before, after) = (mean(&gbps[..500]), mean(&gbps[600..]));
        assert!(before < 2.5 && after > 4.0, "{kind}: {before} Gb/s, then {after}");
        config["protection"]["change"]["k"] = json!(0);
        assert!(refusal(&config).contains("1 to 128"));
    }
}

#[test]
fn what_a_code_cannot_do_is_refused() {
    let mut config = published("fec", (25, 5), 1e-2);
    config["protection"]["flush_ps"] = json!(30_000_000);
    for kind in ["fec", "fec-model"] {
        config["protection"]["family"] = json!(kind);
        let message = refusal(&config);
        assert!(message.contains("longer than the flush timer of 30 us allows"), "{message}");
    }
    config["protection"]["flush_ps"] = json!(null);
    config["protection"]["priority"] = json!("data");
    assert!(
        refusal(&config).contains("unknown field `priority`"),
        "the model's decoder knows one block at a time"
    );
    assert!(refusal(&udp("fec", "udp-smooth", 11_000_000_000)).contains("more than the sending interface"));
    assert!(refusal(&udp("fec", "generator", 1)).contains("udp-smooth"));
}

#[test]
fn every_experiment_runs_under_every_code() {
    let options = [
        json!({"family": "fec"}),
        json!({"family": "fec", "release": "in-order", "meter": "police", "priority": "data"}),
        json!({"family": "fec-model"}),
        json!({"family": "fec-model", "flush_ps": 100_000_000, "meter": "mark"}),
    ];
    for option in &options {
        let with = |experiment: &str| {
            let mut config = config(experiment, "fec");
            config["loss"]["forward"] = json!({"model": "bernoulli", "p": 1e-2});
            let base = json!({"k": 5, "h": 3});
            for (key, value) in base.as_object().unwrap().iter().chain(option.as_object().unwrap()) {
                config["protection"][key] = value.clone();
            }
            config["flow"]["trials"] = json!(50);
            config["run"]["duration_ps"] = json!(5_000_000_000_u64);
            config
        };
        for (experiment, key) in
            [("tcp-fct", "fct_us_max"), ("rdma-fct", "fct_us_max"), ("throughput", "average_throughput_gbps")]
        {
            assert!(number(&run(&with(experiment)), key) > 0.0, "{experiment} {option}");
        }
        let mut workload = with("workload");
        workload["workload"] = json!({
            "protocol": "tcp", "distribution": "fixed", "points": [[1000.0, 0.0], [30_000.0, 1.0]], "load": 0.2
        });
        assert!(number(&run(&workload), "slowdown_mean") >= 1.0, "workload {option}");
        let mut stress = with("stress");
        stress["traffic"]["packets"] = json!(20_000);
        let outcome = run(&stress);
        assert_eq!(number(&outcome, "duplicates_delivered"), 0.0);
        let (sent, got) = (number(&outcome, "packets_sent"), number(&outcome, "packets_delivered"));
        assert_eq!(number(&outcome, "effective_lost_packets"), sent - got);
        assert!((number(&outcome, "effective_loss_rate") - (sent - got) / sent).abs() < 1e-12);
        assert!(number(&outcome, "recovered_packets") > 0.0, "stress {option}");
    }
}

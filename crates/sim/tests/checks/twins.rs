//! The fast half gives the results of the plain half: the row, the trials, the states and the capture of any run.

use super::draws::{self, Script};
use super::ends::profiles;
use lossylink_sim::{Control, Outcome, simulate};
use serde_json::{Map, Value, json};
use std::path::Path;

/// The number of bytes from which the links of [`config`] are drawn; the further bytes describe the experiment.
const LINK_BYTES: usize = 48;
/// Limits of a switch: the widest, and two narrower limits.
const LIMITS: [(&str, u32, [u32; 2]); 4] = [
    ("queue_bytes", 560_000, [20_000, 3_000]),
    ("ecn_threshold_bytes", 100_000, [10_000, 1_600]),
    ("tx_buffer_max_bytes", 8_000_000, [20_000, 3_000]),
    ("rx_buffer_max_bytes", 8_000_000, [20_000, 3_000]),
];
/// Row keys that count the work of a run, and not its outcome.
const WORK: [&str; 2] = ["frames_simulated", "frames_skipped"];

/// Returns a run over a link that keeps its frames moving: event by event, a link that is dead for seconds takes hours.
pub(crate) fn config(bytes: &[u8]) -> Value {
    let (link, experiment) = bytes.split_at(bytes.len().min(LINK_BYTES));
    let (mut config, mut script) = (draws::config(experiment, &profiles()), Script::new(link));
    let mbps = script.pick(&[100_000, 1_000, 10_000, 25_000, 40_000, 200_000, 400_000, 800_000, 100, 10_u64]);
    let frames_ps = 12_000_000_000 / mbps;
    config["link"]["rate_bps"] = json!(mbps * 1_000_000);
    if script.byte().is_multiple_of(4) {
        let back_mbps = script.pick(&[1_000, 10_000, 400_000, 100, 10_u64]);
        config["link"]["rate_back_bps"] = json!(back_mbps * 1_000_000);
    }
    config["link"]["propagation_ps"] = json!(script.pick(&[0, 25_000, 500_000, 5_000_000]));
    config["loss"] =
        json!({"forward": loss(&mut script, frames_ps), "reverse": loss(&mut script, frames_ps)});
    for (key, widest, narrower) in LIMITS {
        if script.byte().is_multiple_of(3) {
            config["switch"][key] = json!(script.pick(&[widest, narrower[0], narrower[1]]));
        }
    }
    config["transport"]["rto_min_ps"] = json!(1_000_000_000_u64);
    // On a slow line a held frame goes round thousands of times.
    let most_frames = if mbps < 1_000 { 200 } else { 2_000 };
    let run_ps = frames_ps * (100 + script.number(most_frames));
    config["run"] = json!({"duration_ps": run_ps, "warmup_ps": run_ps / 8, "cooldown_ps": run_ps / 8});
    config["path"] = json!({
        "rtt_ps": script.pick(&[json!(null), json!(20_000_000), json!(100_000_000)]),
        "jitter": {
            "forward_ps": script.pick(&[0, 0, 100_000, 5_000_000]), "back_ps": script.pick(&[0, 0, 100_000]),
            "reorders": script.flag(),
        },
    });
    if config["experiment"] == "timeline" {
        config["timeline"] = json!({
            "corruption_ps": run_ps / 8, "protection_ps": run_ps / 4, "corruption_end_ps": run_ps / 2,
            "poll_ps": run_ps / 10 + 1, "bin_ps": run_ps / 10 + 1,
        });
    }
    draw_work(&mut config, &mut script);
    if config["experiment"] == "fec" {
        config["run"] = json!({"duration_ps": run_ps, "warmup_ps": 0, "cooldown_ps": 0});
    }
    // Experiments of several simulations have neither one clock nor one hop.
    if config["experiment"] == "mathis" || config["rare"].is_object() {
        return config;
    }
    let lasts_as_told =
        ["throughput", "timeline", "fec"].contains(&config["experiment"].as_str().unwrap_or_default());
    let span_ps = if lasts_as_told { run_ps } else { 30 * frames_ps };
    let instants: Vec<u64> =
        (0..script.byte() % 3).map(|_| script.number(1 << 16) * span_ps / (1 << 16)).collect();
    config["state_at_ps"] = json!(instants);
    if script.byte().is_multiple_of(4) {
        let hops = if config["experiment"] == "stress" {
            &["sw2-sw6"][..]
        } else {
            &["sw2-sw6", "h4-sw8", "sw10-h8"]
        };
        config["pcap"] = json!({"hop": script.pick(hops), "path": ""});
    }
    config
}

/// Draws the amount of work of each experiment, so that both halves take milliseconds.
fn draw_work(config: &mut Value, script: &mut Script<'_>) {
    if config["protection"]["family"] == "llr" {
        // Some options of LLR keep the link busy for the seconds after which hosts give up.
        config["protection"] = json!({"family": "llr"});
    }
    // A hundred flows and more are work by themselves, and a full queue or reorder buffer makes them last for seconds.
    if config["experiment"] == "workload" {
        for (key, widest, _) in LIMITS {
            config["switch"][key] = json!(widest);
        }
        config["link"]["rate_bps"] = json!(config["link"]["rate_bps"].as_u64().min(Some(100_000_000_000)));
        config["loss"] = json!({"forward": {"model": "bernoulli", "p": 1e-3}});
        config["path"]["rtt_ps"] = json!(20_000_000);
    }
    if ["tcp-fct", "rdma-fct"].iter().any(|name| config["experiment"] == *name) && script.flag() {
        // Many short flows show a loss that meets the flow after many without. An idle LinkGuardian has events, so it gets fewer.
        let most_frames = if config["protection"]["family"] == "linkguardian" { 300 } else { 8_000 };
        let frames = 4 + config["flow"]["size_bytes"].as_u64().unwrap_or_default() / 256;
        config["flow"]["trials"] = json!(1 + script.number(most_frames) / frames);
    }
    if config["rare"].is_object() {
        // A look ends when its loss is settled, and looks at the tail take many frames. Without LinkGuardian a look has no fast half.
        config["loss"]["forward"] = json!({"model": "bernoulli", "p": script.pick(&[1e-4, 1e-6])});
        let has_fast_half = config["protection"]["family"] == "linkguardian";
        config["rare"] = if has_fast_half { json!({"looks": 1, "tail": false}) } else { Value::Null };
    }
}

/// Returns losses from which a link recovers within some frames.
fn loss(script: &mut Script<'_>, frame_ps: u64) -> Value {
    match script.byte() % 10 {
        0 | 1 => json!({"model": "none"}),
        2 | 3 => json!({"model": "bernoulli", "p": script.pick(&[1e-3, 1e-2, 0.1])}),
        4 => json!({
            "model": "gilbert-elliott", "p": script.pick(&[1e-3, 0.01]), "r": script.pick(&[0.1, 0.5]),
            "loss_good": script.pick(&[0.0, 0.01]), "loss_bad": script.pick(&[1.0, 0.5]),
        }),
        5 => json!({"model": "bit-error-rate", "ber": script.pick(&[1e-7, 1e-6, 1e-5])}),
        6 => {
            json!({"model": "fades", "clear_ps": 200 * frame_ps, "fade_ps": script.pick(&[1, 4, 20]) * frame_ps})
        }
        7 | 8 => {
            let (code, line_bits, interleave, ber) = script.pick(&[
                ("rs272", 2, 1, 5e-4),
                ("rs272", 2, 2, 1e-3),
                ("rs528", 1, 4, 4e-4),
                ("firecode", 1, 1, 1e-5),
                ("none", 2, 1, 1e-6),
            ]);
            let burst = if interleave < 4 { script.pick(&[0.0, 0.5]) } else { 0.0 };
            json!({
                "model": "phy", "code": code, "ber": ber, "interleave": interleave, "burst": burst,
                "precoding": false, "lanes": 1, "line_bits": line_bits,
            })
        }
        _ => {
            let first = script.number(60);
            let positions: Vec<u64> = (first..first + 1 + script.number(20)).collect();
            json!({"model": "at", "positions": positions})
        }
    }
}

/// The outcome of a run, without the counts of its work.
#[derive(Debug, PartialEq)]
struct Seen {
    row: Map<String, Value>,
    /// The columns as text, in which NaN equals NaN.
    columns: String,
    states: Vec<Value>,
}

/// Returns the outcome of a run, or the reason for which the run is refused, and the octets of its capture.
fn seen(mut config: Value, skips: bool, folder: &Path) -> (Result<Seen, String>, Vec<u8>) {
    config["skip"] = json!(skips);
    let path = folder.join("capture.pcapng");
    if config["pcap"].is_object() {
        config["pcap"]["path"] = json!(path);
    }
    let outcome = simulate(&config.to_string(), &Control::default());
    let octets = std::fs::read(&path).unwrap_or_default();
    let seen = outcome.map_err(|error| error.to_string()).map(|outcome| {
        let Outcome { mut row, columns, states, .. } = outcome;
        WORK.iter().for_each(|&key| drop(row.remove(key)));
        Seen { row, columns: format!("{columns:?}"), states }
    });
    (seen, octets)
}

/// Returns the outcome of the run that these bytes describe, as text. The outcome is that of the fast half, if that half is
/// compiled.
pub(crate) fn outcome(bytes: &[u8]) -> String {
    let mut config = config(bytes);
    config["pcap"] = Value::Null;
    format!("{:?}", seen(config, true, Path::new("")).0)
}

/// Runs the configuration that these bytes describe in both halves. Returns false if both halves refuse it.
///
/// # Panics
/// If the halves differ.
pub(crate) fn run(bytes: &[u8]) -> bool {
    let (config, folder) = (config(bytes), tempfile::tempdir().expect("a folder for captures"));
    let (fast, fast_octets) = seen(config.clone(), true, folder.path());
    let (plain, plain_octets) = seen(config.clone(), false, folder.path());
    assert_eq!(fast, plain, "{config}");
    assert!(fast_octets == plain_octets, "the captures differ: {config}");
    fast.is_ok()
}

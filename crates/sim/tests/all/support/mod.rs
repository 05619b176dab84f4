//! Configurations for tests of whole experiments, from the profiles of this repository.

use lossylink_sim::{Control, Outcome, simulate};
use serde_json::{Value, json};

/// Returns a profile under `scenarios/`.
pub(crate) fn profile(kind: &str, name: &str) -> Value {
    let path = format!("{}/../../scenarios/{kind}/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("the profile is part of the repository");
    toml::from_str(&text).expect("the profile is valid TOML")
}

/// Returns the configuration of a protection: `none`, `lg`, `lg-nb`, or a code without its size.
pub(crate) fn protection(name: &str) -> Value {
    match name {
        "lg" => json!({
            "family": "linkguardian", "copies": null, "dummies": 3, "holes": 5,
            "mode": {"ordered": {"backpressure": true}},
        }),
        "lg-nb" => json!({
            "family": "linkguardian", "copies": null, "dummies": 3, "holes": 5,
            "mode": {"non-blocking": {"deduplicate": true}},
        }),
        family => json!({"family": family}),
    }
}

/// Returns a configuration of `experiment` under `protection` at 100G with one loss in a thousand.
/// A test sets the keys that it is about.
pub(crate) fn config(experiment: &str, protection: &str) -> Value {
    json!({
        "experiment": experiment,
        "seed": 1,
        "threads": 1,
        "skip": true,
        "link": {"rate_bps": 100_000_000_000_u64, "propagation_ps": 0, "mtu_bytes": 1500},
        "loss": {"forward": {"model": "quantised", "p": 1e-3}, "reverse": {"model": "none"}},
        "switch": profile("switch", "tofino1"),
        "host": profile("host", "ideal"),
        "protection": self::protection(protection),
        "traffic": {"packets": 100_000, "frame_bytes": 1514, "source": "generator"},
        "transport": {
            "congestion_control": "dctcp", "mss_bytes": 1460, "timestamps": false, "delayed_ack": 2,
            "rto_min_ps": 1_000_000_000_u64, "initial_window": 10, "segmentation_offload": false,
            "recovery": "go-back-n", "mtu_bytes": 1024,
        },
        "flow": {"size_bytes": 24_387, "trials": 1000, "count": 1},
        "run": {"duration_ps": 500_000_000_000_u64, "warmup_ps": 0, "cooldown_ps": 0},
    })
}

/// Runs a configuration that must be valid.
pub(crate) fn run(config: &Value) -> Outcome {
    simulate(&config.to_string(), &Control::default()).expect("the configuration is valid")
}

/// Returns the refusal of a configuration that must be invalid.
pub(crate) fn refusal(config: &Value) -> String {
    match simulate(&config.to_string(), &Control::default()) {
        Ok(outcome) => panic!("accepted, with the row {:?}", outcome.row),
        Err(error) => error.to_string(),
    }
}

/// Returns a number of the row.
pub(crate) fn number(outcome: &Outcome, key: &str) -> f64 {
    outcome.row[key].as_f64().unwrap_or_else(|| panic!("{key} is {:?}", outcome.row.get(key)))
}

/// Returns a column of a table.
pub(crate) fn column(outcome: &Outcome, table: &str, name: &str) -> Vec<f64> {
    let (_, columns) = outcome.columns.iter().find(|(found, _)| found == table).expect("the table is there");
    let (_, column) = columns.iter().find(|(found, _)| found == name).expect("the column is there");
    column.values().expect("nothing keeps the column from being read")
}

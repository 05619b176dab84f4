//! Every run ends, and its counts add up.

use super::draws::{Profiles, config};
use lossylink_sim::{Control, Outcome, simulate};
use serde_json::{Value, json};

/// The most frames that a run of any configuration of these checks puts on the wire, whatever the
/// fate of its packets.
const FRAMES_MAX: u64 = 1 << 25;

pub(super) fn profiles() -> Profiles {
    let parsed = |text: &str| toml::from_str(text).expect("the profile is valid TOML");
    Profiles {
        switches: vec![
            parsed(include_str!("../../../../scenarios/switch/tofino1.toml")),
            parsed(include_str!("../../../../scenarios/switch/ideal.toml")),
        ],
        hosts: vec![
            parsed(include_str!("../../../../scenarios/host/ideal.toml")),
            parsed(include_str!("../../../../scenarios/host/ae-hosts.toml")),
        ],
    }
}

/// Runs the configuration that these bytes describe, and checks the outcome. A configuration that
/// is refused is not checked.
///
/// # Panics
/// If a count does not add up, or the run did more than a run can need.
pub(crate) fn run(bytes: &[u8]) {
    let mut config = config(bytes, &profiles());
    // For as long as a flow tries, copies go round in LinkGuardian's loop: over a line that is nearly dead the plain half looks for
    // hours at each of these rounds.
    let lets_through =
        ["forward", "reverse"].iter().all(|direction| lets_half_through(&config["loss"][direction]));
    if config["protection"]["family"] == "linkguardian" && !lets_through {
        config["skip"] = json!(true);
    }
    if let Ok(outcome) = simulate(&config.to_string(), &Control::default()) {
        check(&config, &outcome);
    }
}

/// Whether a line surely lets half of its frames through.
fn lets_half_through(loss: &Value) -> bool {
    loss["model"] == "none" || (loss["model"] == "bernoulli" && loss["p"].as_f64().is_some_and(|p| p <= 0.5))
}

/// Checks the outcome of a run.
///
/// # Panics
/// As [`run`].
pub(crate) fn check(config: &Value, outcome: &Outcome) {
    let row = |key: &str| outcome.row.get(key).and_then(Value::as_u64);
    assert!(!outcome.interrupted, "nobody stopped it");
    assert!(row("frames_simulated").unwrap_or_default() <= FRAMES_MAX, "too many frames: {config}");
    if let (Some(sent), Some(delivered), Some(lost)) =
        (row("packets_sent"), row("packets_delivered"), row("effective_lost_packets"))
    {
        let wanted = config["traffic"]["packets"].as_u64().unwrap_or_default();
        assert_eq!(sent, delivered + lost, "{config}: {:?}", outcome.row);
        assert!(
            sent == wanted || (sent < wanted && outcome.row.contains_key("limit")),
            "{sent} sent: {config}"
        );
    }
    let trials = config["flow"]["trials"].as_u64().unwrap_or_default();
    if let (Some(ended), Some(unfinished)) = (row("trials"), row("flows_unfinished")) {
        assert_eq!(ended + unfinished, trials, "{config}: {:?}", outcome.row);
    }
    if let (Some(offered), Some(lost)) = (row("frames_offered"), row("frames_lost")) {
        assert!(lost <= offered, "{config}: {:?}", outcome.row);
    }
}

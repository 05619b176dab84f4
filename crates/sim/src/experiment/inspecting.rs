//! The state of a link's two ends, for an experiment: at which instants, of which trial, under which names.

use super::setup::Setup;
use crate::ConfigError;
use crate::config::Config;
use crate::net::{AnyLink, Carried, Payload, State};
use lossylink_core::engine::report::{Group, Reading};
use lossylink_core::time::Instant;
use serde_json::{Map, Value, json};

/// Experiments whose link can be inspected: those with one clock from the start to the end.
const INSPECTED: [&str; 7] = ["stress", "tcp-fct", "rdma-fct", "throughput", "timeline", "workload", "fec"];
/// Experiments of [`INSPECTED`] whose duration is set.
const TIMED: [&str; 3] = ["throughput", "timeline", "fec"];

/// Refuses instants that lie beyond the experiment, before anything runs.
pub(super) fn check(config: &Config) -> Result<(), ConfigError> {
    let Some(&last) = config.state_at_ps.iter().max() else { return Ok(()) };
    if !INSPECTED.contains(&config.experiment.as_str()) {
        let message = format!(
            "--state-at: {} is many simulations; take one of {}",
            config.experiment,
            INSPECTED.join(", ")
        );
        return Err(ConfigError(message));
    }
    let end = config.run.filter(|_| TIMED.contains(&config.experiment.as_str()));
    // A time line counts until its end, without a cool-down.
    let is_whole = config.experiment == "timeline";
    let end = end.map(|run| {
        let uncounted = if is_whole { 0 } else { run.cooldown_ps };
        Instant::from_ps(run.duration_ps.saturating_sub(uncounted))
    });
    match end.filter(|&end| Instant::from_ps(last) > end) {
        Some(end) => Err(beyond(Instant::from_ps(last), end)),
        None => Ok(()),
    }
}

/// Returns `link`, inspected if the configuration asks for that. Where an experiment has several trials or
/// blocks of trials, the inspected link is that of the first.
pub(super) fn inspected<P: Payload>(setup: &Setup<'_>, link: AnyLink<P>) -> AnyLink<P> {
    let instants: Vec<_> = setup.config.state_at_ps.iter().map(|&ps| Instant::from_ps(ps)).collect();
    if instants.is_empty() { link } else { link.inspected(instants) }
}

/// Returns the states of a link whose run ended at `end`.
///
/// # Errors
/// If an instant lies beyond `end`, unless the caller cancelled the run.
pub(super) fn states<P: Payload>(
    setup: &Setup<'_>,
    link: &mut AnyLink<P>,
    end: Instant,
    interrupted: bool,
) -> Result<Vec<Value>, ConfigError> {
    let (states, beyond_end) = link.states(end);
    match beyond_end.filter(|_| !interrupted) {
        Some(at) => Err(beyond(at, end)),
        None => Ok(states.iter().map(|state| value(setup, state)).collect()),
    }
}

fn beyond(at: Instant, end: Instant) -> ConfigError {
    ConfigError(format!(
        "--state-at {} ms lies after the end of the run at {} ms; take an earlier instant, or a longer run",
        milliseconds(at),
        milliseconds(end)
    ))
}

fn milliseconds(at: Instant) -> f64 {
    at.as_ps() as f64 / 1e9
}

/// Returns a state as a JSON object: `near` and `far` have the keys of a live guard, `link` those of a live
/// link.
fn value(setup: &Setup<'_>, state: &State) -> Value {
    let (config, switch) = (setup.config, &setup.config.switch);
    let label = if state.is_on { config.protection.to_string() } else { "none".to_owned() };
    let (mut near, mut far) = (tree(&state.near), tree(&state.far));
    near.insert("protection".to_owned(), json!(label));
    far.insert("peer_protection".to_owned(), json!(label));
    let is_red = config.transport.as_ref().is_some_and(|transport| transport.dcqcn);
    json!({
        "at_us": state.at.as_ps() as f64 / 1e6,
        "near": near,
        "far": far,
        "link": {
            "rate_bps": config.link.rate_bps,
            "mtu_bytes": config.link.mtu_bytes,
            "queue_bytes": switch.queue_bytes,
            "ecn_threshold_bytes": if is_red { switch.red_min_bytes } else { switch.ecn_threshold_bytes },
            "directions": { "forward": direction(state.forward), "reverse": direction(state.reverse) },
        },
    })
}

fn direction(carried: Carried) -> Value {
    json!({ "frames_offered": carried.offered, "frames_lost": carried.lost })
}

/// Returns counters as a JSON object: those of the group without a name at the top, the other groups in an
/// object each. A counter without a value is left out.
fn tree(groups: &[Group]) -> Map<String, Value> {
    let mut top = Map::new();
    for group in groups {
        let readings = group.counters.iter().filter_map(|counter| {
            let value = match counter.reading {
                Reading::Number(number) => json!(number),
                Reading::Flag(flag) => json!(flag),
                Reading::Absent => return None,
            };
            Some((counter.name.to_owned(), value))
        });
        match group.name {
            "" => top.extend(readings),
            name => drop(top.insert(name.to_owned(), Value::Object(readings.collect()))),
        }
    }
    top
}

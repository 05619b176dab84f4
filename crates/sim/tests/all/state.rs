//! The state of a link's two ends at an instant: worked out by hand, under the same names as on a live link, and
//! without any effect on the run.

use crate::support;
use lossylink_codec::FecLine;
use lossylink_core::guard::{
    Guard, GuardConfig, LineProtocol, LinkGuardianLine, LlrLine, PassthroughLine, QueueLimits,
};
use lossylink_core::protection::Protection;
use lossylink_core::rng::Streams;
use lossylink_core::units::{BitRate, Bytes};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use support::{config, profile, refusal, run};

/// Returns a name and a configuration for every protection of the simulator.
fn protections() -> [(&'static str, Value); 6] {
    let code = |family| json!({"family": family, "k": 5, "h": 1});
    [
        ("none", json!({"family": "none"})),
        ("lg", support::protection("lg")),
        ("lg-nb", support::protection("lg-nb")),
        ("llr", json!({"family": "llr"})),
        ("fec", code("fec")),
        ("fec-model", code("fec-model")),
    ]
}

fn stress(protection: &Value, instants_ps: &[u64]) -> Value {
    let mut config = config("stress", "none");
    config["protection"] = protection.clone();
    config["traffic"]["packets"] = json!(20_000);
    config["state_at_ps"] = json!(instants_ps);
    config
}

/// Returns the values of `state` at these places, such as `near.sender.data`.
fn values(state: &Value, places: &[&str]) -> Vec<Value> {
    let value = |place: &&str| state.pointer(&format!("/{}", place.replace('.', "/"))).cloned();
    places.iter().map(|place| value(place).unwrap_or_else(|| panic!("no {place} in {state}"))).collect()
}

/// A generator sends a full frame each 124.59 ns over an ideal 100G link: 123.28 ns on the line and 100 to the
/// far switch, which acknowledges at once, 100 ns back. Frame 17 is lost, which frame 18 shows on its arrival
/// at 18 * 124.59 + 223.28 = 2465.90. The sender knows at 2565.90, while frame 20 is on the line until 2615.08;
/// the copy follows, and is there at 2838.36. Frames 21 to 23 leave back to back behind it, from 2738.36 on.
fn one_loss(instants_ps: &[u64]) -> Vec<Value> {
    let mut protection = support::protection("lg");
    protection["copies"] = json!(1);
    protection["dummies"] = json!(0);
    let mut config = stress(&protection, instants_ps);
    config["switch"] = profile("switch", "ideal");
    config["loss"] = json!({"forward": {"model": "at", "positions": [17]}, "reverse": {"model": "none"}});
    config["traffic"]["packets"] = json!(100);
    run(&config).states
}

// LG-3, LG-5, LG-8, LG-15, LG-20, LG-21
#[test]
fn the_state_behind_a_loss_is_that_of_arithmetic() {
    let places = [
        // Frames 0 to 20 have left, 19 and 20 are under way, and 17 is lost.
        ("near.from_lan", json!(21)),
        ("near.to_link", json!(21)),
        ("near.queue_bytes", json!(0)),
        ("near.sender.next_seq", json!(21)),
        ("near.sender.next_seq_era", json!(0)),
        // The ACK of frame 16 came at 16 * 124.59 + 323.28 = 2316.72; nothing acknowledged 17.
        ("near.sender.leading_ack", json!(16)),
        ("near.sender.outstanding", json!(4)),
        ("near.sender.buffer_frames", json!(4)),
        ("near.sender.buffer_bytes", json!(4 * 1521)),
        ("near.sender.holes", json!(0)),
        ("near.sender.notifications", json!(0)),
        ("near.sender.notifications_repeated", json!(0)),
        ("near.sender.dummies_due", json!(0)),
        ("near.sender.queue_paused", json!(false)),
        ("far.from_link", json!(18)),
        ("far.to_lan", json!(17)),
        ("far.receiver.expected_seq", json!(19)),
        ("far.receiver.ack", json!(17)),
        ("far.receiver.leading_ack", json!(18)),
        ("far.receiver.ack_pending", json!(0)),
        ("far.receiver.control_copies", json!(1)),
        ("far.receiver.data", json!(18)),
        ("far.receiver.lost", json!(1)),
        ("far.receiver.forwarded", json!(17)),
        ("far.receiver.buffer_bytes", json!(1521)),
        // The wait began between the ticks at 2400 and 2500.
        ("far.receiver.time_remaining", json!(69)),
        ("far.receiver.timer_packets", json!(25)),
        ("far.receiver.pause_bytes", json!(40_000)),
        ("link.directions.forward.frames_lost", json!(1)),
    ];
    let (names, expected): (Vec<_>, Vec<_>) = places.into_iter().unzip();
    let states = one_loss(&[2_500_000]);
    assert_eq!(states.len(), 1);
    assert_eq!(states[0]["at_us"], json!(2.5));
    assert_eq!(values(&states[0], &names), expected);
}

// LG-6, LG-7, LG-20
#[test]
fn the_state_after_the_repair_is_that_of_arithmetic() {
    let places = [
        // Frame 24 waits since 2990.16, because 23 is on the line until 3108.20.
        ("near.from_lan", json!(25)),
        ("near.to_link", json!(25)),
        ("near.to_link_first", json!(24)),
        ("near.queue_bytes", json!(1521)),
        ("near.sender.next_seq", json!(24)),
        ("near.sender.leading_ack", json!(20)),
        ("near.sender.outstanding", json!(3)),
        ("near.sender.retransmitted", json!(1)),
        ("near.sender.notifications", json!(1)),
        // Frames 22 and 23 are under way.
        ("far.from_link", json!(22)),
        ("far.to_lan", json!(22)),
        ("far.receiver.expected_seq", json!(22)),
        ("far.receiver.ack", json!(22)),
        ("far.receiver.data", json!(21)),
        ("far.receiver.retransmissions", json!(1)),
        ("far.receiver.buffer_bytes", json!(0)),
        ("far.receiver.buffer_max_bytes", json!(3 * 1521)),
        ("far.receiver.time_remaining", json!(70)),
    ];
    let (names, expected): (Vec<_>, Vec<_>) = places.into_iter().unzip();
    // In whatever order instants are given, each once.
    let states = one_loss(&[3_000_000, 2_500_000, 3_000_000]);
    assert_eq!(states.len(), 2);
    assert_eq!(values(&states[1], &names), expected);
}

/// Returns the names of the counters below `value`, each behind its group.
fn names(value: &Value) -> BTreeSet<String> {
    let Value::Object(members) = value else { return BTreeSet::new() };
    let below = |(name, inner): (&String, &Value)| match inner {
        Value::Object(group) => group.keys().map(|counter| format!("{name}.{counter}")).collect(),
        _ => vec![name.clone()],
    };
    members.iter().flat_map(below).collect()
}

/// Returns the names of the counters of a live guard with this protection.
fn live(protection: &Value) -> BTreeSet<String> {
    let protection: Protection = serde_json::from_value(protection.clone()).expect("a protection");
    let (rate, longest) = (BitRate::from_gbps(1), Bytes(1514));
    let lines: Vec<Box<dyn LineProtocol>> = vec![
        Box::new(PassthroughLine),
        Box::new(LinkGuardianLine::new()),
        Box::new(FecLine::new(rate, longest)),
        Box::new(LlrLine::new(rate, longest)),
    ];
    let queue = QueueLimits { capacity: Bytes(1000), mark_from: None };
    let config = GuardConfig { queue, longest_frame: 1514, frames: 10, secret: None };
    let guard = Guard::new(config, lines, protection, 0.0, Streams::new(1).stream("guard"));
    let of = |group: &str, name: &str| if group.is_empty() { name.into() } else { format!("{group}.{name}") };
    let report = guard.report();
    report.iter().flat_map(|group| group.counters.iter().map(|one| of(group.name, one.name))).collect()
}

/// Counters of a live guard alone: handshake, memory, bytes and stale INITs, which the simulator has not, and a chosen timer.
const LIVE_ALONE: &str = "explicit_acks foreign frames_held hellos no_room other_seal other_version \
    pauses_obeyed repeated reserved sessions silences stood_aside stuck too_long unsent coder.failed_rebuilds coder.malformed llr.rx_stale_init llr.timer_raised";
/// Counters of the simulator alone: timer packets, and a pause that a live guard does not look at when it reports.
const SIMULATED_ALONE: &str =
    "sender.queue_paused sender.pauses_expired receiver.time_remaining receiver.timer_packets";

fn words(text: &str) -> BTreeSet<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn simulator_and_live_guard_have_the_same_names() {
    for (label, protection) in protections() {
        if label == "fec-model" {
            continue; // No guard has this protection.
        }
        let state = &run(&stress(&protection, &[100_000_000])).states[0];
        let (near, far) = (names(&state["near"]), names(&state["far"]));
        let mut simulated: BTreeSet<_> = near.union(&far).cloned().collect();
        simulated.remove("protection");
        simulated.remove("peer_protection");
        let groups: &[&str] = match label {
            "none" => &[],
            "lg" | "lg-nb" => &["sender", "receiver"],
            "llr" => &["llr"],
            _ => &["coder"],
        };
        let found: BTreeSet<_> = simulated.iter().filter_map(|name| Some(name.split_once('.')?.0)).collect();
        assert_eq!(found, groups.iter().copied().collect(), "{label}");
        let live = live(&protection);
        let own = |name: &String| !name.contains('.') || simulated.iter().any(|one| same_group(one, name));
        let missing: BTreeSet<_> = live.difference(&simulated).filter(|name| own(name)).cloned().collect();
        let more: BTreeSet<_> = simulated.difference(&live).cloned().collect();
        assert!(more.is_subset(&words(SIMULATED_ALONE)), "{label}: {more:?}");
        let without_order = words(
            "receiver.ack receiver.ack_era receiver.given_up receiver.buffer_bytes \
             receiver.buffer_max_bytes receiver.buffer_overflowed receiver.pause_bytes receiver.paused \
             receiver.pauses receiver.resume_bytes receiver.resumes",
        );
        let allowed = if label == "lg-nb" { &words(LIVE_ALONE) | &without_order } else { words(LIVE_ALONE) };
        assert!(missing.is_subset(&allowed), "{label}: {missing:?}");
    }
}

fn same_group(one: &str, other: &str) -> bool {
    one.split_once('.').map(|(group, _)| group) == other.split_once('.').map(|(group, _)| group)
}

#[test]
fn nothing_that_is_there_to_be_read_is_left_empty() {
    for (label, protection) in protections() {
        let state = &run(&stress(&protection, &[1_000_000_000])).states[0];
        for end in ["near", "far"] {
            assert!(!state[end].to_string().contains("null"), "{label}: {}", state[end]);
        }
        let frames = values(state, &["near.from_lan", "near.to_link", "far.from_link", "far.to_lan"]);
        assert!(frames.iter().all(|frames| frames.as_u64() > Some(1000)), "{label}: {frames:?}");
        assert_eq!(state["near"]["protection"] == "none", label == "none");
    }
}

#[test]
fn a_run_does_not_notice_that_it_is_looked_at() {
    let instants = [1, 300_000_000, 300_000_001, 1_234_567_890];
    for (label, protection) in protections() {
        for experiment in ["stress", "throughput", "timeline", "fec"] {
            let mut config = config(experiment, "none");
            config["protection"] = protection.clone();
            config["traffic"]["packets"] = json!(20_000);
            config["flow"] = json!({"size_bytes": 24_387, "trials": 2, "count": 1});
            config["run"]["duration_ps"] = json!(4_000_000_000_u64);
            config["timeline"] = json!({
                "corruption_ps": 200_000_000, "protection_ps": 500_000_000, "poll_ps": 1_000_000_000,
                "bin_ps": 1_000_000_000,
            });
            if experiment == "fec" {
                config["traffic"]["source"] = json!("tcp");
            }
            let unseen = run(&config);
            config["state_at_ps"] = json!(instants);
            let seen = run(&config);
            assert_eq!(seen.row, unseen.row, "{experiment} with {label}");
            // The columns are compared as text, because a value that was not measured is NaN.
            let columns = [&seen, &unseen].map(|outcome| format!("{:?}", outcome.columns));
            assert_eq!(columns[0], columns[1], "{experiment} with {label}");
            assert_eq!(seen.states.len(), instants.len(), "{experiment} with {label}");
            assert!(unseen.states.is_empty());
        }
    }
}

/// Flows that are computed once take no time of their own, so every flow runs while an instant is to come.
#[test]
#[cfg_attr(not(feature = "fast"), ignore = "no flow is skipped")]
fn flows_are_not_skipped_before_the_last_instant() {
    let mut config = config("tcp-fct", "none");
    config["loss"]["forward"] = json!({"model": "none"});
    config["flow"]["trials"] = json!(20);
    let mut unseen = run(&config);
    config["state_at_ps"] = json!([10_500_000_000_u64]);
    let mut seen = run(&config);
    let frames = |outcome: &mut lossylink_sim::Outcome| {
        let mut of = |key| outcome.row.remove(key).and_then(|count| count.as_u64()).expect("a count");
        (of("frames_simulated"), of("frames_skipped"))
    };
    let (before, after) = (frames(&mut unseen), frames(&mut seen));
    assert_eq!(seen.row, unseen.row);
    let of_flow = before.1 / 20;
    assert_eq!(before, (0, 20 * of_flow));
    // A flow begins each millisecond: eleven have crossed the link by then. The instant passes while the twelfth waits for its turn.
    assert_eq!(after, (12 * of_flow, 8 * of_flow));
    assert_eq!(values(&seen.states[0], &["far.to_lan"]), [json!(11 * of_flow)]);
}

#[test]
fn an_instant_after_the_end_names_the_end() {
    let beyond = refusal(&stress(&support::protection("lg"), &[1_000_000_000, 5_000_000_000]));
    assert!(beyond.starts_with("--state-at 5 ms lies after the end of the run at 2."), "{beyond}");
    let mut config = config("throughput", "lg");
    config["run"] = json!({"duration_ps": 4_000_000_000_u64, "cooldown_ps": 1_000_000_000_u64});
    config["state_at_ps"] = json!([3_000_000_001_u64]);
    assert!(refusal(&config).ends_with("the run at 3 ms; take an earlier instant, or a longer run"));
    config["experiment"] = json!("mathis");
    assert!(refusal(&config).starts_with("--state-at: mathis is many simulations; take one of stress,"));
}

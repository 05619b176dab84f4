//! A guard's counters as the JSON that the control socket answers with, and what each of them means.

use lossylink_core::engine::guard::{Counter, Guard, Peer, Reading, SessionState};
use serde_json::{Map, Value, json};

/// What the measured loop is.
const LOOP_HELP: &str = "The longest of the recent round trips between the guards, in microseconds.";

/// Every event that a guard counts, and the state of both its ends.
pub(crate) fn guard(guard: &Guard) -> Value {
    let mut report = tree(guard, |counter| match counter.reading {
        Reading::Number(number) => json!(number),
        Reading::Flag(flag) => json!(flag),
        Reading::Absent => Value::Null,
    });
    if let Some(state) = guard.session() {
        report.extend(session(&state));
    }
    Value::Object(report)
}

/// The documentation of the same counters, in the same places.
pub(crate) fn help(guard: &Guard) -> Value {
    let mut help = tree(guard, |counter| json!(counter.help));
    help.insert("loop_us".to_owned(), json!(LOOP_HELP));
    Value::Object(help)
}

/// Every counter at its place: those of a group without a name at the top, the others in an object each.
fn tree(guard: &Guard, value: impl Fn(&Counter) -> Value) -> Map<String, Value> {
    let mut top = Map::new();
    for group in guard.report() {
        let members = group.counters.iter().map(|counter| (counter.name.to_owned(), value(counter)));
        match group.name {
            "" => top.extend(members),
            name => drop(top.insert(name.to_owned(), Value::Object(members.collect()))),
        }
    }
    top
}

fn session(state: &SessionState) -> [(String, Value); 4] {
    let loop_us = state.loop_time.map(|span| span.as_us_f64());
    [
        ("peer", json!(peer(state.peer))),
        ("protection", json!(state.protection.to_string())),
        ("peer_protection", json!(state.peer_protection.to_string())),
        ("loop_us", json!(loop_us)),
    ]
    .map(|(name, value)| (name.to_owned(), value))
}

fn peer(peer: Peer) -> &'static str {
    match peer {
        Peer::Absent => "absent: passing frames unprotected",
        Peer::Known => "known: agreeing",
        Peer::Agreed => "agreed",
    }
}

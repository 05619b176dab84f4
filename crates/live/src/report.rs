//! A guard's counters as the JSON that the control socket answers with, and the help text of each.

use lossylink_core::engine::report::{Counter, Kind, Reading};
use lossylink_core::guard::{Guard, Peer, SessionState};
use serde_json::{Map, Value, json};

/// The help text of the measured round trip between the guards.
const LOOP_HELP: &str = "The longest of the recent round trips between the guards, in microseconds.";
/// The help texts of those figures of a session that are numbers.
const STATE_HELP: [(&str, &str); 10] = [
    ("agreed", "Whether the peer is there and both have agreed; frames pass unprotected while not."),
    ("loop_us", LOOP_HELP),
    ("path", "Whether the link is a path of datagrams, on which nothing goes unsealed."),
    ("sealed", "Whether frames of the link are sealed with a key."),
    ("frame_bytes_needed", "The longest frame that this end sends, if it is longer than those of the LAN."),
    ("frame_bytes_carried", "The longest message that has reached the peer in the last 10 s."),
    ("lan_frame_bytes", "The longest frame of this end's LAN."),
    ("peer_lan_frame_bytes", "The longest frame of the peer's LAN."),
    ("too_narrow", "Whether the peer is there and the longest frames of this end do not reach it."),
    ("other_version_heard", "The version of the protocol in the last message of another version."),
];

/// Returns every event counter of a guard, and the state of both its ends.
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

/// Returns the help texts of the counters of [`guard`], in the same places.
pub(crate) fn help(guard: &Guard) -> Value {
    let mut help = tree(guard, |counter| documented(counter.help, counter.kind));
    help.extend(STATE_HELP.map(|(name, text)| (name.to_owned(), documented(text, Kind::Level))));
    Value::Object(help)
}

/// Returns the help texts of counters with fixed names.
pub(crate) fn texts(help: &[(&str, Kind, &str)]) -> Value {
    help.iter().map(|&(name, kind, text)| (name.to_owned(), documented(text, kind))).collect()
}

/// Returns the help text of one number, and its type in the words of Prometheus.
pub(crate) fn documented(text: &str, kind: Kind) -> Value {
    let kind = match kind {
        Kind::Count => "counter",
        Kind::Level => "gauge",
    };
    json!([text, kind])
}

/// Places every counter: those of a group without a name at the top, those of the other groups in an object
/// each.
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

fn session(state: &SessionState) -> [(String, Value); 13] {
    let loop_us = state.loop_time.map(|span| span.as_us_f64());
    let (needed, carried) = state.needed_and_carried;
    [
        ("peer", json!(peer(state))),
        ("agreed", json!(matches!(state.peer, Peer::Agreed))),
        ("protection", json!(state.protection.to_string())),
        ("peer_protection", json!(state.peer_protection.to_string())),
        ("loop_us", json!(loop_us)),
        ("path", json!(state.is_closed)),
        ("sealed", json!(state.is_sealed)),
        ("frame_bytes_needed", json!(needed)),
        ("frame_bytes_carried", json!(carried)),
        ("lan_frame_bytes", json!(state.longest)),
        ("peer_lan_frame_bytes", json!(state.peer_longest)),
        ("too_narrow", json!(state.is_too_narrow)),
        ("other_version_heard", json!(state.other_version)),
    ]
    .map(|(name, value)| (name.to_owned(), value))
}

fn peer(state: &SessionState) -> &'static str {
    match state.peer {
        Peer::Absent if state.is_closed => "absent: dropping frames",
        Peer::Absent => "absent: passing frames unprotected",
        Peer::Known => "known: agreeing",
        Peer::Agreed => "agreed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emulator::DirectionCounters;
    use crate::histogram::{Histogram, Lateness};
    use crate::lines;
    use crate::port::PortCounters;
    use lossylink_core::guard::{GuardConfig, QueueLimits, Secret};
    use lossylink_core::protection::{Fec, Llr, Protection};
    use lossylink_core::rng::Streams;
    use lossylink_core::units::Bytes;

    /// Returns the names below a value, those of nested objects behind a point.
    fn names(value: &Value) -> Vec<String> {
        let Value::Object(members) = value else { return Vec::new() };
        let below = |(name, inner): (&String, &Value)| match inner {
            Value::Object(_) => names(inner).iter().map(|below| format!("{name}.{below}")).collect(),
            _ => vec![name.clone()],
        };
        members.iter().flat_map(below).collect()
    }

    fn config() -> GuardConfig {
        let queue = QueueLimits { capacity: Bytes(1000), mark_from: None };
        GuardConfig { queue, longest_frame: 1514, frames: 10, secret: None }
    }

    /// Programs read these keys.
    const OWN: &str = "explicit_acks foreign frames_held from_lan from_link hellos no_room other_seal \
        other_version pauses_obeyed queue_bytes queue_dropped queue_longest_bytes queue_marked repeated reserved sessions \
        silences stood_aside stuck to_lan to_link to_link_first too_long unsent";
    const SENDER: &str = "acks beyond_cap buffer_bytes buffer_frames buffer_max_bytes copies copies_evicted data \
        dummies dummies_due holes leading_ack leading_ack_era next_seq next_seq_era notifications \
        notifications_repeated out_of_range outstanding retransmitted";
    const RECEIVER: &str = "ack ack_era ack_pending buffer_bytes buffer_max_bytes buffer_overflowed control_copies data \
        dummies duplicates expected_seq expected_seq_era forwarded given_up leading_ack leading_ack_era lost \
        notifications pause_bytes paused pauses recovered resume_bytes resumes retransmissions stale unreported";
    const STATE: &str = "agreed frame_bytes_carried frame_bytes_needed lan_frame_bytes loop_us other_version_heard path peer \
        peer_lan_frame_bytes peer_protection protection sealed too_narrow";
    const DIRECTION: &str = "contents frames lost missing";
    const CODER: &str = "duplicates failed_rebuilds full_blocks given_up_blocks inconsistent \
        kept_bytes kept_max_bytes malformed open_data partial_blocks received_data received_parity recovered restarts sent_data sent_parity stale unrecovered";

    const LLR: &str = "outstanding_bytes outstanding_frames outstanding_max_bytes replay_timer_ns rx_ack \
        rx_ack_nack_seq_error rx_discard rx_duplicate_seq rx_expected rx_expected_seq_good rx_init \
        rx_init_echo rx_missing_seq rx_nack rx_ok rx_replay rx_stale_init rx_state timer_raised tx_ack \
        tx_discard tx_flushes tx_given_up tx_init tx_init_echo tx_nack tx_next tx_ok tx_replay \
        tx_replayed_frames tx_state tx_timer_replays tx_unnumbered window_bytes";

    const ROUTED: &str = "bound_percent data data_bytes duplicates given_up kept_bytes kept_frames lost malformed \
        mismarked not_kept rebuilt recovered reordered reordering_window_us repair_bytes repair_time_us repairs short \
        repairs_per_10000 repeated repeated_bytes unpaid unread";

    fn words(prefix: &str, text: &str) -> Vec<String> {
        text.split_whitespace().map(|word| format!("{prefix}{word}")).collect()
    }

    fn protected(protection: Protection) -> Guard {
        let lines = lines::lines(None, Bytes(1514));
        Guard::new(config(), lines, protection, 0.0, Streams::new(1).stream("guard"))
    }

    #[test]
    fn a_report_has_the_keys_that_programs_read() {
        let plain = guard(&Guard::silent(config(), lines::lines(None, Bytes(1514))));
        assert_eq!(names(&plain), words("", OWN));
        let cases = [
            (Protection::Fec(Fec::new(25, 5)), "fec:25/5", words("coder.", CODER)),
            (Protection::Llr(Llr::default()), "llr", words("llr.", LLR)),
        ];
        for (protection, spelling, of_its_own) in cases {
            let guarding = protected(protection);
            let everybody = words("", OWN).into_iter().chain(words("", STATE));
            let everybody =
                everybody.chain(words("arriving.", DIRECTION)).chain(words("leaving.", DIRECTION));
            let usual = words("sender.", SENDER).into_iter().chain(words("receiver.", RECEIVER));
            let mut expected: Vec<_> = everybody.chain(usual).chain(of_its_own).collect();
            expected.sort();
            let mut found = names(&guard(&guarding));
            found.sort();
            assert_eq!(found, expected);
            assert_eq!(guard(&guarding)["protection"], spelling);
            let documented = names(&help(&guarding));
            found.retain(|name| !documented.contains(name));
            assert_eq!(found, ["peer", "peer_protection", "protection"]);
            assert!(found.iter().all(|name| guard(&guarding)[name].is_string()), "a number has a text");
        }
    }

    #[test]
    fn a_guard_over_a_path_has_the_keys_that_programs_read() {
        let config = GuardConfig { secret: Secret::new(&[7; 32]), ..config() };
        let rng = Streams::new(1).stream("guard");
        let guarding = Guard::closed(config, lines::routed(), Protection::Routed, rng);
        let everybody = words("", OWN).into_iter().chain(words("", STATE)).chain(words("routed.", ROUTED));
        let everybody = everybody.chain(words("arriving.", DIRECTION)).chain(words("leaving.", DIRECTION));
        let mut expected: Vec<_> = everybody.collect();
        expected.sort();
        let mut found = names(&guard(&guarding));
        found.sort();
        assert_eq!(found, expected);
        assert_eq!(guard(&guarding)["peer"], "absent: dropping frames");
    }

    #[test]
    fn every_counter_is_documented() {
        let pairs = [
            (json!(DirectionCounters::default()), texts(&DirectionCounters::HELP)),
            (json!(PortCounters::default()), texts(&PortCounters::HELP)),
            (json!(Histogram::default().lateness()), texts(&Lateness::HELP)),
        ];
        for (counters, help) in pairs {
            assert_eq!(names(&counters), names(&help));
        }
    }
}

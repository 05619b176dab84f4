//! A guard's counters as the JSON that the control socket answers with.

use lossylink_core::engine::guard::{
    Guard, LinkProtection, Peer, ReceivingState, SendingState, SessionState,
};
use serde_json::{Map, Value, json};

/// Every event that a guard counts, and the state of both its ends.
pub(crate) fn guard(guard: &Guard) -> Value {
    let (events, queue) = (guard.counters(), guard.queue());
    let mut report = json!({
        "from_lan": events.from_lan,
        "to_lan": events.to_lan,
        "from_link": events.from_link,
        "to_link": events.to_link,
        "to_link_first": events.to_link_first,
        "no_room": events.no_room,
        "reserved": events.reserved,
        "foreign": events.foreign,
        "explicit_acks": events.explicit_acks,
        "hellos": events.hellos,
        "sessions": events.sessions,
        "silences": events.silences,
        "pauses_obeyed": events.pauses_obeyed,
        "queue_dropped": queue.dropped,
        "queue_marked": queue.marked,
        "queue_longest_bytes": queue.longest.0,
        "frames_held": guard.frames_held(),
    });
    if let (Some(state), Value::Object(members)) = (guard.session(), &mut report) {
        session(members, &state);
    }
    report
}

fn session(members: &mut Map<String, Value>, state: &SessionState) {
    let loop_us = state.loop_time.map(|span| span.as_us_f64());
    members.insert("peer".to_owned(), json!(peer(state.peer)));
    members.insert("protection".to_owned(), json!(name(state.protection.link)));
    members.insert("peer_protection".to_owned(), json!(name(state.peer_protection)));
    members.insert("loop_us".to_owned(), json!(loop_us));
    members.insert("sender".to_owned(), sender(&state.sending));
    members.insert("receiver".to_owned(), receiver(&state.receiving));
}

fn sender(state: &SendingState) -> Value {
    let engine = &state.engine;
    json!({
        "next_seq": state.next.number(),
        "next_seq_era": u8::from(state.next.era()),
        "leading_ack": state.leading_ack.number(),
        "leading_ack_era": u8::from(state.leading_ack.era()),
        "holes": state.holes,
        "copies": state.copies,
        "data": engine.data,
        "dummies": engine.dummies,
        "retransmitted": engine.retransmitted,
        "acks": engine.acks,
        "notifications": engine.notifications,
        "beyond_cap": engine.beyond_cap,
        "out_of_range": engine.out_of_range,
        "buffer_bytes": state.held.0,
        "buffer_max_bytes": state.most_held.0,
        "copies_evicted": state.evicted,
    })
}

fn receiver(state: &ReceivingState) -> Value {
    let engine = &state.engine;
    json!({
        "expected_seq": state.expected.number(),
        "expected_seq_era": u8::from(state.expected.era()),
        "ack": state.next.map(|next| next.number()),
        "ack_era": state.next.map(|next| u8::from(next.era())),
        "leading_ack": state.leading.number(),
        "leading_ack_era": u8::from(state.leading.era()),
        "ack_pending": state.ack_pending,
        "data": engine.data,
        "retransmissions": engine.retransmissions,
        "dummies": engine.dummies,
        "lost": engine.lost,
        "notifications": engine.notifications,
        "forwarded": engine.forwarded,
        "duplicates": engine.duplicates,
        "stale": engine.stale,
        "given_up": state.given_up,
        "buffer_bytes": state.held.0,
        "buffer_max_bytes": state.most_held.0,
        "buffer_overflowed": state.overflowed,
        "pauses": state.pauses,
        "resumes": state.resumes,
    })
}

fn peer(peer: Peer) -> &'static str {
    match peer {
        Peer::Absent => "absent: passing frames unprotected",
        Peer::Known => "known: agreeing",
        Peer::Agreed => "agreed",
    }
}

fn name(link: LinkProtection) -> &'static str {
    match link {
        LinkProtection::None => "none",
        LinkProtection::Ordered => "lg",
        LinkProtection::NonBlocking => "lg-nb",
    }
}

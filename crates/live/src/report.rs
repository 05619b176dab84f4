//! A guard's counters as the JSON that the control socket answers with.

use lossylink_core::engine::guard::Guard;
use serde_json::{Value, json};

/// Every event that a guard counts.
pub(crate) fn guard(guard: &Guard) -> Value {
    let (events, queue) = (guard.counters(), guard.queue());
    json!({
        "from_lan": events.from_lan,
        "to_lan": events.to_lan,
        "from_link": events.from_link,
        "to_link": events.to_link,
        "no_room": events.no_room,
        "queue_dropped": queue.dropped,
        "queue_marked": queue.marked,
        "queue_longest_bytes": queue.longest.0,
    })
}

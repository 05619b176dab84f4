//! The counters of the guard itself, under any protection of its link.

use super::account::Account;
use super::{DropTail, GuardCounters};
use crate::engine::report::{Counter, Group, Passed, Queued};
use alloc::vec;

/// Returns the group without a name: the counters of the guard itself.
pub(super) fn own(events: &GuardCounters, queue: &DropTail, frames_held: usize) -> Group {
    let passed = Passed {
        from_lan: Some(events.from_lan),
        to_lan: Some(events.to_lan),
        from_link: Some(events.from_link),
        to_link: Some(events.to_link),
        to_link_first: Some(events.to_link_first),
    };
    let counted = queue.counters();
    let queued = Queued {
        waiting: queue.waiting(),
        longest: counted.longest,
        dropped: counted.dropped,
        marked: counted.marked,
    };
    let mut counters = vec![
        Counter::new("no_room", "Frames dropped: too short, too long, or no memory free.", events.no_room),
        Counter::new(
            "reserved",
            "Frames of the LAN with an EtherType of the guards, dropped.",
            events.reserved,
        ),
        Counter::new(
            "foreign",
            "Frames of the link with an EtherType of the guards and no genuine tag.",
            events.foreign,
        ),
        Counter::new(
            "other_version",
            "Messages of guards that speak another version of the protocol.",
            events.other_version,
        ),
        Counter::new(
            "other_seal",
            "Messages sealed with another secret or none, or damaged.",
            events.other_seal,
        ),
        Counter::new("repeated", "Sealed frames that had arrived before, dropped.", events.repeated),
        Counter::new("explicit_acks", "Acknowledgements that left by themselves.", events.explicit_acks),
        Counter::new("hellos", "Hellos and replies received.", events.hellos),
        Counter::new("sessions", "Sessions begun.", events.sessions),
        Counter::new("silences", "Times that the peer fell silent.", events.silences),
        Counter::new("stuck", "Sessions begun because nothing moved in the one before.", events.stuck),
        Counter::new(
            "stood_aside",
            "Times that frames went unprotected for 5 s because nothing moved again and again.",
            events.stood_aside,
        ),
        Counter::new(
            "unsent",
            "Frames of the LAN dropped on a path, where none goes unsealed, for want of a session.",
            events.unsent,
        ),
        Counter::new(
            "too_long",
            "Frames of the LAN dropped because the path carries none so long.",
            events.too_long,
        ),
        Counter::new("pauses_obeyed", "Pauses obeyed.", events.pauses_obeyed),
        Counter::level("frames_held", "Frames held at present.", frames_held as u64),
    ];
    counters.extend(passed.counters().chain(queued.counters()));
    Group { name: "", counters }
}

/// Returns the counters of one direction of the link, under any protection (G-33).
pub(super) fn direction(name: &'static str, account: &Account) -> Group {
    let counters = vec![
        Counter::new("frames", "Frames of every kind put on the link in this direction.", account.frames),
        Counter::new("lost", "Of those, frames that did not arrive.", account.lost),
        Counter::new("contents", "Frames of the LAN sent in this direction.", account.contents),
        Counter::new("missing", "Of those, frames that were not handed on at the far end.", account.missing),
    ];
    Group { name, counters }
}

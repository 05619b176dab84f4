//! What a guard and its line protocols have counted: named readings, each with its documentation.

use super::{GuardCounters, QueueCounters};
use alloc::vec;
use alloc::vec::Vec;

/// Counters that belong together: an object in JSON, a part of the name in Prometheus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The group's name; empty for those of the guard itself.
    pub name: &'static str,
    /// Its counters.
    pub counters: Vec<Counter>,
}

/// One number, or what stands in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    /// Its name, in the style of a key.
    pub name: &'static str,
    /// What it counts, in one line.
    pub help: &'static str,
    /// What it reads now.
    pub reading: Reading,
}

/// What a counter reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// A number.
    Number(u64),
    /// Yes or no.
    Flag(bool),
    /// There is nothing to read at present.
    Absent,
}

impl Counter {
    /// A counter with its documentation.
    pub fn new(name: &'static str, help: &'static str, reading: impl Into<Reading>) -> Self {
        Self { name, help, reading: reading.into() }
    }
}

impl From<u64> for Reading {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl From<bool> for Reading {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl<T: Into<Reading>> From<Option<T>> for Reading {
    fn from(reading: Option<T>) -> Self {
        reading.map_or(Self::Absent, Into::into)
    }
}

/// What the guard itself has counted.
pub(super) fn own(events: &GuardCounters, queue: &QueueCounters, frames_held: usize) -> Group {
    let counters = vec![
        Counter::new("from_lan", "Frames taken from the LAN.", events.from_lan),
        Counter::new("to_lan", "Frames handed to the LAN.", events.to_lan),
        Counter::new("from_link", "Frames taken from the link.", events.from_link),
        Counter::new("to_link", "Frames handed to the link.", events.to_link),
        Counter::new("to_link_first", "Frames of the LAN sent for the first time.", events.to_link_first),
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
        Counter::new("explicit_acks", "Acknowledgements that left by themselves.", events.explicit_acks),
        Counter::new("hellos", "Hellos and replies received.", events.hellos),
        Counter::new("sessions", "Sessions begun.", events.sessions),
        Counter::new("silences", "Times that the peer fell silent.", events.silences),
        Counter::new("pauses_obeyed", "Pauses obeyed.", events.pauses_obeyed),
        Counter::new(
            "queue_dropped",
            "Frames dropped because the queue toward the link was full.",
            queue.dropped,
        ),
        Counter::new("queue_marked", "Frames marked as having met congestion.", queue.marked),
        Counter::new("queue_longest_bytes", "The most bytes that ever waited in the queue.", queue.longest.0),
        Counter::new("frames_held", "Frames held at present.", frames_held as u64),
    ];
    Group { name: "", counters }
}

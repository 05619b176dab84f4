//! The counters that the two ends of a link report: named readings, each with its documentation.
//!
//! Simulator and live data plane report a counter by one name and one text, because both take name and text
//! from here and from the `report` of each engine. A driver leaves out the counters that it does not have.

use crate::units::Bytes;
use alloc::vec::Vec;

/// Counters that belong together: an object in JSON, a part of the name in Prometheus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Name of the group; empty for the counters of the guard or the switch itself.
    pub name: &'static str,
    /// The counters of the group.
    pub counters: Vec<Counter>,
}

/// A counter or level of one end of a link: a number, a flag, or no reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    /// Name of the counter, in the style of a key.
    pub name: &'static str,
    /// Documentation of the counter, in one line.
    pub help: &'static str,
    /// Whether the number only grows.
    pub kind: Kind,
    /// The present reading.
    pub reading: Reading,
}

/// How a reported number behaves in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The number counts events and only grows.
    Count,
    /// The number is a state of the link: a level, a number in use, a flag.
    Level,
}

/// The reading of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// A number.
    Number(u64),
    /// Yes or no.
    Flag(bool),
    /// No reading at present.
    Absent,
}

impl Counter {
    /// Returns a count of events with its documentation.
    pub fn new(name: &'static str, help: &'static str, reading: impl Into<Reading>) -> Self {
        Self { name, help, kind: Kind::Count, reading: reading.into() }
    }

    /// Returns a level with its documentation.
    pub fn level(name: &'static str, help: &'static str, reading: impl Into<Reading>) -> Self {
        Self { kind: Kind::Level, ..Self::new(name, help, reading) }
    }

    /// Returns a count that not every driver has; `None` without a reading.
    pub fn of<T: Into<Reading>>(name: &'static str, help: &'static str, reading: Option<T>) -> Option<Self> {
        reading.map(|reading| Self::new(name, help, reading))
    }

    /// Returns a level that not every driver has; `None` without a reading.
    pub fn level_of<T: Into<Reading>>(
        name: &'static str,
        help: &'static str,
        reading: Option<T>,
    ) -> Option<Self> {
        reading.map(|reading| Self::level(name, help, reading))
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

/// Frames that passed the two sides of one end of a link. A count that the end does not see is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passed {
    /// Frames taken from the LAN.
    pub from_lan: Option<u64>,
    /// Frames handed to the LAN.
    pub to_lan: Option<u64>,
    /// Frames taken from the link.
    pub from_link: Option<u64>,
    /// Frames handed to the link.
    pub to_link: Option<u64>,
    /// Frames handed to the link with contents sent for the first time, a part of `to_link`.
    pub to_link_first: Option<u64>,
}

impl Passed {
    /// Returns the counters that the end sees.
    pub fn counters(&self) -> impl Iterator<Item = Counter> {
        [
            Counter::of("from_lan", "Frames taken from the LAN.", self.from_lan),
            Counter::of("to_lan", "Frames handed to the LAN.", self.to_lan),
            Counter::of("from_link", "Frames taken from the link.", self.from_link),
            Counter::of("to_link", "Frames handed to the link.", self.to_link),
            Counter::of("to_link_first", "Frames of the LAN sent for the first time.", self.to_link_first),
        ]
        .into_iter()
        .flatten()
    }
}

/// The queue in front of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Queued {
    /// Bytes that wait.
    pub waiting: Bytes,
    /// The most bytes that ever waited.
    pub longest: Bytes,
    /// Frames dropped because the queue had no room for them.
    pub dropped: u64,
    /// Frames marked as having met congestion.
    pub marked: u64,
}

impl Queued {
    /// Returns the counters of the queue.
    pub fn counters(&self) -> impl Iterator<Item = Counter> {
        [
            Counter::level("queue_bytes", "Bytes that wait in the queue toward the link.", self.waiting.0),
            Counter::level(
                "queue_longest_bytes",
                "The most bytes that ever waited in the queue.",
                self.longest.0,
            ),
            Counter::new(
                "queue_dropped",
                "Frames dropped because the queue toward the link was full.",
                self.dropped,
            ),
            Counter::new("queue_marked", "Frames marked as having met congestion.", self.marked),
        ]
        .into_iter()
    }
}

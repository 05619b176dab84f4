//! What the two ends of a link are about at one instant, as a live guard reports it.
//!
//! Names and texts are the core's, so that simulator and live data plane tell the same thing by the same name.
//! Left out is what no switch of the simulator has: hellos and sessions, a pool of memory, tags.

use super::Traffic;
use lossylink_core::engine::report::{Group, Passed, Queued};
use lossylink_core::time::Instant;

/// What a link tells of its ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ends {
    /// Whether the frames that leave now are protected.
    pub is_on: bool,
    /// The sending end, in groups.
    pub near: Vec<Group>,
    /// The receiving end, in groups.
    pub far: Vec<Group>,
    /// Whole frames on their way to the receiving end's decision; `None` if each of them is delivered, at that
    /// time.
    pub in_flight: Option<u64>,
    /// What went over the way back.
    pub reverse: Traffic,
}

/// Frames of one direction of the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Carried {
    /// Frames that began to be sent.
    pub offered: u64,
    /// Frames of them that were corrupted.
    pub lost: u64,
}

impl From<&Traffic> for Carried {
    fn from(traffic: &Traffic) -> Self {
        Self { offered: traffic.frames, lost: traffic.lost }
    }
}

/// A link and its ends at one instant, when everything up to and including it has happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// When.
    pub at: Instant,
    /// Whether the frames that leave now are protected.
    pub is_on: bool,
    /// The near switch: a group without a name, and those of the sending end.
    pub near: Vec<Group>,
    /// The far switch likewise.
    pub far: Vec<Group>,
    /// The direction of the data.
    pub forward: Carried,
    /// The way back.
    pub reverse: Carried,
}

/// What a look from outside adds to what the ends tell.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outside {
    /// Frames that came to the near switch.
    pub(super) offered: u64,
    /// Frames that the far switch has handed on, and those that it is sure to.
    pub(super) delivered: u64,
    pub(super) to_be_delivered: u64,
    pub(super) queued: Queued,
}

impl State {
    /// Puts together what `ends` tell at `at`, what the wire carried and what passed outside.
    pub(super) fn new(at: Instant, ends: Ends, traffic: &Traffic, outside: &Outside) -> Self {
        let in_flight = ends.in_flight.unwrap_or(outside.to_be_delivered);
        let near = Passed {
            from_lan: Some(outside.offered),
            to_link: Some(traffic.frames),
            to_link_first: Some(traffic.data_frames),
            ..Passed::default()
        };
        let far = Passed {
            from_link: Some(traffic.frames - traffic.lost - in_flight),
            to_lan: Some(outside.delivered),
            ..Passed::default()
        };
        let own = |counters| Group { name: "", counters };
        let before = own(near.counters().chain(outside.queued.counters()).collect());
        let behind = own(far.counters().collect());
        Self {
            at,
            is_on: ends.is_on,
            near: std::iter::once(before).chain(ends.near).collect(),
            far: std::iter::once(behind).chain(ends.far).collect(),
            forward: traffic.into(),
            reverse: (&ends.reverse).into(),
        }
    }
}

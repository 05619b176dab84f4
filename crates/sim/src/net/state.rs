//! The state of the two ends of a link at one instant, as a live guard reports it.
//!
//! Names and texts are the core's, so that simulator and live data plane tell equal things by equal names. The state leaves out
//! everything that no switch of the simulator has: hellos and sessions, a pool of memory, tags.

use super::Traffic;
use lossylink_core::engine::report::{Group, Passed, Queued};
use lossylink_core::time::Instant;

/// The state of the two ends of a link, as the link tells it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ends {
    /// Whether frames that leave at this instant are protected.
    pub is_on: bool,
    /// The state of the sending end, in groups.
    pub near: Vec<Group>,
    /// The state of the receiving end, in groups.
    pub far: Vec<Group>,
    /// Whole frames on their way to the receiving end's decision. `None` if each of them is delivered at the time of the decision.
    pub in_flight: Option<u64>,
    /// Counts of frames and octets on the way back.
    pub reverse: Traffic,
}

/// Frames of one direction of the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Carried {
    /// Frames that began to be sent, of every kind.
    pub offered: u64,
    /// Frames among them that were corrupted.
    pub lost: u64,
}

impl From<&Traffic> for Carried {
    fn from(traffic: &Traffic) -> Self {
        Self { offered: traffic.frames, lost: traffic.lost }
    }
}

/// The state of a link and its ends at one instant, when everything up to and including the instant has happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// The instant of the state.
    pub at: Instant,
    /// Whether frames that leave at this instant are protected.
    pub is_on: bool,
    /// The state of the near switch: a group without a name, and the groups of the sending end.
    pub near: Vec<Group>,
    /// The state of the far switch: a group without a name, and the groups of the receiving end.
    pub far: Vec<Group>,
    /// Frames on the wire in the direction of the data.
    pub forward: Carried,
    /// Frames on the wire on the way back.
    pub reverse: Carried,
}

/// Counts that are taken outside of the link and added to the state of its ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outside {
    /// Frames that came to the near switch.
    pub(super) offered: u64,
    /// Frames that the far switch has handed on, and frames that it is sure to hand on.
    pub(super) delivered: u64,
    pub(super) to_be_delivered: u64,
    pub(super) queued: Queued,
}

impl State {
    /// Builds the state at `at` from the state of the ends, the counts of the wire and the counts taken outside.
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

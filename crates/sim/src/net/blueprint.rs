//! The plan of a link, with any protection or none.

use super::direct::DirectConfig;
use super::meter::MeterOptions;
use super::queue::QueueLimits;
use super::{Cells, LineRates};
use crate::config::SwitchProfile;
use lossylink_core::loss::{LossLaw, LossModel, LossProcess};
use lossylink_core::protection::Protection;
use lossylink_core::rng::Streams;
use lossylink_core::time::Duration;
use lossylink_core::units::Bytes;
use lossylink_core::wire::linkguardian::DataHeader;
use std::sync::Arc;

/// The loss processes of the two directions, the data's first.
pub type Losses = (LossProcess, LossProcess);

/// The plan of a link: everything from which the link is built.
#[derive(Clone, Debug)]
pub struct Blueprint {
    /// The switches at both ends.
    pub switch: Arc<SwitchProfile>,
    /// Line rates of the two directions.
    pub rates: LineRates,
    /// One-way delay of the cable, beyond what the switch profile contains.
    pub propagation: Duration,
    /// The law by which the link loses full frames: the law for which an operator would set a protection up.
    pub law: LossLaw,
    /// The law by which the way back loses the shortest frames, such as control frames.
    pub control_law: LossLaw,
    /// Octets of a full frame on the wire, the gap included.
    pub frame_octets: u32,
    /// The protection of the link; its options have been checked.
    pub protection: Protection,
    /// Whether the owner of the link switches the protection on and off while traffic runs.
    pub is_switched: bool,
    /// Whether the fast twin of the protection's model is built, if the model has a fast twin.
    pub is_fast: bool,
}

impl Blueprint {
    /// Returns the time from a dequeue at the link to the receiver's decision, without serialisation.
    pub fn flight(&self) -> Duration {
        Duration::from_ns_f64(self.switch.data_pipeline_ns) + self.propagation
    }

    /// Returns the limits of the queue in front of the link. A frame's room includes LinkGuardian's header on an unprotected link
    /// and under link-level retry too, so that frames of all three find equal queues. A code's header is on the frame already
    /// when the frame comes to the code's queue, which adds no header.
    pub fn queue_limits(&self) -> QueueLimits {
        queue_limits(&self.switch)
    }

    /// Returns the parameters of a link that keeps nothing at its ends.
    pub(super) fn direct(&self) -> DirectConfig {
        DirectConfig { rates: self.rates, flight: self.flight(), queue: self.queue_limits() }
    }

    /// Returns the parameters of a meter that lets pass as many octets as the line carries.
    pub(super) fn meter(&self, marks: bool) -> MeterOptions {
        MeterOptions::usual(self.rates.forward.bit_rate(), self.queue_bytes(), marks)
    }

    /// Returns the room in the queue in front of the link.
    pub(super) fn queue_bytes(&self) -> Bytes {
        Bytes(self.switch.queue_bytes)
    }

    /// Whether every flow without losses crosses this link like the flow before it: the link has no clock and no number of its own.
    pub fn forgets(&self) -> bool {
        self.protection == Protection::None
    }
}

/// Returns the limits of the queue in front of a link between switches of `profile`.
pub fn queue_limits(profile: &SwitchProfile) -> QueueLimits {
    QueueLimits {
        limit_bytes: profile.queue_bytes,
        ecn_threshold_bytes: profile.ecn_threshold_bytes,
        cells: Cells::new(profile.buffer_cell_bytes),
        header_bytes: DataHeader::LEN as u32,
    }
}

/// Returns loss processes that lose nothing in either direction.
pub fn clean(streams: &Streams) -> Losses {
    let none = |name| LossProcess::new(&LossModel::None, streams.stream(name));
    (none("link/0/loss"), none("link/0/reverse-loss"))
}

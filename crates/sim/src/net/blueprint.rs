//! What a link is made of, whatever protects it.

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

/// Losses of the two directions, the data's first.
pub type Losses = (LossProcess, LossProcess);

/// A link that can be built.
#[derive(Clone, Debug)]
pub struct Blueprint {
    /// The switches at both ends.
    pub switch: Arc<SwitchProfile>,
    /// Line rates.
    pub rates: LineRates,
    /// One-way delay of the cable, beyond what the switch profile contains.
    pub propagation: Duration,
    /// The law by which the link loses full frames: what an operator would set a protection up for.
    pub law: LossLaw,
    /// The law by which the way back loses the shortest frames, which control frames are.
    pub control_law: LossLaw,
    /// Octets of a full frame on the wire, the gap included.
    pub frame_octets: u32,
    /// What protects it; its options have been checked.
    pub protection: Protection,
    /// Whether whoever runs the link switches the protection on and off.
    pub is_switched: bool,
    /// Whether the fast twin of the protection's model is built, where there is one.
    pub is_fast: bool,
}

impl Blueprint {
    /// From a dequeue at the link to the receiver's decision, without serialisation.
    pub fn flight(&self) -> Duration {
        Duration::from_ns_f64(self.switch.data_pipeline_ns) + self.propagation
    }

    /// Limits of the queue in front of the link. A frame's room is reckoned with LinkGuardian's header on an
    /// unprotected link and under link-level retry too, so that they find the same queue; a code's header is
    /// on the frame when it comes to its queue, which reckons without.
    pub fn queue_limits(&self) -> QueueLimits {
        queue_limits(&self.switch)
    }

    /// What a link needs that keeps nothing at its ends.
    pub(super) fn direct(&self) -> DirectConfig {
        DirectConfig { rates: self.rates, flight: self.flight(), queue: self.queue_limits() }
    }

    /// A meter that lets pass what the line carries.
    pub(super) fn meter(&self, marks: bool) -> MeterOptions {
        MeterOptions::usual(self.rates.forward.bit_rate(), self.queue_bytes(), marks)
    }

    /// Room in the queue in front of the link.
    pub(super) fn queue_bytes(&self) -> Bytes {
        Bytes(self.switch.queue_bytes)
    }

    /// Whether every clean flow crosses this link like the one before: nothing in it has a clock or a
    /// number of its own.
    pub fn forgets(&self) -> bool {
        self.protection == Protection::None
    }
}

/// Limits of the queue in front of a link between switches of `profile`.
pub fn queue_limits(profile: &SwitchProfile) -> QueueLimits {
    QueueLimits {
        limit_bytes: profile.queue_bytes,
        ecn_threshold_bytes: profile.ecn_threshold_bytes,
        cells: Cells::new(profile.buffer_cell_bytes),
        header_bytes: DataHeader::LEN as u32,
    }
}

/// No losses in either direction.
pub fn clean(streams: &Streams) -> Losses {
    let none = |name| LossProcess::new(&LossModel::None, streams.stream(name));
    (none("link/0/loss"), none("link/0/reverse-loss"))
}

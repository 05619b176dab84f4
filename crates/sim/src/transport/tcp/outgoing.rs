//! What is to leave at this instant, and in which order.

use super::packet::Packet;

/// Which segments leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plan {
    /// None.
    Idle,
    /// Lost ones.
    Lost,
    /// New ones.
    New,
    /// Lost ones, then new ones.
    LostThenNew,
    /// New ones, to tell a spurious timeout; lost ones if there are none.
    NewThenLost,
}

/// What one sender has in hand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outgoing {
    plan: Plan,
    /// A packet that is ready, and leaves before the planned segments.
    packet: Option<Packet>,
    /// Whether new segments left since the last acknowledgement or timer.
    has_sent_new: bool,
}

impl Outgoing {
    pub(super) const fn new() -> Self {
        Self { plan: Plan::Idle, packet: None, has_sent_new: false }
    }

    pub(super) const fn plan(&self) -> Plan {
        self.plan
    }

    /// Whether nothing leaves.
    #[cfg(feature = "fast")]
    pub(super) fn is_idle(&self) -> bool {
        self.plan == Plan::Idle && self.packet.is_none()
    }

    /// From now on these segments leave.
    pub(super) const fn set_plan(&mut self, plan: Plan) {
        self.plan = plan;
    }

    /// A packet leaves before the planned segments.
    pub(super) const fn put(&mut self, packet: Packet) {
        self.packet = Some(packet);
    }

    /// The packet that is ready, if any.
    #[inline]
    pub(super) const fn take_packet(&mut self) -> Option<Packet> {
        if self.packet.is_some() { self.packet.take() } else { None }
    }

    /// A new segment leaves.
    pub(super) const fn note_new(&mut self) {
        self.has_sent_new = true;
    }

    /// Whether new segments left since this was last asked.
    pub(super) fn take_sent_new(&mut self) -> bool {
        std::mem::take(&mut self.has_sent_new)
    }
}

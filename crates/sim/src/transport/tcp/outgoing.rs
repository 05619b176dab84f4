//! The packets that leave at this instant, and their order.

use super::packet::Packet;

/// The segments that leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plan {
    /// No segments.
    Idle,
    /// Lost segments.
    Lost,
    /// New segments.
    New,
    /// Lost segments, then new segments.
    LostThenNew,
    /// New segments, to tell a spurious timeout; lost segments if there are no new ones.
    NewThenLost,
}

/// The packets that one sender is about to send.
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

    /// Whether no packet leaves.
    #[cfg(feature = "fast")]
    pub(super) fn is_idle(&self) -> bool {
        self.plan == Plan::Idle && self.packet.is_none()
    }

    /// Sets the segments that leave from now on.
    pub(super) const fn set_plan(&mut self, plan: Plan) {
        self.plan = plan;
    }

    /// Lets a packet leave before the planned segments.
    pub(super) const fn put(&mut self, packet: Packet) {
        self.packet = Some(packet);
    }

    /// Takes the packet that is ready, if there is one.
    #[inline]
    pub(super) const fn take_packet(&mut self) -> Option<Packet> {
        if self.packet.is_some() { self.packet.take() } else { None }
    }

    /// Notes that a new segment leaves.
    pub(super) const fn note_new(&mut self) {
        self.has_sent_new = true;
    }

    /// Whether new segments have left since the last call.
    pub(super) fn take_sent_new(&mut self) -> bool {
        std::mem::take(&mut self.has_sent_new)
    }
}

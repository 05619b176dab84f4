//! Switching LinkGuardian off while traffic runs (LG-36).

use super::LinkGuardianLink;
use crate::net::plain::Handover;

impl<P: Copy + Default> LinkGuardianLink<P> {
    /// Stops numbering frames, which wait until the protection has left, or goes on.
    pub fn set_leaving(&mut self, is_leaving: bool) {
        self.sending.set_leaving(is_leaving);
    }

    /// Whether everything numbered has gone on, or is given up: then the protection can leave.
    pub fn is_quiet(&self) -> bool {
        let nothing_under_way = self.forward.arrivals.is_empty()
            && self.forward.copies.is_empty()
            && !self.control.has_notification();
        nothing_under_way && self.sending.is_quiet() && self.receiving.is_quiet()
    }

    /// What an unprotected link takes over from one that is quiet.
    pub fn hand_over(self) -> Handover<P> {
        debug_assert!(self.is_quiet(), "the protection has work to do");
        Handover {
            queue: self.sending.normal,
            busy_until: self.sending.busy_until,
            reverse_busy_until: self.receiving.reverse_busy_until,
            forward: self.forward.wire,
            reverse: self.control.wire,
            delivered: self.receiving.delivered,
            returned: self.returned,
        }
    }
}

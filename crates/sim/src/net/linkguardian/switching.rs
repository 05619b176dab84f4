//! Switching LinkGuardian on and off while traffic runs (LG-30, LG-36).

use super::LinkGuardianLink;
use crate::net::{Advice, Handover, Payload};
use lossylink_core::time::Instant;

impl<P: Payload> LinkGuardianLink<P> {
    /// Begins or continues the protection: frames are numbered, and retransmissions and control frames have as many copies as is
    /// advised, unless the user chose their number.
    pub(super) fn stay(&mut self, now: Instant, advice: Advice) {
        self.sending.set_leaving(now, false);
        if !self.copies_are_chosen {
            self.sending.engine.set_copies(advice.copies);
        }
        if !self.control_copies_are_chosen {
            self.receiving.back.control_copies = advice.control_copies;
        }
    }

    /// Stops numbering frames, which wait until the protection has left. Returns whether every numbered frame has been forwarded or
    /// given up (LG-36).
    pub(super) fn leave_when_drained(&mut self, now: Instant) -> bool {
        self.sending.set_leaving(now, true);
        let nothing_under_way = self.forward.arrivals.is_empty()
            && self.forward.copies.is_empty()
            && !self.backward.has_notification();
        nothing_under_way && self.sending.is_drained() && self.receiving.is_drained()
    }

    /// Returns the state that an unprotected link takes over from a drained link.
    pub(super) fn handover(&self) -> Handover<P> {
        let mut backward = self.backward.clone();
        let reverse_busy_until = self.receiving.back.clone().leave(&mut backward);
        Handover {
            queue: self.sending.normal.clone(),
            busy_until: self.sending.busy_until(),
            reverse_busy_until,
            forward: self.forward.wire.clone(),
            reverse: backward.wire,
            delivered: self.receiving.delivered.clone(),
            returned: backward.returned,
        }
    }

    /// Takes over from a link without protection (LG-30). The frame in service and the frames in flight arrive as they are. Waiting
    /// frames are numbered when they leave.
    pub(super) fn take(&mut self, from: Handover<P>) {
        self.forward.wire = from.forward;
        self.backward.wire = from.reverse;
        self.backward.returned = from.returned;
        self.receiving.take_over(from.reverse_busy_until, from.delivered);
        self.sending.take_over(from.busy_until, from.queue);
    }
}

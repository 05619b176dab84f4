//! Lets the two directions of a link go apart while nothing is missing.
//!
//! Then the way back tells the sending switch only what has arrived, and so the forward direction needs nothing from it: it runs on
//! alone, and the way back follows. What the receiving switch takes in changes the register at its time ([`super::return_port`]),
//! whenever the port looks at it.

use super::FastLinkGuardianLink;
use crate::fast::{Path as Fast, takes};
use crate::kernel::Trains;
use crate::net::{Frame, Payload};
use lossylink_core::time::Instant;

impl<P: Payload> FastLinkGuardianLink<P> {
    /// Whether nothing is missing, waits for its turn, or is about to be told but what has arrived.
    #[inline]
    fn may_go_apart(&self) -> bool {
        takes(Fast::Directions)
            && self.leads.let_run_ahead()
            && self.forward.has_no_undetected_loss()
            && self.forward.copies.is_empty()
            && self.receiving.has_no_hole_or_pause()
            && self.sending.has_no_repair_or_pause()
            && self.backward.carries_acks_only()
    }

    /// When the forward direction next does something, if the two may go apart.
    #[inline]
    pub(super) fn next_forward(&self) -> Option<Instant> {
        let next = || self.sending.poll_timeout().min(self.forward.poll_timeout());
        self.may_go_apart().then(next)
    }

    /// The forward direction takes what `source` brings, and does what is due up to and including `until`, as long as the two may go
    /// apart and the way back has not stayed too far behind. Says when the last of it happened, or [`Instant::ZERO`].
    #[inline]
    pub(super) fn go_forward(&mut self, until: Instant, source: &mut Trains<Frame<P>>) -> Instant {
        let mut latest = Instant::ZERO;
        while self.may_go_apart() {
            let next =
                self.sending.poll_timeout().min(self.forward.poll_timeout()).min(source.poll_timeout());
            let behind = self.backward.poll_timeout().min(self.receiving.back.poll_ack());
            if next > until || !self.look_forward(next, next.min(behind)) {
                return latest;
            }
            let sent = self.run_near(until, source);
            let end =
                until.min(self.hears_loss_until()).min(self.forward.copies.poll_timeout().just_before());
            let taken = self.receiving.take_in(&mut self.forward.arrivals, end);
            if sent.max(taken) == Instant::ZERO {
                return latest;
            }
            latest = latest.max(sent).max(taken);
        }
        latest
    }

    /// The way back takes what `source` brings, and does what is due up to and including `until`, before the forward direction next
    /// does something. The two may go apart. Says when the last of it happened, or [`Instant::ZERO`].
    #[inline]
    pub(super) fn go_back(&mut self, until: Instant, source: &mut Trains<Frame<P>>) -> Instant {
        let latest = self.run_far(until, source);
        latest.max(self.take_late_acks(until))
    }
}

//! Lets the two directions of a link go apart while no frame is missing.
//!
//! The way back then tells the sending switch only which frames have arrived, so the forward direction needs nothing from the way
//! back. The forward direction runs on alone, and the way back follows. Each frame that the receiving switch takes in changes the
//! register at its time ([`super::return_port`]), whenever the port looks at the register.

use super::FastLinkGuardianLink;
use crate::fast::{Path as Fast, takes};
use crate::kernel::Trains;
use crate::net::{Frame, Payload};
use lossylink_core::time::Instant;

impl<P: Payload> FastLinkGuardianLink<P> {
    /// Whether the two directions may go apart. No loss is undetected, no frame is missing, held or to be sent again, no pause
    /// holds, and the way back carries no control frames but acknowledgements.
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

    /// Returns when the forward direction next has an event, if the two directions may go apart.
    #[inline]
    pub(super) fn next_forward(&self) -> Option<Instant> {
        let next = || self.sending.poll_timeout().min(self.forward.poll_timeout());
        self.may_go_apart().then(next)
    }

    /// Runs the forward direction up to and including `until`: takes the frames of `source`, and runs the events that are due.
    /// Ends when the two directions may no longer go apart, or the way back has stayed too far behind. Returns when the last
    /// event happened, or [`Instant::ZERO`].
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

    /// Runs the way back up to and including `until`, before the next event of the forward direction: takes the frames of
    /// `source`, and runs the events that are due. The two directions may go apart. Returns when the last event happened, or
    /// [`Instant::ZERO`].
    #[inline]
    pub(super) fn go_back(&mut self, until: Instant, source: &mut Trains<Frame<P>>) -> Instant {
        let latest = self.run_far(until, source);
        latest.max(self.take_late_acks(until))
    }
}

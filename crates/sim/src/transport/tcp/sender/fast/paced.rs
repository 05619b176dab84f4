//! A segment that waited for the host's stack: equal to timer and poll, without the work for other outcomes.

use crate::transport::tcp::Sender;
use crate::transport::tcp::congestion::Algorithm;
use crate::transport::tcp::packet::Packet;
use crate::transport::tcp::recovery_state::State;
use lossylink_core::time::{Duration, Instant};

impl Sender {
    /// Sends the full new segment for which the stack is free at `now`, if the timer causes no more than that. Equals
    /// [`Sender::handle_timeout`] and polling, after which no more packets leave at this instant. Returns `None` and does
    /// nothing if the timer could cause more, or if the next segment leaves by `horizon`, too, for which there is
    /// [`Sender::repeat`]. (TCP-61)
    #[inline]
    pub fn send_paced(&mut self, now: Instant, horizon: Instant) -> Option<Packet> {
        // A segment that left at this very instant has put the next one off, and left the timer as it was.
        let is_free = self.pacing.free_at() <= now;
        let is_due = is_free && self.pacing.poll_timeout() <= now && self.timer.poll_timeout() > now;
        let span =
            self.pacing.stack_span(self.flow.payload()).filter(|&span| is_due && now + span > horizon)?;
        let may_leave = self.window.size > self.board.in_flight()
            && self.flow.sendable_in_full(self.board.una(), self.board.next()) > 0;
        if !(may_leave && self.is_plain() && span > Duration::ZERO) {
            return None;
        }
        self.enter(now);
        self.pacing.disarm();
        self.outgoing.note_new();
        let packet = self.send_new(1);
        if self.may_send() {
            self.pacing.holds_back(now);
        }
        self.finish_new();
        Some(packet)
    }

    /// Whether a segment that leaves is a new one by itself, whatever left before.
    fn is_plain(&self) -> bool {
        self.recovery.state() == State::Open
            && self.board.lost() == 0
            && self.outgoing.is_idle()
            && !self.bursts.are_on()
            && self.congestion.pacing_rate().is_none()
    }
}

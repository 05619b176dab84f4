//! RACK (RFC 8985): a segment is lost when one sent later was delivered and a reordering window
//! has passed since.

use super::progress::Progress;
use super::recovery::State;
use super::sender::Sender;
use super::timers::SenderTimer;

/// Recoveries after which a widened reordering window shrinks again (RFC 8985 section 6.2 step 4).
const PERSISTENCE: u32 = 16;
/// Greatest multiple of a quarter of the minimum round-trip time (Linux).
const MOST_STEPS: u64 = 0xff;
/// Added to timers so that they do not fire before they are due (Linux `TCP_TIMEOUT_MIN`), jiffies.
pub(super) const TIMER_SLACK: u64 = 2;

/// What RACK remembers of deliveries.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rack {
    /// When the most recently sent delivered segment was sent, microseconds.
    sent_us: u64,
    /// One past its number: breaks ties.
    end: u64,
    /// Round-trip time of the last delivery, microseconds.
    rtt_us: u64,
    /// Whether deliveries changed anything since losses were last looked for.
    advanced: bool,
    /// Reordering window in quarters of the minimum round-trip time.
    steps: u64,
    persistence: u32,
    /// A duplicate was reported that may come from reordering.
    pub(super) duplicate_seen: bool,
    /// Segments delivered when the window was last widened.
    widened_at: u64,
}

impl Rack {
    pub(super) const fn new() -> Self {
        Self {
            sent_us: 0,
            end: 0,
            rtt_us: 0,
            advanced: false,
            steps: 1,
            persistence: 0,
            duplicate_seen: false,
            widened_at: 0,
        }
    }

    /// A segment sent at `sent_us` was delivered. (TCP-21)
    ///
    /// Faster than the minimum round-trip time it was an earlier copy that arrived.
    pub(super) fn deliver(&mut self, now_us: u64, sent_us: u64, end: u64, resent: bool, least_us: u64) {
        let rtt_us = now_us - sent_us;
        if resent && rtt_us < least_us {
            return;
        }
        self.advanced = true;
        self.rtt_us = rtt_us;
        if sent_after((sent_us, end), (self.sent_us, self.end)) {
            (self.sent_us, self.end) = (sent_us, end);
        }
    }

    /// How long ago the round trip of a segment sent at `sent_us` ended; negative if it goes on.
    pub(super) const fn overdue_us(&self, now_us: u64, sent_us: u64) -> i64 {
        (now_us - sent_us) as i64 - self.rtt_us as i64
    }

    /// Looks for losses again even without a new delivery.
    pub(super) fn reconsider(&mut self) {
        self.advanced = true;
    }

    /// A recovery was undone by D-SACKs: keep the wide window longer.
    pub(super) fn recovery_undone(&mut self) {
        self.persistence = (self.persistence + 1).min(PERSISTENCE);
    }

    /// A recovery ended that was not needless.
    pub(super) fn recovery_without_undo(&mut self) {
        self.persistence = self.persistence.saturating_sub(1);
    }

    /// Widens the reordering window once a round trip when duplicates were reported. (TCP-23)
    pub(super) fn adapt(&mut self, prior_delivered: u64, delivered: u64) {
        if prior_delivered < self.widened_at {
            self.duplicate_seen = false;
        }
        if self.duplicate_seen {
            self.steps = (self.steps + 1).min(MOST_STEPS);
            self.duplicate_seen = false;
            self.widened_at = delivered;
            self.persistence = PERSISTENCE;
        } else if self.persistence == 0 {
            self.steps = 1;
        }
    }
}

/// Whether one transmission (time, end) came after another.
fn sent_after(one: (u64, u64), other: (u64, u64)) -> bool {
    one > other
}

impl Sender {
    /// How much later than its successor a segment may arrive, microseconds. (TCP-22)
    ///
    /// Nothing while no reordering was ever seen and loss is plausible; else a quarter of the
    /// minimum round-trip time, more after duplicates, at most the smoothed one.
    fn reordering_window_us(&self) -> u64 {
        let loss_is_plausible = self.state >= State::Recovery || self.board.sacked() >= self.reordering;
        if !self.reordering_seen && loss_is_plausible {
            return 0;
        }
        ((self.rtt.minimum_us() / 4) * self.rack.steps).min(self.rtt.smoothed_us())
    }

    /// Declares lost what was overtaken long enough ago; returns for how many microseconds the
    /// rest may still arrive, zero when there is no rest.
    pub(super) fn mark_overtaken(&mut self) -> u64 {
        let window_us = self.reordering_window_us() as i64;
        let now_us = self.clock.micros();
        let mut wait_us = 0;
        let mut candidate = self.board.oldest_sent();
        while let Some(number) = candidate {
            let sent_us = self.board.get(number).sent_us;
            if !sent_after((self.rack.sent_us, self.rack.end), (sent_us, number + 1)) {
                break;
            }
            candidate = self.board.sent_after(number);
            let remaining_us = window_us - self.rack.overdue_us(now_us, sent_us);
            if remaining_us <= 0 {
                self.declare_lost(number);
            } else {
                wait_us = wait_us.max(remaining_us as u64);
            }
        }
        wait_us
    }

    /// Declares a segment lost and counts it.
    pub(super) fn declare_lost(&mut self, number: u64) {
        if self.board.mark_lost(number) {
            self.statistics.segments_lost += 1;
        }
    }

    /// Looks for losses after deliveries, and arms the reordering timer for what may yet arrive.
    /// (TCP-24)
    pub(super) fn find_losses(&mut self, progress: &mut Progress) {
        if self.board.outstanding() == 0 || !self.rack.advanced {
            return;
        }
        self.rack.advanced = false;
        let retransmitted = self.board.retransmitted();
        let wait_us = self.mark_overtaken();
        if wait_us > 0 {
            let jiffies = self.clock.jiffies_in_micros(wait_us) + TIMER_SLACK;
            self.arm(SenderTimer::Reordering, jiffies.min(self.rtt.timeout()));
            progress.set_timer = false;
        }
        progress.retransmission_lost |= self.board.retransmitted() < retransmitted;
    }

    /// The reordering window of some segment has passed. (TCP-25)
    pub(super) fn handle_reordering_timer(&mut self) {
        let in_flight = self.board.in_flight();
        let lost_before = self.statistics.segments_lost;
        self.mark_overtaken();
        if self.board.in_flight() != in_flight {
            if self.state != State::Recovery {
                self.statistics.reordering_timer_recoveries += 1;
                self.enter_recovery(false);
                let lost = self.statistics.segments_lost - lost_before;
                self.reduce(1, lost, &Progress::default());
            }
            self.retransmit_only();
        }
        if !self.timer.is_timeout() {
            self.arm_retransmission_timer();
        }
    }

    /// A segment below the highest SACKed one arrived without being retransmitted: the path
    /// reorders. (TCP-26)
    pub(super) fn note_reordering(&mut self, lowest: u64) {
        let highest = self.board.sacked_end();
        if lowest < highest {
            let degree = (highest - lowest).min(super::sender::MOST_REORDERING) as u32;
            self.reordering = self.reordering.max(degree);
            self.reordering_seen = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// TCP-23
    #[test]
    fn duplicates_widen_the_window_once_a_round_trip() {
        let mut rack = Rack::new();
        rack.duplicate_seen = true;
        rack.adapt(0, 100);
        assert_eq!(rack.steps, 2);
        rack.duplicate_seen = true;
        rack.adapt(99, 150);
        assert_eq!(rack.steps, 2, "sent before the last step");
        rack.duplicate_seen = true;
        rack.adapt(100, 200);
        assert_eq!(rack.steps, 3);
    }

    /// TCP-23
    #[test]
    fn the_window_shrinks_after_sixteen_recoveries() {
        let mut rack = Rack { steps: 3, persistence: PERSISTENCE, ..Rack::new() };
        for _ in 0..PERSISTENCE - 1 {
            rack.recovery_without_undo();
            rack.adapt(1, 1);
        }
        assert_eq!(rack.steps, 3);
        rack.recovery_without_undo();
        rack.adapt(1, 1);
        assert_eq!(rack.steps, 1);
    }

    /// TCP-21
    #[test]
    fn a_retransmission_answered_too_fast_is_no_evidence() {
        let mut rack = Rack::new();
        rack.deliver(1_000, 990, 5, true, 20);
        assert!(!rack.advanced);
        rack.deliver(1_000, 980, 5, true, 20);
        assert!(rack.advanced && rack.end == 5);
    }
}

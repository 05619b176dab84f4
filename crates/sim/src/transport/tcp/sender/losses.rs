//! The segments that the sender declares lost, and the times when it looks for them.

use super::super::progress::Progress;
use super::super::rack::{Rack, Verdict};
use super::super::recovery_state::State;
use super::super::timers::SenderTimer;
use super::Sender;

impl Sender {
    /// Looks for losses after deliveries, and arms the reordering timer for segments that may yet
    /// arrive. (TCP-24)
    pub(super) fn find_losses(&mut self, progress: &mut Progress) {
        if self.board.outstanding() == 0 || !self.rack.take_news() {
            return;
        }
        let retransmitted = self.board.retransmitted();
        let wait_us = self.mark_overtaken();
        if wait_us > 0 {
            let wait = Rack::wait(wait_us, &self.rtt, &self.clock);
            self.timer.arm(SenderTimer::Reordering, wait, &self.clock);
            progress.set_timer = false;
        }
        progress.retransmission_lost |= self.board.retransmitted() < retransmitted;
    }

    /// Declares segments lost that were overtaken long enough ago. Returns for how many
    /// microseconds other overtaken segments may still arrive, zero without any.
    pub(super) fn mark_overtaken(&mut self) -> u64 {
        let is_repairing = self.recovery.state() >= State::Recovery;
        let window_us = self.rack.window_us(is_repairing, self.board.sacked(), &self.rtt);
        let now_us = self.clock.micros();
        let mut wait_us = 0;
        let mut candidate = self.board.oldest_sent();
        while let Some(number) = candidate {
            let verdict = self.rack.judge(window_us, now_us, self.board.get(number).sent(number));
            if verdict == Verdict::Underway {
                break;
            }
            candidate = self.board.sent_after(number);
            match verdict {
                Verdict::Late(left_us) => wait_us = wait_us.max(left_us),
                _ => self.declare_lost(number),
            }
        }
        wait_us
    }

    /// Declares lost the first segment, and every segment whose round trip is over. (TCP-33)
    pub(super) fn mark_timed_out(&mut self) {
        let now_us = self.clock.micros();
        let head = self.board.una();
        self.declare_lost(head);
        for number in head + 1..self.board.next() {
            let segment = self.board.get(number);
            if !segment.is_sacked() && self.rack.overdue_us(now_us, segment.sent_us) >= 0 {
                self.declare_lost(number);
            }
        }
    }

    /// Declares a segment lost and counts it.
    fn declare_lost(&mut self, number: u64) {
        if self.board.mark_lost(number) {
            self.statistics.segments_lost += 1;
        }
    }

    /// Notes that a segment below the highest SACKed one arrived without being retransmitted: the
    /// path reorders. (TCP-26)
    pub(super) fn note_reordering(&mut self, lowest: u64) {
        self.rack.reordering_mut().note(lowest, self.board.sacked_end());
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::config::Config;
    use super::super::super::scoreboard::Sent;
    use super::*;
    use lossylink_core::time::{Duration, Instant};

    /// TCP-33
    #[test]
    fn segments_within_their_round_trip_are_not_presumed_lost() {
        let mut sender = Sender::new(&Config::default(), None, Duration::ZERO);
        sender.clock.refresh(Instant::ZERO + Duration::from_us(1_000));
        for sent_us in [0, 100, 900, 901] {
            sender.board.send_new(sent_us, 0);
        }
        // The last delivery took 100 us.
        sender.rack.deliver(1_000, Sent::new(0, 900), false, 100);
        sender.mark_timed_out();
        let lost: Vec<bool> = (0..4).map(|number| sender.board.get(number).is_lost()).collect();
        assert_eq!(lost, [true, true, true, false]);
    }
}

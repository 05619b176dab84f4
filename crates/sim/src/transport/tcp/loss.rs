//! Retransmission timeout: everything outstanding is presumed lost, with F-RTO (RFC 5682) on guard
//! against timeouts that only a delay caused.

use super::congestion::Algorithm;
use super::progress::Progress;
use super::recovery::State;
use super::sender::{Repair, Sender};
use super::timers::SenderTimer;

impl Sender {
    /// The timeout expired. (TCP-32)
    pub(super) fn handle_retransmission_timer(&mut self) {
        if self.board.outstanding() == 0 {
            return;
        }
        self.statistics.timeouts += 1;
        self.probe.forget();
        self.enter_loss();
        self.expiries += 1;
        let head = self.board.una();
        self.outbox = Some(self.retransmit(head, 1));
        self.rtt.back_off(&self.clock);
        self.arm(SenderTimer::RetransmissionTimeout, self.rtt.timeout());
    }

    fn enter_loss(&mut self) {
        let new_recovery = self.state < State::Recovery;
        self.mark_timed_out();
        let reduced_already = self.state > State::Disorder && self.recovery_end > self.board.una();
        if !reduced_already || (self.state == State::Loss && self.expiries == 0) {
            self.undo.prior_threshold = self.current_threshold();
            self.window.begin_reduction();
            self.window.threshold = self.congestion.threshold(&self.window);
            self.congestion.on_timeout(&mut self.window);
            self.begin_undo_episode();
        }
        self.window.restart(self.board.in_flight() + 1, self.clock.jiffies());
        if self.state <= State::Disorder {
            self.rack.reordering_mut().limit(self.board.sacked());
        }
        self.set_state(State::Loss);
        self.recovery_end = self.board.next();
        self.announce_reduction = self.config.uses_ecn();
        self.suspect_spurious = new_recovery || self.expiries > 0;
    }

    /// An acknowledgement after a timeout (Linux `tcp_process_loss`). (TCP-34)
    pub(super) fn react_in_loss(&mut self, progress: &Progress) -> Repair {
        let recovered = self.board.una() >= self.recovery_end;
        if progress.advanced && self.undo_loss(false, progress.echo) {
            return Repair::Nothing;
        }
        if self.suspect_spurious {
            if progress.original_delivered && self.undo_loss(true, progress.echo) {
                return Repair::Nothing;
            }
            if self.board.next() > self.recovery_end {
                if progress.data_sacked || progress.is_duplicate {
                    self.suspect_spurious = false;
                }
            } else if progress.advanced && !recovered {
                self.recovery_end = self.board.next();
                if self.has_new_data() {
                    return Repair::NewThenLost;
                }
                self.suspect_spurious = false;
            }
        }
        if recovered {
            self.finish_recovery(progress.echo);
            return Repair::Nothing;
        }
        Repair::Lost
    }
}

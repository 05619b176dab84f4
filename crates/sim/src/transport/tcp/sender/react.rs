//! The sender's reaction to an acknowledgement that is not plain progress: the recovery state, and
//! the segments that leave.

use super::super::congestion::Algorithm;
use super::super::outgoing::Plan;
use super::super::progress::Progress;
use super::super::recovery::Evidence;
use super::super::recovery_state::State;
use super::Sender;

impl Sender {
    /// Reacts to an acknowledgement that is more than plain progress (Linux
    /// `tcp_fastretrans_alert`). Returns the segments to send. (TCP-41)
    pub(super) fn react(&mut self, progress: &mut Progress) -> Plan {
        if progress.congestion_echoed {
            self.undo.forget_threshold();
        }
        if self.recovery.state() == State::Open {
            self.undo.forget_first_retransmission();
        } else if self.board.una() >= self.recovery.end() {
            self.leave_finished_state(progress.echo);
        }
        match self.recovery.state() {
            State::Recovery => {
                if progress.advanced && self.undo_partial(progress.echo) {
                    return Plan::New;
                }
                if self.undo_if_all_needless() {
                    self.try_to_open(progress.congestion_echoed);
                }
                self.find_losses(progress);
                if self.recovery.state() == State::Recovery {
                    return Plan::LostThenNew;
                }
                if self.board.lost() == 0 {
                    return Plan::New;
                }
            }
            State::Loss => {
                let plan = self.react_in_loss(progress);
                self.find_losses(progress);
                if !(self.recovery.state() == State::Open || progress.retransmission_lost) {
                    return plan;
                }
                if !self.react_in_order(progress) {
                    return plan;
                }
            }
            State::Open | State::Disorder | State::Reduced => {
                if self.recovery.state() <= State::Disorder {
                    self.undo_if_all_needless();
                }
                self.find_losses(progress);
                if !self.react_in_order(progress) {
                    return Plan::New;
                }
            }
        }
        self.statistics.fast_recoveries += 1;
        self.enter_recovery(progress.congestion_echoed);
        Plan::LostThenNew
    }

    /// Whether recovery must begin; if not, returns to Open as far as possible.
    fn react_in_order(&mut self, progress: &Progress) -> bool {
        if self.board.lost() > 0 {
            return true;
        }
        self.try_to_open(progress.congestion_echoed);
        false
    }

    /// Reacts to an acknowledgement after a timeout. Returns the segments to send. (TCP-34)
    fn react_in_loss(&mut self, progress: &Progress) -> Plan {
        if progress.advanced && self.undo.is_justified(progress.echo) {
            self.undo_loss();
            return Plan::New;
        }
        let (una, next, has_new_data) = (self.board.una(), self.board.next(), self.has_new_data());
        match self.recovery.weigh(progress, una, next, has_new_data) {
            Evidence::Spurious => self.undo_loss(),
            Evidence::Pending => return Plan::NewThenLost,
            Evidence::Loss if una >= self.recovery.end() => self.finish_recovery(progress.echo),
            Evidence::Loss => return Plan::LostThenNew,
        }
        Plan::New
    }

    /// Leaves a state once all segments are acknowledged that were outstanding when it was entered.
    /// (TCP-42)
    fn leave_finished_state(&mut self, echo: u32) {
        match self.recovery.state() {
            // The receiver must also see the reduction, so one segment more has to be acknowledged.
            State::Reduced if self.board.una() != self.recovery.end() => {
                self.end_reduction();
                self.set_state(State::Open);
            }
            State::Recovery => {
                self.finish_recovery(echo);
                self.end_reduction();
            }
            _ => {}
        }
    }

    /// Ends a recovery: takes its reduction back if it was needless, and returns to Open.
    fn finish_recovery(&mut self, echo: u32) {
        if self.undo.is_justified(echo) {
            self.undo_reduction(false);
        } else {
            self.rack.recovery_without_undo();
        }
        self.set_state(State::Open);
    }

    /// Starts fast recovery. (TCP-43)
    pub(super) fn enter_recovery(&mut self, congestion_echoed: bool) {
        self.undo.forget_threshold();
        self.begin_undo_episode();
        if !self.recovery.state().reduces_window() {
            if !congestion_echoed {
                self.undo.keep_threshold(self.current_threshold());
            }
            self.begin_reduction();
        }
        self.set_state(State::Recovery);
    }

    /// Starts a reduction on an ECN echo. (TCP-44)
    fn enter_reduced(&mut self) {
        self.undo.forget_threshold();
        if self.recovery.state() < State::Reduced {
            self.undo.forbid();
            self.begin_reduction();
            self.set_state(State::Reduced);
            self.statistics.ecn_reductions += 1;
        }
    }

    /// Returns to Open or Disorder unless a reduction goes on.
    fn try_to_open(&mut self, congestion_echoed: bool) {
        if !self.board.any_retransmission() {
            self.undo.forget_first_retransmission();
        }
        if congestion_echoed {
            self.enter_reduced();
        }
        if self.recovery.state() != State::Reduced {
            self.keep_open();
        }
    }

    /// Sets the state Open, or Disorder while a segment is SACKed, lost or retransmitted. (TCP-41)
    pub(super) fn keep_open(&mut self) {
        let has_no_loss = self.board.left() == 0 && !self.board.any_retransmission();
        let state = if has_no_loss { State::Open } else { State::Disorder };
        if self.recovery.state() != state {
            self.set_state(state);
            self.recovery.last_until(self.board.next());
        }
    }

    /// Changes the recovery state, of which the algorithm is told first.
    pub(super) fn set_state(&mut self, next: State) {
        let view = self.view();
        self.congestion.on_state(self.recovery.state(), next, &mut self.window, &view);
        self.recovery.set_state(next);
    }
}

//! Loss recovery as a state machine: what an acknowledgement that is not plain progress changes.
//!
//! ```text
//!             SACK or old retransmission        SACK gone
//!      Open <----------------------------- Disorder
//!        |  ----------------------------->     |
//!        |  ECN echo: Reduced -> Open          |
//!        +-------------+-----------------------+
//!          segment lost|            timeout
//!                      v                 \
//!                  Recovery --timeout--> Loss --retransmission lost--> Recovery
//!                      |                   |
//!                      +--> Open <---------+   window repaired or undone
//! ```

use super::congestion::Algorithm;
use super::progress::Progress;
use super::sender::{Repair, Sender};

/// Where loss recovery stands (Linux `tcp_ca_state`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// Nothing is missing.
    Open,
    /// Something was SACKed or retransmitted, nothing is known to be lost.
    Disorder,
    /// The window is being reduced after an ECN echo.
    Reduced,
    /// Fast recovery.
    Recovery,
    /// A retransmission timeout expired.
    Loss,
}

impl State {
    /// Whether proportional rate reduction sets the window.
    pub(super) const fn reduces_window(self) -> bool {
        matches!(self, Self::Reduced | Self::Recovery)
    }

    /// The transition table: whether `next` may follow this state. (TCP-40)
    pub(super) const fn may_become(self, next: Self) -> bool {
        match (self, next) {
            (Self::Open | Self::Disorder, _) => true,
            (Self::Reduced | Self::Recovery, _) => true,
            (Self::Loss, Self::Reduced) => false,
            (Self::Loss, _) => true,
        }
    }
}

impl Sender {
    /// Changes the recovery state, the algorithm being told first.
    pub(super) fn set_state(&mut self, next: State) {
        debug_assert!(self.state.may_become(next), "{:?} to {next:?}", self.state);
        let view = self.view();
        self.congestion.on_state(self.state, next, &mut self.window, &view);
        self.state = next;
    }

    /// Reacts to an acknowledgement that is more than plain progress (Linux
    /// `tcp_fastretrans_alert`); returns what to send first. (TCP-41)
    pub(super) fn react(&mut self, progress: &mut Progress) -> Repair {
        if progress.congestion_echoed {
            self.undo.prior_threshold = 0;
        }
        if self.state == State::Open {
            self.undo.first_retransmission = 0;
        } else if self.board.una() >= self.recovery_end {
            self.leave_finished_state(progress.echo);
        }
        match self.state {
            State::Recovery => {
                if progress.advanced && self.undo_partial(progress.echo) {
                    return Repair::Nothing;
                }
                if self.undo_if_all_needless() {
                    self.try_to_open(progress.congestion_echoed);
                }
                self.find_losses(progress);
                if self.state == State::Recovery {
                    return Repair::Lost;
                }
                if self.board.lost() == 0 {
                    return Repair::Nothing;
                }
            }
            State::Loss => {
                let repair = self.react_in_loss(progress);
                self.find_losses(progress);
                if !(self.state == State::Open || progress.retransmission_lost) {
                    return repair;
                }
                if !self.react_in_order(progress) {
                    return repair;
                }
            }
            State::Open | State::Disorder | State::Reduced => {
                if self.state <= State::Disorder {
                    self.undo_if_all_needless();
                }
                self.find_losses(progress);
                if !self.react_in_order(progress) {
                    return Repair::Nothing;
                }
            }
        }
        self.statistics.fast_recoveries += 1;
        self.enter_recovery(progress.congestion_echoed);
        Repair::Lost
    }

    /// Whether recovery must begin; if not, opens as far as possible.
    fn react_in_order(&mut self, progress: &mut Progress) -> bool {
        if self.board.lost() > 0 {
            return true;
        }
        self.try_to_open(progress.congestion_echoed);
        false
    }

    /// Everything that was outstanding when the state was entered is acknowledged. (TCP-42)
    fn leave_finished_state(&mut self, echo: u32) {
        match self.state {
            // The receiver must also see the reduction: one segment more is to be acknowledged.
            State::Reduced if self.board.una() != self.recovery_end => {
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

    /// Recovery is over: takes it back if it was needless, and opens.
    pub(super) fn finish_recovery(&mut self, echo: u32) {
        if self.may_undo(echo) {
            self.undo_reduction(false);
        } else {
            self.rack.recovery_without_undo();
        }
        self.set_state(State::Open);
    }

    /// Starts fast recovery. (TCP-43)
    pub(super) fn enter_recovery(&mut self, congestion_echoed: bool) {
        self.undo.prior_threshold = 0;
        self.begin_undo_episode();
        if !self.state.reduces_window() {
            if !congestion_echoed {
                self.undo.prior_threshold = self.current_threshold();
            }
            self.begin_reduction();
        }
        self.set_state(State::Recovery);
    }

    /// Starts a reduction on an ECN echo. (TCP-44)
    fn enter_reduced(&mut self) {
        self.undo.prior_threshold = 0;
        if self.state < State::Reduced {
            self.undo.marker = None;
            self.begin_reduction();
            self.set_state(State::Reduced);
            self.statistics.ecn_reductions += 1;
        }
    }

    /// Returns to Open or Disorder unless a reduction goes on.
    fn try_to_open(&mut self, congestion_echoed: bool) {
        if !self.board.any_retransmission() {
            self.undo.first_retransmission = 0;
        }
        if congestion_echoed {
            self.enter_reduced();
        }
        if self.state != State::Reduced {
            self.keep_open();
        }
    }

    /// Open, or Disorder while anything is SACKed, lost or retransmitted.
    pub(super) fn keep_open(&mut self) {
        let calm = self.board.left() == 0 && !self.board.any_retransmission();
        let state = if calm { State::Open } else { State::Disorder };
        if self.state != state {
            self.set_state(state);
            self.recovery_end = self.board.next();
        }
    }

    /// The threshold to return to if the reduction that begins now is undone.
    pub(super) fn current_threshold(&self) -> u32 {
        if self.state.reduces_window() {
            self.window.threshold
        } else {
            self.window.threshold.max(self.window.size / 2 + self.window.size / 4)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// TCP-40
    #[test]
    fn a_timeout_leads_out_of_every_state_and_never_to_an_ecn_reduction() {
        let all = [State::Open, State::Disorder, State::Reduced, State::Recovery, State::Loss];
        assert!(all.iter().all(|state| state.may_become(State::Loss)));
        assert!(!State::Loss.may_become(State::Reduced));
    }
}

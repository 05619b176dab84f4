//! Reductions of the sender's window, step by step or at once, and their undoing.

use super::super::congestion::Algorithm;
use super::super::progress::Progress;
use super::super::recovery_state::State;
use super::super::window::NO_THRESHOLD;
use super::Sender;

impl Sender {
    /// Begins a reduction of the window. (TCP-31)
    pub(super) fn begin_reduction(&mut self) {
        self.recovery.last_until(self.board.next());
        self.probe.forget();
        self.window.begin_reduction();
        self.reduction.begin(self.config.uses_ecn());
        self.window.threshold = self.congestion.threshold(&self.window);
    }

    /// Sets the window for `delivered` segments that this acknowledgement reported. (TCP-30)
    pub(super) fn reduce(&mut self, delivered: u32, newly_lost: u64, progress: &Progress) {
        if delivered == 0 || self.congestion.models_path() {
            return;
        }
        let in_flight = self.board.in_flight();
        let is_safe = progress.advanced && newly_lost == 0;
        let allowed = self.reduction.allowance(&self.window, in_flight, delivered, is_safe);
        self.window.size = in_flight + allowed;
    }

    /// Ends a reduction at its threshold, unless it was undone. (TCP-31)
    pub(super) fn end_reduction(&mut self) {
        if self.congestion.models_path() {
            return;
        }
        let stands = self.recovery.state() == State::Reduced || self.undo.is_possible();
        if self.window.threshold < NO_THRESHOLD && stands {
            self.window.set(self.window.threshold, self.clock.jiffies());
        }
    }

    /// Reduces the window at once on a timeout, unless its flight was reduced already. (TCP-32)
    pub(super) fn reduce_on_timeout(&mut self) {
        if self.recovery.reduces_on_timeout(self.board.una()) {
            self.undo.keep_threshold(self.current_threshold());
            self.window.begin_reduction();
            self.window.threshold = self.congestion.threshold(&self.window);
            self.congestion.on_timeout(&mut self.window);
            self.begin_undo_episode();
        }
        self.window.restart(self.board.in_flight() + 1, self.clock.jiffies());
    }

    /// Returns the threshold to return to if the reduction that begins now is undone.
    pub(super) fn current_threshold(&self) -> u32 {
        if self.recovery.state().reduces_window() {
            self.window.threshold
        } else {
            self.window.threshold.max(self.window.size / 2 + self.window.size / 4)
        }
    }

    /// Counts retransmissions for an undo from now on.
    pub(super) fn begin_undo_episode(&mut self) {
        let retransmitted = self.board.retransmitted() + u32::from(self.probe.is_retransmission());
        self.undo.begin(self.board.una(), retransmitted);
    }

    /// Takes a reduction back; with `found` also the loss marks. (TCP-38)
    pub(super) fn undo_reduction(&mut self, found: bool) {
        if found {
            self.board.unmark_all_lost();
        }
        if let Some(threshold) = self.undo.take_back() {
            let view = self.view();
            self.window.size = self.congestion.undone_window(&self.window, &view);
            if threshold > self.window.threshold {
                self.window.threshold = threshold;
                self.reduction.withdraw();
            }
        }
        self.window.set(self.window.size, self.clock.jiffies());
        self.rack.reconsider();
        self.statistics.undo_events += 1;
    }

    /// Takes a reduction back when every retransmission was reported as a duplicate. Returns
    /// whether it did. (TCP-36)
    pub(super) fn undo_if_all_needless(&mut self) -> bool {
        if !self.undo.all_needless() {
            return false;
        }
        self.rack.recovery_undone();
        self.undo_reduction(false);
        true
    }

    /// Takes a reduction back on progress during recovery that shows that an original was only
    /// late. Returns whether to wait until the retransmissions are accounted for. (TCP-37)
    pub(super) fn undo_partial(&mut self, echo: u32) -> bool {
        if !self.undo.is_original_late(echo) {
            return false;
        }
        self.note_reordering(self.board.una());
        if self.board.retransmitted() > 0 {
            return true;
        }
        if !self.board.any_retransmission() {
            self.undo.forget_first_retransmission();
        }
        self.undo_reduction(true);
        self.keep_open();
        false
    }

    /// Takes back the reduction of a spurious timeout, as F-RTO, D-SACK or timestamps show it.
    /// (TCP-39)
    pub(super) fn undo_loss(&mut self) {
        self.undo_reduction(true);
        self.recovery.note_progress();
        self.set_state(State::Open);
    }
}

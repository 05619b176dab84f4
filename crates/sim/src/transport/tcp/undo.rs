//! Undoing reductions whose retransmissions proved needless: by D-SACK (RFC 3708 as Linux counts),
//! by timestamps (Eifel, RFC 3522), after a timeout by F-RTO (RFC 5682).

use super::congestion::Algorithm;
use super::recovery::State;
use super::sender::Sender;

/// What must be known to take a reduction back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Undo {
    /// First segment outstanding when the episode began; `None` when nothing can be undone.
    pub(super) marker: Option<u64>,
    /// Retransmissions of the episode not yet reported as duplicates; `None` before the first.
    retransmissions: Option<u32>,
    /// The threshold before the reduction; zero when an ECN echo forbids returning to it.
    pub(super) prior_threshold: u32,
    /// Timestamp of the first retransmission, milliseconds; zero for none.
    pub(super) first_retransmission: u32,
}

impl Undo {
    pub(super) const fn new() -> Self {
        Self { marker: None, retransmissions: None, prior_threshold: 0, first_retransmission: 0 }
    }

    /// A segment was retransmitted.
    pub(super) fn count_retransmission(&mut self, millis: u32) {
        if self.first_retransmission == 0 {
            self.first_retransmission = millis;
        }
        self.retransmissions = Some(self.retransmissions.unwrap_or(0) + 1);
    }

    /// `count` duplicates of segments up to `end` arrived. (TCP-36)
    pub(super) fn count_duplicates(&mut self, end: u64, count: u32) {
        if self.marker.is_some_and(|marker| end > marker) {
            self.retransmissions = self.retransmissions.map(|left| left.saturating_sub(count));
        }
    }

    /// Whether every retransmission of the episode arrived twice.
    fn all_needless(&self) -> bool {
        self.marker.is_some() && self.retransmissions == Some(0)
    }
}

impl Sender {
    /// From now on retransmissions are counted for an undo.
    pub(super) fn begin_undo_episode(&mut self) {
        let retransmitted = self.board.retransmitted() + u32::from(self.probe.is_retransmission());
        self.undo.marker = Some(self.board.una());
        self.undo.retransmissions = (retransmitted > 0).then_some(retransmitted);
    }

    /// Whether the reduction may be taken back: all retransmissions were needless, or this
    /// acknowledgement echoes an original sent before the first of them. (TCP-36, TCP-37)
    pub(super) fn may_undo(&self, echo: u32) -> bool {
        self.undo.marker.is_some() && (self.undo.all_needless() || self.original_was_delayed(echo))
    }

    fn original_was_delayed(&self, echo: u32) -> bool {
        echo != 0 && self.undo.first_retransmission != 0 && echo < self.undo.first_retransmission
    }

    /// Takes a reduction back; with `found` also the loss marks. (TCP-38)
    pub(super) fn undo_reduction(&mut self, found: bool) {
        if found {
            self.board.unmark_all_lost();
        }
        if self.undo.prior_threshold != 0 {
            let view = self.view();
            self.window.size = self.congestion.undone_window(&self.window, &view);
            if self.undo.prior_threshold > self.window.threshold {
                self.window.threshold = self.undo.prior_threshold;
                self.announce_reduction = false;
            }
        }
        self.window.set(self.window.size, self.clock.jiffies());
        self.undo.marker = None;
        self.rack.reconsider();
        self.statistics.undo_events += 1;
    }

    /// Takes a reduction back when every retransmission was reported as a duplicate.
    pub(super) fn undo_if_all_needless(&mut self) -> bool {
        if !self.undo.all_needless() {
            return false;
        }
        self.rack.recovery_undone();
        self.undo_reduction(false);
        true
    }

    /// Progress during recovery that shows an original was only late. Returns whether to wait
    /// until the retransmissions are accounted for.
    pub(super) fn undo_partial(&mut self, echo: u32) -> bool {
        if self.undo.marker.is_none() || !self.original_was_delayed(echo) {
            return false;
        }
        self.note_reordering(self.board.una());
        if self.board.retransmitted() > 0 {
            return true;
        }
        if !self.board.any_retransmission() {
            self.undo.first_retransmission = 0;
        }
        self.undo_reduction(true);
        self.keep_open();
        false
    }

    /// A timeout was spurious: forced by F-RTO, or shown by D-SACK or timestamps. (TCP-39)
    pub(super) fn undo_loss(&mut self, forced: bool, echo: u32) -> bool {
        if !(forced || self.may_undo(echo)) {
            return false;
        }
        self.undo_reduction(true);
        self.expiries = 0;
        self.set_state(State::Open);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// TCP-36
    #[test]
    fn needless_only_when_every_retransmission_is_reported() {
        let mut undo = Undo { marker: Some(5), ..Undo::new() };
        assert!(!undo.all_needless(), "nothing was retransmitted");
        undo.count_retransmission(1);
        undo.count_retransmission(1);
        undo.count_duplicates(6, 1);
        assert!(!undo.all_needless());
        undo.count_duplicates(5, 1);
        assert!(!undo.all_needless(), "a duplicate from before the episode");
        undo.count_duplicates(7, 1);
        assert!(undo.all_needless());
    }
}

//! Loss recovery as a state machine, which acknowledgements drive that are more than plain progress.

use super::progress::Progress;
use super::recovery_state::State;

/// The evidence of an acknowledgement after a timeout. (TCP-34)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Evidence {
    /// The original segments arrive: the timeout was spurious.
    Spurious,
    /// No evidence yet: new segments may bring it.
    Pending,
    /// Real loss: lost segments must be sent again.
    Loss,
}

/// The recovery of one sender.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recovery {
    state: State,
    /// The segment before which everything must be acknowledged to end the state.
    end: u64,
    /// Number of timeouts since the last progress.
    expiries: u32,
    /// Whether F-RTO has not ruled out yet that the last timeout was spurious.
    suspects_delay: bool,
}

impl Recovery {
    pub(super) const fn new() -> Self {
        Self { state: State::Open, end: 0, expiries: 0, suspects_delay: false }
    }

    pub(super) const fn state(&self) -> State {
        self.state
    }

    /// Returns the segment before which everything must be acknowledged to end the state.
    pub(super) const fn end(&self) -> u64 {
        self.end
    }

    /// Changes the state.
    pub(super) fn set_state(&mut self, next: State) {
        debug_assert!(self.state.may_become(next), "{:?} to {next:?}", self.state);
        self.state = next;
    }

    /// Lets the state that begins last until all segments before `end` are acknowledged. (TCP-42)
    pub(super) const fn last_until(&mut self, end: u64) {
        self.end = end;
    }

    /// Notes that the cumulative acknowledgement advanced.
    pub(super) const fn note_progress(&mut self) {
        self.expiries = 0;
    }

    /// Whether a timeout now, with `una` acknowledged, reduces the window: not if this flight was
    /// reduced already. (TCP-32)
    pub(super) fn reduces_on_timeout(&self, una: u64) -> bool {
        let is_reduced = self.state > State::Disorder && self.end > una;
        !is_reduced || (self.state == State::Loss && self.expiries == 0)
    }

    /// Notes that a timeout expired in state `from`, with `next` to be sent next. The timeout may be
    /// spurious if no segment was being repaired, or if a timeout before brought no progress. (TCP-34)
    pub(super) fn note_timeout(&mut self, from: State, next: u64) {
        self.end = next;
        self.suspects_delay = from < State::Recovery || self.expiries > 0;
        self.expiries += 1;
    }

    /// Weighs an acknowledgement after a timeout (Linux `tcp_process_loss`), `una` being acknowledged
    /// and `next` to be sent next. (TCP-34)
    pub(super) fn weigh(&mut self, progress: &Progress, una: u64, next: u64, has_new_data: bool) -> Evidence {
        if !self.suspects_delay {
            return Evidence::Loss;
        }
        if progress.original_delivered {
            return Evidence::Spurious;
        }
        if next > self.end {
            if progress.data_sacked || progress.is_duplicate {
                self.suspects_delay = false;
            }
        } else if progress.advanced && una < self.end {
            self.end = next;
            if has_new_data {
                return Evidence::Pending;
            }
            self.suspects_delay = false;
        }
        Evidence::Loss
    }

    /// Gives up F-RTO if new segments were to bring evidence, but none left before `next`. Returns
    /// whether lost segments are to be sent again, because the loss was real as far as anyone can tell.
    /// (TCP-34)
    pub(super) const fn gives_up_evidence(&mut self, next: u64) -> bool {
        let none_left = next <= self.end;
        if none_left {
            self.suspects_delay = false;
        }
        none_left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a recovery whose timeout expired with ten segments outstanding.
    fn timed_out() -> Recovery {
        let mut recovery = Recovery::new();
        recovery.note_timeout(State::Open, 10);
        recovery.set_state(State::Loss);
        recovery
    }

    /// TCP-32
    #[test]
    fn a_flight_is_reduced_once() {
        let mut recovery = Recovery::new();
        assert!(recovery.reduces_on_timeout(0));
        recovery.set_state(State::Recovery);
        recovery.last_until(10);
        assert!(!recovery.reduces_on_timeout(9) && recovery.reduces_on_timeout(10));
        let mut recovery = timed_out();
        assert!(!recovery.reduces_on_timeout(0), "expired twice without progress");
        recovery.note_progress();
        assert!(recovery.reduces_on_timeout(0));
    }

    /// TCP-34
    #[test]
    fn progress_asks_for_new_segments_and_their_answers_tell() {
        let advanced = Progress { advanced: true, ..Progress::default() };
        let original = Progress { original_delivered: true, ..advanced };
        let duplicate = Progress { is_duplicate: true, ..Progress::default() };
        assert_eq!(timed_out().weigh(&original, 5, 10, true), Evidence::Spurious);
        let mut recovery = timed_out();
        assert_eq!(recovery.weigh(&advanced, 1, 10, true), Evidence::Pending);
        assert!(!recovery.gives_up_evidence(12), "two new segments left");
        assert_eq!(recovery.weigh(&duplicate, 1, 12, true), Evidence::Loss);
        assert_eq!(recovery.weigh(&original, 5, 12, true), Evidence::Loss, "ruled out");
        let mut stuck = timed_out();
        assert_eq!(stuck.weigh(&advanced, 1, 10, true), Evidence::Pending);
        assert!(stuck.gives_up_evidence(10), "the window was full");
        assert_eq!(stuck.weigh(&original, 5, 10, true), Evidence::Loss);
    }
}

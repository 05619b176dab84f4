//! Undoing reductions whose retransmissions proved needless: by D-SACK (RFC 3708 as Linux counts),
//! by timestamps (Eifel, RFC 3522), after a timeout by F-RTO (RFC 5682).

/// The record from which a reduction can be taken back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Undo {
    /// The first segment outstanding when the episode began; `None` when there is no reduction to
    /// take back.
    marker: Option<u64>,
    /// Number of retransmissions of the episode not yet reported as duplicates; `None` before the
    /// first.
    retransmissions: Option<u32>,
    /// The threshold before the reduction; zero when an ECN echo forbids returning to it.
    prior_threshold: u32,
    /// The timestamp of the first retransmission, milliseconds; zero for none.
    first_retransmission: u32,
}

impl Undo {
    pub(super) const fn new() -> Self {
        Self { marker: None, retransmissions: None, prior_threshold: 0, first_retransmission: 0 }
    }

    /// Counts retransmissions for an undo from now on, with `una` acknowledged and `retransmitted`
    /// segments in flight again.
    pub(super) fn begin(&mut self, una: u64, retransmitted: u32) {
        self.marker = Some(una);
        self.retransmissions = (retransmitted > 0).then_some(retransmitted);
    }

    /// Lets the reduction stand: it cannot be taken back.
    pub(super) const fn forbid(&mut self) {
        self.marker = None;
    }

    /// Keeps the threshold to return to, before the reduction that begins.
    pub(super) const fn keep_threshold(&mut self, threshold: u32) {
        self.prior_threshold = threshold;
    }

    /// Forgets the old threshold, because the path is congested. (TCP-38)
    pub(super) const fn forget_threshold(&mut self) {
        self.prior_threshold = 0;
    }

    /// Counts a retransmission.
    pub(super) fn count_retransmission(&mut self, millis: u32) {
        if self.first_retransmission == 0 {
            self.first_retransmission = millis;
        }
        self.retransmissions = Some(self.retransmissions.unwrap_or(0) + 1);
    }

    /// Forgets the time of the first retransmission, when none is in flight any more.
    pub(super) const fn forget_first_retransmission(&mut self) {
        self.first_retransmission = 0;
    }

    /// Counts `count` duplicates of segments up to `end`, which arrived. (TCP-36)
    pub(super) fn count_duplicates(&mut self, end: u64, count: u32) {
        if self.marker.is_some_and(|marker| end > marker) {
            self.retransmissions = self.retransmissions.map(|left| left.saturating_sub(count));
        }
    }

    /// Whether there is a reduction to take back.
    pub(super) const fn is_possible(&self) -> bool {
        self.marker.is_some()
    }

    /// Whether every retransmission of the episode arrived twice. (TCP-36)
    pub(super) fn all_needless(&self) -> bool {
        self.is_possible() && self.retransmissions == Some(0)
    }

    /// Whether the timestamp `echo` is of an original sent before the first retransmission. (TCP-37)
    pub(super) const fn is_original_late(&self, echo: u32) -> bool {
        self.is_possible() && echo != 0 && self.first_retransmission != 0 && echo < self.first_retransmission
    }

    /// Whether the reduction may be taken back on an acknowledgement that echoes `echo`.
    pub(super) fn is_justified(&self, echo: u32) -> bool {
        self.all_needless() || self.is_original_late(echo)
    }

    /// Takes the reduction back. Returns the threshold to return to, unless that is forbidden.
    /// (TCP-38)
    pub(super) fn take_back(&mut self) -> Option<u32> {
        self.marker = None;
        (self.prior_threshold != 0).then_some(self.prior_threshold)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// TCP-36
    #[test]
    fn needless_only_when_every_retransmission_is_reported() {
        let mut undo = Undo::new();
        undo.begin(5, 0);
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

    /// TCP-36: segments that were in flight again when the episode began count, too.
    #[test]
    fn retransmissions_of_an_earlier_episode_are_reported_as_well() {
        let mut undo = Undo::new();
        undo.begin(5, 1);
        undo.count_retransmission(1);
        undo.count_duplicates(7, 1);
        assert!(!undo.is_justified(0));
        undo.count_duplicates(8, 1);
        assert!(undo.is_justified(0));
        undo.take_back();
        assert!(!undo.is_justified(0), "once");
    }

    /// TCP-37
    #[test]
    fn an_echo_from_before_the_first_retransmission_shows_a_late_original() {
        let mut undo = Undo::new();
        undo.count_retransmission(20);
        assert!(!undo.is_original_late(19), "nothing to take back");
        undo.begin(5, 1);
        undo.count_retransmission(30);
        assert!(undo.is_original_late(19) && undo.is_justified(19));
        assert!(!undo.is_original_late(20), "the retransmission itself");
        assert!(!undo.is_original_late(0), "no timestamps");
        undo.forget_first_retransmission();
        assert!(!undo.is_original_late(19));
    }

    /// TCP-38
    #[test]
    fn an_echo_of_congestion_forbids_the_old_threshold() {
        let mut undo = Undo::new();
        undo.keep_threshold(40);
        undo.begin(5, 0);
        assert_eq!(undo.take_back(), Some(40));
        undo.forget_threshold();
        assert_eq!(undo.take_back(), None);
    }
}

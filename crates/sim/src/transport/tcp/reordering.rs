//! The degree by which the path reorders, as late segments that were never retransmitted show.
//! (TCP-26)

/// Number of segments that may arrive out of order before loss is plausible (Linux `tcp_reordering`).
const DEFAULT_DEGREE: u32 = 3;
/// The greatest number of such segments that a path can teach (Linux `tcp_max_reordering`).
const MOST_DEGREE: u64 = 300;

/// The known reordering of a path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reordering {
    /// Number of segments by which a segment may be late, at least three.
    degree: u32,
    is_seen: bool,
}

impl Reordering {
    pub(super) const fn new() -> Self {
        Self { degree: DEFAULT_DEGREE, is_seen: false }
    }

    /// Notes that segment `lowest` arrived, never retransmitted, after the segment before
    /// `highest_end`.
    pub(super) fn note(&mut self, lowest: u64, highest_end: u64) {
        if lowest < highest_end {
            let degree = (highest_end - lowest).min(MOST_DEGREE) as u32;
            self.degree = self.degree.max(degree);
            self.is_seen = true;
        }
    }

    /// Lowers the degree after a timeout though `sacked` segments had overtaken the lost ones: if that
    /// number is enough to see a loss, the degree is overestimated.
    pub(super) fn limit(&mut self, sacked: u32) {
        if sacked >= DEFAULT_DEGREE {
            self.degree = self.degree.min(DEFAULT_DEGREE);
        }
    }

    /// Whether the path was ever seen to reorder.
    pub(super) const fn is_seen(&self) -> bool {
        self.is_seen
    }

    /// Whether the path reorders by more than loss detection always tolerates. (TCP-11)
    pub(super) const fn is_large(&self) -> bool {
        self.degree > DEFAULT_DEGREE
    }

    /// Whether `sacked` segments beyond a missing segment make its loss plausible. (TCP-22)
    pub(super) const fn is_exceeded(&self, sacked: u32) -> bool {
        sacked >= self.degree
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// TCP-26
    #[test]
    fn the_degree_rises_to_what_was_seen_and_at_most_to_300() {
        let mut reordering = Reordering::new();
        assert!(reordering.is_exceeded(3) && !reordering.is_exceeded(2) && !reordering.is_seen());
        reordering.note(7, 7);
        assert!(!reordering.is_seen(), "nothing was overtaken");
        reordering.note(4, 7);
        assert!(reordering.is_seen() && !reordering.is_large());
        reordering.note(3, 7);
        assert!(reordering.is_large() && !reordering.is_exceeded(3) && reordering.is_exceeded(4));
        reordering.note(0, 1_000);
        assert!(!reordering.is_exceeded(299) && reordering.is_exceeded(300));
    }

    /// TCP-26
    #[test]
    fn a_timeout_past_three_sacked_segments_takes_the_degree_back() {
        let mut reordering = Reordering::new();
        reordering.note(0, 10);
        reordering.limit(2);
        assert!(reordering.is_large());
        reordering.limit(3);
        assert!(!reordering.is_large() && reordering.is_seen());
    }
}

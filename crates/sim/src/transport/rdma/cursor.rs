//! The place of the requester in the sequence of packets that it sends, and the way back to an
//! earlier place.

/// The next packet to leave: its position, and the operation that the packet belongs to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor {
    /// The next position to send.
    pub position: u64,
    /// The place of the operation of `position` among the operations in progress.
    pub operation: usize,
    /// One past the highest position that was ever sent.
    pub sent_end: u64,
    /// The gap to which the requester last went back. The requester acts once on each gap.
    repaired: Option<u64>,
}

impl Cursor {
    pub(super) const fn new(start: u64) -> Self {
        Self { position: start, operation: 0, sent_end: start, repaired: None }
    }

    /// Notes that packets up to `end` left, and whether they ended an operation. Returns how many
    /// packets were sent again.
    #[inline]
    pub(super) fn advance(&mut self, end: u64, is_operation_done: bool) -> u64 {
        let again = self.sent_end.min(end).saturating_sub(self.position);
        self.position = end;
        self.operation += usize::from(is_operation_done);
        self.sent_end = self.sent_end.max(end);
        again
    }

    /// Notes that packets up to `end` left for the first time, and that no operation is in
    /// progress.
    #[cfg(feature = "fast")]
    pub(super) fn pass(&mut self, end: u64) {
        (self.position, self.operation, self.sent_end) = (end, 0, end);
    }

    /// Notes that the first operation in progress is done.
    #[inline]
    pub(super) const fn forget_operation(&mut self) {
        self.operation = self.operation.saturating_sub(1);
    }

    /// Skips every packet before `acknowledged`, a position of the first operation: those packets
    /// need not be sent again.
    #[inline]
    pub(super) fn skip_to(&mut self, acknowledged: u64) {
        if self.position < acknowledged {
            (self.position, self.operation) = (acknowledged, 0);
        }
    }

    /// Goes back to `acknowledged`, the first position of the window (RDMA-11).
    pub(super) const fn go_back(&mut self, acknowledged: u64) {
        (self.position, self.operation) = (acknowledged, 0);
    }

    /// Whether the gap at `position` is new: the gap that was reported last is not (RDMA-11,
    /// RDMA-16).
    pub(super) fn is_new_gap(&mut self, position: u64) -> bool {
        self.repaired.replace(position) != Some(position)
    }

    /// Forgets the last gap after a timeout, so that the next report of that gap counts as new.
    pub(super) const fn forget_gap(&mut self) {
        self.repaired = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // RDMA-11
    #[test]
    fn going_back_repeats_what_was_sent_and_no_more() {
        let mut cursor = Cursor::new(10);
        (11..=15).for_each(|end| assert_eq!(cursor.advance(end, end == 12), 0));
        cursor.forget_operation();
        cursor.go_back(13);
        assert_eq!((cursor.position, cursor.operation), (13, 0));
        let again: Vec<_> = (14..=17).map(|end| cursor.advance(end, false)).collect();
        assert_eq!(again, [1, 1, 0, 0]);
    }

    // RDMA-11
    #[test]
    fn an_acknowledgement_beyond_the_cursor_spares_the_rest() {
        let mut cursor = Cursor::new(10);
        cursor.advance(20, false);
        cursor.go_back(12);
        cursor.skip_to(18);
        assert_eq!(cursor.position, 18);
        cursor.skip_to(15);
        assert_eq!(cursor.position, 18);
    }

    // RDMA-11
    #[test]
    fn a_gap_is_acted_upon_once() {
        let mut cursor = Cursor::new(10);
        assert!(cursor.is_new_gap(12));
        assert!(!cursor.is_new_gap(12));
        assert!(cursor.is_new_gap(13));
        cursor.forget_gap();
        assert!(cursor.is_new_gap(13));
    }
}

//! Selective repeat at the requester: the packets that are known to have arrived, and the packets
//! to send again.

use super::bitmap::Bitmap;

/// The requester's view of the window (RDMA-20, RDMA-22).
///
/// ```text
///  acknowledged      repair_next      repair_end         cursor
///      |  sent again already  |  holes go again  |  no news  |  not sent yet
/// ```
#[derive(Clone, Debug)]
pub(super) struct Selective {
    /// Requests that the responder holds and responses that arrived.
    pub(super) held: Bitmap,
    /// Position below which every hole was sent again.
    repair_next: u64,
    /// Position from which on packets may still be under way.
    repair_end: u64,
}

impl Selective {
    pub(super) fn new(window: u32, start: u64) -> Self {
        Self { held: Bitmap::new(window, start), repair_next: start, repair_end: start }
    }

    /// Notes that a packet at `end` or beyond arrived: packets that are missing before `end` count
    /// as lost.
    pub(super) fn note_evidence(&mut self, end: u64) {
        self.repair_end = self.repair_end.max(end);
    }

    /// Lets all missing packets in `start..end` be sent again, whether or not they were sent again
    /// before.
    pub(super) fn restart(&mut self, start: u64, end: u64) {
        (self.repair_next, self.repair_end) = (start, end);
    }

    /// Moves the window up to `acknowledged`.
    #[inline]
    pub(super) fn advance(&mut self, acknowledged: u64) {
        self.held.advance(acknowledged);
        self.repair_next = self.repair_next.max(acknowledged);
    }

    /// Returns the first missing position to be sent again.
    #[inline]
    pub(super) fn next_hole(&self) -> Option<u64> {
        if self.repair_next >= self.repair_end {
            return None;
        }
        let hole = self.held.next_clear(self.repair_next, self.repair_end);
        (hole < self.repair_end).then_some(hole)
    }

    /// Returns where the hole at `from` ends, at `end` at the latest.
    pub(super) fn hole_end(&self, from: u64, end: u64) -> u64 {
        self.held.next_set(from, end.min(self.repair_end))
    }

    /// Notes that every hole before `position` was sent again or needs no repair.
    pub(super) fn note_repaired(&mut self, position: u64) {
        self.repair_next = position;
    }

    /// Forgets all positions and starts at `start`.
    pub(super) fn clear(&mut self, start: u64) {
        self.held.clear(start);
        self.restart(start, start);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holes(selective: &mut Selective) -> Vec<u64> {
        std::iter::from_fn(|| {
            let hole = selective.next_hole()?;
            selective.note_repaired(hole + 1);
            Some(hole)
        })
        .collect()
    }

    // RDMA-22
    #[test]
    fn a_hole_is_repaired_once_until_a_timeout() {
        let mut selective = Selective::new(64, 100);
        selective.held.set(103);
        selective.note_evidence(103);
        assert_eq!(holes(&mut selective), [100, 101, 102]);
        selective.held.set(105);
        selective.note_evidence(105);
        assert_eq!(holes(&mut selective), [104]);
        selective.restart(100, 107);
        assert_eq!(holes(&mut selective), [100, 101, 102, 104, 106]);
    }

    // RDMA-22
    #[test]
    fn what_was_acknowledged_is_no_hole() {
        let mut selective = Selective::new(64, 100);
        selective.note_evidence(104);
        selective.advance(103);
        assert_eq!(holes(&mut selective), [103]);
    }

    // RDMA-23
    #[test]
    fn a_hole_ends_at_what_arrived() {
        let mut selective = Selective::new(64, 100);
        selective.held.set(105);
        selective.note_evidence(110);
        assert_eq!(selective.hole_end(101, 120), 105);
        assert_eq!(selective.hole_end(101, 103), 103);
        assert_eq!(selective.hole_end(106, 120), 110);
    }
}

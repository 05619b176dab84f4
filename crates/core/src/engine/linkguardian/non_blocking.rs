//! The non-blocking side of the receiver: every frame leaves at once (LG-27, LG-28).

use super::{Delivery, HoleSet, Position};

/// The positions that were lost and have not come back.
#[derive(Clone, Debug)]
pub struct NonBlocking {
    missing: HoleSet,
    deduplicate: bool,
    recovered: u64,
}

impl NonBlocking {
    /// Returns a side without missing positions. `deduplicate` drops all copies of a retransmission
    /// but the first. Without it every copy is forwarded, as in the published program (LG-28).
    pub fn new(deduplicate: bool) -> Self {
        Self { missing: HoleSet::new(), deduplicate, recovered: 0 }
    }

    /// Returns how many lost positions have not come back.
    pub const fn missing(&self) -> u32 {
        self.missing.len()
    }

    /// Returns how many lost positions came back.
    pub const fn recovered(&self) -> u64 {
        self.recovered
    }

    /// Forgets all missing positions (LG-30).
    pub fn synchronise(&mut self) {
        self.missing.clear();
    }

    /// Takes note of `count` lost positions from `first` on.
    pub(super) fn note_lost(&mut self, first: Position, count: u32) {
        for position in (0..count).map(|step| first.plus(step)) {
            self.note_passed(position);
            self.missing.insert(position);
        }
    }

    /// Takes note that `position` was received for the first time, or lost. A position half the
    /// sequence space behind that is still missing will not come any more. Its bit is cleared, so
    /// that it cannot meet the next use of that position.
    #[inline]
    pub(super) fn note_passed(&mut self, position: Position) {
        if !self.missing.is_empty() {
            self.missing.remove(position.plus(Position::COUNT as u32 / 2));
        }
    }

    /// Decides about a retransmission: the first copy of a lost position is forwarded (LG-28).
    pub fn offer_retransmission(&mut self, position: Position) -> Delivery {
        let first_copy = self.missing.remove(position);
        self.recovered += u64::from(first_copy);
        if first_copy || !self.deduplicate { Delivery::Forward } else { Delivery::Duplicate }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // LG-28
    #[test]
    fn one_copy_of_a_lost_frame_is_forwarded() {
        let lost = Position::new(5, false);
        for (deduplicate, second) in [(true, Delivery::Duplicate), (false, Delivery::Forward)] {
            let mut side = NonBlocking::new(deduplicate);
            side.note_lost(lost, 1);
            assert_eq!(side.offer_retransmission(lost), Delivery::Forward);
            assert_eq!(side.offer_retransmission(lost), second);
            assert_eq!(side.recovered(), 1, "a further copy recovers nothing");
        }
    }

    // LG-10, LG-28
    #[test]
    fn a_frame_that_never_came_back_is_forgotten_within_a_wrap() {
        let mut side = NonBlocking::new(true);
        let lost = Position::new(5, false);
        side.note_lost(lost, 1);
        side.note_lost(Position::new(5, true), 1);
        assert_eq!(side.missing(), 1);
        side.note_passed(lost);
        assert_eq!(side.missing(), 0);
        assert_eq!(side.offer_retransmission(lost), Delivery::Duplicate);
    }
}

//! A set of positions, one bit each: the lost packets that a side knows of (LG-10).

use super::Position;
use alloc::boxed::Box;
use alloc::vec;

const WORD_BITS: usize = 64;

/// A set of positions, indexed by number *and* era. A bit that is left behind thereby cannot be
/// taken for the packet with the same number one wrap later (LG-10).
#[derive(Clone, Debug)]
pub struct HoleSet {
    words: Box<[u64]>,
    count: u32,
}

impl HoleSet {
    /// Returns the empty set.
    pub fn new() -> Self {
        Self { words: vec![0; Position::COUNT / WORD_BITS].into_boxed_slice(), count: 0 }
    }

    /// Returns how many positions are in the set.
    pub const fn len(&self) -> u32 {
        self.count
    }

    /// Whether the set is empty.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether `position` is in the set.
    pub fn contains(&self, position: Position) -> bool {
        let (word, bit) = locate(position);
        self.words[word] & bit != 0
    }

    /// Adds `position`. Returns false if the position was in the set already.
    pub fn insert(&mut self, position: Position) -> bool {
        let (word, bit) = locate(position);
        let added = self.words[word] & bit == 0;
        self.words[word] |= bit;
        self.count += u32::from(added);
        added
    }

    /// Removes `position`, in one step of test and clear. Returns false if the position was not in
    /// the set.
    pub fn remove(&mut self, position: Position) -> bool {
        let (word, bit) = locate(position);
        let removed = self.words[word] & bit != 0;
        self.words[word] &= !bit;
        self.count -= u32::from(removed);
        removed
    }

    /// Empties the set.
    pub fn clear(&mut self) {
        self.words.fill(0);
        self.count = 0;
    }
}

impl Default for HoleSet {
    fn default() -> Self {
        Self::new()
    }
}

fn locate(position: Position) -> (usize, u64) {
    (position.index() / WORD_BITS, 1 << (position.index() % WORD_BITS))
}

#[cfg(test)]
mod tests {
    use super::*;

    // LG-10
    #[test]
    fn eras_are_told_apart() {
        let mut holes = HoleSet::new();
        assert!(holes.insert(Position::new(7, false)));
        assert!(!holes.insert(Position::new(7, false)));
        assert!(!holes.contains(Position::new(7, true)));
        assert!(holes.remove(Position::new(7, false)));
        assert!(!holes.remove(Position::new(7, false)));
        assert!(holes.is_empty());
    }

    #[test]
    fn the_ends_of_the_space_fit() {
        let mut holes = HoleSet::new();
        holes.insert(Position::ZERO);
        holes.insert(Position::ZERO.previous());
        assert_eq!(holes.len(), 2);
        holes.clear();
        assert!(!holes.contains(Position::ZERO));
    }
}

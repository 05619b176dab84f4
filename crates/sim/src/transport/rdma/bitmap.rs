//! A window of bits that slides along the positions of a connection.

/// Number of bits in a word.
const WORD: u64 = 64;

/// One bit for each of the `window` positions from a base on; positions outside count as clear.
#[derive(Clone, Debug)]
pub(super) struct Bitmap {
    words: Vec<u64>,
    base: u64,
    set: u64,
}

impl Bitmap {
    /// Returns a clear window of `window` positions from `base` on.
    ///
    /// # Panics
    /// Unless `window` is a power of two of at least 64.
    pub(super) fn new(window: u32, base: u64) -> Self {
        assert!(
            window.is_power_of_two() && u64::from(window) >= WORD,
            "a window of {window} packets is not a power of two of at least 64"
        );
        Self { words: vec![0; (u64::from(window) / WORD) as usize], base, set: 0 }
    }

    /// Returns how many positions the window spans.
    #[inline]
    fn window(&self) -> u64 {
        self.words.len() as u64 * WORD
    }

    #[inline]
    fn slot(&self, position: u64) -> (usize, u64) {
        let index = position & (self.window() - 1);
        ((index / WORD) as usize, 1 << (index % WORD))
    }

    #[inline]
    fn holds(&self, position: u64) -> bool {
        position.wrapping_sub(self.base) < self.window()
    }

    /// Whether the bit at `position` is set.
    #[inline]
    pub(super) fn is_set(&self, position: u64) -> bool {
        let (word, bit) = self.slot(position);
        self.set > 0 && self.holds(position) && self.words[word] & bit != 0
    }

    /// Sets the bit at `position`; true if it lies in the window and was clear.
    pub(super) fn set(&mut self, position: u64) -> bool {
        let (word, bit) = self.slot(position);
        let is_new = self.holds(position) && self.words[word] & bit == 0;
        if is_new {
            self.words[word] |= bit;
            self.set += 1;
        }
        is_new
    }

    /// Moves the base up to `base`, and forgets the positions below.
    #[inline]
    pub(super) fn advance(&mut self, base: u64) {
        let mut position = self.base;
        while self.set > 0 && position < base.min(self.base + self.window()) {
            let (word, bit) = self.slot(position);
            self.set -= u64::from(self.words[word] & bit != 0);
            self.words[word] &= !bit;
            position += 1;
        }
        self.base = self.base.max(base);
    }

    /// Returns the first position in `from..end` whose bit is clear, else `end`.
    pub(super) fn next_clear(&self, from: u64, end: u64) -> u64 {
        (from..end).find(|&position| !self.is_set(position)).unwrap_or(end)
    }

    /// Returns the first position in `from..end` whose bit is set, else `end`.
    pub(super) fn next_set(&self, from: u64, end: u64) -> u64 {
        if self.set == 0 {
            return end;
        }
        (from..end).find(|&position| self.is_set(position)).unwrap_or(end)
    }

    /// Clears the window and moves it to `base`.
    pub(super) fn clear(&mut self, base: u64) {
        self.words.fill(0);
        (self.base, self.set) = (base, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    #[should_panic(expected = "power of two")]
    fn windows_are_powers_of_two() {
        Bitmap::new(100, 0);
    }

    proptest! {
        #[test]
        fn behaves_as_a_sliding_set(steps in prop::collection::vec((any::<bool>(), 0u64..160), 1..200)) {
            let mut bitmap = Bitmap::new(128, 1000);
            let (mut model, mut base) = (BTreeSet::new(), 1000);
            for (is_set, offset) in steps {
                if is_set {
                    let position = base + offset;
                    let is_new = offset < 128 && model.insert(position);
                    prop_assert_eq!(bitmap.set(position), is_new);
                } else {
                    base += offset / 8;
                    bitmap.advance(base);
                    model = model.split_off(&base);
                }
                let end = base + 128;
                let clear = (base..end).find(|position| !model.contains(position)).unwrap_or(end);
                prop_assert_eq!(bitmap.next_clear(base, end), clear);
                prop_assert_eq!(bitmap.next_set(base, end), model.first().copied().unwrap_or(end));
            }
        }
    }
}

//! A first-in first-out queue on one block of memory.

/// The number of entries that a ring has room for after its first entry; a power of two.
const INITIAL_CAPACITY: usize = 16;

/// A FIFO of copyable values in a power-of-two buffer. The ring takes no memory before its first entry, and doubles when full. So
/// a run that has seen its largest backlog allocates nothing any more.
#[derive(Clone, Debug)]
pub struct Ring<T> {
    slots: Vec<T>,
    /// Index of the oldest entry, counted from the start of the run.
    head: usize,
    /// Index after the newest entry.
    tail: usize,
}

impl<T: Copy + Default> Ring<T> {
    /// Builds an empty ring.
    pub const fn new() -> Self {
        Self { slots: Vec::new(), head: 0, tail: 0 }
    }

    /// Returns the mask that takes the index of an entry to its slot.
    #[inline]
    const fn mask(&self) -> usize {
        self.slots.len().wrapping_sub(1)
    }

    /// Returns how many entries wait.
    #[inline]
    pub const fn len(&self) -> usize {
        self.tail.wrapping_sub(self.head)
    }

    /// Whether no entry waits.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.head == self.tail
    }

    /// Returns the oldest entry.
    #[inline]
    pub fn front(&self) -> Option<&T> {
        self.get(0)
    }

    /// Returns the oldest entry, to be changed.
    #[inline]
    pub fn front_mut(&mut self) -> Option<&mut T> {
        let slot = self.head & self.mask();
        (!self.is_empty()).then(|| &mut self.slots[slot])
    }

    /// Returns the newest entry.
    #[inline]
    pub fn back(&self) -> Option<&T> {
        self.len().checked_sub(1).and_then(|last| self.get(last))
    }

    /// Returns the entry `offset` places before the newest, to be changed.
    #[inline]
    pub fn from_back_mut(&mut self, offset: usize) -> Option<&mut T> {
        let slot = self.tail.wrapping_sub(1 + offset) & self.mask();
        (offset < self.len()).then(|| &mut self.slots[slot])
    }

    /// Returns the entry `offset` places behind the oldest.
    #[inline]
    pub fn get(&self, offset: usize) -> Option<&T> {
        (offset < self.len()).then(|| &self.slots[self.head.wrapping_add(offset) & self.mask()])
    }

    /// Appends an entry.
    #[inline]
    pub fn push(&mut self, value: T) {
        if self.len() == self.slots.len() {
            self.grow();
        }
        let mask = self.mask();
        self.slots[self.tail & mask] = value;
        self.tail = self.tail.wrapping_add(1);
    }

    /// Removes the oldest entry.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        if self.is_empty() {
            return None;
        }
        let value = self.slots[self.head & self.mask()];
        self.head = self.head.wrapping_add(1);
        Some(value)
    }

    /// Removes the oldest entry. The ring is not empty.
    #[inline]
    pub fn skip_front(&mut self) {
        debug_assert!(!self.is_empty(), "nothing to remove");
        self.head = self.head.wrapping_add(1);
    }

    /// Removes the oldest entry, and appends another. The ring is not empty.
    #[inline]
    pub fn turn_front(&mut self, value: T) {
        debug_assert!(!self.is_empty(), "nothing to remove");
        let mask = self.mask();
        self.slots[self.tail & mask] = value;
        self.head = self.head.wrapping_add(1);
        self.tail = self.tail.wrapping_add(1);
    }

    /// Removes entries, oldest first, while `is_wanted` says so.
    #[inline]
    pub fn drain_while(&mut self, is_wanted: impl Fn(&T) -> bool, mut take: impl FnMut(T)) {
        let mask = self.mask();
        let mut head = self.head;
        while head != self.tail && is_wanted(&self.slots[head & mask]) {
            take(self.slots[head & mask]);
            head = head.wrapping_add(1);
        }
        self.head = head;
    }

    /// Returns the oldest entries that lie one behind another in memory: all entries, or those up to the end of the block.
    #[inline]
    pub fn oldest(&self) -> &[T] {
        let from = self.head & self.mask();
        let to = self.slots.len().min(from + self.len());
        &self.slots[from..to]
    }

    /// Removes the `count` oldest entries. The ring has at least `count`.
    #[inline]
    pub fn skip(&mut self, count: usize) {
        debug_assert!(count <= self.len(), "nothing to remove");
        self.head = self.head.wrapping_add(count);
    }

    /// Returns the block of memory with room for `more` entries, and the indices of the oldest entry and after the newest, modulo
    /// its length.
    #[inline]
    pub(super) fn parts(&mut self, more: usize) -> (&mut [T], &mut usize, &mut usize) {
        while self.slots.len() - self.len() < more {
            self.grow();
        }
        (&mut self.slots, &mut self.head, &mut self.tail)
    }

    /// Hands every entry to `take` in its place in memory, oldest first, and removes it.
    #[inline]
    pub fn take_all(&mut self, mut take: impl FnMut(&T)) {
        let mask = self.mask();
        while self.head != self.tail {
            take(&self.slots[self.head & mask]);
            self.head = self.head.wrapping_add(1);
        }
    }

    /// Removes every entry.
    pub fn clear(&mut self) {
        self.head = self.tail;
    }

    #[cold]
    fn grow(&mut self) {
        let capacity = INITIAL_CAPACITY.max(2 * self.slots.len());
        let mut slots = Vec::with_capacity(capacity);
        slots.extend((0..self.len()).filter_map(|offset| self.get(offset).copied()));
        let len = slots.len();
        slots.resize(capacity, T::default());
        (self.slots, self.head, self.tail) = (slots, 0, len);
    }
}

impl<T: Copy + Default> Default for Ring<T> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn many_at_once_are_as_one_by_one(counts in prop::collection::vec((0usize..40, 0usize..40), 0..60)) {
            let (mut ring, mut model, mut next) = (Ring::new(), VecDeque::new(), 0_u32..);
            for (pushed, popped) in counts {
                let (slots, _, tail) = ring.parts(pushed);
                for number in next.by_ref().take(pushed) {
                    slots[*tail & (slots.len() - 1)] = number;
                    *tail = tail.wrapping_add(1);
                    model.push_back(number);
                }
                let mut rest = popped.min(model.len());
                while rest > 0 {
                    let taken = ring.oldest().len().min(rest);
                    prop_assert!(taken > 0);
                    let front: Vec<u32> = model.drain(..taken).collect();
                    prop_assert_eq!(&ring.oldest()[..taken], &front[..]);
                    ring.skip(taken);
                    rest -= taken;
                }
                prop_assert_eq!((ring.len(), ring.front(), ring.back()), (model.len(), model.front(), model.back()));
            }
        }

        #[test]
        fn behaves_as_a_queue(pushes in prop::collection::vec(prop::option::of(0u32..1000), 0..400)) {
            let mut ring = Ring::new();
            let mut model = VecDeque::new();
            for step in pushes {
                match step {
                    Some(value) => {
                        ring.push(value);
                        model.push_back(value);
                    }
                    None => prop_assert_eq!(ring.pop(), model.pop_front()),
                }
                prop_assert_eq!(ring.len(), model.len());
                prop_assert_eq!(ring.front(), model.front());
                prop_assert_eq!(ring.back(), model.back());
                prop_assert_eq!(ring.from_back_mut(0), model.back_mut());
                let third = model.len().checked_sub(3).and_then(|index| model.get_mut(index));
                prop_assert_eq!(ring.from_back_mut(2), third);
            }
        }
    }
}

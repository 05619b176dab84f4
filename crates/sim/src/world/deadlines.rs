//! The earliest of many deadlines, most of which are not armed.

use lossylink_core::time::Instant;

/// The place of an owner that has no deadline.
const NOWHERE: u32 = u32::MAX;

/// One deadline for each of a number of owners, and the earliest of them.
///
/// That of an only owner is the earliest, and nothing else is kept. Of several, those that are armed stand in a list without order. It is searched only when the first of them moves later: of
/// many timers that is rarely the one, and of the cores of a host few have something to do.
#[derive(Clone, Debug)]
pub(super) struct Deadlines {
    armed: Vec<(Instant, u32)>,
    /// Where in the list each owner is.
    places: Vec<u32>,
    /// The earliest, and the first in order of those.
    first: (Instant, u32),
}

impl Deadlines {
    /// `count` deadlines, none of them armed.
    pub(super) fn new(count: usize) -> Self {
        Self { armed: Vec::new(), places: vec![NOWHERE; count.max(1)], first: (Instant::NEVER, 0) }
    }

    /// Makes room for `count` deadlines.
    pub(super) fn grow(&mut self, count: usize) {
        if self.is_alone() && count > 1 && !self.first.0.is_never() {
            self.arm(self.first);
        }
        self.places.resize(count.max(self.places.len()), NOWHERE);
    }

    /// The earliest deadline.
    #[inline]
    pub(super) const fn next(&self) -> Instant {
        self.first.0
    }

    /// Whose deadline is the earliest; the first in order when several are, and of none that is armed.
    #[inline]
    pub(super) const fn owner(&self) -> usize {
        self.first.1 as usize
    }

    /// The earliest deadline of all but `owner`, and whose it is.
    #[inline]
    pub(super) fn next_of_others(&self, owner: usize) -> (Instant, u32) {
        if self.first.1 as usize == owner {
            self.search(|entry| entry.1 as usize != owner)
        } else {
            self.first
        }
    }

    /// Whether there is one owner only.
    #[inline]
    const fn is_alone(&self) -> bool {
        self.places.len() == 1
    }

    /// Moves the deadline of `owner`; [`Instant::NEVER`] disarms it.
    #[inline]
    pub(super) fn set(&mut self, owner: usize, deadline: Instant) {
        let entry = (deadline, owner as u32);
        if self.is_alone() {
            self.first = entry;
        } else {
            self.set_among_others(entry);
        }
    }

    /// In line it costs a flow more instructions than the call.
    #[inline(never)]
    fn set_among_others(&mut self, entry: (Instant, u32)) {
        if !self.put(entry) {
            return;
        }
        if entry < self.first {
            self.first = entry;
        } else if self.first.1 == entry.1 && entry != self.first {
            self.first = self.search(|_| true);
        }
    }

    /// The same when the earliest of the others is known ([`Deadlines::next_of_others`]).
    #[inline]
    pub(super) fn set_beside(&mut self, owner: usize, deadline: Instant, others: (Instant, u32)) {
        let entry = (deadline, owner as u32);
        if self.is_alone() {
            self.first = entry;
            return;
        }
        self.put(entry);
        self.first = others.min(entry);
    }

    /// Puts the entry in the place of its owner; whether anything has changed.
    #[inline(always)]
    fn put(&mut self, entry: (Instant, u32)) -> bool {
        let place = self.places[entry.1 as usize] as usize;
        match (place < self.armed.len(), entry.0.is_never()) {
            (true, true) => self.disarm(place),
            (true, false) => self.armed[place].0 = entry.0,
            (false, false) => self.arm(entry),
            (false, true) => return false,
        }
        true
    }

    #[inline]
    fn arm(&mut self, entry: (Instant, u32)) {
        self.places[entry.1 as usize] = self.armed.len() as u32;
        self.armed.push(entry);
    }

    #[inline]
    fn disarm(&mut self, place: usize) {
        let (_, owner) = self.armed.swap_remove(place);
        self.places[owner as usize] = NOWHERE;
        if let Some(&(_, moved)) = self.armed.get(place) {
            self.places[moved as usize] = place as u32;
        }
    }

    #[inline]
    fn search(&self, is_asked: impl Fn(&(Instant, u32)) -> bool) -> (Instant, u32) {
        self.armed.iter().copied().filter(is_asked).min().unwrap_or((Instant::NEVER, 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_earliest_is_found(count in 1usize..9, moves in prop::collection::vec((0usize..9, 0u64..20), 1..100)) {
            let mut deadlines = Deadlines::new(1);
            let mut model = vec![u64::MAX; count];
            for (number, (owner, at)) in moves.into_iter().enumerate() {
                deadlines.grow(count.min(number + 1));
                let owner = owner % count.min(number + 1);
                // One of four is disarmed.
                let at = if at % 4 == 0 { u64::MAX } else { at };
                let others = deadlines.next_of_others(owner);
                let first_of_others = (0..count).filter(|&other| other != owner).min_by_key(|&other| model[other]);
                prop_assert_eq!(others.0, first_of_others.map_or(Instant::NEVER, |other| Instant::from_ps(model[other])));
                if number % 2 == 0 {
                    deadlines.set(owner, Instant::from_ps(at));
                } else {
                    deadlines.set_beside(owner, Instant::from_ps(at), others);
                }
                model[owner] = at;
                let expected = (0..count).min_by_key(|&owner| model[owner]).unwrap();
                prop_assert_eq!(deadlines.owner(), expected);
                prop_assert_eq!(deadlines.next(), Instant::from_ps(model[expected]));
            }
        }
    }
}

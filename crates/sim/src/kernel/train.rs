//! Frames that come one behind another at equal distances, held as one train.

use lossylink_core::time::{Duration, Instant};

/// The times at which `count` frames of one size come by, all equally far apart, and the step from one number to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Train {
    /// The time at which the first frame comes.
    pub first: Instant,
    /// The time from one frame to the next.
    pub spacing: Duration,
    /// The number of frames, at least one.
    pub count: u32,
    /// The difference between the number of each frame and the number of the frame before. The number is of a segment that the
    /// frame carries, or acknowledges.
    pub step: u32,
}

impl Train {
    /// Returns the train of a single frame.
    #[inline]
    pub const fn of_one(at: Instant) -> Self {
        Self { first: at, spacing: Duration::ZERO, count: 1, step: 1 }
    }

    /// Adds a train that comes no sooner than the last frame of this train, and whose first number is `distance` beyond the first
    /// number of this train. Returns false, and nothing has changed, if the train does not go on as this train does, or there is
    /// no distance.
    #[inline]
    pub fn append(&mut self, next: Self, distance: impl FnOnce() -> Option<u32>) -> bool {
        let (is_one, comes_one) = (self.count == 1, next.count == 1);
        let spacing = match (is_one, comes_one) {
            (true, true) => next.first - self.first,
            (true, false) => next.spacing,
            _ => self.spacing,
        };
        let is_in_time = next.first == self.first + spacing * u64::from(self.count)
            && (comes_one || next.spacing == spacing);
        if !is_in_time {
            return false;
        }
        let Some(distance) = distance() else { return false };
        let step = match (is_one, comes_one) {
            (true, true) => distance,
            (true, false) => next.step,
            _ => self.step,
        };
        let goes_on = u64::from(distance) == u64::from(step) * u64::from(self.count)
            && (comes_one || next.step == step);
        if goes_on {
            *self = Self { first: self.first, spacing, count: self.count + next.count, step };
        }
        goes_on
    }

    /// Returns when the frame with this index comes.
    #[inline]
    pub fn nth(self, index: u32) -> Instant {
        self.first + self.spacing * u64::from(index)
    }

    /// Returns when the last frame comes.
    #[inline]
    pub fn last(self) -> Instant {
        self.nth(self.count - 1)
    }

    /// Returns the frames of this train at another place, where the first frame comes at `first`.
    #[inline]
    pub const fn from(self, first: Instant) -> Self {
        Self { first, ..self }
    }

    /// Returns the frames of this train at this spacing.
    #[inline]
    pub const fn at_pace(self, spacing: Duration) -> Self {
        Self { spacing, ..self }
    }

    /// Returns the first `count` frames.
    #[inline]
    pub const fn up_to(self, count: u32) -> Self {
        Self { count, ..self }
    }

    /// Returns the frames behind the first `count`. There is at least one.
    #[inline]
    pub fn behind(self, count: u32) -> Self {
        Self { first: self.nth(count), count: self.count - count, ..self }
    }

    /// Returns how many of the frames have come by `until`.
    #[inline]
    pub fn come_by(self, until: Instant) -> u32 {
        debug_assert!(self.count > 0, "a train has a first");
        if self.last() <= until {
            return self.count;
        }
        // Mostly one frame or none has come, and a division costs more than the rest.
        if until < self.first + self.spacing {
            return u32::from(self.first <= until);
        }
        ((until - self.first).as_ps() / self.spacing.as_ps() + 1) as u32
    }

    /// Returns when each frame begins to leave over a line that is busy until `busy_until` and takes `serialisation` for one
    /// frame; `None` if these times are no train. Frames that come faster than the line sends them leave one behind the other,
    /// and so do slower frames if even the last has to wait. Slower frames leave as they came if the first finds the line free.
    #[inline]
    pub fn starts(self, busy_until: Instant, serialisation: Duration) -> Option<Self> {
        let first = self.first.max(busy_until);
        if self.count == 1 {
            Some(self.from(first))
        } else if self.spacing <= serialisation {
            Some(Self { first, spacing: serialisation, ..self })
        } else if first == self.first {
            Some(self)
        } else {
            let behind = Self { first, spacing: serialisation, ..self };
            (self.last() <= behind.last()).then_some(behind)
        }
    }
}

/// Trains that are put together from numbered frames or trains, one after another.
#[derive(Clone, Copy, Debug, Default)]
pub struct Assembly {
    /// The train that is not complete, and the number of its first frame.
    open: Option<(Train, u64)>,
}

impl Assembly {
    /// Adds a train whose first frame has this number, no sooner than the train before. Returns the train before if the new train
    /// does not go on as that train does.
    #[inline]
    pub fn add(&mut self, next: Train, number: u64) -> Option<(Train, u64)> {
        if let Some((train, first)) = &mut self.open
            && train.append(next, || Some((number - *first) as u32))
        {
            return None;
        }
        self.open.replace((next, number))
    }

    /// Returns the last train.
    #[inline]
    pub const fn finish(self) -> Option<(Train, u64)> {
        self.open
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(ps: u64) -> Instant {
        Instant::from_ps(ps)
    }

    #[test]
    fn two_make_a_train_and_others_join_that_go_on_like_them() {
        let mut train = Train::of_one(at(100));
        let mut join = |ps, distance| train.append(Train::of_one(at(ps)), || Some(distance));
        assert!(join(110, 2), "any two do");
        assert!(!join(121, 4) && !join(120, 3), "not at another distance");
        assert!(join(120, 4));
        assert_eq!(train, Train { first: at(100), spacing: Duration::from_ps(10), count: 3, step: 2 });
        assert_eq!((train.last(), train.behind(1).first, train.behind(1).count), (at(120), at(110), 2));
    }

    #[test]
    fn trains_that_go_on_alike_are_one() {
        let two = Train { spacing: Duration::from_ps(10), count: 2, step: 3, ..Train::of_one(at(100)) };
        let append =
            |mut train: Train, next, distance| train.append(next, || Some(distance)).then_some(train);
        let four = Train { count: 4, ..two };
        assert_eq!(append(two, two.from(at(120)), 6), Some(four));
        assert_eq!(append(Train::of_one(at(100)), Train { count: 3, ..two.from(at(110)) }, 3), Some(four));
        assert_eq!(append(two, two.from(at(120)), 5), None);
        assert_eq!(append(two, two.from(at(121)), 6), None);
        assert_eq!(append(two, Train { step: 2, ..two.from(at(120)) }, 6), None);
        assert_eq!(append(Train::of_one(at(100)), two.from(at(111)), 3), None);
    }

    #[test]
    fn an_assembly_gives_trains_as_they_are_complete() {
        let mut assembly = Assembly::default();
        let added = [(10, 1), (12, 2), (14, 3), (15, 4), (16, 5)];
        let given: Vec<_> = added
            .into_iter()
            .filter_map(|(ps, number)| assembly.add(Train::of_one(at(ps)), number))
            .collect();
        let three = Train { spacing: Duration::from_ps(2), count: 3, ..Train::of_one(at(10)) };
        assert_eq!(given, [(three, 1)]);
        assert_eq!(assembly.finish().map(|(train, first)| (train.count, first)), Some((2, 4)));
    }

    #[test]
    fn frames_come_by_an_instant() {
        let train = Train { spacing: Duration::from_ps(10), count: 3, ..Train::of_one(at(100)) };
        let come = [99, 100, 109, 110, 119, 120, 500].map(|ps| train.come_by(at(ps)));
        assert_eq!(come, [0, 1, 1, 2, 2, 3, 3]);
        let at_once = Train { count: 3, ..Train::of_one(at(100)) };
        assert_eq!([99, 100].map(|ps| at_once.come_by(at(ps))), [0, 3]);
    }

    #[test]
    fn a_line_spaces_what_comes_faster_and_keeps_what_comes_slower_if_it_is_free() {
        let (fast, slow) = (Duration::from_ps(3), Duration::from_ps(10));
        let train = |spacing| Train { spacing, count: 3, ..Train::of_one(at(100)) };
        let takes = Duration::from_ps(5);
        assert_eq!(train(fast).starts(at(0), takes), Some(train(takes)));
        assert_eq!(train(fast).starts(at(104), takes), Some(train(takes).from(at(104))));
        assert_eq!(train(slow).starts(at(100), takes), Some(train(slow)));
        assert_eq!(train(slow).starts(at(109), takes), None);
        assert_eq!(train(slow).starts(at(110), takes), Some(train(takes).from(at(110))));
    }
}

//! Counts of the frames that the hops behind a link corrupt.

/// Numbers of frames that the hops behind the link corrupted, by direction; `None` where they
/// corrupt none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LostBehind {
    /// Frames corrupted toward the receiving host.
    pub forward: Option<u64>,
    /// Frames corrupted toward the sending host.
    pub back: Option<u64>,
}

impl LostBehind {
    /// Returns the numbers of frames corrupted since the numbers were `begin`.
    #[must_use]
    pub fn since(self, begin: Self) -> Self {
        self.with(begin, |end, begin| end - begin)
    }

    /// Returns the sums of these numbers and those of another run of the path.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        self.with(other, |one, other| one + other)
    }

    fn with(self, other: Self, of: fn(u64, u64) -> u64) -> Self {
        let both = |one: Option<u64>, other: Option<u64>| Some(of(one?, other?));
        Self { forward: both(self.forward, other.forward), back: both(self.back, other.back) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_direction_that_loses_nothing_has_no_count() {
        let (begin, end) =
            (LostBehind { forward: Some(3), back: None }, LostBehind { forward: Some(10), back: None });
        assert_eq!(end.since(begin), LostBehind { forward: Some(7), back: None });
        assert_eq!(end.and(begin), LostBehind { forward: Some(13), back: None });
    }
}

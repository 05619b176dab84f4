//! Minimum and maximum over a sliding window, from the best, second and third best samples (the
//! filter of Linux `lib/win_minmax.c`, due to Kathleen Nichols).

/// The smallest value of a window.
#[derive(Clone, Copy, Debug)]
pub(super) struct WindowedMinimum(Windowed);

/// The greatest value of a window.
#[derive(Clone, Copy, Debug)]
pub(super) struct WindowedMaximum(Windowed);

/// The three best samples (time, badness), the best first: the lower the badness the better.
#[derive(Clone, Copy, Debug)]
struct Windowed {
    best: [(u64, u64); 3],
}

impl WindowedMinimum {
    /// Returns the minimum of no sample, which is `u32::MAX`.
    pub(super) const fn new() -> Self {
        Self(Windowed { best: [(0, u32::MAX as u64); 3] })
    }

    pub(super) const fn get(&self) -> u64 {
        self.0.best[0].1
    }

    /// Adds a sample at `now` in a window of `span`, in the same unit.
    #[inline]
    pub(super) fn update(&mut self, span: u64, now: u64, value: u64) {
        self.0.update(span, now, value);
    }

    /// Whether no sample up to `now` changes the filter that is no less than `value`.
    #[cfg(feature = "fast")]
    pub(super) const fn is_kept(&self, span: u64, now: u64, value: u64) -> bool {
        self.0.is_kept(span, now, value)
    }
}

impl WindowedMaximum {
    /// Returns the maximum of no sample, which is zero.
    pub(super) const fn new() -> Self {
        Self(Windowed { best: [(0, u64::MAX); 3] })
    }

    pub(super) const fn get(&self) -> u64 {
        !self.0.best[0].1
    }

    /// Adds a sample at `now` in a window of `span`, in the same unit.
    #[inline]
    pub(super) fn update(&mut self, span: u64, now: u64, value: u64) {
        self.0.update(span, now, !value);
    }
}

impl Windowed {
    #[inline]
    fn update(&mut self, span: u64, now: u64, badness: u64) {
        if !self.is_kept(span, now, badness) {
            self.replace(span, now, badness);
        }
    }

    /// Whether a sample at `now` beats none of the three, and the best sample is no older than a
    /// quarter of the window.
    const fn is_kept(&self, span: u64, now: u64, badness: u64) -> bool {
        badness > self.best[2].1 && now - self.best[0].0 <= span / 4
    }

    fn replace(&mut self, span: u64, now: u64, badness: u64) {
        let sample = (now, badness);
        if badness <= self.best[0].1 || now - self.best[2].0 > span {
            self.best = [sample; 3];
            return;
        }
        if badness <= self.best[1].1 {
            self.best = [self.best[0], sample, sample];
        } else if badness <= self.best[2].1 {
            self.best[2] = sample;
        }
        self.expire(span, sample);
    }

    /// Drops a best sample that left the window, and keeps runners-up of different ages.
    fn expire(&mut self, span: u64, sample: (u64, u64)) {
        let age = sample.0 - self.best[0].0;
        if age > span {
            self.best = [self.best[1], self.best[2], sample];
            if sample.0 - self.best[0].0 > span {
                self.best = [self.best[1], self.best[2], sample];
            }
        } else if self.best[1].0 == self.best[0].0 && age > span / 4 {
            self.best = [self.best[0], sample, sample];
        } else if self.best[2].0 == self.best[1].0 && age > span / 2 {
            self.best[2] = sample;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_minimum_forgets_after_its_window() {
        let mut minimum = WindowedMinimum::new();
        minimum.update(300, 0, 10);
        minimum.update(300, 100, 30);
        minimum.update(300, 290, 20);
        assert_eq!(minimum.get(), 10);
        minimum.update(300, 301, 25);
        assert_eq!(minimum.get(), 20);
    }

    #[test]
    fn the_maximum_forgets_after_its_window() {
        let mut maximum = WindowedMaximum::new();
        assert_eq!(maximum.get(), 0);
        maximum.update(10, 1, 50);
        maximum.update(10, 5, 40);
        assert_eq!(maximum.get(), 50);
        maximum.update(10, 12, 30);
        assert_eq!(maximum.get(), 40);
    }
}

//! A sliding window over frame counters, in a fixed number of buckets.

/// Buckets of a window, whose length is kept to within a sixty-fourth part.
const BUCKETS: usize = 64;

/// Frames that arrived on a link, and how many of them were corrupted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Frames that arrived.
    pub frames: u64,
    /// Frames that were corrupted.
    pub lost: u64,
}

impl Counts {
    /// Returns the corrupted frames per frame; 0 without frames.
    pub fn loss_rate(self) -> f64 {
        if self.frames == 0 { 0.0 } else { self.lost as f64 / self.frames as f64 }
    }

    fn add(&mut self, other: Self) {
        self.frames += other.frames;
        self.lost += other.lost;
    }
}

/// The newest frames of a link: at least `length` frames, once `length` frames have arrived
/// (MON-2).
#[derive(Clone, Debug)]
pub(super) struct Window {
    length: u64,
    buckets: [Counts; BUCKETS],
    /// Places of the oldest bucket and of the bucket that is being filled.
    oldest: usize,
    newest: usize,
    total: Counts,
}

impl Window {
    pub(super) const fn new(length: u64) -> Self {
        let empty = Counts { frames: 0, lost: 0 };
        Self { length, buckets: [empty; BUCKETS], oldest: 0, newest: 0, total: empty }
    }

    /// Takes in the counts since the last push, and drops the buckets that are too old.
    pub(super) fn push(&mut self, counts: Counts) {
        // Two buckets of slack: one bucket is being filled and one lies partly outside.
        if self.buckets[self.newest].frames > self.length / (BUCKETS as u64 - 2) {
            self.newest = (self.newest + 1) % BUCKETS;
            if self.newest == self.oldest {
                self.drop_oldest();
            }
        }
        self.buckets[self.newest].add(counts);
        self.total.add(counts);
        while self.oldest != self.newest
            && self.total.frames - self.buckets[self.oldest].frames >= self.length
        {
            self.drop_oldest();
        }
    }

    fn drop_oldest(&mut self) {
        let gone = core::mem::take(&mut self.buckets[self.oldest]);
        self.total.frames -= gone.frames;
        self.total.lost -= gone.lost;
        self.oldest = (self.oldest + 1) % BUCKETS;
    }

    /// Returns the frames and losses in the window.
    pub(super) const fn counts(&self) -> Counts {
        self.total
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    const fn counts(frames: u64, lost: u64) -> Counts {
        Counts { frames, lost }
    }

    // MON-2
    #[test]
    fn old_losses_leave_the_window() {
        let mut window = Window::new(640);
        window.push(counts(10, 3));
        (0..63).for_each(|_| window.push(counts(10, 0)));
        assert_eq!(window.counts().lost, 3);
        (0..4).for_each(|_| window.push(counts(10, 0)));
        assert_eq!(window.counts().lost, 0);
    }

    proptest! {
        // MON-2: the window is never shorter than asked for, and not longer than a bucket or two
        // and a push.
        #[test]
        fn holds_the_newest_frames(length in 64u64..5_000, pushes in prop::collection::vec(0u64..500, 1..400)) {
            let mut window = Window::new(length);
            let mut seen: Vec<u64> = Vec::new();
            for frames in pushes {
                window.push(counts(frames, frames / 7));
                seen.push(frames);
                let all: u64 = seen.iter().sum();
                let held = window.counts().frames;
                prop_assert!(held >= all.min(length));
                prop_assert!(held <= length + 2 * (length / 62 + 500) + 500);
                let mut newest = counts(0, 0);
                for &frames in seen.iter().rev() {
                    if newest.frames == held {
                        break;
                    }
                    newest.add(counts(frames, frames / 7));
                }
                prop_assert_eq!(newest, window.counts());
            }
        }
    }
}

//! Jitter: the extra time that a frame takes on a hop, drawn for each frame.
//!
//! The extra time is uniform on [0, most], and independent of frame to frame. A hop that keeps order holds a frame that would
//! overtake until the one before it has left: then both leave at once. On a hop that does not, frames overtake.
//!
//! ```text
//!  enters   a  b      c              each with its own extra time:  a 5, b 1, c 1
//!  leaves        b       c  a        frames overtake
//!  leaves                   ab c     the order is kept
//! ```

use lossylink_core::rng::{RngCore, Stream};
use lossylink_core::time::{Duration, Instant};

/// The jitter of a hop: its parameters and its state.
#[derive(Clone, Debug)]
pub struct Jitter {
    most: Duration,
    keeps_order: bool,
    draws: Stream,
    /// The time when the last frame left, where the order is kept.
    last: Instant,
}

impl Jitter {
    /// Returns jitter with extra times of up to `most`, drawn from `draws`.
    pub const fn new(most: Duration, keeps_order: bool, draws: Stream) -> Self {
        Self { most, keeps_order, draws, last: Instant::ZERO }
    }

    /// Whether no frame ever takes longer than another.
    pub const fn is_none(&self) -> bool {
        self.most.as_ps() == 0
    }

    /// Whether frames leave in the order in which they enter.
    pub const fn keeps_order(&self) -> bool {
        self.keeps_order
    }

    /// Returns when a frame leaves that would leave at `at` without jitter.
    pub(super) fn leave(&mut self, at: Instant) -> Instant {
        let at = at + self.draw();
        if !self.keeps_order {
            return at;
        }
        self.last = self.last.max(at);
        self.last
    }

    /// Draws an extra time. Each number of picoseconds from 0 to `most` is as likely as any other, within 2^-64 of each
    /// chance.
    fn draw(&mut self) -> Duration {
        let numbers = u128::from(self.most.as_ps()) + 1;
        Duration::from_ps(((u128::from(self.draws.next_u64()) * numbers) >> 64) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lossylink_core::rng::Streams;
    use proptest::prelude::*;

    const MOST: Duration = Duration::from_us(10);

    fn jitter(keeps_order: bool, seed: u64) -> Jitter {
        Jitter::new(MOST, keeps_order, Streams::new(seed).stream("jitter"))
    }

    /// Returns the extra times of frames that enter `spacing` apart.
    fn extra_times(jitter: &mut Jitter, spacing: Duration, frames: u64) -> Vec<Duration> {
        let enters = (0..frames).map(|index| Instant::ZERO + spacing * index);
        enters.map(|at| jitter.leave(at) - at).collect()
    }

    /// A uniform law on [0, J] has the mean J/2 and the variance J^2/12.
    #[test]
    fn frames_far_apart_take_longer_by_a_uniform_time() {
        for keeps_order in [true, false] {
            let frames = 100_000;
            let times = extra_times(&mut jitter(keeps_order, 1), MOST, frames);
            let most = MOST.as_secs_f64();
            let mean = times.iter().map(|time| time.as_secs_f64()).sum::<f64>() / frames as f64;
            let sigma = most / (12.0 * frames as f64).sqrt();
            assert!((mean - most / 2.0).abs() < 4.5 * sigma, "{mean}");
            let [least, longest] =
                [times.iter().min(), times.iter().max()].map(|time| time.unwrap().as_secs_f64());
            // The chance that none of n lies within the outermost share s is (1 - s)^n: e^-20.
            let share = 20.0 / frames as f64;
            assert!(least < share * most && (1.0 - share) * most < longest && longest <= most);
        }
    }

    #[test]
    fn a_hop_without_jitter_adds_nothing() {
        let mut none = Jitter::new(Duration::ZERO, true, Streams::new(1).stream("jitter"));
        assert!(none.is_none() && !jitter(true, 1).is_none());
        assert_eq!(none.leave(Instant::from_ps(7)), Instant::from_ps(7));
    }

    #[test]
    fn frames_close_together_overtake_where_they_may() {
        let spacing = Duration::from_ns(100);
        let mut free = jitter(false, 1);
        let leaves: Vec<_> = (0..1_000).map(|index| free.leave(Instant::ZERO + spacing * index)).collect();
        let overtaken = leaves.windows(2).filter(|pair| pair[1] < pair[0]).count();
        // The next frame leaves sooner if its draw is smaller by more than the spacing, 1 % of the most: 0.99^2 / 2 of the
        // pairs.
        assert!((400..=580).contains(&overtaken), "{overtaken}");
    }

    proptest! {
        /// The departure of a frame is its own, or that of the frame before it: whichever is later.
        #[test]
        fn a_hop_that_keeps_order_is_a_fifo(
            seed: u64,
            gaps in prop::collection::vec(0u64..20_000, 1..200),
        ) {
            let (mut kept, mut free) = (jitter(true, seed), jitter(false, seed));
            let (mut at, mut last) = (Instant::ZERO, Instant::ZERO);
            for gap in gaps {
                at += Duration::from_ns(gap);
                last = last.max(free.leave(at));
                prop_assert_eq!(kept.leave(at), last);
            }
        }
    }
}

//! The effective loss of LinkGuardian when losses come in bursts: the original and its copies along one chain
//! (LG-19).
//!
//! On a busy line the chain steps once a frame. A run of losses ends with a frame that arrives and shows the run.
//! The copies of the run's first frame begin `gap` frames later, all N back to back, and then the copies of its
//! second frame:
//!
//! ```text
//!  frame   . x x x . . . . . . 1 1 2 2 3 3       N = 2, a run of three
//!            ^ run ^ shown     ^ gap frames later
//! ```
//!
//! The j-th frame of a run is lost for good when its copies, `gap + j N` frames after the frame that showed the
//! run, are all lost. A notification asks for a bounded number of frames of a run (LG-9); the other frames of the
//! run stay lost. Left out: that copies of another run may stand before these copies, and that copies meet the
//! chain in another state than data do on average.

use crate::loss::{GilbertElliott, LineLaw};

/// The most positions that one notification can name (LG-13).
const LARGEST_RUN: u32 = 255;

/// Frames from the frame that shows a run of losses to the first copy, on a busy line: for a run of one, of two
/// and so on. The last gap counts for longer runs.
pub type Gaps<'a> = &'a [u32];

/// Gaps so long that the state of the chain has no memory of the burst.
pub const FORGOTTEN: Gaps<'static> = &[u32::MAX];

/// The chances that the chain is in the good and in the bad state.
type States = [f64; 2];

/// Returns the share of frames that stay lost with `copies` of each retransmission. One notification asks for at
/// most `hole_cap` frames of a run.
///
/// # Panics
/// If there is no gap.
pub fn effective_loss(chain: &GilbertElliott, copies: u8, gaps: Gaps<'_>, hole_cap: Option<u8>) -> f64 {
    assert!(!gaps.is_empty(), "a run of one has a gap");
    let law = Law::of(chain);
    if law.rate() >= 1.0 {
        return 1.0;
    }
    let all_lost = law.run_of(copies);
    let requested = hole_cap.map_or(LARGEST_RUN, u32::from);
    // The frame before a run arrives.
    let mut at_run = law.step(law.kept(law.stationary));
    let mut left = 0.0;
    for place in 0..requested {
        let lost = law.lost(at_run);
        at_run = law.step(lost);
        left += law.left_of_place(at_run, gaps, place, u32::from(copies), all_lost);
        if lost[0] + lost[1] < NEGLIGIBLE * law.rate() {
            return left;
        }
    }
    // No notification asks for the frames further in the run.
    let beyond = law.lost(law.after_run(at_run));
    left + beyond[0] + beyond[1]
}

/// Returns the share of frames that stay lost on a line with a code, with `copies` of each retransmission. One notification asks for
/// at most `hole_cap` frames of a run.
///
/// The copies leave when the codewords of the lost frame are over, and lie in codewords of their own.
pub fn effective_loss_on_line(line: &LineLaw, copies: u8, hole_cap: Option<u8>) -> f64 {
    let requested = hole_cap.map_or(LARGEST_RUN, u32::from);
    // So many frames before this one are lost, too, that no notification asks for it.
    let beyond = line.lost_in_a_row(requested + 1);
    (line.rate() - beyond).max(0.0) * line.lost_in_a_row(u32::from(copies)) + beyond
}

/// The share of all losses below which the losses beyond a place in a run are not followed any further.
const NEGLIGIBLE: f64 = 1e-17;

/// The parameters of the chain as floating-point numbers.
struct Law {
    to_bad: f64,
    to_good: f64,
    loss: States,
    stationary: States,
}

impl Law {
    fn of(chain: &GilbertElliott) -> Self {
        let share_bad = chain.share_bad();
        Self {
            to_bad: chain.p().as_f64(),
            to_good: chain.r().as_f64(),
            loss: [chain.loss_good().as_f64(), chain.loss_bad().as_f64()],
            stationary: [1.0 - share_bad, share_bad],
        }
    }

    fn rate(&self) -> f64 {
        self.stationary[0] * self.loss[0] + self.stationary[1] * self.loss[1]
    }

    /// Returns the factor by which one frame shrinks a state's surplus over its stationary share.
    fn fading(&self) -> f64 {
        1.0 - self.to_bad - self.to_good
    }

    fn step(&self, at: States) -> States {
        [
            at[0] * (1.0 - self.to_bad) + at[1] * self.to_good,
            at[0] * self.to_bad + at[1] * (1.0 - self.to_good),
        ]
    }

    fn lost(&self, at: States) -> States {
        [at[0] * self.loss[0], at[1] * self.loss[1]]
    }

    fn kept(&self, at: States) -> States {
        [at[0] * (1.0 - self.loss[0]), at[1] * (1.0 - self.loss[1])]
    }

    /// Returns the chance that the frame at `place` of a run stays lost, which leaves the chain at `after`. The
    /// run goes on for any number of frames, one frame shows the run, and the copies of the earlier places go
    /// first.
    fn left_of_place(&self, after: States, gaps: Gaps<'_>, place: u32, copies: u32, all_lost: States) -> f64 {
        let copies_before = place.saturating_mul(copies);
        let (mut at, mut left) = (after, 0.0);
        let known = gaps.len().saturating_sub(place as usize + 1);
        for gap in gaps.iter().skip(place as usize).take(known) {
            left += self.left_after(self.kept(at), gap.saturating_add(copies_before), all_lost);
            at = self.step(self.lost(at));
        }
        let last = gaps[gaps.len() - 1];
        left + self.left_after(self.kept(self.after_run(at)), last.saturating_add(copies_before), all_lost)
    }

    /// Returns the chance to be at `shown` and to lose all copies, which begin `frames` later.
    fn left_after(&self, shown: States, frames: u32, all_lost: States) -> f64 {
        let weight = shown[0] + shown[1];
        let memory = libm::pow(self.fading(), f64::from(frames));
        let share = |state: usize| {
            let forgotten = weight * self.stationary[state];
            (forgotten + memory * (shown[state] - forgotten)) * all_lost[state]
        };
        share(0) + share(1)
    }

    /// Returns the chances of the states after any number of further losses: at (1 - L T)^-1, the sum of the
    /// geometric series of matrices.
    fn after_run(&self, at: States) -> States {
        let [good, bad] = self.loss;
        let stay_good = 1.0 - good * (1.0 - self.to_bad);
        let stay_bad = 1.0 - bad * (1.0 - self.to_good);
        let (go_bad, go_good) = (good * self.to_bad, bad * self.to_good);
        let determinant = stay_good * stay_bad - go_bad * go_good;
        [
            (at[0] * stay_bad + at[1] * go_good) / determinant,
            (at[0] * go_bad + at[1] * stay_good) / determinant,
        ]
    }

    /// Returns the chance to lose `frames` in a row, from each state.
    fn run_of(&self, frames: u8) -> States {
        let mut chance = [1.0, 1.0];
        for _ in 0..frames {
            let next = [
                (1.0 - self.to_bad) * chance[0] + self.to_bad * chance[1],
                self.to_good * chance[0] + (1.0 - self.to_good) * chance[1],
            ];
            chance = [self.loss[0] * next[0], self.loss[1] * next[1]];
        }
        chance
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::{LossModel, LossProcess};
    use crate::rng::Streams;
    use alloc::vec::Vec;

    fn chain(p: f64, r: f64, good: f64, bad: f64) -> GilbertElliott {
        GilbertElliott::new(p, r, good, bad).unwrap()
    }

    // LG-9, LG-19
    #[test]
    fn a_chain_without_memory_leaves_the_power() {
        for p in [1e-3, 0.05, 0.3] {
            let chain = chain(p, 1.0 - p, 0.0, 1.0);
            for copies in 1..6 {
                let power = libm::pow(p, f64::from(copies) + 1.0);
                for gaps in [&[1][..], &[3, 40, 2], FORGOTTEN] {
                    let left = effective_loss(&chain, copies, gaps, None);
                    assert!((left / power - 1.0).abs() < 1e-9, "{left} instead of {power}");
                    let beyond = libm::pow(p, 5.0);
                    let capped = (1.0 - beyond) * power + beyond * p;
                    let left = effective_loss(&chain, copies, gaps, Some(5));
                    assert!((left / capped - 1.0).abs() < 1e-9, "{left} instead of {capped}");
                }
            }
        }
    }

    /// Counts the frames of a sequence of losses that stay lost if copies are sent as in the figure above. Each
    /// copy takes the place of the frame that the sequence has there.
    fn count(lost: &[bool], copies: usize, gaps: &[u32], cap: usize) -> usize {
        let (mut left, mut first) = (0, None);
        for (frame, &is_lost) in lost.iter().enumerate() {
            if is_lost {
                first.get_or_insert(frame);
                continue;
            }
            let Some(start) = first.take() else { continue };
            let gap = gaps[(frame - start - 1).min(gaps.len() - 1)] as usize;
            for place in 0..frame - start {
                let copy = frame + gap + place * copies;
                let Some(sent) = lost.get(copy..copy + copies) else { continue };
                left += usize::from(place >= cap || sent.iter().all(|&lost| lost));
            }
        }
        left
    }

    /// Batches of a long sequence give the mean and its deviation. Five deviations are exceeded once in two
    /// million tests.
    // LG-9, LG-19
    #[test]
    fn the_chain_is_that_of_a_long_sequence() {
        const BATCHES: usize = 100;
        const FRAMES: usize = 40_000;
        for (p, r, good, bad) in [(0.02, 0.3, 0.0, 1.0), (0.01, 0.1, 0.0, 1.0), (0.02, 0.1, 0.01, 0.6)] {
            let model = LossModel::gilbert_elliott(p, r, good, bad).unwrap();
            let mut process = LossProcess::new(&model, Streams::new(5).stream("chain"));
            let lost: Vec<bool> = (0..BATCHES * FRAMES).map(|_| process.is_lost(1518)).collect();
            let cases: [(u8, &[u32], Option<u8>); 4] =
                [(1, &[2], None), (2, &[7, 3, 12], None), (3, &[4], Some(5)), (1, &[30, 2], Some(2))];
            for (copies, gaps, cap) in cases {
                let left = effective_loss(&chain(p, r, good, bad), copies, gaps, cap);
                let most = cap.map_or(usize::MAX, usize::from);
                let shares = lost
                    .chunks(FRAMES)
                    .map(|batch| count(batch, usize::from(copies), gaps, most) as f64 / FRAMES as f64);
                let shares: Vec<f64> = shares.collect();
                let mean = shares.iter().sum::<f64>() / BATCHES as f64;
                let variance = shares.iter().map(|share| (share - mean) * (share - mean)).sum::<f64>();
                let error = libm::sqrt(variance / (BATCHES * (BATCHES - 1)) as f64);
                assert!((mean - left).abs() < 5.0 * error, "{mean} +- {error}, {left} expected");
            }
        }
    }

    #[test]
    fn bursts_defeat_copies() {
        // Of a burst of ten frames on average the next frame is lost nine times in ten.
        let chain = chain(0.01 / 9.9, 0.1, 0.0, 1.0);
        let (one, two) = (1, 2);
        let left = |copies| effective_loss(&chain, copies, FORGOTTEN, None);
        assert!((left(two) / left(one) - 0.9).abs() < 1e-9);
    }

    #[test]
    fn a_link_that_never_delivers_loses_all() {
        assert_eq!(effective_loss(&chain(0.5, 0.0, 0.0, 1.0), 3, FORGOTTEN, None), 1.0);
    }
}

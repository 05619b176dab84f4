//! The chance that a chain loses a frame if it is known that certain later frames are lost (RARE-12).
//!
//! A backward recursion over the frames up to the last of those later frames gives the chance that the chain loses
//! them all, from each state. With the chances of the present states, given all losses so far, Bayes' rule gives
//! the chance of a loss now. This chance steers the draws, and decides no loss.

use alloc::vec;
use alloc::vec::Vec;

/// A chain of a good and a bad state: the chance to lose a frame in each, and to leave it afterwards.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct States {
    pub(super) loses: [f64; 2],
    pub(super) leaves: [f64; 2],
}

impl States {
    /// Returns a figure of the states after the chain's step, by the state before the step.
    pub(super) fn before_step(&self, [good, bad]: [f64; 2]) -> [f64; 2] {
        let [out, back] = self.leaves;
        [(1.0 - out) * good + out * bad, back * good + (1.0 - back) * bad]
    }
}

/// The frames to come that are expected to be lost.
#[derive(Clone, Debug, Default)]
pub(super) struct Foresight {
    states: States,
    /// For each frame to come, and for each state in which it is sent, the chance that the expected losses behind
    /// it happen; each except for a factor.
    behind: Vec<[f64; 2]>,
    /// How many of these frames have passed.
    gone: usize,
}

impl Foresight {
    /// Returns the foresight for frames that are lost at `places` from now on, in ascending order.
    pub(super) fn new(states: States, places: &[u32]) -> Self {
        let frames = places.last().map_or(0, |&last| last as usize + 1);
        let mut lost = vec![false; frames];
        places.iter().for_each(|&place| lost[place as usize] = true);
        let (mut behind, mut ahead) = (vec![[1.0; 2]; frames], [1.0; 2]);
        for place in (0..frames).rev() {
            let chances = states.before_step(ahead);
            behind[place] = chances;
            let [good, bad] = if lost[place] {
                [states.loses[0] * chances[0], states.loses[1] * chances[1]]
            } else {
                chances
            };
            // Only the ratio of the two counts, and products of many chances would underflow.
            let larger = good.max(bad);
            ahead = if larger > 0.0 { [good / larger, bad / larger] } else { [1.0; 2] };
        }
        Self { states, behind, gone: 0 }
    }

    /// Returns the chance that the next frame is lost, if the chances of the good and the bad state are `shares`;
    /// 0 when no loss is expected any more.
    pub(super) fn loss(&self, shares: [f64; 2]) -> f64 {
        let Some(behind) = self.behind.get(self.gone) else { return 0.0 };
        let all = shares[0] * behind[0] + shares[1] * behind[1];
        let [good, bad] = self.states.loses;
        let lost = shares[0] * good * behind[0] + shares[1] * bad * behind[1];
        if all > 0.0 { lost / all } else { 0.0 }
    }

    /// Takes note that a frame has passed.
    pub(super) const fn pass(&mut self) {
        self.gone += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHAIN: States = States { loses: [0.01, 0.6], leaves: [0.02, 0.3] };

    /// Returns the chance of these losses and survivals, `None` standing for either.
    fn chance(shares: [f64; 2], frames: &[Option<bool>]) -> f64 {
        let mut behind = [1.0; 2];
        for frame in frames.iter().rev() {
            behind = CHAIN.before_step(behind);
            if let Some(lost) = frame {
                for (behind, loses) in behind.iter_mut().zip(CHAIN.loses) {
                    *behind *= if *lost { loses } else { 1.0 - loses };
                }
            }
        }
        shares[0] * behind[0] + shares[1] * behind[1]
    }

    // RARE-12
    #[test]
    fn the_chance_is_that_of_bayes_rule() {
        let shares = [0.93, 0.07];
        let later = [None, None, Some(true), Some(true), None, Some(true)];
        let (lost, any) = ([&[Some(true)], &later[..]].concat(), [&[None], &later[..]].concat());
        let expected = chance(shares, &lost) / chance(shares, &any);
        let foresight = Foresight::new(CHAIN, &[3, 4, 6]);
        assert!((foresight.loss(shares) - expected).abs() < 1e-12);
    }

    // RARE-12: behind the last place no loss is expected.
    #[test]
    fn nothing_is_expected_for_ever() {
        let mut foresight = Foresight::new(CHAIN, &[0]);
        assert!(foresight.loss([1.0, 0.0]) > 0.0);
        foresight.pass();
        assert_eq!(foresight.loss([1.0, 0.0]), 0.0);
        assert_eq!(Foresight::new(CHAIN, &[]).loss([1.0, 0.0]), 0.0);
    }

    #[test]
    fn hundreds_of_losses_do_not_underflow() {
        let places: Vec<u32> = (0..500).map(|place| 10 * place).collect();
        let chance =
            Foresight::new(States { loses: [1e-9, 1.0], leaves: [1e-9, 0.5] }, &places).loss([1.0, 0.0]);
        assert!(chance > 0.0 && chance < 1.0, "{chance}");
    }
}

//! The chance that a block fails, by recursion from its end (RARE-10).

use super::Aim;
use super::predictor::Predictor;
use crate::loss::foresight::States;
use alloc::vec;
use alloc::vec::Vec;

/// Chances that a block fails, by the number of losses that a failure still needs, the frames left in
/// the block, and the state.
#[derive(Clone, Debug, Default)]
pub(super) struct Failures {
    states: States,
    frames: usize,
    /// A row for each number of losses, with both states for each number of frames.
    table: Vec<[f64; 2]>,
}

impl Failures {
    /// Returns the chances for blocks of `aim`, by recursion from their end.
    pub(super) fn new(states: &States, aim: Aim) -> Self {
        let Aim::Block { frames, spare } = aim else { return Self::default() };
        let (frames, needed) = (frames as usize, spare as usize + 1);
        let mut failures =
            Self { states: *states, frames, table: vec![[0.0; 2]; (needed + 1) * (frames + 1)] };
        failures.table[..=frames].fill([1.0; 2]);
        for needed in 1..=needed {
            for left in 1..=frames {
                let (lost, kept) = (failures.after(needed - 1, left - 1), failures.after(needed, left - 1));
                failures.table[needed * (frames + 1) + left] = [0, 1].map(|state| {
                    let loses = states.loses[state];
                    loses * lost[state] + (1.0 - loses) * kept[state]
                });
            }
        }
        failures
    }

    fn of(&self, needed: usize, left: usize) -> [f64; 2] {
        self.table.get(needed * (self.frames + 1) + left).copied().unwrap_or_default()
    }

    /// Returns the chance of a failure by the state before the chain's step.
    fn after(&self, needed: usize, left: usize) -> [f64; 2] {
        self.states.before_step(self.of(needed, left))
    }

    /// Returns the chance of a loss now, given that the block fails; 0 if it cannot.
    pub(super) fn loss(&self, predictor: &Predictor, needed: u32, left: u32) -> f64 {
        let (needed, left) = (needed as usize, left as usize);
        if left == 0 || left > self.frames {
            return 0.0;
        }
        let over = |chances: [f64; 2]| -> f64 {
            predictor.shares().iter().zip(chances).map(|(share, chance)| share * chance).sum()
        };
        let lost = self.after(needed - 1, left - 1);
        let fails = over(self.of(needed, left));
        let loses = over([0, 1].map(|state| self.states.loses[state] * lost[state]));
        if fails > 0.0 { loses / fails } else { 0.0 }
    }
}

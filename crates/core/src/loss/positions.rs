//! Losses at known positions: an exact list that ends, or a recorded trace that repeats.

use super::error::LossError;
use super::run::Run;
use alloc::sync::Arc;
use alloc::vec::Vec;
use serde::de::{Deserialize, Deserializer, Error as _};

/// Sorted positions of the lost frames, counted from zero. They are shared, so that a process for each
/// trial copies nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Positions {
    lost: Arc<[u64]>,
    /// Frames after which the positions start again, if they repeat.
    period: Option<u64>,
    /// Runs of lost frames in a period; a run that goes over its end counts once. They are counted
    /// beforehand, because a live link asks for its law while frames pass. Zero where no frame or every
    /// frame is lost.
    bursts: u64,
}

impl Positions {
    /// Returns losses of the frames at `positions`, once.
    ///
    /// # Errors
    /// If there is no position, or one is given twice.
    pub fn at(mut positions: Vec<u64>) -> Result<Self, LossError> {
        positions.sort_unstable();
        if positions.is_empty() {
            return Err(LossError::NoPositions);
        }
        if let Some(pair) = positions.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(LossError::RepeatedPosition(pair[0]));
        }
        Ok(Self { lost: positions.into(), period: None, bursts: 0 })
    }

    /// Returns losses of the frames whose flag in `lost` is set, over and over.
    ///
    /// # Errors
    /// If the sequence is empty.
    pub fn trace(lost: &[bool]) -> Result<Self, LossError> {
        if lost.is_empty() {
            return Err(LossError::EmptyTrace);
        }
        let positions = (0..).zip(lost).filter(|(_, lost)| **lost).map(|(position, _)| position);
        let before = lost.iter().skip(lost.len() - 1).chain(lost);
        let bursts = lost.iter().zip(before).filter(|(now, before)| **now && !**before).count() as u64;
        Ok(Self { lost: positions.collect(), period: Some(lost.len() as u64), bursts })
    }

    /// Returns the positions, ascending; of a trace, those of its first pass.
    pub fn lost(&self) -> &[u64] {
        &self.lost
    }

    /// Returns the frames after which the positions repeat, or `None` if they do not.
    pub const fn period(&self) -> Option<u64> {
        self.period
    }

    /// Returns the runs of lost frames in a period, as if the periods went on in a circle; zero of a list
    /// that ends.
    pub const fn bursts(&self) -> u64 {
        self.bursts
    }

    /// Returns the share of frames lost in the long run: zero unless the positions repeat.
    pub fn mean_loss_rate(&self) -> f64 {
        self.period.map_or(0.0, |period| self.lost.len() as f64 / period as f64)
    }
}

/// Reads positions that are lost once, as a list of numbers.
pub(super) fn read_list<'de, D: Deserializer<'de>>(json: D) -> Result<Positions, D::Error> {
    Positions::at(Vec::deserialize(json)?).map_err(D::Error::custom)
}

/// Reads a trace that repeats, as a list of flags.
pub(super) fn read_trace<'de, D: Deserializer<'de>>(json: D) -> Result<Positions, D::Error> {
    Positions::trace(&Vec::<bool>::deserialize(json)?).map_err(D::Error::custom)
}

/// A walk along the positions.
#[derive(Clone, Debug)]
pub(super) struct Cursor {
    positions: Positions,
    /// Index in `lost` of the next loss.
    next: usize,
    /// Position, within the pass, of the next frame that no run covers yet.
    frame: u64,
}

impl Cursor {
    pub(super) fn new(positions: Positions) -> Self {
        Self { positions, next: 0, frame: 0 }
    }

    /// Returns the frames that pass before the next loss.
    pub(super) fn next_run(&mut self) -> Run {
        let Some(&lost) = self.positions.lost.get(self.next) else { return self.next_pass() };
        let clear = lost - self.frame;
        self.next += 1;
        self.frame = lost.saturating_add(1);
        Run { clear, ends_in_loss: true }
    }

    /// Returns the rest of this pass, or all of the future if no other pass follows.
    fn next_pass(&mut self) -> Run {
        let Some(period) = self.positions.period else { return Run::FOREVER };
        let clear = period - self.frame;
        (self.next, self.frame) = (0, 0);
        Run { clear, ends_in_loss: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::{LossModel, LossProcess};
    use crate::rng::Streams;
    use alloc::vec;
    use proptest::prelude::*;

    /// Returns the positions, among the first `frames`, that the model loses.
    fn lost(model: &LossModel, frames: u64) -> Vec<u64> {
        let mut process = LossProcess::new(model, Streams::new(1).stream("positions"));
        (0..frames).filter(|_| process.is_lost(1518)).collect()
    }

    #[test]
    fn exactly_the_named_frames_are_lost() {
        assert_eq!(lost(&LossModel::at(vec![18, 0, 17]).unwrap(), 100), [0, 17, 18]);
        assert!(lost(&LossModel::at(vec![u64::MAX]).unwrap(), 100).is_empty());
    }

    #[test]
    fn after_the_last_position_the_link_is_clean() {
        let model = LossModel::at(vec![2]).unwrap();
        let mut process = LossProcess::new(&model, Streams::new(1).stream("at"));
        assert_eq!(process.clear_frames(64), 2);
        process.skip(2, 64);
        assert!(process.is_lost(64));
        assert_eq!(process.clear_frames(64), u64::MAX);
    }

    #[test]
    fn a_trace_repeats() {
        let model = LossModel::trace(&[false, true, true, false]).unwrap();
        assert_eq!(lost(&model, 10), [1, 2, 5, 6, 9]);
        assert_eq!(lost(&LossModel::trace(&[true]).unwrap(), 3), [0, 1, 2]);
        assert!(lost(&LossModel::trace(&[false; 3]).unwrap(), 10).is_empty());
    }

    #[test]
    fn useless_lists_are_refused() {
        assert_eq!(Positions::at(vec![]), Err(LossError::NoPositions));
        assert_eq!(Positions::at(vec![3, 1, 3]), Err(LossError::RepeatedPosition(3)));
        assert_eq!(Positions::trace(&[]), Err(LossError::EmptyTrace));
    }

    proptest! {
        #[test]
        fn any_trace_plays_back(trace in prop::collection::vec(any::<bool>(), 1..40), passes in 1usize..4) {
            let model = LossModel::trace(&trace).unwrap();
            let mut process = LossProcess::new(&model, Streams::new(1).stream("trace"));
            for _ in 0..passes {
                let played: Vec<bool> = trace.iter().map(|_| process.is_lost(64)).collect();
                prop_assert_eq!(&played, &trace);
            }
        }
    }
}

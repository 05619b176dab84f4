//! The results of flows that run one after another: pieces of trials, and the totals of all pieces.

use super::counters::Repair;
use super::trial::Trial;
use super::trials::Trials;
use crate::ConfigError;
use crate::experiment::blocks::TRIALS_PER_BLOCK;
use crate::numbers::{Packed, Packing, Store};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Results of blocks that follow each other. While the blocks run, the numbers are [`Packing`].
#[derive(Debug, Default, Deserialize, Serialize)]
pub(super) struct Piece<T = Packed> {
    pub(super) trials: Trials<T>,
    pub(super) totals: Totals,
    /// Blocks that have run.
    pub(super) blocks: u64,
    /// The inspected states of the link of the first block.
    pub(super) states: Vec<Value>,
}

impl Piece<Packing> {
    /// Begins a piece whose numbers are kept in `store`.
    pub(super) fn new(store: &Store) -> Self {
        Self { trials: Trials::new(store), ..Self::default() }
    }

    pub(super) fn add(&mut self, trial: Trial) {
        self.trials.add(&trial);
        self.totals.add(&trial);
    }

    pub(super) fn finish(self) -> Piece {
        let Self { trials, totals, blocks, states } = self;
        Piece { trials: trials.finish(), totals, blocks, states }
    }
}

impl Piece {
    /// Whether each of its blocks has as many trials as a block can have.
    pub(super) const fn is_whole(&self) -> bool {
        self.totals.trials + self.totals.unfinished == self.blocks * TRIALS_PER_BLOCK
    }
}

/// Returns the pieces as text, which [`read`] takes back.
pub(super) fn write(pieces: &[Piece]) -> String {
    serde_json::to_string(pieces).expect("numbers have a text")
}

/// Reads the pieces of `parts`, one part after another.
///
/// # Errors
/// If a part is no text of pieces.
pub(super) fn read(parts: &[String]) -> Result<Vec<Piece>, ConfigError> {
    let refuse = |error| ConfigError(format!("a part of the flows cannot be read: {error}"));
    let mut pieces = Vec::new();
    for part in parts {
        pieces.extend(serde_json::from_str::<Vec<Piece>>(part).map_err(refuse)?);
    }
    Ok(pieces)
}

/// Counts over all trials.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
pub(in crate::experiment) struct Totals {
    /// Flows that ended.
    pub(super) trials: u64,
    /// Flows that did not end well in time.
    pub(super) unfinished: u64,
    /// Flows that lost a frame.
    pub(super) hit: u64,
    pub(super) retransmissions: u64,
    pub(super) timeouts: u64,
    repaired: [u64; Repair::COUNT],
    pub(super) frames_simulated: u64,
    pub(super) frames_skipped: u64,
}

impl Totals {
    fn add(&mut self, trial: &Trial) {
        let ended = u64::from(trial.took.is_some());
        self.trials += ended;
        self.unfinished += 1 - ended;
        self.hit += u64::from(trial.lost_frames > 0);
        self.retransmissions += u64::from(trial.retransmissions);
        self.timeouts += u64::from(trial.timeouts);
        trial.repair.iter().for_each(|&repair| self.repaired[repair as usize] += ended);
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.trials += other.trials;
        self.unfinished += other.unfinished;
        self.hit += other.hit;
        self.retransmissions += other.retransmissions;
        self.timeouts += other.timeouts;
        self.repaired.iter_mut().zip(other.repaired).for_each(|(count, more)| *count += more);
        self.frames_simulated += other.frames_simulated;
        self.frames_skipped += other.frames_skipped;
    }

    /// Returns how many flows ended whose slowest repair was `repair`.
    pub(in crate::experiment) const fn repaired(&self, repair: Repair) -> u64 {
        self.repaired[repair as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lossylink_core::time::Duration;
    use proptest::prelude::*;
    use std::iter::repeat_n;

    fn piece_of(trials: impl Iterator<Item = Trial>, blocks: u64) -> Piece {
        let mut piece = Piece { blocks, ..Piece::default() };
        trials.for_each(|trial| piece.add(trial));
        piece.finish()
    }

    proptest! {
        #[test]
        fn pieces_come_back_from_their_text(
            // Counts stay small, because totals of flows add up.
            flows in prop::collection::vec((prop::option::of(0u64..1 << 50), 0u32.., 0u32.., 0u32.., prop::option::of(0usize..4)), 0..50),
            counts in prop::array::uniform2(0u64..1 << 40),
        ) {
            let trials = flows.into_iter().map(|(took_ps, lost_frames, retransmissions, timeouts, repair)| {
                let repair = repair.map(|number| Repair::ALL[number]);
                Trial { took: took_ps.map(Duration::from_ps), lost_frames, retransmissions, timeouts, repair }
            });
            let mut piece = piece_of(trials, 1);
            [piece.totals.frames_simulated, piece.totals.frames_skipped] = counts;
            let texts = [write(&[]), write(std::slice::from_ref(&piece)), write(&[piece_of([].into_iter(), 0)])];
            let back = read(&texts).unwrap();
            prop_assert_eq!(back.len(), 2);
            prop_assert_eq!(format!("{:?}", back[0]), format!("{piece:?}"));
        }
    }

    #[test]
    fn a_piece_is_whole_with_all_trials_of_its_blocks() {
        let took = Some(Duration::ZERO);
        let ended = Trial { took, lost_frames: 0, retransmissions: 0, timeouts: 0, repair: None };
        let never = Trial { took: None, ..ended };
        let piece = |trials: usize, unfinished| {
            piece_of(repeat_n(ended, trials).chain(repeat_n(never, unfinished)), 2)
        };
        let all = 2 * TRIALS_PER_BLOCK as usize;
        assert!(piece(all, 0).is_whole());
        assert!(piece(all - 1, 1).is_whole());
        assert!(!piece(all - 1, 0).is_whole());
    }

    #[test]
    fn what_is_no_part_is_refused() {
        assert!(
            read(&["[1]".to_owned()])
                .unwrap_err()
                .to_string()
                .starts_with("a part of the flows cannot be read")
        );
    }
}

//! Trials in blocks: the unit of parallel work.
//!
//! Within a block flows run one after another over the same link, as on a testbed. A block's
//! random streams depend on the seed and its index alone, so any number of threads gives the same
//! rows.

use crate::{ConfigError, Control};
use lossylink_core::rng::Streams;
use rayon::prelude::*;

/// Trials after which it is asked whether there are enough.
const GROUP: usize = 5;

/// Pieces that the blocks of a run make at most. The more there are, the nearer to each other the threads end.
const PIECES: usize = 256;

/// Trials in a block of flows that run one after another.
pub(super) const TRIALS_PER_BLOCK: u64 = 100;

/// One block of trials.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    /// Its place in the sequence of blocks.
    pub(super) index: u64,
    /// How many trials it has.
    pub(super) trials: u64,
    /// Its random streams.
    pub(super) streams: Streams,
}

/// `trials` in blocks of `each`.
pub(super) fn blocks((trials, each): (u64, u64), seed: u64) -> Vec<Block> {
    let family = Streams::new(seed);
    let block =
        |index| Block { index, trials: each.min(trials - index * each), streams: family.trial(index) };
    (0..trials.div_ceil(each)).map(block).collect()
}

/// Threads that work on blocks, and on what is made of their results.
pub(super) struct Workers(rayon::ThreadPool);

impl Workers {
    /// So many threads, which end with this.
    pub(super) fn new(threads: usize) -> Result<Self, ConfigError> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let refuse = |error| format!("cannot start {threads} threads: {error}; lower run.threads");
        pool.map(Self).map_err(|error| ConfigError(refuse(error)))
    }

    /// Runs `trials` in blocks of `each`. Returns the finished blocks' results in order, and whether some are
    /// missing because the caller lost patience.
    pub(super) fn run_blocks<R: Send>(
        &self,
        size: (u64, u64),
        seed: u64,
        control: &Control,
        run: impl Fn(Block) -> Result<R, ConfigError> + Sync,
    ) -> Result<(Vec<R>, bool), ConfigError> {
        control.set_total(size.0);
        self.run_all(&blocks(size, seed), control, &run)
    }

    /// Runs single trials, [`GROUP`] at a time, until `is_enough` of all so far or until there are `trials`.
    /// Returns as [`Workers::run_blocks`] does. What is enough is asked between groups alone, so that the number
    /// of threads decides nothing.
    pub(super) fn run_until<R: Send>(
        &self,
        trials: u64,
        seed: u64,
        control: &Control,
        run: impl Fn(Block) -> Result<R, ConfigError> + Sync,
        is_enough: impl Fn(&[R]) -> bool,
    ) -> Result<(Vec<R>, bool), ConfigError> {
        control.set_total(trials);
        let family = Streams::new(seed);
        let mut finished = Vec::new();
        for first in (0..trials).step_by(GROUP) {
            let group = first..trials.min(first + GROUP as u64);
            let blocks = group.map(|index| Block { index, trials: 1, streams: family.trial(index) });
            let (more, interrupted) = self.run_all(&blocks.collect::<Vec<_>>(), control, &run)?;
            finished.extend(more);
            if interrupted {
                return Ok((finished, interrupted));
            }
            if is_enough(&finished) {
                control.set_total(finished.len() as u64);
                break;
            }
        }
        Ok((finished, false))
    }

    /// Does something in which rayon may share work out among the threads.
    pub(super) fn share<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        self.0.install(work)
    }

    /// Runs these blocks; returns as [`Workers::run_blocks`] does, and leaves it to the caller to announce the work.
    pub(super) fn run_all<R: Send>(
        &self,
        blocks: &[Block],
        control: &Control,
        run: &(impl Fn(Block) -> Result<R, ConfigError> + Sync),
    ) -> Result<(Vec<R>, bool), ConfigError> {
        let one = |block: &Block| {
            if control.is_cancelled() {
                return Ok(None);
            }
            let result = run(*block)?;
            control.add_done(block.trials);
            Ok(Some(result))
        };
        let results: Result<Vec<Option<R>>, ConfigError> =
            self.share(|| blocks.par_iter().with_max_len(1).map(one).collect());
        let finished: Vec<R> = results?.into_iter().flatten().collect();
        let interrupted = finished.len() < blocks.len();
        Ok((finished, interrupted))
    }

    /// Runs pieces of these blocks, in each of which one follows the other. Returns the results of the pieces in order.
    pub(super) fn run_pieces<R: Send>(
        &self,
        blocks: &[Block],
        run: impl Fn(&[Block]) -> Result<R, ConfigError> + Sync,
    ) -> Result<Vec<R>, ConfigError> {
        let each = blocks.len().div_ceil(PIECES).max(1);
        self.share(|| blocks.par_chunks(each).with_max_len(1).map(&run).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(block: Block) -> Result<u64, ConfigError> {
        use lossylink_core::rng::RngCore;
        Ok(block.streams.stream("test").next_u64())
    }

    fn drawn(trials: u64, threads: usize, enough: usize) -> Vec<u64> {
        let is_enough = |results: &[u64]| results.len() >= enough;
        let workers = Workers::new(threads).unwrap();
        workers.run_until(trials, 1, &Control::default(), draw, is_enough).unwrap().0
    }

    #[test]
    fn pieces_have_all_blocks_in_order() {
        let workers = Workers::new(2).unwrap();
        for count in [0, 1, PIECES, PIECES + 1, 3 * PIECES] {
            let all = blocks((count as u64, 1), 1);
            let places = |piece: &[Block]| Ok(piece.iter().map(|block| block.index).collect::<Vec<_>>());
            let pieces = workers.run_pieces(&all, places).unwrap();
            assert!(pieces.len() <= PIECES);
            assert_eq!(pieces.concat(), (0..count as u64).collect::<Vec<_>>());
        }
    }

    #[test]
    fn trials_end_with_the_group_that_is_enough_whatever_the_threads() {
        let workers = Workers::new(2).unwrap();
        let (all, _) = workers.run_blocks((12, 1), 1, &Control::default(), draw).unwrap();
        assert_eq!(all.len(), 12);
        for threads in [1, 3] {
            assert_eq!(drawn(12, threads, 6), all[..10]);
            assert_eq!(drawn(12, threads, 1), all[..5]);
            assert_eq!(drawn(12, threads, 100), all);
            assert_eq!(drawn(3, threads, 100), all[..3]);
        }
    }
}

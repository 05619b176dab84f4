//! Trials in blocks: the unit of parallel work.
//!
//! Within a block flows run one after another over the same link, as on a testbed. A block's
//! random streams depend on the seed and its index alone, so any number of threads gives the same
//! rows.

use crate::{ConfigError, Control};
use lossylink_core::rng::Streams;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Trials between two questions whether there are enough trials.
const GROUP: usize = 5;

/// The most pieces that the blocks of a run make. The more pieces there are, the nearer to each other the threads end.
const PIECES: u64 = 256;

/// Trials in a block of flows that run one after another over one link, and so may depend on each other.
pub const TRIALS_PER_BLOCK: u64 = 100;

/// A block of trials, which runs on one thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    /// The place of the block in the sequence of blocks.
    pub(super) index: u64,
    /// How many trials the block has.
    pub(super) trials: u64,
    /// The random streams of the block.
    pub(super) streams: Streams,
}

/// Blocks that follow each other. Each block is made when its turn comes, so that many blocks take no memory.
#[derive(Clone, Debug)]
pub(super) struct Blocks {
    trials: u64,
    each: u64,
    family: Streams,
    places: Range<u64>,
}

impl Blocks {
    /// Parts `trials` trials into blocks of `each`.
    pub(super) fn new((trials, each): (u64, u64), seed: u64) -> Self {
        Self { trials, each, family: Streams::new(seed), places: 0..trials.div_ceil(each) }
    }

    /// Returns the blocks whose places in the sequence lie in `places`.
    pub(super) fn at(&self, places: Range<u64>) -> Self {
        let known = |place: u64| place.clamp(self.places.start, self.places.end);
        let first = known(places.start);
        Self { places: first..known(places.end).max(first), ..self.clone() }
    }

    /// Returns how many blocks there are.
    pub(super) const fn count(&self) -> u64 {
        self.places.end - self.places.start
    }

    /// Returns how many trials the blocks have.
    pub(super) fn trials(&self) -> u64 {
        let before = |place: u64| self.trials.min(place * self.each);
        before(self.places.end) - before(self.places.start)
    }

    /// Makes the blocks one after another.
    pub(super) fn iter(&self) -> impl Iterator<Item = Block> {
        self.places.clone().map(|index| Block {
            index,
            trials: self.each.min(self.trials - index * self.each),
            streams: self.family.trial(index),
        })
    }
}

/// Parts `trials` trials into blocks of `each`, where `size` is the pair of both.
pub(super) fn blocks(size: (u64, u64), seed: u64) -> Vec<Block> {
    Blocks::new(size, seed).iter().collect()
}

/// Threads that work on blocks, and on the results of the blocks. In a browser the thread that asks does the work itself.
pub(super) struct Workers(Option<rayon::ThreadPool>);

impl Workers {
    /// Starts `threads` threads, which end when this value is dropped.
    pub(super) fn new(threads: usize) -> Result<Self, ConfigError> {
        if cfg!(target_family = "wasm") {
            return Ok(Self(None));
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let refuse = |error| format!("cannot start {threads} threads: {error}; lower run.threads");
        pool.map(|pool| Self(Some(pool))).map_err(|error| ConfigError(refuse(error)))
    }

    /// Runs `trials` trials in blocks of `each`, where `size` is the pair of both. Returns the results of the finished
    /// blocks in order, and whether some are missing because the caller cancelled the run.
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

    /// Runs single trials, [`GROUP`] at a time, until `is_enough` of all results so far or until there are `trials`.
    /// Returns as [`Workers::run_blocks`] does. `is_enough` is asked between groups only, so that the number of threads
    /// does not change the results.
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

    /// Runs `work`, in which rayon may share the work out among the threads.
    pub(super) fn share<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match &self.0 {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }

    /// Runs `blocks`. Returns as [`Workers::run_blocks`] does, and leaves it to the caller to announce the total of
    /// trials. Of several blocks that fail, the error is that of the first, whatever the number of threads.
    pub(super) fn run_all<R: Send>(
        &self,
        blocks: &[Block],
        control: &Control,
        run: &(impl Fn(Block) -> Result<R, ConfigError> + Sync),
    ) -> Result<(Vec<R>, bool), ConfigError> {
        let failed = AtomicUsize::new(usize::MAX);
        let one = |(place, block): (usize, &Block)| {
            if control.is_cancelled() || failed.load(Ordering::Relaxed) < place {
                return Ok(None);
            }
            let result = run(*block);
            if control.is_cancelled() {
                // The block may have stopped on its way.
                return Ok(None);
            }
            if result.is_err() {
                failed.fetch_min(place, Ordering::Relaxed);
            }
            let result = result?;
            control.add_done(block.trials);
            Ok(Some(result))
        };
        let results: Vec<Result<Option<R>, ConfigError>> =
            self.share(|| blocks.par_iter().enumerate().with_max_len(1).map(one).collect());
        let results: Result<Vec<Option<R>>, ConfigError> = results.into_iter().collect();
        let finished: Vec<R> = results?.into_iter().flatten().collect();
        let interrupted = finished.len() < blocks.len();
        Ok((finished, interrupted))
    }

    /// Runs `blocks` in pieces of consecutive blocks; the blocks of a piece run one after the other. Returns the
    /// results of the pieces in order, or the error of the first piece that fails.
    pub(super) fn run_pieces<R: Send>(
        &self,
        blocks: &Blocks,
        run: impl Fn(&Blocks) -> Result<R, ConfigError> + Sync,
    ) -> Result<Vec<R>, ConfigError> {
        let each = blocks.count().div_ceil(PIECES).max(1);
        let one = |piece: usize| {
            let first = blocks.places.start + piece as u64 * each;
            run(&blocks.at(first..first + each))
        };
        let pieces = 0..blocks.count().div_ceil(each) as usize;
        let results: Vec<_> = self.share(|| pieces.into_par_iter().with_max_len(1).map(one).collect());
        results.into_iter().collect()
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
    fn the_first_block_that_fails_is_told_whatever_the_threads() {
        let fail = |block: Block| -> Result<(), ConfigError> {
            // The first blocks take longest.
            std::thread::sleep(std::time::Duration::from_millis(12_u64.saturating_sub(block.index)));
            if block.index >= 3 { Err(ConfigError(format!("block {}", block.index))) } else { Ok(()) }
        };
        for threads in [1, 4] {
            let workers = Workers::new(threads).unwrap();
            let failed = workers.run_blocks((12, 1), 1, &Control::default(), fail).unwrap_err();
            assert_eq!(failed.to_string(), "block 3");
        }
    }

    #[test]
    fn pieces_have_all_blocks_in_order() {
        let workers = Workers::new(2).unwrap();
        for count in [0, 1, PIECES, PIECES + 1, 3 * PIECES] {
            let all = Blocks::new((count, 1), 1);
            let places = |piece: &Blocks| Ok(piece.iter().map(|block| block.index).collect::<Vec<_>>());
            for first in [0, count / 2] {
                let pieces = workers.run_pieces(&all.at(first..count), places).unwrap();
                assert!(pieces.len() as u64 <= PIECES);
                assert_eq!(pieces.concat(), (first..count).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn some_blocks_are_those_of_all() {
        let all = Blocks::new((950, 100), 1);
        let of = |blocks: &Blocks| blocks.iter().map(|block| (block.index, block.trials)).collect::<Vec<_>>();
        assert_eq!(of(&all.at(8..20)), [(8, 100), (9, 50)]);
        assert_eq!((all.at(8..20).count(), all.at(8..20).trials()), (2, 150));
        assert_eq!((all.at(3..5).trials(), all.at(12..20).count(), all.at(12..20).trials()), (200, 0, 0));
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

//! Trials in blocks: the unit of parallel work.
//!
//! Within a block flows run one after another over the same link, as on a testbed. A block's
//! random streams depend on the seed and its index alone, so any number of threads gives the same
//! rows, and memory stays flat however many trials there are.

use crate::{ConfigError, Control};
use lossylink_core::rng::Streams;
use rayon::prelude::*;

/// Trials in a block.
const TRIALS_PER_BLOCK: u64 = 100;

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

/// Runs `trials` in blocks on `threads` threads. Returns the finished blocks' results in order,
/// and whether some are missing because the caller lost patience.
pub(super) fn run_blocks<R: Send>(
    trials: u64,
    seed: u64,
    threads: usize,
    control: &Control,
    run: impl Fn(Block) -> Result<R, ConfigError> + Sync,
) -> Result<(Vec<R>, bool), ConfigError> {
    control.set_total(trials);
    let family = Streams::new(seed);
    let blocks = (0..trials.div_ceil(TRIALS_PER_BLOCK)).map(|index| {
        let remaining = trials - index * TRIALS_PER_BLOCK;
        Block { index, trials: TRIALS_PER_BLOCK.min(remaining), streams: family.trial(index) }
    });
    let blocks: Vec<Block> = blocks.collect();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(|error| {
        ConfigError(format!("cannot start {threads} threads: {error}; lower run.threads"))
    })?;
    let results: Result<Vec<Option<R>>, ConfigError> = pool.install(|| {
        let one = |block: &Block| {
            if control.is_cancelled() {
                return Ok(None);
            }
            let result = run(*block)?;
            control.add_done(block.trials);
            Ok(Some(result))
        };
        blocks.par_iter().map(one).collect()
    });
    let finished: Vec<R> = results?.into_iter().flatten().collect();
    let interrupted = finished.len() < blocks.len();
    Ok((finished, interrupted))
}

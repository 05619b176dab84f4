//! The residual loss of a block code by theory, and the check that a measurement agrees with it.
//!
//! Residual losses come in blocks, so a block is the unit of the statistics. The points of a link
//! are judged together, at 95 % for the family of fifteen (Šidák).

/// The codes and loss rates of the acceptance list.
pub(crate) const CODES: [(u32, u32); 5] = [(5, 1), (5, 5), (25, 1), (25, 5), (50, 5)];
pub(crate) const LOSS_RATES: [f64; 3] = [1e-2, 5e-2, 1e-1];
/// The chance that a sound point is refused: 1 - 0.95^(1/15).
const ALPHA: f64 = 3.414e-3;
/// The two-sided normal quantile of that chance.
const Z: f64 = 2.928;
/// The number of failed blocks from which on the normal interval is used; below it Poisson's upper
/// bound is used.
const ENOUGH: f64 = 20.0;

/// Returns all fifteen points.
pub(crate) fn points() -> impl Iterator<Item = (u32, u32, f64)> {
    CODES.into_iter().flat_map(|(size, rows)| LOSS_RATES.map(|p| (size, rows, p)))
}

/// A channel of two states: the chance to lose a frame in each state, and to leave that state after
/// the frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Channel {
    pub(crate) loses: [f64; 2],
    pub(crate) leaves: [f64; 2],
}

impl Channel {
    /// Returns a channel with independent losses.
    pub(crate) const fn independent(p: f64) -> Self {
        Self { loses: [p, p], leaves: [0.5, 0.5] }
    }

    /// Returns the chance to be in each state.
    fn stationary(self) -> [f64; 2] {
        let [out, back] = self.leaves;
        [back / (out + back), out / (out + back)]
    }

    /// Returns the mean loss rate.
    #[allow(dead_code, reason = "the test with real bytes has independent losses only")]
    pub(crate) fn mean(self) -> f64 {
        self.stationary()[0] * self.loses[0] + self.stationary()[1] * self.loses[1]
    }
}

/// The distribution of the lost data frames of a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockLaw {
    /// The chance that a block fails: data are lost, and more frames than the block has parity
    /// frames.
    pub(crate) fails: f64,
    mean: f64,
    variance: f64,
    size: f64,
}

impl BlockLaw {
    /// Returns the law of a block of `size` data frames and `rows` parity frames that follow each
    /// other.
    pub(crate) fn new(size: u32, rows: u32, channel: Channel) -> Self {
        let (mut fails, mut mean, mut square) = (0.0, 0.0, 0.0);
        for (lost_data, by_parity) in lost_by_kind(size as usize, rows as usize, channel).iter().enumerate() {
            for (lost_parity, weight) in by_parity.iter().enumerate() {
                if lost_data > 0 && lost_data + lost_parity > rows as usize {
                    fails += weight;
                    mean += weight * lost_data as f64;
                    square += weight * (lost_data as f64).powi(2);
                }
            }
        }
        Self { fails, mean, variance: square - mean * mean, size: f64::from(size) }
    }

    /// Returns the share of the data frames that stay lost.
    pub(crate) fn residual(&self) -> f64 {
        self.mean / self.size
    }

    /// Returns the number of blocks that show enough failures, at least `least` and at most `most`.
    pub(crate) fn blocks(&self, least: u64, most: u64) -> u64 {
        ((ENOUGH * 1.5 / self.fails).min(most as f64) as u64).max(least)
    }

    /// Whether the lost frames of each block agree with the law.
    pub(crate) fn check(&self, name: &str, lost: &[u64]) {
        let blocks = lost.len() as f64;
        let measured = lost.iter().sum::<u64>() as f64 / (blocks * self.size);
        let failed = lost.iter().filter(|&&count| count > 0).count() as u64;
        let theory = self.residual();
        println!("{name}: {measured:.3e}, theory {theory:.3e}, {failed} of {blocks} blocks failed");
        if blocks * self.fails < ENOUGH {
            let tail = poisson_tail(blocks * self.fails, failed);
            assert!(tail > ALPHA, "{name}: {failed} of {blocks} blocks failed, {:.2e} expected", self.fails);
            return;
        }
        let half_width = Z * (self.variance / blocks).sqrt() / self.size;
        assert!((measured - theory).abs() <= half_width, "{name}: {measured} +- {half_width}, not {theory}");
    }
}

/// Returns the closed form for independent losses: p * P[Bin(k + h - 1, p) >= h].
pub(crate) fn closed_form(size: u32, rows: u32, p: f64) -> f64 {
    let mut law = vec![1.0];
    for _ in 0..size + rows - 1 {
        let mut next = vec![0.0; law.len() + 1];
        for (successes, weight) in law.iter().enumerate() {
            next[successes] += weight * (1.0 - p);
            next[successes + 1] += weight * p;
        }
        law = next;
    }
    p * law[rows as usize..].iter().sum::<f64>()
}

/// Returns the chance of each number of lost data frames and of lost parity frames, in that order of
/// indices.
fn lost_by_kind(size: usize, rows: usize, channel: Channel) -> Vec<Vec<f64>> {
    let mut states = channel.stationary().map(|weight| {
        let mut table = vec![vec![0.0; rows + 1]; size + 1];
        table[0][0] = weight;
        table
    });
    for place in 0..size + rows {
        let (data, parity) = if place < size { (1, 0) } else { (0, 1) };
        let mut next = [vec![vec![0.0; rows + 1]; size + 1], vec![vec![0.0; rows + 1]; size + 1]];
        for (state, table) in states.iter().enumerate() {
            let (loses, leaves) = (channel.loses[state], channel.leaves[state]);
            for d in 0..=place.min(size) {
                for q in 0..=place.saturating_sub(size).min(rows) {
                    for (weight, to) in [(1.0 - leaves, state), (leaves, 1 - state)] {
                        let weight = table[d][q] * weight;
                        next[to][d][q] += weight * (1.0 - loses);
                        if d + data <= size && q + parity <= rows {
                            next[to][d + data][q + parity] += weight * loses;
                        }
                    }
                }
            }
        }
        states = next;
    }
    let [mut sum, other] = states;
    sum.iter_mut().flatten().zip(other.iter().flatten()).for_each(|(sum, other)| *sum += other);
    sum
}

/// Returns P[Poisson(mean) >= count].
fn poisson_tail(mean: f64, count: u64) -> f64 {
    let mut term = (-mean).exp();
    let mut below = 0.0;
    for k in 0..count {
        below += term;
        term *= mean / (k + 1) as f64;
    }
    1.0 - below
}

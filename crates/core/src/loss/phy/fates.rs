//! The fates of a group of codewords: corrected or failed, from each state of the line at its start to each state at its end.
//!
//! The chances are sums of positive terms alone: a chance of 1e-30 has as many right digits as one of 0.1. So the chance of a
//! failure is never one less the chance of a correction.

use super::any_of;
use super::code::{Code, FIRECODE_BITS, FIRECODE_BURST_BITS, ReedSolomon};
use super::line::Line;
use super::matrix::Matrix;
use crate::binomial::at_least;
use alloc::vec;
use alloc::vec::Vec;

/// The part of the chance of a failure that may be left out.
const NEGLIGIBLE: f64 = 1e-12;

/// Groups behind which the state of a line is looked for, at the most; few are needed, because a line forgets within a group.
const CLEAN_GROUPS_MAX: u32 = 4096;

/// How code symbols of a stream come to codewords and to the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// Codewords that take the symbols of the stream in turn.
    pub(super) interleaved: u32,
    /// Symbols of the stream that share the line bit by bit.
    pub(super) lanes: u32,
}

/// From state to state of the line over a group of codewords.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Fates {
    /// All codewords of the group are corrected.
    pub(super) corrected: Matrix,
    /// At least one codeword fails.
    pub(super) failed: Matrix,
    /// The chances of the states at the start of a group, in the long run.
    pub(super) start: [f64; 2],
    /// How a state is forgotten over a group: 1 at once, 0 in the limit.
    pub(super) memory: f64,
}

impl Fates {
    /// Whether the wrong symbols of all codewords of a group can be counted: errors that depend on each other have to be.
    pub(super) fn can_count(code: ReedSolomon, line: &Line, Layout { interleaved, lanes }: Layout) -> bool {
        let combinations = u64::from(code.corrects() + 1).checked_pow(interleaved);
        let stripes = u64::from(code.symbols() * interleaved / lanes) << lanes;
        let steps = combinations.and_then(|combinations| combinations.checked_mul(stripes));
        line.is_memoryless || steps.is_some_and(|steps| steps <= STEPS_MAX)
    }

    /// Returns the fates of a group of codewords of `code` on a line.
    pub(super) fn of(code: Code, line: &Line, layout: Layout) -> Self {
        let (bits, (corrected, failed)) = match code {
            Code::None => (8, line.with_and_without_error(8 / line.bits)),
            Code::Firecode => (FIRECODE_BITS, firecode(line)),
            Code::ReedSolomon(code) => {
                let bits = code.symbols() * code.symbol_bits() * layout.interleaved;
                let fates = if line.is_memoryless {
                    independent(code, line, layout)
                } else {
                    Counting { code, line, layout, counted: layout.interleaved }.fates()
                };
                (bits, fates)
            }
        };
        let memory = line.memory(f64::from(bits) / f64::from(line.bits));
        Self { corrected, failed, start: line.start, memory }
    }

    /// Returns the chances of the states behind many groups that were corrected.
    pub(super) fn clean_state(&self) -> [f64; 2] {
        let mut state = self.start;
        for _ in 0..CLEAN_GROUPS_MAX {
            let next = self.corrected.behind(state);
            let sum = next[0] + next[1];
            if sum <= 0.0 {
                break;
            }
            let next = next.map(|share| share / sum);
            let moved = libm::fabs(next[1] - state[1]);
            state = next;
            if moved <= f64::EPSILON * state[1] {
                break;
            }
        }
        state
    }

    /// Returns the chances of the states behind `groups` groups of any fate, by those before them.
    pub(super) fn after(&self, states: [f64; 2], groups: u64) -> [f64; 2] {
        let all = states[0] + states[1];
        let memory = libm::pow(self.memory, groups as f64);
        [0, 1].map(|state| self.start[state] * all + (states[state] - self.start[state] * all) * memory)
    }

    /// Returns the fates of groups that fail with the chance `often`, each on its own.
    pub(super) fn hastened(&self, often: f64) -> Self {
        let end = Matrix::of_rows(self.start);
        Self { corrected: end.scaled(1.0 - often), failed: end.scaled(often), memory: 0.0, ..*self }
    }

    /// Returns the chance that a group fails, in the long run. A sum of rounded chances may exceed one.
    pub(super) fn failure(&self) -> f64 {
        self.failed.behind(self.start).iter().sum::<f64>().min(1.0)
    }
}

/// Returns the fates of a group of independent errors. The state at the end is that of the last line symbol, and is as good as
/// independent of the group's fate: no later symbol depends on it.
fn independent(code: ReedSolomon, line: &Line, layout: Layout) -> (Matrix, Matrix) {
    let wrong = line.wrong.row_sums()[0];
    let symbol = any_of(wrong, f64::from(code.symbol_bits()) / f64::from(line.bits));
    let codeword = at_least(u64::from(code.corrects()) + 1, u64::from(code.symbols()), symbol);
    let group = any_of(codeword, layout.interleaved.into());
    let end = Matrix::of_rows(line.start);
    (end.scaled(1.0 - group), end.scaled(group))
}

/// Returns the shares of codewords with no wrong symbol, with one, and so on up to as many as the code corrects, and last the share
/// with more.
pub(super) fn wrong_symbols(code: ReedSolomon, line: &Line, layout: Layout) -> Vec<f64> {
    let (counts, failed) = Counting { code, line, layout, counted: 1 }.count();
    let share = |matrix: &Matrix| matrix.behind(line.start).iter().sum::<f64>();
    counts.shares.iter().chain([&failed]).map(share).collect()
}

/// Counts wrong symbols in the codewords of a group, symbol by symbol of the stream.
struct Counting<'a> {
    code: ReedSolomon,
    line: &'a Line,
    layout: Layout,
    /// Codewords whose wrong symbols are counted: the first ones of the group. The others never fail.
    counted: u32,
}

impl Counting<'_> {
    fn fates(&self) -> (Matrix, Matrix) {
        let (counts, failed) = self.count();
        (counts.total(), failed)
    }

    /// Returns the chances of all numbers of wrong symbols that can be corrected, and from state to state where a codeword fails.
    fn count(&self) -> (Counts, Matrix) {
        let least = if self.counted == 1 {
            0.0
        } else {
            let (_, failed) = Counting { counted: 1, ..*self }.fates();
            failed.row_sums().into_iter().fold(1.0, f64::min)
        };
        let stripes = self.code.symbols() * self.layout.interleaved / self.layout.lanes;
        let patterns = self.patterns();
        let over_stripe = patterns.iter().fold(Matrix::default(), |sum, &pattern| sum + pattern);
        let mut counts = Counts::new(self.code.corrects(), self.counted);
        let floor = NEGLIGIBLE * least / (counts.shares.len() as f64 * f64::from(stripes));
        let mut failed = Matrix::default();
        for stripe in 0..stripes {
            failed = failed * over_stripe;
            let steps = self.steps(stripe * self.layout.lanes, &patterns);
            failed += counts.advance(&steps, patterns[0], floor);
        }
        (counts, failed)
    }

    /// Returns from state to state over a stripe: the symbols that share the line bit by bit. There is a matrix for each set of
    /// wrong symbols, of which symbol i has the bit i.
    fn patterns(&self) -> Vec<Matrix> {
        let (lanes, line_bits) = (self.layout.lanes, self.line.bits);
        let mut patterns = vec![Matrix::default(); 1 << lanes];
        patterns[0] = Matrix::IDENTITY;
        for place in 0..self.code.symbol_bits() * lanes / line_bits {
            let first = 1usize << (place * line_bits % lanes);
            let second = 1usize << ((place * line_bits + line_bits - 1) % lanes);
            let [first_alone, second_alone, both] =
                if line_bits == 1 { [1.0, 0.0, 0.0] } else { self.line.bits_wrong };
            let mut next = vec![Matrix::default(); patterns.len()];
            for (set, &before) in patterns.iter().enumerate() {
                next[set] += before * self.line.right;
                let wrong = before * self.line.wrong;
                for (added, chance) in [(first, first_alone), (second, second_alone), (first | second, both)]
                {
                    next[set | added] += wrong.scaled(chance);
                }
            }
            patterns = next;
        }
        patterns
    }

    /// Returns for each set of wrong symbols but the empty one how many it adds to each counted codeword, and its matrix. Sets that
    /// add alike are one step. `first` is the place of the stripe's first symbol in the stream of the group.
    fn steps(&self, first: u32, patterns: &[Matrix]) -> Vec<Step> {
        let mut steps: Vec<Step> = Vec::new();
        for (set, &matrix) in patterns.iter().enumerate().skip(1) {
            let mut added = PerCodeword::default();
            for lane in (0..self.layout.lanes).filter(|lane| set >> lane & 1 == 1) {
                let codeword = (first + lane) % self.layout.interleaved;
                if codeword < self.counted {
                    added[codeword as usize] += 1;
                }
            }
            match steps.iter_mut().find(|step| step.added == added) {
                Some(step) => step.matrix += matrix,
                None => steps.push(Step { added, matrix }),
            }
        }
        steps
    }
}

/// The most codewords in a group.
pub(super) const CODEWORDS_MAX: usize = 4;

/// The most steps by which wrong symbols are counted, which take some seconds: four codewords of RS(544,514) with eight lanes that
/// share a line take 4.6e9.
const STEPS_MAX: u64 = 5_000_000_000;

/// A number for each codeword of a group.
type PerCodeword = [u16; CODEWORDS_MAX];

/// Wrong symbols that a stripe adds to each counted codeword, and the chances from state to state.
struct Step {
    added: PerCodeword,
    matrix: Matrix,
}

/// The chances of all numbers of wrong symbols in the counted codewords, as long as all can be corrected.
struct Counts {
    /// The wrong symbols of each codeword, for each combination. The first codeword's count moves slowest.
    combinations: Vec<PerCodeword>,
    /// A matrix for each combination.
    shares: Vec<Matrix>,
    corrects: u16,
    /// How far apart two combinations are that differ by one wrong symbol of a codeword.
    distances: [usize; CODEWORDS_MAX],
}

impl Counts {
    fn new(corrects: u32, counted: u32) -> Self {
        let (base, counted) = (corrects as usize + 1, counted as usize);
        let mut distances = [0; CODEWORDS_MAX];
        for (codeword, distance) in distances.iter_mut().take(counted).enumerate() {
            *distance = base.pow((counted - 1 - codeword) as u32);
        }
        let digits = |place: usize| {
            distances.map(|distance| place.checked_div(distance).map_or(0, |n| (n % base) as u16))
        };
        let combinations: Vec<PerCodeword> = (0..base.pow(counted as u32)).map(digits).collect();
        let mut shares = vec![Matrix::default(); combinations.len()];
        shares[0] = Matrix::IDENTITY;
        Self { combinations, shares, corrects: corrects as u16, distances }
    }

    /// Takes a stripe into account; `clean` is its matrix without a wrong symbol. Returns what fails in the stripe. Combinations with
    /// smaller chances than `floor` are left out.
    fn advance(&mut self, steps: &[Step], mut clean: Matrix, floor: f64) -> Matrix {
        let mut moves: Vec<(PerCodeword, usize, Matrix)> = Vec::with_capacity(steps.len());
        for Step { added, matrix } in steps {
            let moved =
                added.iter().zip(self.distances).map(|(&n, distance)| usize::from(n) * distance).sum();
            if moved == 0 { clean += *matrix } else { moves.push((*added, moved, *matrix)) }
        }
        let mut failed = Matrix::default();
        // Counts only grow. So a place that a combination moves to has been taken into account before.
        for place in (0..self.shares.len()).rev() {
            let before = self.shares[place];
            if before.largest() <= floor {
                continue;
            }
            let counts = self.combinations[place];
            self.shares[place] = before * clean;
            for &(added, moved, matrix) in &moves {
                let fits =
                    (0..CODEWORDS_MAX).all(|codeword| counts[codeword] + added[codeword] <= self.corrects);
                let after = before * matrix;
                if fits { self.shares[place + moved] += after } else { failed += after }
            }
        }
        failed
    }

    fn total(&self) -> Matrix {
        self.shares.iter().fold(Matrix::default(), |sum, &share| sum + share)
    }
}

/// Returns the fates of a codeword of the Firecode: it fails if its wrong bits do not lie within the burst that it corrects.
fn firecode(line: &Line) -> (Matrix, Matrix) {
    let over = line.right + line.wrong;
    // The chances before any wrong bit, behind the burst that can be corrected, and at each distance from the first wrong bit.
    let (mut clean, mut behind, mut failed) = (Matrix::IDENTITY, Matrix::default(), Matrix::default());
    let mut within = [Matrix::default(); FIRECODE_BURST_BITS as usize];
    for _ in 0..FIRECODE_BITS {
        failed = failed * over + behind * line.wrong;
        // The bit behind the last place of the burst must be right.
        let last = within[FIRECODE_BURST_BITS as usize - 1];
        failed += last * line.wrong;
        behind = (behind + last) * line.right;
        for place in (1..within.len()).rev() {
            within[place] = within[place - 1] * over;
        }
        within[0] = clean * line.wrong;
        clean = clean * line.right;
    }
    let corrected = within.iter().fold(clean + behind, |sum, &share| sum + share);
    (corrected, failed)
}

//! A line bit by bit, with its code: the slow model, which knows nothing of the crate but its settings.
//!
//! Each line symbol is drawn, each wrong bit is carried to its code symbol, and each codeword counts its wrong symbols.

use lossylink_core::loss::{Code, PhySettings};
use lossylink_core::rng::{Stream, uniform};

/// The chance that a line symbol is wrong, behind a right one and behind a wrong one.
#[derive(Clone, Copy, Debug)]
pub struct Chain {
    pub behind: [f64; 2],
    /// The share of wrong line symbols before precoding is undone.
    pub wrong: f64,
}

impl Chain {
    fn with_fresh(fresh: f64, repeat: f64) -> Self {
        let again = repeat + (1.0 - repeat) * fresh;
        Self { behind: [fresh, again], wrong: fresh / (fresh + 1.0 - again) }
    }

    /// Returns the share of line symbols that the decoder finds wrong: those in the state, or those at which the state changes.
    fn found(self, is_precoded: bool) -> f64 {
        if is_precoded { 2.0 * (1.0 - self.wrong) * self.behind[0] } else { self.wrong }
    }

    /// Returns the chain of which the decoder finds as many wrong symbols as `settings` says.
    ///
    /// The share rises with the chance of fresh errors; with precoding, up to its largest value, where the search has to end.
    pub fn of(settings: &PhySettings) -> Self {
        let PhySettings { bit_error_ratio, repeat, is_precoded, line_bits, .. } = *settings;
        let found = 1.0 - (1.0 - bit_error_ratio).powi(line_bits as i32);
        let share = |fresh: f64| Self::with_fresh(fresh, repeat).found(is_precoded);
        let (mut low, mut high) = (0.0, 1.0);
        if is_precoded {
            for _ in 0..200 {
                let (left, right) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
                if share(left) < share(right) { low = left } else { high = right }
            }
            low = 0.0;
        }
        for _ in 0..200 {
            let middle = f64::midpoint(low, high);
            if share(middle) < found { low = middle } else { high = middle }
        }
        Self::with_fresh(low, repeat)
    }
}

/// Where the bits of a group of codewords go.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    pub symbols: usize,
    pub symbol_bits: usize,
    pub corrects: usize,
    pub interleaved: usize,
    pub lanes: usize,
}

impl Layout {
    pub fn of(settings: &PhySettings) -> Option<Self> {
        let Code::ReedSolomon(code) = settings.code else { return None };
        Some(Self {
            symbols: code.symbols() as usize,
            symbol_bits: code.symbol_bits() as usize,
            corrects: code.corrects() as usize,
            interleaved: settings.interleaved as usize,
            lanes: settings.lanes as usize,
        })
    }

    pub fn bits(&self) -> usize {
        self.symbols * self.interleaved * self.symbol_bits
    }

    /// Returns the code symbol of a bit of the line: of each `lanes` symbols the bits go out in turn.
    pub fn symbol_of(&self, bit: usize) -> usize {
        let bits_of_lanes = self.lanes * self.symbol_bits;
        bit / bits_of_lanes * self.lanes + bit % bits_of_lanes % self.lanes
    }

    /// Whether any codeword has more wrong symbols than it corrects.
    pub fn fails(&self, wrong_bits: impl Iterator<Item = usize>) -> bool {
        let mut wrong: Vec<usize> = wrong_bits.map(|bit| self.symbol_of(bit)).collect();
        wrong.sort_unstable();
        wrong.dedup();
        (0..self.interleaved).any(|word| {
            wrong.iter().filter(|&symbol| symbol % self.interleaved == word).count() > self.corrects
        })
    }
}

/// The octets of the stream of frames in a group, as a fraction. Every 257 message bits carry 32 octets.
pub fn group_octets(settings: &PhySettings) -> (u64, u64) {
    match settings.code {
        Code::None => (1, 1),
        Code::Firecode => (256, 1),
        Code::ReedSolomon(code) => {
            // The code does not tell its message symbols; its numbers do, and so do the names of the common codes.
            let message = match settings.code {
                Code::RS528 | Code::RS544 => 514,
                Code::RS272 => 257,
                _ => {
                    settings.code.to_string().split('/').nth(1).and_then(|k| k.parse().ok()).expect("rsN/K/m")
                }
            };
            (message * u64::from(code.symbol_bits()) * u64::from(settings.interleaved) * 32, 257)
        }
    }
}

/// A running line.
pub struct Line {
    settings: PhySettings,
    chain: Chain,
    layout: Option<Layout>,
    is_wrong: bool,
    rng: Stream,
    wrong_bits: Vec<usize>,
}

impl Line {
    pub fn new(settings: PhySettings, mut rng: Stream) -> Self {
        let chain = Chain::of(&settings);
        let is_wrong = uniform(&mut rng) < chain.wrong;
        Self { settings, chain, layout: Layout::of(&settings), is_wrong, rng, wrong_bits: Vec::new() }
    }

    /// Sends a line symbol, and notes which of its bits, the first of which is `bit`, the decoder finds wrong.
    #[inline]
    fn send_symbol(&mut self, bit: usize) {
        let was_wrong = self.is_wrong;
        self.is_wrong = uniform(&mut self.rng) < self.chain.behind[usize::from(was_wrong)];
        let is_found = if self.settings.is_precoded { self.is_wrong != was_wrong } else { self.is_wrong };
        if is_found {
            self.break_bits(bit);
        }
    }

    /// Of a wrong line symbol each bit is wrong on its own, given that one is.
    fn break_bits(&mut self, bit: usize) {
        let before = self.wrong_bits.len();
        while self.wrong_bits.len() == before {
            for place in 0..self.settings.line_bits as usize {
                if self.settings.line_bits == 1 || uniform(&mut self.rng) < self.settings.bit_error_ratio {
                    self.wrong_bits.push(bit + place);
                }
            }
        }
    }

    /// Sends a group of codewords, and returns whether one of them fails.
    pub fn group_fails(&mut self) -> bool {
        self.wrong_bits.clear();
        let bits = match self.settings.code {
            Code::None => 8,
            Code::Firecode => 2112,
            Code::ReedSolomon(_) => self.layout.expect("a code of symbols").bits(),
        };
        for bit in (0..bits).step_by(self.settings.line_bits as usize) {
            self.send_symbol(bit);
        }
        match (self.settings.code, self.wrong_bits.as_slice()) {
            (_, []) => false,
            (Code::None, _) => true,
            (Code::Firecode, [first, .., last]) => last - first + 1 > 11,
            (Code::Firecode, [_]) => false,
            (Code::ReedSolomon(_), wrong) => {
                self.layout.expect("a code of symbols").fails(wrong.iter().copied())
            }
        }
    }
}

//! Losses that come from below the frame: a line with bit errors, and the code that corrects most of them.
//!
//! The line carries a continuous stream of codewords. Preambles, gaps and idle time have their place in codewords as frames do. A
//! codeword with more errors than its code corrects fails, and is marked. Each frame with an octet in a failed codeword is lost
//! (IEEE 802.3 clauses 74, 91, 108, 119), so small frames die with their neighbours. Where codewords take the symbols of the stream
//! in turn, a frame lies in all codewords of such a group, and is lost with any of them.
//!
//! Left out: the 64b/66b blocks at whose borders frames begin, the octets of alignment markers, and the scrambler, which repeats an
//! error of a line without a code 39 and 58 bits later.

mod code;
mod crossing;
mod failures;
mod fates;
mod law;
mod line;
mod matrix;
#[cfg(test)]
mod tests;

pub use code::{Code, ReedSolomon};
pub use law::LineLaw;

pub(super) use crossing::{Crossing, LastGroup, sum};
pub(super) use failures::Failures;

use super::error::LossError;
use alloc::vec::Vec;
use fates::{CODEWORDS_MAX, Fates, Layout};
use line::Line;
use serde::Deserialize;

/// Octets of the preamble and the start delimiter. A frame is lost with a wrong one of them, too.
pub(super) const PREAMBLE_OCTETS: u64 = 8;
/// The most lanes of the code that share a line bit by bit.
const LANES_MAX: u32 = 8;

/// The bit errors of a line, and its code.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PhySettings {
    /// The code.
    pub code: Code,
    /// The share of wrong bits that the decoder finds (pre-FEC bit error ratio), from 0 to 0.5.
    #[serde(rename = "ber")]
    pub bit_error_ratio: f64,
    /// Codewords that take the symbols of the stream in turn: 1, 2 or 4.
    #[serde(rename = "interleave")]
    pub interleaved: u32,
    /// The chance with which an error makes the next line symbol wrong.
    #[serde(rename = "burst")]
    pub repeat: f64,
    /// Whether the line is precoded with 1 / (1 + D).
    #[serde(rename = "precoding")]
    pub is_precoded: bool,
    /// Lanes of the code that share the line bit by bit: 1, 2, 4 or 8.
    pub lanes: u32,
    /// Bits of a line symbol: 1 (NRZ) or 2 (PAM4).
    pub line_bits: u32,
}

impl PhySettings {
    /// Returns the errors of the line before its code.
    fn line(&self) -> Result<Line, LossError> {
        Line::new(self.bit_error_ratio, self.repeat, self.is_precoded, self.line_bits)
    }
}

/// A line with its code, as a process of groups of codewords that fail.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(try_from = "PhySettings")]
pub struct Phy {
    settings: PhySettings,
    fates: Fates,
    /// Octets of the stream of frames in a group, as a fraction.
    group_octets: (u64, u64),
}

impl TryFrom<PhySettings> for Phy {
    type Error = LossError;

    fn try_from(settings: PhySettings) -> Result<Self, LossError> {
        Self::new(settings)
    }
}

impl Phy {
    /// Returns the line with these settings.
    ///
    /// # Errors
    /// If a setting lies outside of its range, or two do not go together.
    pub fn new(settings: PhySettings) -> Result<Self, LossError> {
        let PhySettings { code, interleaved, lanes, line_bits, .. } = settings;
        if !(interleaved.is_power_of_two() && interleaved as usize <= CODEWORDS_MAX) {
            return Err(LossError::NoInterleaving(interleaved));
        }
        if !(lanes.is_power_of_two() && lanes <= LANES_MAX) {
            return Err(LossError::NoLanes { lanes, most: LANES_MAX });
        }
        let line = settings.line()?;
        let layout = Layout { interleaved, lanes };
        match code {
            Code::ReedSolomon(rs) => check_symbols(rs, &line, layout)?,
            Code::None | Code::Firecode if interleaved != 1 || lanes != 1 => {
                return Err(LossError::NothingToInterleave);
            }
            Code::Firecode if line_bits != 1 => return Err(LossError::FirecodeIsNrz),
            Code::None | Code::Firecode => {}
        }
        let (octets, part) = code.message_octets();
        Ok(Self {
            settings,
            fates: Fates::of(code, &line, layout),
            group_octets: (octets * u64::from(interleaved), part),
        })
    }

    /// Returns the settings.
    pub const fn settings(&self) -> &PhySettings {
        &self.settings
    }

    /// Returns the shares of codewords with no wrong symbol, with one, and so on up to as many as the code corrects, and last the
    /// share with more. `None` if the code has no symbols.
    pub fn wrong_symbols(&self) -> Option<Vec<f64>> {
        let Code::ReedSolomon(code) = self.settings.code else { return None };
        let line = self.settings.line().expect("the line has been built with these settings");
        let layout = Layout { interleaved: self.settings.interleaved, lanes: self.settings.lanes };
        Some(fates::wrong_symbols(code, &line, layout))
    }

    /// Returns the share of groups of codewords that fail, in the long run.
    pub fn group_failure_ratio(&self) -> f64 {
        self.fates.failure()
    }

    /// Returns the chances of the line's states in the long run.
    pub(super) const fn start(&self) -> [f64; 2] {
        self.fates.start
    }

    /// Returns the chances of the line's states behind many groups that were corrected.
    pub(super) fn clean_state(&self) -> [f64; 2] {
        self.fates.clean_state()
    }

    /// Returns the chances of the line's states behind a group that is corrected, and behind one that fails, by those before it.
    pub(super) fn over_group(&self, states: [f64; 2]) -> ([f64; 2], [f64; 2]) {
        (self.fates.corrected.behind(states), self.fates.failed.behind(states))
    }

    /// Returns the chances of the line's states behind `groups` groups of any fate, by those before them.
    pub(super) fn after(&self, states: [f64; 2], groups: u64) -> [f64; 2] {
        self.fates.after(states, groups)
    }

    /// Returns a line whose groups fail with the chance `often`, each on its own.
    pub(super) fn hastened(&self, often: f64) -> Self {
        Self { fates: self.fates.hastened(often), ..*self }
    }

    /// Returns the octets of the stream of frames in a group of codewords.
    pub fn group_octets(&self) -> f64 {
        self.group_octets.0 as f64 / self.group_octets.1 as f64
    }

    /// Returns the share of frames of `frame_bytes` (FCS included) that are lost in the long run. A frame begins anywhere in a
    /// group.
    pub fn mean_loss_rate(&self, frame_bytes: u32) -> f64 {
        let beyond_first = (u64::from(frame_bytes) + PREAMBLE_OCTETS - 1) as f64 / self.group_octets();
        let (whole, part) = (libm::floor(beyond_first), beyond_first - libm::floor(beyond_first));
        let any_failure = |groups| self.fates.any_failure(groups);
        let touched = whole as u64 + 1;
        let more = if part == 0.0 { 0.0 } else { part * any_failure(touched + 1) };
        // A sum of rounded chances may exceed one.
        ((1.0 - part) * any_failure(touched) + more).min(1.0)
    }

    /// Returns the law for frames of `frame_bytes` (FCS included) on a busy line.
    pub(super) const fn law(&self, frame_bytes: u32) -> LineLaw {
        LineLaw::new(*self, frame_bytes)
    }

    /// Returns the group of an octet of the stream.
    fn group_of(&self, octet: u64) -> u64 {
        let (octets, part) = self.group_octets;
        (((u128::from(octet) + 1) * u128::from(part) - 1) / u128::from(octets)) as u64
    }
}

/// The groups that a frame touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) first: u64,
    pub(super) last: u64,
}

/// Checks that the symbols of a code fill the lanes and the line symbols, and can be counted.
fn check_symbols(code: ReedSolomon, line: &Line, layout: Layout) -> Result<(), LossError> {
    let Layout { interleaved, lanes } = layout;
    let is_whole = (code.symbols() * interleaved).is_multiple_of(lanes)
        && (code.symbol_bits() * lanes).is_multiple_of(line.bits);
    if !is_whole {
        Err(LossError::UnevenLanes { lanes, line_bits: line.bits })
    } else if Fates::can_count(code, line, layout) {
        Ok(())
    } else {
        Err(LossError::TooManyToCount(code.corrects()))
    }
}

/// Returns the chance that any of `count` independent events happens, where `count` may be a part of one.
fn any_of(chance: f64, count: f64) -> f64 {
    -libm::expm1(count * libm::log1p(-chance))
}

impl Fates {
    /// Returns the chance that any of `groups` groups in a row fails.
    fn any_failure(&self, groups: u64) -> f64 {
        let [[from_right, _], [from_wrong, _]] = self.corrected.0;
        if from_right == from_wrong {
            return if self.failure() >= 1.0 { 1.0 } else { any_of(self.failure(), groups as f64) };
        }
        let (mut state, mut any) = (self.start, 0.0);
        for _ in 0..groups {
            any += self.failed.behind(state).iter().sum::<f64>();
            state = self.corrected.behind(state);
        }
        any
    }
}

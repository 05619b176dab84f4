//! The errors of loss models: one line each, with the remedy.

use crate::probability::Probability;
use alloc::string::String;
use serde::de::{Deserialize, Deserializer, Error as _};
use thiserror::Error;

/// An invalid loss model, and how to write a valid one.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum LossError {
    /// A number outside [0, 1], or not a number.
    #[error("{name} {value} is not a probability: write a number from 0 to 1")]
    NotAProbability {
        /// Name of the chance.
        name: &'static str,
        /// The number given for the chance.
        value: f64,
    },
    /// A positive chance that integer comparison with 64 bits would distort.
    #[error("{name} {value:e} is too small to draw: write 0 or at least {FINEST:e}")]
    TooSmall {
        /// Name of the chance.
        name: &'static str,
        /// The number given for the chance.
        value: f64,
    },
    /// A positive chance that a 20-bit draw rounds down to never.
    #[error("loss rate {0:e} is below 2^-20, all that a 20-bit draw resolves: write bernoulli:{0:e}")]
    BelowQuantum(f64),
    /// A chain that never leaves the state in which it starts.
    #[error("p and r are both 0, so the chain never changes state: use a plain loss rate instead")]
    ChainNeverMoves,
    /// Bursts of less than a frame.
    #[error("a burst lasts at least 1 frame, not {0}")]
    ShortBurst(f64),
    /// Bursts that are too short for a mean.
    #[error("bursts this short cannot reach that mean; make them longer")]
    RareBursts,
    /// A chain without some of its numbers.
    #[error("a chain has either p, r, loss_good and loss_bad, or mean and burst: write one of both")]
    HalfAChain,
    /// The name of no code.
    #[error("'{0}' is no code: write none, firecode, rs528, rs544, rs272, or rsN/K/m such as rs544/514/10")]
    UnknownCode(String),
    /// Numbers of no Reed-Solomon code.
    #[error(
        "rs{symbols}/{message_symbols}/{symbol_bits} is no code: write fewer message symbols than symbols, fewer symbols than \
         2^bits, and 2 to 12 bits"
    )]
    ImpossibleCode {
        /// Symbols of a codeword.
        symbols: u32,
        /// Symbols that carry frames.
        message_symbols: u32,
        /// Bits of a symbol.
        symbol_bits: u32,
    },
    /// A share of wrong bits that no line has.
    #[error("a bit error ratio of {0:e} is impossible: write a number from 0 to 0.5")]
    NoBitErrorRatio(f64),
    /// More errors than a precoded line has.
    #[error(
        "a precoded line with these bursts has less than {0:e} of its bits wrong: write a smaller ber, or precoding=off"
    )]
    TooManyForPrecoding(f64),
    /// A chance of an error that repeats, outside of its range.
    #[error("burst {repeat} is out of range: write the chance that an error repeats, from 0 to {most}")]
    NoRepeat {
        /// The chance that was given.
        repeat: f64,
        /// The highest chance.
        most: f64,
    },
    /// A number of codewords in a group that no line has.
    #[error("interleave {0} is out of range: write 1, 2 or 4 codewords")]
    NoInterleaving(u32),
    /// A number of lanes that share a line.
    #[error("lanes {lanes} is out of range: write 1, 2, 4 or {most} lanes that share the line bit by bit")]
    NoLanes {
        /// The number that was given.
        lanes: u32,
        /// The largest number.
        most: u32,
    },
    /// A line symbol with a number of bits that no modulation has.
    #[error("a line symbol of {0} bits is unknown: write modulation=nrz or modulation=pam4")]
    NoLineSymbol(u32),
    /// A code whose symbols do not fill the lanes, or the line symbols.
    #[error(
        "this code's symbols do not fill lanes={lanes} with line symbols of {line_bits} bits: write another number of lanes, or modulation=nrz"
    )]
    UnevenLanes {
        /// Lanes that share the line.
        lanes: u32,
        /// Bits of a line symbol.
        line_bits: u32,
    },
    /// Errors that depend on each other, in codewords that correct too many of them.
    #[error(
        "bursts in interleaved codewords that correct {0} symbols each are too many to count: write interleave=1, or burst=0 and \
         precoding=off"
    )]
    TooManyToCount(u32),
    /// Interleaving without codewords of symbols.
    #[error(
        "only Reed-Solomon codes are interleaved, and share a line by lanes: write interleave=1 and lanes=1"
    )]
    NothingToInterleave,
    /// The Firecode on a line that does not use it.
    #[error("the Firecode runs on NRZ lines: write modulation=nrz, or another code")]
    FirecodeIsNrz,
    /// A mean length of zero for a state of a link.
    #[error(
        "a burst and the time between two of them last at least 1 ps each: write longer ones, or a plain loss rate"
    )]
    NoTime,
    /// A list of positions without a position.
    #[error("no position: write at least one, such as at:17,18")]
    NoPositions,
    /// A position that occurs twice.
    #[error("position {0} is given twice: a frame is lost once")]
    RepeatedPosition(u64),
    /// A trace without a frame.
    #[error("the trace is empty: record at least one frame")]
    EmptyTrace,
}

/// The smallest positive chance that is drawn: a 64-bit threshold represents it to better than 0.1
/// %.
const FINEST: f64 = 1e-16;

/// Returns the number `value` of the chance `name` as a probability.
pub(super) fn chance(name: &'static str, value: f64) -> Result<Probability, LossError> {
    let chance = Probability::new(value).ok_or(LossError::NotAProbability { name, value })?;
    if value > 0.0 && value < FINEST {
        return Err(LossError::TooSmall { name, value });
    }
    Ok(chance)
}

/// Reads the chance `name` as a number.
pub(super) fn read_chance<'de, D: Deserializer<'de>>(
    name: &'static str,
    json: D,
) -> Result<Probability, D::Error> {
    chance(name, f64::deserialize(json)?).map_err(D::Error::custom)
}

//! The errors of loss models: one line each, with the remedy.

use crate::probability::Probability;
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

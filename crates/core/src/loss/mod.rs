//! The processes by which a link corrupts frames.
//!
//! A [`LossModel`] is the law of the losses on one direction of a link. A [`LossProcess`] is that law
//! running on a random stream of its own. Corruption is the only loss here: a queue that overflows
//! belongs to the switch that owns the queue.

mod error;
mod fades;
mod foresight;
mod gilbert_elliott;
mod law;
mod phy;
mod positions;
mod process;
mod quantised;
mod run;
mod steered;
#[cfg(test)]
mod tests;

pub use error::LossError;
pub use fades::Fades;
pub use gilbert_elliott::{GilbertElliott, burst_chances};
pub use law::LossLaw;
pub use phy::{Code, LineLaw, Phy, PhySettings, ReedSolomon};
pub use positions::Positions;
pub use process::LossProcess;
pub use quantised::Quantised;
pub use steered::{Aim, Bursts, Stake, Steered, Target};

use crate::probability::Probability;
use crate::time::Duration;
use alloc::boxed::Box;
use alloc::vec::Vec;
use error::{chance, read_chance};
use serde::{Deserialize, Deserializer};

/// The frames that one direction of a link corrupts.
///
/// In JSON the key `model` names the variant, and its parameters stand beside it. Parameters are checked when they are read, as
/// the constructors check theirs, so that a model can only hold checked values.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(tag = "model", rename_all = "kebab-case", deny_unknown_fields)]
pub enum LossModel {
    /// A clean link.
    #[default]
    None,
    /// Every frame is lost with the same chance, independently.
    Bernoulli {
        /// Chance of a loss.
        #[serde(deserialize_with = "read_loss_rate")]
        p: Probability,
    },
    /// Independent losses with the chance rounded down to a multiple of 2^-20, as a switch draws them.
    Quantised {
        /// Chance of a loss; in JSON before it is rounded down.
        p: Quantised,
    },
    /// Every *bit* is flipped with the same chance: long frames are lost more often.
    BitErrorRate {
        /// Chance of an error in a bit.
        #[serde(deserialize_with = "read_bit_error_rate")]
        ber: Probability,
    },
    /// Bursts: a two-state Markov chain that steps once a frame.
    GilbertElliott(GilbertElliott),
    /// Bursts that last a time, whether frames pass or not.
    Fades(Fades),
    /// A line with bit errors, and the code that corrects most of them.
    Phy(Box<Phy>),
    /// Exactly the frames at these positions, counted from zero.
    At {
        /// Positions of the lost frames, in JSON in any order.
        #[serde(deserialize_with = "positions::read_list")]
        positions: Positions,
    },
    /// A recorded sequence of losses that repeats when it is exhausted.
    Trace {
        /// Positions of the lost frames; in JSON a flag for each frame of the sequence.
        #[serde(deserialize_with = "positions::read_trace")]
        lost: Positions,
    },
}

impl LossModel {
    /// Returns independent losses of chance `p` a frame.
    ///
    /// # Errors
    /// If `p` is no probability, or too small to draw faithfully.
    pub fn bernoulli(p: f64) -> Result<Self, LossError> {
        chance(LOSS_RATE, p).map(|p| Self::Bernoulli { p })
    }

    /// Returns independent losses of chance floor(`p` * 2^20) / 2^20 a frame, as LinkGuardian's
    /// artifact draws them.
    ///
    /// # Errors
    /// If `p` is no probability, or positive and below 2^-20.
    pub fn quantised(p: f64) -> Result<Self, LossError> {
        Quantised::new(p).map(|p| Self::Quantised { p })
    }

    /// Returns independent bit errors of chance `ber` a bit.
    ///
    /// # Errors
    /// If `ber` is no probability, or too small to draw faithfully.
    pub fn bit_error_rate(ber: f64) -> Result<Self, LossError> {
        chance(BIT_ERROR_RATE, ber).map(|ber| Self::BitErrorRate { ber })
    }

    /// Returns the Gilbert-Elliott chain: good to bad with chance `p` a frame, back with chance `r`;
    /// frames are lost with chance `loss_good` in the good state and `loss_bad` in the bad one.
    ///
    /// # Errors
    /// If an argument is no probability, or `p` and `r` are both zero.
    pub fn gilbert_elliott(p: f64, r: f64, loss_good: f64, loss_bad: f64) -> Result<Self, LossError> {
        GilbertElliott::new(p, r, loss_good, loss_bad).map(Self::GilbertElliott)
    }

    /// Returns fades of this mean length, with this mean time between them; a frame that begins in a
    /// fade is lost.
    ///
    /// # Errors
    /// If a fade, or the time between two fades, takes no time.
    pub fn fades(clear: Duration, fade: Duration) -> Result<Self, LossError> {
        Fades::new(clear, fade).map(Self::Fades)
    }

    /// Returns the losses of a line with these bit errors and this code.
    ///
    /// # Errors
    /// If a setting lies outside of its range, or two do not go together.
    pub fn phy(settings: PhySettings) -> Result<Self, LossError> {
        Phy::new(settings).map(|phy| Self::Phy(Box::new(phy)))
    }

    /// Returns losses of exactly the frames at `positions`, counted from zero, in any order of writing.
    ///
    /// # Errors
    /// If there is no position, or one is given twice.
    pub fn at(positions: Vec<u64>) -> Result<Self, LossError> {
        Positions::at(positions).map(|positions| Self::At { positions })
    }

    /// Returns losses that repeat the recorded sequence `lost`, one flag a frame.
    ///
    /// # Errors
    /// If the sequence is empty.
    pub fn trace(lost: &[bool]) -> Result<Self, LossError> {
        Positions::trace(lost).map(|lost| Self::Trace { lost })
    }

    /// Whether the link is clean, and no loss is drawn: without a model, at a loss rate of zero, and on a line without bit errors.
    pub fn is_clean(&self) -> bool {
        match self {
            Self::None => true,
            Self::Bernoulli { p } => p.is_never(),
            Self::Phy(phy) => phy.settings().bit_error_ratio == 0.0,
            _ => false,
        }
    }

    /// Whether the loss of a frame depends on its length.
    pub const fn depends_on_length(&self) -> bool {
        matches!(self, Self::BitErrorRate { .. } | Self::Phy(_))
    }

    /// Returns the share of frames of `frame_bytes` (FCS included) that this link loses in the long
    /// run.
    ///
    /// A finite list of positions loses nothing in the long run.
    pub fn mean_loss_rate(&self, frame_bytes: u32) -> f64 {
        match self {
            Self::None | Self::At { .. } => 0.0,
            Self::Bernoulli { p } => p.as_f64(),
            Self::Quantised { p } => p.probability().as_f64(),
            Self::BitErrorRate { ber } => any_of(u64::from(frame_bytes) * BITS_PER_BYTE, *ber),
            Self::GilbertElliott(chain) => chain.mean_loss_rate(),
            Self::Fades(fades) => fades.mean_loss_rate(),
            Self::Phy(phy) => phy.mean_loss_rate(frame_bytes),
            Self::Trace { lost } => lost.mean_loss_rate(),
        }
    }
}

/// Bits in a byte of a frame.
const BITS_PER_BYTE: u64 = 8;
/// The names of chances in errors.
const LOSS_RATE: &str = "loss rate";
const BIT_ERROR_RATE: &str = "bit error rate";

fn read_loss_rate<'de, D: Deserializer<'de>>(json: D) -> Result<Probability, D::Error> {
    read_chance(LOSS_RATE, json)
}

fn read_bit_error_rate<'de, D: Deserializer<'de>>(json: D) -> Result<Probability, D::Error> {
    read_chance(BIT_ERROR_RATE, json)
}

/// Returns the chance that at least one of `trials` independent events of chance `p` happens.
fn any_of(trials: u64, p: Probability) -> f64 {
    if p.is_always() {
        return if trials > 0 { 1.0 } else { 0.0 };
    }
    -libm::expm1(trials as f64 * libm::log1p(-p.as_f64()))
}

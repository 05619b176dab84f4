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
mod spec;
mod steered;

pub use error::LossError;
pub use fades::Fades;
pub use gilbert_elliott::GilbertElliott;
pub use law::LossLaw;
pub use phy::{Code, LineLaw, Phy, PhySettings, ReedSolomon};
pub use positions::Positions;
pub use process::LossProcess;
pub use quantised::Quantised;
pub use spec::LossSpec;
pub use steered::{Aim, Bursts, Stake, Steered, Target};

use crate::probability::Probability;
use crate::time::Duration;
use alloc::boxed::Box;
use alloc::vec::Vec;
use error::chance;

/// The frames that one direction of a link corrupts.
///
/// The constructors check their arguments, and every payload can only hold checked values. A
/// [`LossSpec`] is the form of a model in JSON.
#[derive(Clone, Debug, PartialEq)]
pub enum LossModel {
    /// A clean link.
    None,
    /// Every frame is lost with the same chance, independently.
    Bernoulli(Probability),
    /// Independent losses with the chance rounded down to a multiple of 2^-20, as a switch draws them.
    Quantised(Quantised),
    /// Every *bit* is flipped with the same chance: long frames are lost more often.
    BitErrorRate(Probability),
    /// Bursts: a two-state Markov chain that steps once a frame.
    GilbertElliott(GilbertElliott),
    /// Bursts that last a time, whether frames pass or not.
    Fades(Fades),
    /// A line with bit errors, and the code that corrects most of them.
    Phy(Box<Phy>),
    /// Exactly the frames at these positions, counted from zero.
    At(Positions),
    /// A recorded sequence of losses that repeats when it is exhausted.
    Trace(Positions),
}

impl LossModel {
    /// Returns independent losses of chance `p` a frame; zero gives a clean link.
    ///
    /// # Errors
    /// If `p` is no probability, or too small to draw faithfully.
    pub fn bernoulli(p: f64) -> Result<Self, LossError> {
        let p = chance("loss rate", p)?;
        Ok(if p.is_never() { Self::None } else { Self::Bernoulli(p) })
    }

    /// Returns independent losses of chance floor(`p` * 2^20) / 2^20 a frame, as LinkGuardian's
    /// artifact draws them.
    ///
    /// # Errors
    /// If `p` is no probability, or positive and below 2^-20.
    pub fn quantised(p: f64) -> Result<Self, LossError> {
        Quantised::new(p).map(Self::Quantised)
    }

    /// Returns independent bit errors of chance `ber` a bit.
    ///
    /// # Errors
    /// If `ber` is no probability, or too small to draw faithfully.
    pub fn bit_error_rate(ber: f64) -> Result<Self, LossError> {
        chance("bit error rate", ber).map(Self::BitErrorRate)
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

    /// Returns the losses of a line with these bit errors and this code; a line without bit errors is clean.
    ///
    /// # Errors
    /// If a setting lies outside of its range, or two do not go together.
    pub fn phy(settings: PhySettings) -> Result<Self, LossError> {
        let phy = Phy::new(settings)?;
        Ok(if settings.bit_error_ratio == 0.0 { Self::None } else { Self::Phy(Box::new(phy)) })
    }

    /// Returns losses of exactly the frames at `positions`, counted from zero, in any order of writing.
    ///
    /// # Errors
    /// If there is no position, or one is given twice.
    pub fn at(positions: Vec<u64>) -> Result<Self, LossError> {
        Positions::at(positions).map(Self::At)
    }

    /// Returns losses that repeat the recorded sequence `lost`, one flag a frame.
    ///
    /// # Errors
    /// If the sequence is empty.
    pub fn trace(lost: &[bool]) -> Result<Self, LossError> {
        Positions::trace(lost).map(Self::Trace)
    }

    /// Returns the share of frames of `frame_bytes` (FCS included) that this link loses in the long
    /// run.
    ///
    /// A finite list of positions loses nothing in the long run.
    pub fn mean_loss_rate(&self, frame_bytes: u32) -> f64 {
        match self {
            Self::None | Self::At(_) => 0.0,
            Self::Bernoulli(p) => p.as_f64(),
            Self::Quantised(quantised) => quantised.probability().as_f64(),
            Self::BitErrorRate(ber) => any_of(u64::from(frame_bytes) * BITS_PER_BYTE, *ber),
            Self::GilbertElliott(chain) => chain.mean_loss_rate(),
            Self::Fades(fades) => fades.mean_loss_rate(),
            Self::Phy(phy) => phy.mean_loss_rate(frame_bytes),
            Self::Trace(positions) => positions.mean_loss_rate(),
        }
    }
}

/// Bits in a byte of a frame.
const BITS_PER_BYTE: u64 = 8;

/// Returns the chance that at least one of `trials` independent events of chance `p` happens.
fn any_of(trials: u64, p: Probability) -> f64 {
    if p.is_always() {
        return if trials > 0 { 1.0 } else { 0.0 };
    }
    -libm::expm1(trials as f64 * libm::log1p(-p.as_f64()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use alloc::vec;

    #[test]
    fn only_probabilities_make_a_model() {
        for bad in [-1e-9, 1.000_001, f64::NAN, f64::INFINITY] {
            assert!(LossModel::bernoulli(bad).is_err());
            assert!(LossModel::quantised(bad).is_err());
            assert!(LossModel::bit_error_rate(bad).is_err());
            for place in 0..4 {
                let mut args = [0.1; 4];
                args[place] = bad;
                assert!(LossModel::gilbert_elliott(args[0], args[1], args[2], args[3]).is_err());
            }
        }
    }

    #[test]
    fn a_chance_too_fine_to_draw_is_refused_not_rounded() {
        assert!(LossModel::bernoulli(1e-16).is_ok());
        let error = LossModel::bernoulli(0.9e-16).unwrap_err();
        assert_eq!(error.to_string(), "loss rate 9e-17 is too small to draw: write 0 or at least 1e-16");
    }

    #[test]
    fn no_chance_is_a_clean_link() {
        assert_eq!(LossModel::bernoulli(0.0), Ok(LossModel::None));
    }

    #[test]
    fn the_mean_of_a_bit_error_rate_depends_on_the_frame() {
        let model = LossModel::bit_error_rate(1e-6).unwrap();
        // 1 - (1 - 1e-6)^(8 * 1518) and 1 - (1 - 1e-6)^(8 * 64), computed with 30 decimal digits.
        assert!((model.mean_loss_rate(1518) - 0.012_070_565).abs() < 1e-9);
        assert!((model.mean_loss_rate(64) - 0.000_511_869).abs() < 1e-9);
        assert_eq!(LossModel::bit_error_rate(1.0).unwrap().mean_loss_rate(64), 1.0);
    }

    #[test]
    fn the_other_means_do_not() {
        let mean = |model: Result<LossModel, LossError>| model.unwrap().mean_loss_rate(1518);
        assert!((mean(LossModel::bernoulli(1e-3)) - 1e-3).abs() < 1e-18);
        assert_eq!(mean(LossModel::quantised(1e-3)), 1048.0 / 1_048_576.0);
        assert_eq!(mean(LossModel::at(vec![4, 2])), 0.0);
        assert_eq!(mean(LossModel::trace(&[true, false, false, true])), 0.5);
        assert_eq!(mean(LossModel::fades(Duration::from_ms(3), Duration::from_ms(1))), 0.25);
        // Stationary share of the bad state: 0.1 / (0.1 + 0.3).
        let chain = mean(LossModel::gilbert_elliott(0.1, 0.3, 0.01, 0.5));
        assert!((chain - (0.75 * 0.01 + 0.25 * 0.5)).abs() < 1e-12);
    }
}

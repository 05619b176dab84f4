//! The law of losses for which a protection is set up: the loss rate, and whether losses come in bursts.

use super::{GilbertElliott, LineLaw, LossModel, Positions};
use crate::units::{BitRate, Bytes};
use crate::wire::PREAMBLE_AND_GAP;

/// The law of the losses, in the detail that a protection uses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LossLaw {
    /// Each frame is lost independently with this chance.
    Independent(f64),
    /// Losses come in bursts.
    Bursts(GilbertElliott),
    /// Losses come with failed codewords of the line.
    Line(LineLaw),
}

impl LossLaw {
    /// Returns the share of frames lost in the long run.
    pub fn rate(&self) -> f64 {
        match self {
            Self::Independent(rate) => *rate,
            Self::Bursts(chain) => chain.mean_loss_rate(),
            Self::Line(line) => line.rate(),
        }
    }
}

impl From<f64> for LossLaw {
    fn from(rate: f64) -> Self {
        Self::Independent(rate)
    }
}

impl LossModel {
    /// Returns the law for frames of `frame_bytes` (FCS included) that follow each other at `rate`.
    ///
    /// Fades, which go by time, count as the chain that these frames meet. A trace counts as the chain with its share of losses
    /// and its mean burst. A finite list of positions loses nothing in the long run.
    pub fn law(&self, frame_bytes: u32, rate: BitRate) -> LossLaw {
        match self {
            Self::Fades(fades) => {
                LossLaw::Bursts(fades.chain((Bytes(u64::from(frame_bytes)) + PREAMBLE_AND_GAP) / rate))
            }
            Self::GilbertElliott(chain) => LossLaw::Bursts(*chain),
            Self::Phy(phy) if !self.is_clean() => LossLaw::Line(phy.law(frame_bytes)),
            Self::Trace { lost } => of_trace(lost),
            _ => LossLaw::Independent(self.mean_loss_rate(frame_bytes)),
        }
    }
}

/// Returns the chain that loses every frame of its bad state, with the bursts of `positions`.
fn of_trace(positions: &Positions) -> LossLaw {
    let rate = positions.mean_loss_rate();
    let (lost, Some(period)) = (positions.lost(), positions.period()) else { return rate.into() };
    let bursts = positions.bursts() as f64;
    let (lost, kept) = (lost.len() as f64, period as f64 - lost.len() as f64);
    if bursts == 0.0 {
        return rate.into(); // nothing is lost, or everything
    }
    GilbertElliott::new(bursts / kept, bursts / lost, 0.0, 1.0).map_or(rate.into(), LossLaw::Bursts)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: BitRate = BitRate::from_gbps(100);

    #[test]
    fn independent_models_are_their_rate() {
        let model = LossModel::bernoulli(0.25).unwrap();
        assert_eq!(model.law(1518, RATE), LossLaw::Independent(0.25));
        assert_eq!(LossModel::None.law(1518, RATE).rate(), 0.0);
        assert_eq!(LossModel::at(alloc::vec![3]).unwrap().law(1518, RATE).rate(), 0.0);
        let bits = LossModel::bit_error_rate(1e-5).unwrap();
        assert_eq!(bits.law(64, RATE).rate(), bits.mean_loss_rate(64));
    }

    #[test]
    fn a_trace_is_the_chain_of_its_bursts() {
        // Three bursts, of three frames and of one each, in twenty.
        let lost: alloc::vec::Vec<bool> = (0..20).map(|frame| matches!(frame, 4..7 | 12 | 15)).collect();
        let LossLaw::Bursts(chain) = LossModel::trace(&lost).unwrap().law(1518, RATE) else {
            panic!("bursts")
        };
        assert!((chain.p().as_f64() - 3.0 / 15.0).abs() < 1e-15);
        assert!((chain.r().as_f64() - 3.0 / 5.0).abs() < 1e-15);
        assert!((chain.mean_loss_rate() - 0.25).abs() < 1e-15);
    }

    #[test]
    fn a_burst_across_the_end_of_a_trace_is_one() {
        let lost: alloc::vec::Vec<bool> = (0..10).map(|frame| frame == 0 || frame == 9).collect();
        let LossLaw::Bursts(chain) = LossModel::trace(&lost).unwrap().law(1518, RATE) else {
            panic!("bursts")
        };
        assert!((chain.r().as_f64() - 0.5).abs() < 1e-15);
    }

    #[test]
    fn a_trace_without_change_is_its_rate() {
        assert_eq!(LossModel::trace(&[false]).unwrap().law(64, RATE), LossLaw::Independent(0.0));
        assert_eq!(LossModel::trace(&[true, true]).unwrap().law(64, RATE), LossLaw::Independent(1.0));
    }
}

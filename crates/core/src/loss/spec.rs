//! The form of a loss model in JSON, which Python has read from a user's text, for the simulator and for
//! the live data plane.

use super::{Code, LossError, LossModel, PhySettings};
use crate::time::Duration;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// The frames that one direction of a link corrupts. The key `model` names the variant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "model", rename_all = "kebab-case", deny_unknown_fields)]
pub enum LossSpec {
    /// A clean link.
    #[default]
    None,
    /// Independent losses.
    Bernoulli {
        /// Chance of a loss.
        p: f64,
    },
    /// Independent losses drawn with 20 bits, as by the artifact's switch.
    Quantised {
        /// Chance of a loss before it is rounded down.
        p: f64,
    },
    /// Independent bit errors.
    BitErrorRate {
        /// Chance of an error in a bit.
        ber: f64,
    },
    /// Bursts from a two-state chain.
    GilbertElliott {
        /// Chance of going from good to bad.
        p: f64,
        /// Chance of going from bad to good.
        r: f64,
        /// Chance of a loss in the good state.
        loss_good: f64,
        /// Chance of a loss in the bad state.
        loss_bad: f64,
    },
    /// Bursts in time: the link is clear and faded in turn.
    Fades {
        /// Mean time between two fades, in picoseconds.
        clear_ps: u64,
        /// Mean length of a fade, in picoseconds.
        fade_ps: u64,
    },
    /// A line with bit errors, and its code.
    Phy {
        /// Name of the code.
        code: String,
        /// Share of wrong bits that the decoder finds.
        ber: f64,
        /// Codewords that take symbols in turn.
        interleave: u32,
        /// Chance that an error makes the next line symbol wrong.
        burst: f64,
        /// Whether the line is precoded.
        precoding: bool,
        /// Lanes of the code that share the line bit by bit.
        lanes: u32,
        /// Bits of a line symbol.
        line_bits: u32,
    },
    /// Losses of exactly these frames.
    At {
        /// Positions of the lost frames, counted from zero.
        positions: Vec<u64>,
    },
    /// A recorded sequence that repeats.
    Trace {
        /// Whether each frame is lost.
        lost: Vec<bool>,
    },
}

impl LossSpec {
    /// Returns the model that is described.
    ///
    /// # Errors
    /// If a chance is no probability, or cannot be drawn faithfully; if a list is empty.
    pub fn model(&self) -> Result<LossModel, LossError> {
        match self {
            Self::None => Ok(LossModel::None),
            Self::Bernoulli { p } => LossModel::bernoulli(*p),
            // A draw with 20 bits of a chance of zero never loses.
            Self::Quantised { p } => LossModel::quantised(*p),
            Self::BitErrorRate { ber } => LossModel::bit_error_rate(*ber),
            Self::GilbertElliott { p, r, loss_good, loss_bad } => {
                LossModel::gilbert_elliott(*p, *r, *loss_good, *loss_bad)
            }
            Self::Fades { clear_ps, fade_ps } => {
                LossModel::fades(Duration::from_ps(*clear_ps), Duration::from_ps(*fade_ps))
            }
            Self::Phy { code, ber, interleave, burst, precoding, lanes, line_bits } => {
                LossModel::phy(PhySettings {
                    code: Code::named(code)?,
                    bit_error_ratio: *ber,
                    interleaved: *interleave,
                    repeat: *burst,
                    is_precoded: *precoding,
                    lanes: *lanes,
                    line_bits: *line_bits,
                })
            }
            Self::At { positions } => LossModel::at(positions.clone()),
            Self::Trace { lost } => LossModel::trace(lost),
        }
    }

    /// Whether the loss of a frame depends on its length.
    pub const fn depends_on_length(&self) -> bool {
        matches!(self, Self::BitErrorRate { .. } | Self::Phy { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use alloc::vec;

    fn read(text: &str) -> LossSpec {
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn every_model_has_a_name() {
        let same = [
            (r#"{"model":"none"}"#, LossModel::None),
            (r#"{"model":"bernoulli","p":1e-3}"#, LossModel::bernoulli(1e-3).unwrap()),
            (r#"{"model":"quantised","p":1e-3}"#, LossModel::quantised(1e-3).unwrap()),
            (r#"{"model":"bit-error-rate","ber":1e-12}"#, LossModel::bit_error_rate(1e-12).unwrap()),
            (
                r#"{"model":"gilbert-elliott","p":1e-4,"r":0.3,"loss_good":0,"loss_bad":1}"#,
                LossModel::gilbert_elliott(1e-4, 0.3, 0.0, 1.0).unwrap(),
            ),
            (
                r#"{"model":"fades","clear_ps":980000,"fade_ps":20000}"#,
                LossModel::fades(Duration::from_ns(980), Duration::from_ns(20)).unwrap(),
            ),
            (
                r#"{"model":"phy","code":"rs544","ber":2e-4,"interleave":2,"burst":0.5,"precoding":true,"lanes":4,"line_bits":2}"#,
                LossModel::phy(PhySettings {
                    code: Code::RS544,
                    bit_error_ratio: 2e-4,
                    interleaved: 2,
                    repeat: 0.5,
                    is_precoded: true,
                    lanes: 4,
                    line_bits: 2,
                })
                .unwrap(),
            ),
            (r#"{"model":"at","positions":[18,17]}"#, LossModel::at(vec![17, 18]).unwrap()),
            (r#"{"model":"trace","lost":[false,true]}"#, LossModel::trace(&[false, true]).unwrap()),
        ];
        for (text, model) in same {
            let spec = read(text);
            assert_eq!(spec.model().unwrap(), model, "{text}");
            assert_eq!(read(&serde_json::to_string(&spec).unwrap()), spec);
        }
        assert!(serde_json::from_str::<LossSpec>(r#"{"model":"bernouli","p":1}"#).is_err());
    }

    #[test]
    fn what_makes_no_model_is_refused_in_one_line() {
        let refusal = |text: &str| read(text).model().expect_err(text).to_string();
        assert!(refusal(r#"{"model":"bernoulli","p":1.5}"#).contains("1.5 is not a probability"));
        assert!(refusal(r#"{"model":"at","positions":[]}"#).contains("no position"));
        assert!(refusal(r#"{"model":"at","positions":[3,3]}"#).contains("position 3 is given twice"));
        assert!(refusal(r#"{"model":"trace","lost":[]}"#).contains("the trace is empty"));
        assert!(refusal(r#"{"model":"fades","clear_ps":0,"fade_ps":1}"#).contains("at least 1 ps"));
        assert!(refusal(r#"{"model":"quantised","p":1e-7}"#).contains("write bernoulli:1e-7"));
    }
}

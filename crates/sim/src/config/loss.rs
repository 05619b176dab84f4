//! A loss process as it stands in a configuration.

use crate::ConfigError;
use lossylink_core::loss::{LossError, LossModel};
use serde::Deserialize;

/// Which frames one direction of the link corrupts; see `lossylink_core::loss`.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(tag = "model", rename_all = "kebab-case", deny_unknown_fields)]
pub enum LossConfig {
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
    /// Exactly these frames.
    At {
        /// Their positions, counted from zero.
        positions: Vec<u64>,
    },
    /// A recorded sequence that repeats.
    Trace {
        /// Whether each frame is lost.
        lost: Vec<bool>,
    },
}

impl LossConfig {
    /// The model that the configuration describes.
    ///
    /// # Errors
    /// If a chance is no probability, or cannot be drawn faithfully.
    pub fn model(&self) -> Result<LossModel, ConfigError> {
        let model = match self {
            Self::None => Ok(LossModel::None),
            Self::Bernoulli { p } => LossModel::bernoulli(*p),
            Self::Quantised { p } => LossModel::quantised(*p),
            Self::BitErrorRate { ber } => LossModel::bit_error_rate(*ber),
            Self::GilbertElliott { p, r, loss_good, loss_bad } => {
                LossModel::gilbert_elliott(*p, *r, *loss_good, *loss_bad)
            }
            Self::At { positions } => LossModel::at(positions.clone()),
            Self::Trace { lost } => LossModel::trace(lost),
        };
        model.map_err(|error: LossError| ConfigError(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_model_has_a_name() {
        let read = |text: &str| serde_json::from_str::<LossConfig>(text).unwrap().model().unwrap();
        assert_eq!(read(r#"{"model":"none"}"#), LossModel::None);
        assert_eq!(read(r#"{"model":"quantised","p":1e-3}"#), LossModel::quantised(1e-3).unwrap());
        assert_eq!(read(r#"{"model":"at","positions":[3]}"#), LossModel::at(vec![3]).unwrap());
        assert!(serde_json::from_str::<LossConfig>(r#"{"model":"bernouli","p":1}"#).is_err());
    }

    #[test]
    fn a_chance_above_one_is_refused_in_one_line() {
        let error = LossConfig::Bernoulli { p: 1.5 }.model().unwrap_err().to_string();
        assert!(error.contains("1.5") && !error.contains('\n'), "{error}");
    }
}

//! Values of a configuration: a rate, a port, a loss model.

use crate::error::{Error, Result};
use crate::port::PortSpec;
use lossylink_core::loss::{LossModel, LossSpec};
use lossylink_core::units::BitRate;

/// Returns a rate, which must not be zero.
pub(crate) fn rate(bits_per_second: u64) -> Result<BitRate> {
    match bits_per_second {
        0 => Err(Error::Usage("a link rate must be positive".to_owned())),
        _ => Ok(BitRate::from_bps(bits_per_second)),
    }
}

/// Reads a port's name.
pub(crate) fn port(text: &str) -> Result<PortSpec> {
    text.parse()
}

/// Builds the loss model that `spec` describes.
pub(crate) fn loss(spec: &LossSpec) -> Result<LossModel> {
    spec.model().map_err(|error| Error::Usage(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_are_named() {
        assert!(loss(&LossSpec::Bernoulli { p: 2.0 }).unwrap_err().is_usage());
        let trace = loss(&LossSpec::Trace { lost: vec![false, false, true, false] }).unwrap();
        assert!((trace.mean_loss_rate(100) - 0.25).abs() < 1e-12);
        assert!(rate(0).is_err());
    }
}

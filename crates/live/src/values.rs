//! Values of a configuration: a rate, a port.

use crate::error::{Error, Result};
use crate::port::PortSpec;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_are_named() {
        assert!(rate(0).unwrap_err().is_usage());
    }
}

//! The 20-bit draw of LinkGuardian's artifact: a uniform number below a threshold loses the frame.

use super::error::{LossError, chance};
use crate::probability::Probability;
use serde::Deserialize;

/// A chance of `values` values out of 2^20.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "f64")]
pub struct Quantised {
    values: u32,
}

/// Width of the random number the switch compares; source: the artifact's random-drop table.
const BITS: u32 = 20;

impl Quantised {
    /// Returns the chance of floor(`p` * 2^20) values out of 2^20.
    ///
    /// # Errors
    /// If `p` is no probability, or positive and below 2^-20: the switch would lose nothing.
    pub fn new(p: f64) -> Result<Self, LossError> {
        chance("loss rate", p)?;
        let values = (p * f64::from(1u32 << BITS)) as u32;
        if values == 0 && p > 0.0 {
            return Err(LossError::BelowQuantum(p));
        }
        Ok(Self { values })
    }

    /// Returns how many of the 2^20 values lose the frame.
    pub const fn values(self) -> u32 {
        self.values
    }

    /// Returns the chance that the switch really draws.
    pub const fn probability(self) -> Probability {
        Probability::out_of_power_of_two(self.values as u64, BITS)
    }
}

impl TryFrom<f64> for Quantised {
    type Error = LossError;

    fn try_from(p: f64) -> Result<Self, LossError> {
        Self::new(p)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_in_a_thousand_is_1048_values() {
        let quantised = Quantised::new(1e-3).unwrap();
        assert_eq!(quantised.values(), 1048);
        assert!((quantised.probability().as_f64() - 9.994_507e-4).abs() < 1e-10);
    }

    #[test]
    fn the_ends_are_exact() {
        assert!(Quantised::new(0.0).unwrap().probability().is_never());
        assert!(Quantised::new(1.0).unwrap().probability().is_always());
    }

    #[test]
    fn a_chance_below_the_quantum_is_refused() {
        let quantum = 1.0 / 1_048_576.0;
        assert_eq!(Quantised::new(quantum).unwrap().values(), 1);
        assert_eq!(Quantised::new(quantum * 0.99), Err(LossError::BelowQuantum(quantum * 0.99)));
    }
}

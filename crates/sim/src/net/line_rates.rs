//! The rates of the two directions of a link.

use super::LineRate;

/// The line rates of a link: the rate of the data, and the rate of the way back.
#[derive(Clone, Copy, Debug)]
pub struct LineRates {
    /// The rate of the direction that the data takes, which a protection protects.
    pub forward: LineRate,
    /// The rate of the way back.
    pub back: LineRate,
}

impl LineRates {
    /// Returns the slower of the two rates.
    pub fn slower(self) -> LineRate {
        if self.back.bit_rate() < self.forward.bit_rate() { self.back } else { self.forward }
    }
}

impl From<LineRate> for LineRates {
    /// Builds the rates of a link whose directions are equally fast.
    fn from(rate: LineRate) -> Self {
        Self { forward: rate, back: rate }
    }
}

//! The rates of the two directions of a link.

use super::LineRate;

/// The line rates of a link: that of the data, and that of the way back.
#[derive(Clone, Copy, Debug)]
pub struct LineRates {
    /// Of the direction that the data takes, which a protection protects.
    pub forward: LineRate,
    /// Of the way back.
    pub back: LineRate,
}

impl LineRates {
    /// The slower of the two.
    pub fn slower(self) -> LineRate {
        if self.back.bit_rate() < self.forward.bit_rate() { self.back } else { self.forward }
    }
}

impl From<LineRate> for LineRates {
    /// A link whose directions are equally fast.
    fn from(rate: LineRate) -> Self {
        Self { forward: rate, back: rate }
    }
}

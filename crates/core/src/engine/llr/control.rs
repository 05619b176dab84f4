//! The control sets that the two ends send each other besides frames (LLR-6).

use super::Number;
use crate::wire::llr::{ControlKind, ControlSet};

/// The contents of an INIT and of its echo (LLR-15).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Init {
    /// The number of the first frame to come.
    pub number: Number,
    /// Value that tells this INIT from the INIT before.
    pub data: u16,
}

/// A control set: a message of one end to the other, on the line beside the frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Control {
    /// Every frame up to this number has arrived (LLR-9).
    Ack(Number),
    /// Every frame up to this number has arrived, and the frame after it is missing (LLR-10).
    Nack(Number),
    /// Numbering starts (LLR-15).
    Init(Init),
    /// The receiver is ready for the numbers of this INIT (LLR-15).
    InitEcho(Init),
}

impl Control {
    /// Returns the form of the control set on the wire.
    pub const fn to_set(self) -> ControlSet {
        let (kind, number, data) = match self {
            Self::Ack(number) => (ControlKind::Ack, number, 0),
            Self::Nack(number) => (ControlKind::Nack, number, 0),
            Self::Init(init) => (ControlKind::Init, init.number, init.data),
            Self::InitEcho(init) => (ControlKind::InitEcho, init.number, init.data),
        };
        ControlSet { kind, number: number.bits(), data }
    }

    /// Returns the meaning of a control set from the wire.
    pub const fn from_set(set: ControlSet) -> Self {
        let number = Number::new(set.number);
        let init = Init { number, data: set.data };
        match set.kind {
            ControlKind::Ack => Self::Ack(number),
            ControlKind::Nack => Self::Nack(number),
            ControlKind::Init => Self::Init(init),
            ControlKind::InitEcho => Self::InitEcho(init),
        }
    }
}

impl Default for Control {
    fn default() -> Self {
        Self::Ack(Number::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // LLR-6, LLR-15
    #[test]
    fn control_sets_survive_the_wire() {
        let number = Number::new(0xf_1234);
        let init = Init { number, data: 0xbeef };
        let all = [Control::Ack(number), Control::Nack(number), Control::Init(init), Control::InitEcho(init)];
        for control in all {
            assert_eq!(Control::from_set(control.to_set()), control);
        }
    }
}

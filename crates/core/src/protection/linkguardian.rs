//! The options of LinkGuardian.

use super::{ProtectionError, within};
use crate::engine::linkguardian::{
    DEFAULT_TARGET_LOSS, Gaps, SenderConfig, control_copies_under, copies_under,
};
use crate::loss::LossLaw;
use core::fmt;
use serde::{Deserialize, Serialize};

pub use crate::engine::linkguardian::MOST_COPIES;
/// The highest count of a switch, which counts in eight bits.
const MOST_COUNTED: u32 = u8::MAX as u32;

/// The user's choices about LinkGuardian.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkGuardian {
    /// Copies of each retransmission; `None` follows the rule for N from the link's loss (LG-19).
    #[serde(default)]
    pub copies: Option<u32>,
    /// Copies of each loss notification, pause and resume; `None` follows the rule for N from the loss of the
    /// way back (LG-46).
    #[serde(default)]
    pub control_copies: Option<u32>,
    /// Dummies after the last frame; `None` takes the switch's number, zero detects no tail losses (LG-4).
    #[serde(default)]
    pub dummies: Option<u32>,
    /// Positions that one notification may mark; `None` is unlimited (LG-9).
    #[serde(default)]
    pub holes: Option<u32>,
    /// Whether order is kept, and the options of that choice.
    pub mode: Mode,
}

/// The order in which the receiver hands frames on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Mode {
    /// The order of sending: frames wait behind a hole.
    Ordered {
        /// Whether the receiver pauses the sender when its buffer fills (LG-23).
        backpressure: bool,
    },
    /// The order of arrival.
    NonBlocking {
        /// Whether further copies of a retransmission are dropped.
        deduplicate: bool,
    },
}

impl LinkGuardian {
    /// The published protocol, in order.
    pub const ORDERED: Self = Self {
        copies: None,
        control_copies: None,
        dummies: None,
        holes: Some(SenderConfig::PUBLISHED_HOLE_CAP as u32),
        mode: Mode::Ordered { backpressure: true },
    };
    /// The published protocol, non-blocking.
    pub const NON_BLOCKING: Self = Self { mode: Mode::NonBlocking { deduplicate: true }, ..Self::ORDERED };

    /// Whether order is kept.
    pub const fn is_ordered(&self) -> bool {
        matches!(self.mode, Mode::Ordered { .. })
    }

    /// Returns the sender's parameters on a link that loses full frames by `law`, with copies that follow a
    /// loss after `gaps`, and with `dummies` unless the user chose their number.
    pub fn sender(&self, law: impl Into<LossLaw>, gaps: Gaps<'_>, dummies: u8) -> SenderConfig {
        let by_rule = || copies_under(&law.into(), gaps, DEFAULT_TARGET_LOSS);
        SenderConfig {
            copies: count(self.copies).unwrap_or_else(by_rule),
            dummies: count(self.dummies).unwrap_or(dummies),
            hole_cap: count(self.holes),
        }
    }

    /// Returns how often the receiver sends each loss notification, pause and resume on a way back that loses
    /// control frames by `law` (LG-46).
    pub fn control_copies(&self, law: impl Into<LossLaw>) -> u8 {
        let by_rule = || control_copies_under(&law.into(), DEFAULT_TARGET_LOSS);
        count(self.control_copies).unwrap_or_else(by_rule)
    }

    pub(super) fn check(&self) -> Result<(), ProtectionError> {
        for (option, copies) in [("copies", self.copies), ("control_copies", self.control_copies)] {
            copies.map_or(Ok(()), |copies| within(option, copies, 1, u32::from(MOST_COPIES)))?;
        }
        self.dummies.map_or(Ok(()), |dummies| within("dummies", dummies, 0, MOST_COUNTED))?;
        self.holes.map_or(Ok(()), |holes| within("holes", holes, 1, MOST_COUNTED))
    }
}

impl fmt::Display for LinkGuardian {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_ordered() { "lg" } else { "lg-nb" })
    }
}

/// Returns a count in eight bits, which [`LinkGuardian::check`] has checked.
fn count(chosen: Option<u32>) -> Option<u8> {
    chosen.map(|count| u8::try_from(count).expect("the options have been checked"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::linkguardian::FORGOTTEN;

    // LG-19
    #[test]
    fn the_number_of_copies_follows_the_loss_unless_it_is_given() {
        assert_eq!(LinkGuardian::ORDERED.sender(1e-3, FORGOTTEN, 3).copies, 2);
        assert_eq!(
            LinkGuardian { copies: Some(7), ..LinkGuardian::ORDERED }.sender(1e-3, FORGOTTEN, 3).copies,
            7
        );
    }

    // LG-46
    #[test]
    fn the_copies_of_control_frames_follow_the_loss_of_the_way_back_unless_they_are_given() {
        for (loss, copies) in [(0.0, 1), (1e-8, 1), (1e-4, 1), (1e-3, 2), (1e-2, 3), (0.1, 7), (0.9, 16)] {
            assert_eq!(LinkGuardian::ORDERED.control_copies(loss), copies, "loss {loss}");
        }
        let given = LinkGuardian { control_copies: Some(5), ..LinkGuardian::ORDERED };
        assert_eq!(given.control_copies(0.0), 5);
        assert_eq!(given.sender(1e-3, FORGOTTEN, 3).copies, 2, "copies of frames do not follow it");
    }

    // LG-4
    #[test]
    fn the_switch_decides_about_dummies_that_nobody_chose() {
        assert_eq!(LinkGuardian::NON_BLOCKING.sender(1e-3, FORGOTTEN, 3).dummies, 3);
        assert_eq!(
            LinkGuardian { dummies: Some(0), ..LinkGuardian::ORDERED }.sender(1e-3, FORGOTTEN, 3).dummies,
            0
        );
    }
}

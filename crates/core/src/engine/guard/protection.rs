//! How a guard protects what it sends: what the user chooses, and what the other end must know of it.

use crate::engine::linkguardian::SenderConfig;

/// The part of a protection that the receiving end must follow; it travels in every hello.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkProtection {
    /// Frames go out as they are.
    #[default]
    None,
    /// LinkGuardian, in order.
    Ordered,
    /// LinkGuardian, as they come.
    NonBlocking,
}

impl LinkProtection {
    pub(super) fn to_bytes(self) -> [u8; 3] {
        match self {
            Self::None => [0; 3],
            Self::Ordered => [1, 0, 0],
            Self::NonBlocking => [2, 0, 0],
        }
    }

    pub(super) fn from_bytes(bytes: [u8; 3]) -> Option<Self> {
        match bytes {
            [0, 0, 0] => Some(Self::None),
            [1, 0, 0] => Some(Self::Ordered),
            [2, 0, 0] => Some(Self::NonBlocking),
            _ => None,
        }
    }
}

/// A protection with its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Protection {
    /// What the receiving end must know.
    pub link: LinkProtection,
    /// LinkGuardian's parameters.
    pub sender: SenderConfig,
    /// Whether a non-blocking receiver drops the second copies of a retransmission.
    pub deduplicate: bool,
}

impl Protection {
    /// No protection.
    pub const NONE: Self = Self {
        link: LinkProtection::None,
        sender: SenderConfig {
            copies: 1,
            dummies: SenderConfig::PUBLISHED_DUMMIES,
            hole_cap: Some(SenderConfig::PUBLISHED_HOLE_CAP),
        },
        deduplicate: true,
    };
}

//! The control bits of a TCP header.

use core::fmt;
use core::ops::BitOr;

/// A set of control bits.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct TcpFlags(u8);

impl TcpFlags {
    /// The sender has no more data.
    pub const FIN: Self = Self(0x01);
    /// Sequence numbers are synchronised.
    pub const SYN: Self = Self(0x02);
    /// The connection is reset.
    pub const RST: Self = Self(0x04);
    /// The data is to be handed to the application.
    pub const PSH: Self = Self(0x08);
    /// The acknowledgement number is valid.
    pub const ACK: Self = Self(0x10);
    /// The urgent pointer is valid.
    pub const URG: Self = Self(0x20);
    /// A congestion mark arrived.
    pub const ECE: Self = Self(0x40);
    /// The congestion window was reduced.
    pub const CWR: Self = Self(0x80);

    const NAMES: [&'static str; 8] = ["FIN", "SYN", "RST", "PSH", "ACK", "URG", "ECE", "CWR"];

    /// Returns the set in the header's byte.
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    /// Returns the header's byte.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Whether all of `other` are set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for TcpFlags {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl fmt::Debug for TcpFlags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let set = Self::NAMES.iter().enumerate().filter(|(bit, _)| self.0 >> bit & 1 == 1);
        f.debug_set().entries(set.map(|(_, name)| name)).finish()
    }
}

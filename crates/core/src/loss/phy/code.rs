//! Codes of Ethernet lines, by the names that the field uses.

use crate::loss::LossError;
use alloc::string::{String, ToString};
use core::fmt;
use serde::Deserialize;

/// Octets of the stream of frames in a block of 257 bits (256b/257b, IEEE 802.3 clauses 91 and 119).
const BLOCK_OCTETS: u64 = 32;
const BLOCK_BITS: u64 = 257;
/// Bits of a codeword of the Firecode, and the longest burst of errors that it corrects (IEEE 802.3 clause 74).
pub(super) const FIRECODE_BITS: u32 = 2112;
pub(super) const FIRECODE_BURST_BITS: u32 = 11;
/// Octets of the stream of frames in those bits: 32 blocks of 64b/66b, each without one bit of its head.
const FIRECODE_OCTETS: u64 = 256;
/// The largest symbols: codes on lines have 10 bits.
const SYMBOL_BITS_MAX: u32 = 12;

/// A code between a line's bits and its frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum Code {
    /// No code: a wrong bit is lost with its octet.
    None,
    /// (2112, 2080), which corrects one burst of at most 11 bits.
    Firecode,
    /// A Reed-Solomon code, which corrects half as many symbols as it adds.
    ReedSolomon(ReedSolomon),
}

/// The size of a Reed-Solomon code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReedSolomon {
    symbols: u32,
    message_symbols: u32,
    symbol_bits: u32,
}

impl ReedSolomon {
    /// Returns a code of `symbols` symbols with `symbol_bits` bits each, `message_symbols` of which carry the stream of frames.
    ///
    /// # Errors
    /// If there is no such code.
    pub fn new(symbols: u32, message_symbols: u32, symbol_bits: u32) -> Result<Self, LossError> {
        let is_code = (2..=SYMBOL_BITS_MAX).contains(&symbol_bits)
            && 0 < message_symbols
            && message_symbols < symbols
            && symbols < 1 << symbol_bits;
        if is_code {
            Ok(Self { symbols, message_symbols, symbol_bits })
        } else {
            Err(LossError::ImpossibleCode { symbols, message_symbols, symbol_bits })
        }
    }

    /// Returns the symbols of a codeword.
    pub const fn symbols(&self) -> u32 {
        self.symbols
    }

    /// Returns the bits of a symbol.
    pub const fn symbol_bits(&self) -> u32 {
        self.symbol_bits
    }

    /// Returns how many wrong symbols a codeword may have.
    pub const fn corrects(&self) -> u32 {
        (self.symbols - self.message_symbols) / 2
    }
}

impl Code {
    /// KR4, on NRZ lanes of 25 Gb/s (IEEE 802.3 clauses 91 and 108).
    pub const RS528: Self =
        Self::ReedSolomon(ReedSolomon { symbols: 528, message_symbols: 514, symbol_bits: 10 });
    /// KP4, on PAM4 lanes (IEEE 802.3 clauses 91, 119 and 134).
    pub const RS544: Self =
        Self::ReedSolomon(ReedSolomon { symbols: 544, message_symbols: 514, symbol_bits: 10 });
    /// The low-latency code of the 25/50G and Ethernet technology consortia.
    pub const RS272: Self =
        Self::ReedSolomon(ReedSolomon { symbols: 272, message_symbols: 257, symbol_bits: 10 });

    /// Reads the name of a code, or its numbers as `rsN/K/m`.
    ///
    /// # Errors
    /// If there is no such code.
    pub fn named(name: &str) -> Result<Self, LossError> {
        match name {
            "none" => Ok(Self::None),
            "firecode" => Ok(Self::Firecode),
            "rs528" => Ok(Self::RS528),
            "rs544" => Ok(Self::RS544),
            "rs272" => Ok(Self::RS272),
            _ => {
                let mut numbers = name.strip_prefix("rs").unwrap_or("").split('/').map(str::parse);
                let mut number = || numbers.next().and_then(Result::ok);
                let (Some(symbols), Some(message), Some(bits)) = (number(), number(), number()) else {
                    return Err(LossError::UnknownCode(name.to_string()));
                };
                Ok(Self::ReedSolomon(ReedSolomon::new(symbols, message, bits)?))
            }
        }
    }

    /// Returns the octets of the stream of frames in a codeword, as a fraction. Without a code it is an octet.
    pub const fn message_octets(&self) -> (u64, u64) {
        match self {
            Self::None => (1, 1),
            Self::Firecode => (FIRECODE_OCTETS, 1),
            Self::ReedSolomon(code) => {
                let bits = code.message_symbols as u64 * code.symbol_bits as u64;
                if bits.is_multiple_of(BLOCK_BITS) {
                    (bits / BLOCK_BITS * BLOCK_OCTETS, 1)
                } else {
                    (bits * BLOCK_OCTETS, BLOCK_BITS)
                }
            }
        }
    }
}

impl TryFrom<String> for Code {
    type Error = LossError;

    fn try_from(name: String) -> Result<Self, LossError> {
        Self::named(&name)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::None => "none",
            Self::Firecode => "firecode",
            &Self::RS528 => "rs528",
            &Self::RS544 => "rs544",
            &Self::RS272 => "rs272",
            Self::ReedSolomon(ReedSolomon { symbols, message_symbols, symbol_bits }) => {
                return write!(f, "rs{symbols}/{message_symbols}/{symbol_bits}");
            }
        };
        f.write_str(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    #[test]
    fn codes_are_read_by_name_and_by_numbers() {
        for name in ["none", "firecode", "rs528", "rs544", "rs272", "rs255/239/8"] {
            assert_eq!(format!("{}", Code::named(name).unwrap()), name);
        }
        assert_eq!(Code::named("rs544/514/10"), Ok(Code::RS544));
        for unknown in ["rs545", "kp4", "", "rs544/514", "rs544/514/ten"] {
            assert_eq!(Code::named(unknown), Err(LossError::UnknownCode(unknown.into())), "{unknown}");
        }
        for impossible in ["rs10/12/4", "rs20/10/4", "rs10/0/4", "rs7000/6000/13"] {
            assert!(matches!(Code::named(impossible), Err(LossError::ImpossibleCode { .. })), "{impossible}");
        }
    }

    #[test]
    fn codewords_carry_octets_of_frames() {
        assert_eq!(Code::RS544.message_octets(), (640, 1));
        assert_eq!(Code::RS272.message_octets(), (320, 1));
        assert_eq!(Code::named("rs255/239/8").unwrap().message_octets(), (239 * 8 * 32, 257));
    }
}

//! A protection and its options: one value for the simulator, the live data plane, the hello of two
//! guards and Python's JSON.
//!
//! A value holds the choices of a user. Everything that follows from the link (copies from its loss, a
//! flush timer from its rate) is left out, and decided where the link is known. This file is the one list
//! of the families; each has its options in a file of its own.

mod fec;
mod fec_model;
mod linkguardian;
mod llr;

pub use fec::{CodeChange, Fec, Meter, Priority};
pub use fec_model::FecModel;
pub use linkguardian::{LinkGuardian, MOST_COPIES, Mode};
pub use llr::{Errors, Llr};

use crate::engine::fec::CodeError;
use core::fmt;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The protection of a link. In JSON the key `family` names the variant, and its options stand beside it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "family", rename_all = "kebab-case")]
pub enum Protection {
    /// No protection: frames leave as they come.
    #[default]
    None,
    /// Link-local retransmission.
    #[serde(rename = "linkguardian")]
    LinkGuardian(LinkGuardian),
    /// A block erasure code.
    Fec(Fec),
    /// The published switch model of a block erasure code.
    FecModel(FecModel),
    /// Link-level retry of Ultra Ethernet.
    Llr(Llr),
    /// Repetition over a path of datagrams, which tunes itself.
    Routed,
}

/// The reason why a protection cannot be as it was asked for: one line with the error and its remedy.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ProtectionError {
    /// A count is out of its range.
    #[error("{option} {value} is not a whole number from {low} to {high}")]
    OutOfRange {
        /// Name of the option.
        option: &'static str,
        /// Value that was given.
        value: u32,
        /// Least value allowed.
        low: u32,
        /// Greatest value allowed.
        high: u32,
    },
    /// No code has this size.
    #[error(transparent)]
    Code(#[from] CodeError),
    /// A time is zero.
    #[error("{option} is zero; give a time above 0")]
    Zero {
        /// Name of the option.
        option: &'static str,
    },
    /// The family runs in the simulator only.
    #[error("{family} is a model of the simulator; live, use {instead}")]
    SimulatedOnly {
        /// Name of the family.
        family: &'static str,
        /// Spelling of a protection to use in its place.
        instead: &'static str,
    },
    /// The family needs a path of datagrams between two guards.
    #[error("routed is for guards with --udp; on a link, use lg, fec or llr")]
    RoutedOnly,
    /// An option works in the simulator only.
    #[error("live, {family} takes no option {option}")]
    SimulatedOption {
        /// Name of the family.
        family: &'static str,
        /// Name of the option.
        option: &'static str,
    },
}

impl Protection {
    /// Refuses options that are out of range.
    ///
    /// # Errors
    /// The error of the first option that is out of range.
    pub fn check(&self) -> Result<(), ProtectionError> {
        match self {
            Self::None | Self::Routed => Ok(()),
            Self::LinkGuardian(options) => options.check(),
            Self::Fec(options) => options.check(),
            Self::FecModel(options) => options.check(),
            Self::Llr(options) => options.check(),
        }
    }

    /// Refuses options out of range, and families and options that only the simulator has.
    ///
    /// # Errors
    /// If the family or one of its options is not live, or an option is out of range.
    pub fn check_live(&self) -> Result<(), ProtectionError> {
        self.check()?;
        match self {
            Self::None | Self::LinkGuardian(_) => Ok(()),
            Self::Fec(options) => options.check_live(),
            Self::FecModel(_) => {
                Err(ProtectionError::SimulatedOnly { family: "fec-model", instead: "fec:K/H" })
            }
            Self::Llr(options) => options.check_live(),
            Self::Routed => Err(ProtectionError::RoutedOnly),
        }
    }

    /// Refuses options out of range, and families for which the simulator has no link.
    ///
    /// # Errors
    /// If the family is not simulated, or an option is out of range.
    pub fn check_simulated(&self) -> Result<(), ProtectionError> {
        self.check()?;
        if *self == Self::Routed { Err(ProtectionError::RoutedOnly) } else { Ok(()) }
    }

    /// Returns the part of a live protection that the receiving end must know: three octets in every
    /// hello of a guard, the family's number first (G-5).
    pub fn to_hello(&self) -> [u8; 3] {
        match self {
            Self::None | Self::FecModel(_) => [0; 3],
            // Options that have been checked fit an octet each.
            Self::LinkGuardian(options) => {
                let family = if options.is_ordered() { 1 } else { 2 };
                [family, options.control_copies.unwrap_or(0) as u8, 0] // G-26
            }
            Self::Fec(options) => [3, options.k as u8, options.h as u8],
            Self::Llr(_) => [4, 0, 0],
            Self::Routed => [5, 0, 0],
        }
    }

    /// Returns the protection that a hello announces. Options that only the sender needs are at their
    /// defaults. `None` when no version of ours sends these octets.
    pub fn from_hello(octets: [u8; 3]) -> Option<Self> {
        let heard = match octets {
            [0, 0, 0] => Self::None,
            [family @ (1 | 2), control_copies, 0] => {
                let mode = if family == 1 { LinkGuardian::ORDERED } else { LinkGuardian::NON_BLOCKING };
                let control_copies = (control_copies > 0).then_some(u32::from(control_copies));
                Self::LinkGuardian(LinkGuardian { control_copies, ..mode })
            }
            [3, k, h] => Self::Fec(Fec::new(u32::from(k), u32::from(h))),
            [4, 0, 0] => Self::Llr(Llr::default()),
            [5, 0, 0] => Self::Routed,
            _ => return None,
        };
        heard.check().is_ok().then_some(heard)
    }
}

/// Writes the short spelling, as a user writes it: family and code, without further options.
impl fmt::Display for Protection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::LinkGuardian(options) => options.fmt(f),
            Self::Fec(options) => write!(f, "fec:{}/{}", options.k, options.h),
            Self::FecModel(options) => write!(f, "fec-model:{}/{}", options.k, options.h),
            Self::Llr(_) => f.write_str("llr"),
            Self::Routed => f.write_str("routed"),
        }
    }
}

/// Refuses a count that is out of its range.
fn within(option: &'static str, value: u32, low: u32, high: u32) -> Result<(), ProtectionError> {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    Err(ProtectionError::OutOfRange { option, value, low, high })
}

/// Refuses a time of zero.
fn above_zero(option: &'static str, ps: Option<u64>) -> Result<(), ProtectionError> {
    if ps == Some(0) { Err(ProtectionError::Zero { option }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::string::{String, ToString};

    fn read(text: &str) -> Protection {
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    fn refusal(text: &str) -> String {
        read(text).check().expect_err(text).to_string()
    }

    #[test]
    fn what_is_written_is_read_again() {
        let same = [
            (r#"{"family":"none"}"#, "none"),
            (r#"{"family":"routed"}"#, "routed"),
            (r#"{"family":"linkguardian","mode":{"ordered":{"backpressure":true}}}"#, "lg"),
            (
                r#"{"family":"linkguardian","copies":2,"holes":null,"mode":{"non-blocking":{"deduplicate":false}}}"#,
                "lg-nb",
            ),
            (r#"{"family":"fec","k":25,"h":5,"release":"in-order","flush_ps":7}"#, "fec:25/5"),
            (r#"{"family":"fec-model","k":5,"h":5,"meter":"mark"}"#, "fec-model:5/5"),
            (r#"{"family":"fec","k":5,"h":1,"change":{"at_ps":3,"k":25,"h":5}}"#, "fec:5/1"),
            (r#"{"family":"llr","replays":1,"timer_ns":5000,"init":"best-effort","errors":"seen"}"#, "llr"),
        ];
        for (text, name) in same {
            let protection = read(text);
            assert_eq!(protection.to_string(), name);
            assert_eq!(protection.check(), Ok(()));
            let again = serde_json::to_string(&protection).unwrap();
            assert_eq!(read(&again), protection, "{again}");
        }
    }

    #[test]
    fn an_option_of_another_family_is_refused() {
        let error =
            serde_json::from_str::<Protection>(r#"{"family":"fec","k":5,"h":5,"copies":2}"#).unwrap_err();
        assert!(error.to_string().contains("unknown field `copies`"), "{error}");
        let error = serde_json::from_str::<Protection>(r#"{"family":"lgg"}"#).unwrap_err();
        assert!(error.to_string().contains("unknown variant `lgg`"), "{error}");
    }

    // FEC-1, LG-19, LG-46
    #[test]
    fn counts_have_bounds() {
        let mode = r#""mode":{"ordered":{"backpressure":true}}"#;
        let with = |option: &str| format!(r#"{{"family":"linkguardian",{option},{mode}}}"#);
        assert_eq!(read(&with(r#""copies":16"#)).check(), Ok(()));
        assert_eq!(refusal(&with(r#""copies":17"#)), "copies 17 is not a whole number from 1 to 16");
        assert_eq!(read(&with(r#""control_copies":16"#)).check(), Ok(()));
        assert_eq!(
            refusal(&with(r#""control_copies":17"#)),
            "control_copies 17 is not a whole number from 1 to 16"
        );
        assert_eq!(refusal(&with(r#""copies":0"#)), "copies 0 is not a whole number from 1 to 16");
        assert_eq!(refusal(&with(r#""holes":0"#)), "holes 0 is not a whole number from 1 to 255");
        assert_eq!(refusal(&with(r#""dummies":256"#)), "dummies 256 is not a whole number from 0 to 255");
        assert_eq!(refusal(r#"{"family":"fec","k":0,"h":5}"#), "a block holds 1 to 128 data frames, not 0");
        assert_eq!(
            refusal(r#"{"family":"fec-model","k":5,"h":33}"#),
            "a block holds at most 32 parity frames, not 33"
        );
        let change = r#"{"family":"fec","k":5,"h":5,"change":{"at_ps":1,"k":129,"h":1}}"#;
        assert_eq!(refusal(change), "a block holds 1 to 128 data frames, not 129");
        assert_eq!(
            refusal(r#"{"family":"fec","k":5,"h":5,"flush_ps":0}"#),
            "flush is zero; give a time above 0"
        );
    }

    // G-5, G-26
    #[test]
    fn the_receiving_end_learns_what_it_must_follow() {
        let protections = [
            Protection::None,
            Protection::LinkGuardian(LinkGuardian::ORDERED),
            Protection::LinkGuardian(LinkGuardian::NON_BLOCKING),
            Protection::LinkGuardian(LinkGuardian { control_copies: Some(16), ..LinkGuardian::ORDERED }),
            Protection::LinkGuardian(LinkGuardian { control_copies: Some(1), ..LinkGuardian::NON_BLOCKING }),
            Protection::Fec(Fec::new(128, 32)),
            Protection::Llr(Llr::default()),
            Protection::Routed,
        ];
        for protection in protections {
            assert_eq!(Protection::from_hello(protection.to_hello()), Some(protection));
        }
        let copies = Protection::LinkGuardian(LinkGuardian { copies: Some(3), ..LinkGuardian::ORDERED });
        let heard = Protection::from_hello(copies.to_hello());
        assert_eq!(heard, Some(Protection::LinkGuardian(LinkGuardian::ORDERED)), "copies are the sender's");
    }

    // G-3
    #[test]
    fn what_nobody_sends_is_none() {
        for octets in
            [[0, 1, 0], [1, 0, 1], [2, 17, 0], [3, 0, 1], [3, 129, 1], [3, 1, 33], [5, 1, 0], [99, 0, 0]]
        {
            assert_eq!(Protection::from_hello(octets), None, "{octets:?}");
        }
    }

    #[test]
    fn what_only_the_simulator_has_is_refused_live() {
        let refusal = |text: &str| read(text).check_live().expect_err(text).to_string();
        assert_eq!(read(r#"{"family":"fec","k":5,"h":5}"#).check_live(), Ok(()));
        assert_eq!(
            refusal(r#"{"family":"fec","k":5,"h":5,"meter":"mark"}"#),
            "live, fec takes no option meter"
        );
        assert_eq!(
            refusal(r#"{"family":"fec-model","k":5,"h":5}"#),
            "fec-model is a model of the simulator; live, use fec:K/H"
        );
        let of_paths = refusal(r#"{"family":"routed"}"#);
        assert_eq!(of_paths, "routed is for guards with --udp; on a link, use lg, fec or llr");
        assert_eq!(Protection::Routed.check_simulated().unwrap_err().to_string(), of_paths);
    }
}

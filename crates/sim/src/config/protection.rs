//! A protection as it stands in a configuration.

use crate::ConfigError;
use crate::net::coded::CodeChange;
use crate::net::linkguardian::Options;
use lossylink_core::engine::fec::Code;
use lossylink_core::engine::linkguardian::{DEFAULT_TARGET_LOSS, SenderConfig, copies_for};
use lossylink_core::time::Instant;
use serde::Deserialize;

/// The families of protection.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum ProtectionKind {
    /// The passthrough engine.
    #[default]
    None,
    /// LinkGuardian, ordered.
    Lg,
    /// LinkGuardian, non-blocking.
    LgNb,
    /// Block erasure code.
    Fec,
    /// The switch model of a block erasure code.
    FecModel,
}

impl ProtectionKind {
    /// Whether it is forward error correction, or a model of it.
    pub const fn is_code(self) -> bool {
        matches!(self, Self::Fec | Self::FecModel)
    }
}

/// A protection with its options.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProtectionConfig {
    /// The family.
    pub kind: ProtectionKind,
    /// Copies of a retransmission; `None` follows the rule for N.
    pub copies: Option<u8>,
    /// Dummies after each data frame.
    pub dummies: u8,
    /// Positions that one notification may mark; `None` is unlimited.
    pub holes: Option<u8>,
    /// Whether tail losses are detected.
    pub tail: bool,
    /// Whether order is kept.
    pub order: bool,
    /// Whether the receiver pauses the sender.
    pub backpressure: bool,
    /// Whether further copies are dropped in non-blocking mode.
    pub deduplicate: bool,
    /// Data frames in a block.
    pub fec_k: Option<u32>,
    /// Parity frames in a block.
    pub fec_h: Option<u32>,
    /// When intact frames leave the decoder.
    #[serde(default)]
    pub fec_release: ReleaseConfig,
    /// When a partial block is closed; `None` is the default of the code, and never in the model.
    pub fec_flush_ps: Option<u64>,
    /// A meter in front of the encoder.
    #[serde(default)]
    pub fec_meter: MeterConfig,
    /// Who goes first in the queue.
    #[serde(default)]
    pub fec_priority: PriorityConfig,
    /// Another code from some time on.
    pub fec_change: Option<CodeChangeConfig>,
}

/// When intact frames leave the decoder (FEC-14, FEC-15).
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum ReleaseConfig {
    /// At once.
    #[default]
    Eager,
    /// In the order of sending.
    InOrder,
}

/// What a meter does beyond its rate (FEC-22).
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum MeterConfig {
    /// There is none.
    #[default]
    Off,
    /// Drops.
    Police,
    /// Marks what can be marked.
    Mark,
}

/// Who goes first in the queue (FEC-23).
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum PriorityConfig {
    /// Whoever came first.
    #[default]
    Off,
    /// Data.
    Data,
}

/// Another code from some time on (FEC-8).
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct CodeChangeConfig {
    /// Since the start of the run.
    pub at_ps: u64,
    /// Data frames in a block.
    pub k: u32,
    /// Parity frames in a block.
    pub h: u32,
}

impl ProtectionConfig {
    /// LinkGuardian's options on a link that loses `loss_rate` of its full frames.
    pub fn linkguardian(&self, loss_rate: f64) -> Options {
        Options {
            sender: SenderConfig {
                copies: self.copies.unwrap_or_else(|| copies_for(loss_rate, DEFAULT_TARGET_LOSS)),
                dummies: if self.tail { self.dummies } else { 0 },
                hole_cap: self.holes,
            },
            ordered: self.kind == ProtectionKind::Lg && self.order,
            backpressure: self.backpressure,
            deduplicate: self.deduplicate,
        }
    }

    /// The block code of forward error correction.
    ///
    /// # Errors
    /// If k or h is missing or out of range.
    pub fn code(&self) -> Result<Code, ConfigError> {
        let missing = |name| ConfigError(format!("forward error correction needs protection.{name}"));
        let size = self.fec_k.ok_or_else(|| missing("fec_k"))?;
        let rows = self.fec_h.ok_or_else(|| missing("fec_h"))?;
        Code::new(size, rows).map_err(|error| ConfigError(error.to_string()))
    }

    /// The change of code, if there is one.
    ///
    /// # Errors
    /// If its k or h is out of range.
    pub fn code_change(&self) -> Result<Option<CodeChange>, ConfigError> {
        let checked = |change: CodeChangeConfig| {
            let code = Code::new(change.k, change.h).map_err(|error| ConfigError(error.to_string()))?;
            Ok(CodeChange { at: Instant::from_ps(change.at_ps), code })
        };
        self.fec_change.map(checked).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> ProtectionConfig {
        serde_json::from_str(text).unwrap()
    }

    const REST: &str = r#""dummies":3,"holes":5,"backpressure":true,"deduplicate":true,
        "fec_k":null,"fec_h":null"#;

    // LG-19
    #[test]
    fn the_number_of_copies_follows_the_loss_unless_it_is_given() {
        let automatic = read(&format!(r#"{{"kind":"lg","copies":null,"tail":true,"order":true,{REST}}}"#));
        assert_eq!(automatic.linkguardian(1e-3).sender.copies, 2);
        let given = read(&format!(r#"{{"kind":"lg","copies":7,"tail":true,"order":true,{REST}}}"#));
        assert_eq!(given.linkguardian(1e-3).sender.copies, 7);
    }

    // FEC-1
    #[test]
    fn a_code_is_checked() {
        let with = |k: &str, h: &str| {
            let rest = REST.replace("\"fec_k\":null,\"fec_h\":null", &format!("\"fec_k\":{k},\"fec_h\":{h}"));
            read(&format!(r#"{{"kind":"fec","copies":null,"tail":true,"order":true,{rest}}}"#)).code()
        };
        assert_eq!(with("25", "5").unwrap(), Code::new(25, 5).unwrap());
        let message = |k, h| with(k, h).unwrap_err().to_string();
        assert_eq!(message("null", "5"), "forward error correction needs protection.fec_k");
        assert_eq!(message("0", "5"), "a block holds 1 to 128 data frames, not 0");
    }

    #[test]
    fn options_switch_parts_off() {
        let lame = read(&format!(r#"{{"kind":"lg","copies":1,"tail":false,"order":false,{REST}}}"#));
        let options = lame.linkguardian(1e-3);
        assert_eq!((options.sender.dummies, options.ordered), (0, false));
    }
}

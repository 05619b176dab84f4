//! The options of the published switch model of forward error correction.

use super::{CodeChange, Meter, ProtectionError, above_zero};
use crate::engine::fec::Code;
use serde::{Deserialize, Serialize};

/// The user's choices about the switch model. Its decoder knows one block at a time, so the model has
/// neither another release nor data that pass their parity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FecModel {
    /// Data packets of a block (FEC-1).
    pub k: u32,
    /// Parity packets of a block.
    pub h: u32,
    /// When a partial block is closed, in picoseconds after its first packet; `None` is never, as published.
    #[serde(default)]
    pub flush_ps: Option<u64>,
    /// A meter in front of the encoder (FEC-22).
    #[serde(default)]
    pub meter: Meter,
    /// A change to another code during the run (FEC-8).
    #[serde(default)]
    pub change: Option<CodeChange>,
}

impl FecModel {
    /// Returns a code with every option as published.
    pub const fn new(k: u32, h: u32) -> Self {
        Self { k, h, flush_ps: None, meter: Meter::Off, change: None }
    }

    /// Returns the block code.
    ///
    /// # Panics
    /// If the options have not been checked.
    pub fn code(&self) -> Code {
        Code::new(self.k, self.h).expect("the options have been checked")
    }

    pub(super) fn check(&self) -> Result<(), ProtectionError> {
        Code::new(self.k, self.h)?;
        self.change.map_or(Ok(()), |change| change.check())?;
        above_zero("flush", self.flush_ps)
    }
}

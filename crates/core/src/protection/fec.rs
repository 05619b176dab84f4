//! The options of forward error correction.

use super::{ProtectionError, above_zero};
use crate::engine::fec::{Code, Release};
use serde::{Deserialize, Serialize};

/// The user's choices about forward error correction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fec {
    /// Data frames of a block (FEC-1).
    pub k: u32,
    /// Parity frames of a block.
    pub h: u32,
    /// When intact frames leave the decoder (FEC-14, FEC-15).
    #[serde(default)]
    pub release: Release,
    /// When a partial block is closed, in picoseconds after its first frame; `None` is four full blocks
    /// at line rate (FEC-7).
    #[serde(default)]
    pub flush_ps: Option<u64>,
    /// A meter in front of the encoder (FEC-22).
    #[serde(default)]
    pub meter: Meter,
    /// Whether data frames go first in the queue (FEC-23).
    #[serde(default)]
    pub priority: Priority,
    /// A change to another code during the run (FEC-8).
    #[serde(default)]
    pub change: Option<CodeChange>,
}

/// The treatment of frames beyond the rate that the code leaves, by a meter (FEC-22).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Meter {
    /// No meter.
    #[default]
    Off,
    /// Frames beyond the rate are dropped.
    Police,
    /// Frames beyond the rate are marked if they can be marked, and dropped otherwise.
    Mark,
}

/// The frames that go first in the queue (FEC-23).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Priority {
    /// The frames that came first.
    #[default]
    Off,
    /// Data frames.
    Data,
}

/// A change to another code during the run (FEC-8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CodeChange {
    /// Time of the change, in picoseconds since the start of the run.
    pub at_ps: u64,
    /// Data frames of a block.
    pub k: u32,
    /// Parity frames of a block.
    pub h: u32,
}

impl Fec {
    /// Returns a code with every option at its default.
    pub fn new(k: u32, h: u32) -> Self {
        Self {
            k,
            h,
            release: Release::Eager,
            flush_ps: None,
            meter: Meter::Off,
            priority: Priority::Off,
            change: None,
        }
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

    /// Refuses the options that only the simulator has. The live data plane codes with its own release,
    /// flush timer and queue.
    pub(super) fn check_live(&self) -> Result<(), ProtectionError> {
        let simulated = [
            ("change", self.change.is_some()),
            ("flush", self.flush_ps.is_some()),
            ("meter", self.meter != Meter::Off),
            ("priority", self.priority != Priority::Off),
            ("release", self.release != Release::Eager),
        ];
        match simulated.into_iter().find(|(_, is_chosen)| *is_chosen) {
            Some((option, _)) => Err(ProtectionError::SimulatedOption { family: "fec", option }),
            None => Ok(()),
        }
    }
}

impl CodeChange {
    /// Returns the new code.
    ///
    /// # Panics
    /// If the options have not been checked.
    pub fn code(&self) -> Code {
        Code::new(self.k, self.h).expect("the options have been checked")
    }

    pub(super) fn check(&self) -> Result<(), ProtectionError> {
        Ok(Code::new(self.k, self.h).map(drop)?)
    }
}

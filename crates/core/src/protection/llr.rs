//! The options of link-level retry.

use super::{ProtectionError, within};
use crate::engine::llr::{FrameAction, Number, SPACING_BYTES, SPACING_DEFAULT, SenderConfig};
use serde::{Deserialize, Serialize};

/// The longest replay timer of a switch, in nanoseconds (S2 of `docs/protocols/llr.md`).
const TIMER_MAX_NS: u32 = 65_535;

/// The user's choices about link-level retry. Options that are left out follow from the link
/// (LLR-20).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Llr {
    /// Replays without progress before the link flushes; 255 is unlimited (LLR-13).
    #[serde(default = "sample_replays")]
    pub replays: u32,
    /// The replay timer, in nanoseconds (LLR-12).
    #[serde(default)]
    pub timer_ns: Option<u32>,
    /// Frames that may be outstanding (LLR-2).
    #[serde(default)]
    pub frames: Option<u32>,
    /// Bytes that may be outstanding (LLR-4).
    #[serde(default)]
    pub bytes: Option<u32>,
    /// Bytes of line between two control sets (LLR-7).
    #[serde(default = "usual_spacing")]
    pub spacing_bytes: u32,
    /// The treatment of new frames until the link is initialised (LLR-17).
    #[serde(default)]
    pub init: FrameAction,
    /// The treatment of new frames after a flush that ends the protection (LLR-17).
    #[serde(default)]
    pub flush: FrameAction,
    /// Whether the link initialises itself again after a flush (LLR-16).
    #[serde(default = "yes")]
    pub reinit: bool,
    /// Whether the receiver sees a corrupted frame (LLR-10).
    #[serde(default)]
    pub errors: Errors,
}

/// Whether the receiver sees a corrupted frame (LLR-10).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Errors {
    /// The receiver sees no corrupted frame: the number of the next frame shows the loss.
    #[default]
    Dropped,
    /// The receiver sees a frame with a wrong check sequence, when it arrives.
    Seen,
}

impl Default for Llr {
    fn default() -> Self {
        Self {
            replays: sample_replays(),
            timer_ns: None,
            frames: None,
            bytes: None,
            spacing_bytes: usual_spacing(),
            init: FrameAction::default(),
            flush: FrameAction::default(),
            reinit: yes(),
            errors: Errors::default(),
        }
    }
}

impl Llr {
    pub(super) fn check(&self) -> Result<(), ProtectionError> {
        within("replays", self.replays, 1, u32::from(SenderConfig::UNLIMITED_REPLAYS))?;
        self.timer_ns.map_or(Ok(()), |ns| within("timer (ns)", ns, 1, TIMER_MAX_NS))?;
        self.frames.map_or(Ok(()), |frames| within("frames", frames, 1, Number::WINDOW))?;
        self.bytes.map_or(Ok(()), |bytes| within("bytes", bytes, 1, u32::MAX))?;
        let (low, high) = (*SPACING_BYTES.start() as u32, *SPACING_BYTES.end() as u32);
        within("spacing", self.spacing_bytes, low, high)
    }

    /// Refuses the options that only the simulator has. A live guard sees no frame that its network
    /// card found corrupted.
    pub(super) fn check_live(&self) -> Result<(), ProtectionError> {
        match self.errors {
            Errors::Dropped => Ok(()),
            Errors::Seen => Err(ProtectionError::SimulatedOption { family: "llr", option: "errors=seen" }),
        }
    }
}

const fn sample_replays() -> u32 {
    SenderConfig::SAMPLE_REPLAY_COUNT as u32
}

const fn usual_spacing() -> u32 {
    SPACING_DEFAULT.0 as u32
}

const fn yes() -> bool {
    true
}

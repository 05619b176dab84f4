//! Whether a link that is run step by step still moves frames.

use super::limits::LATEST;
use crate::Stop;
use lossylink_core::time::Instant;

/// The most frames that are offered at one instant: a link may drop frames as they come.
pub(super) const OFFERED_AT_ONCE: u32 = 1024;
/// The number of steps in a row without a frame on the wire that are a standstill.
const STANDSTILL_STEPS: u32 = 1 << 20;

/// The progress of a link: the frames that it has put on the wire, step by step.
#[derive(Clone, Debug, Default)]
pub(super) struct Motion {
    frames: u64,
    silent_steps: u32,
    is_at_end: bool,
    stop: Stop,
}

impl Motion {
    /// Watches a link whose run ends when somebody asks `stop` for it.
    pub(super) fn new(stop: &Stop) -> Self {
        Self { stop: stop.clone(), ..Self::default() }
    }

    /// Whether the next step, at `next`, can be taken.
    #[inline]
    pub(super) fn allows(&mut self, next: Instant) -> bool {
        self.is_at_end |= next >= LATEST;
        !self.is_at_end
    }

    /// Notes a step, after which `frames` frames have been on the wire.
    #[inline]
    pub(super) fn note(&mut self, frames: u64) {
        self.silent_steps = if frames == self.frames { self.silent_steps + 1 } else { 0 };
        self.frames = frames;
    }

    /// Whether the link has come to a standstill or to the end of the clock, or was stopped.
    #[inline]
    pub(super) fn is_over(&self) -> bool {
        self.is_at_end || self.silent_steps >= STANDSTILL_STEPS || self.stop.is_asked()
    }
}

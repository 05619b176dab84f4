//! Whether a link that is looked at again and again still moves.

use super::limits::LATEST;
use crate::Stop;
use lossylink_core::time::Instant;

/// Frames that are offered at one instant at the most: a link may drop them as they come.
pub(super) const OFFERED_AT_ONCE: u32 = 1024;
/// So many steps in which no frame goes on the wire are a standstill.
const STANDSTILL_STEPS: u32 = 1 << 20;

/// The frames on the wire of a link, step by step.
#[derive(Clone, Debug, Default)]
pub(super) struct Motion {
    frames: u64,
    silent_steps: u32,
    is_at_end: bool,
    stop: Stop,
}

impl Motion {
    /// Of a link that is left alone when somebody asks for that.
    pub(super) fn new(stop: &Stop) -> Self {
        Self { stop: stop.clone(), ..Self::default() }
    }

    /// Whether the next step, at `next`, can be taken.
    #[inline]
    pub(super) fn allows(&mut self, next: Instant) -> bool {
        self.is_at_end |= next >= LATEST;
        !self.is_at_end
    }

    /// A step has been taken, and so many frames have been on the wire.
    #[inline]
    pub(super) fn note(&mut self, frames: u64) {
        self.silent_steps = if frames == self.frames { self.silent_steps + 1 } else { 0 };
        self.frames = frames;
    }

    /// Whether nothing moves any more.
    #[inline]
    pub(super) fn is_over(&self) -> bool {
        self.is_at_end || self.silent_steps >= STANDSTILL_STEPS || self.stop.is_asked()
    }
}

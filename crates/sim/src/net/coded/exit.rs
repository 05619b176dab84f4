//! The exit of the far switch, which delivers frames and notes the time that each took across the link.

use crate::kernel::Trains;
use crate::net::{Frame, Latency, Payload};
use lossylink_core::time::Instant;

/// The decoder's exit.
#[derive(Clone, Debug)]
pub(in crate::net) struct Exit<P: Payload> {
    pub(in crate::net) delivered: Trains<Frame<P>>,
    pub(super) latency: Latency,
}

impl<P: Payload> Default for Exit<P> {
    fn default() -> Self {
        Self { delivered: Trains::new(), latency: Latency::default() }
    }
}

impl<P: Payload> Exit<P> {
    /// Delivers a frame, intact or rebuilt, that came to the encoder at `entered` and leaves at `at`.
    #[inline]
    pub(in crate::net) fn deliver(
        &mut self,
        at: Instant,
        entered: Instant,
        frame: Frame<P>,
        is_recovered: bool,
    ) {
        self.delivered.push_apart(at, frame);
        self.note(at, entered, is_recovered);
    }

    /// Notes the latency of a frame that the caller delivers.
    #[inline]
    pub(in crate::net) fn note(&mut self, at: Instant, entered: Instant, is_recovered: bool) {
        self.latency.note(at - entered, is_recovered);
    }
}

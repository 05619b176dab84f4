//! The unprotected way back: a line that is free or busy, and its losses.

use super::tap::Content;
use super::wire::Kind;
use super::{Direction, Frame, LineRate, Payload, Sight, Tap, Traffic, Wire};
use crate::kernel::Pipe;
use lossylink_core::time::{Duration, Instant};

/// The reverse direction of a link that is protected forward only. Its queue has room for all frames that wait.
#[derive(Clone, Debug)]
pub(super) struct Backward<P: Payload> {
    rate: LineRate,
    flight: Duration,
    pub(super) wire: Wire,
    pub(super) busy_until: Instant,
    pub(super) returned: Pipe<Frame<P>>,
    pub(super) tap: Tap<P>,
}

impl<P: Payload> Backward<P> {
    pub(super) fn new(rate: LineRate, flight: Duration, wire: Wire) -> Self {
        let (returned, tap) = (Pipe::new(), Tap::default());
        Self { rate, flight, wire, busy_until: Instant::ZERO, returned, tap }
    }

    /// Puts a frame that reaches the far switch on its way back.
    pub(super) fn offer(&mut self, now: Instant, frame: Frame<P>) {
        let start = now.max(self.busy_until);
        self.busy_until = start + self.rate.serialisation(frame.octets);
        let arrives = self.wire.carry(start, frame.octets, Kind::Data { header_octets: 0 });
        self.tap.see_on_link(now, || {
            let (direction, content) = (Direction::Backward, Content::Bare(frame));
            Sight { at: start, direction, arrives, content }
        });
        if arrives {
            self.returned.push(self.busy_until + self.flight, frame);
        }
    }

    pub(super) const fn traffic(&self) -> &Traffic {
        self.wire.traffic()
    }
}

#[cfg(feature = "fast")]
mod fast;

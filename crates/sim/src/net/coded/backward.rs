//! The unprotected way back: a line that is free or busy, and its losses.

use crate::kernel::Pipe;
use crate::net::wire::Kind;
use crate::net::{Frame, LineRate, Traffic, Wire};
use lossylink_core::time::{Duration, Instant};

/// The reverse direction of a link that is protected forward only; its queue never fills.
#[derive(Clone, Debug)]
pub(super) struct Backward<P: Copy + Default> {
    rate: LineRate,
    flight: Duration,
    wire: Wire,
    busy_until: Instant,
    pub(super) returned: Pipe<Frame<P>>,
}

impl<P: Copy + Default> Backward<P> {
    pub(super) fn new(rate: LineRate, flight: Duration, wire: Wire) -> Self {
        Self { rate, flight, wire, busy_until: Instant::ZERO, returned: Pipe::new() }
    }

    /// A frame reaches the far switch on its way back.
    pub(super) fn offer(&mut self, now: Instant, frame: Frame<P>) {
        self.busy_until = now.max(self.busy_until) + self.rate.serialisation(frame.octets);
        if self.wire.carry(frame.octets, Kind::Data { header_octets: 0 }) {
            self.returned.push(self.busy_until + self.flight, frame);
        }
    }

    pub(super) const fn traffic(&self) -> &Traffic {
        self.wire.traffic()
    }
}

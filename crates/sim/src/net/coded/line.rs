//! The wire between encoder and decoder, and the frames under way on it.

use super::port::Line;
use crate::kernel::Pipe;
use crate::net::tap::Content;
use crate::net::wire::Kind;
use crate::net::{Direction, Frame, Payload, Sight, Tap, Wire};
use lossylink_core::loss::Stake;
use lossylink_core::time::{Duration, Instant};
use std::fmt;

/// The label that travels with a frame.
pub(in crate::net) trait Label: Copy + Default + fmt::Debug {
    /// Returns the kind of the frame on the wire.
    fn kind(&self) -> Kind;

    /// Returns the stake that hangs on the frame.
    fn stake(&self) -> Stake;

    /// Returns the content of `frame` that a tap sees. `frame` has its length on the wire.
    fn shown<P>(&self, frame: Frame<P>) -> Content<P>;
}

/// A frame at the far end of the wire.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::net) struct Arrival<P, T> {
    pub(in crate::net) tag: T,
    pub(in crate::net) frame: Frame<P>,
    pub(in crate::net) is_intact: bool,
}

/// The wire, and the frames under way on it.
#[derive(Clone, Debug)]
pub(super) struct ForwardLine<P: Payload, T: Copy + Default> {
    pub(super) wire: Wire,
    /// The time from the last bit on the wire to the decoder.
    pub(super) flight: Duration,
    pub(super) arrivals: Pipe<Arrival<P, T>>,
    pub(super) tap: Tap<P>,
}

impl<P: Payload, T: Copy + Default> ForwardLine<P, T> {
    /// Counts the frames under way that will arrive whole.
    pub(super) fn whole_in_flight(&self) -> u64 {
        let mut arrivals = self.arrivals.clone();
        let arrivals = std::iter::from_fn(|| arrivals.pop());
        arrivals.filter(|(_, arrival)| arrival.is_intact).count() as u64
    }
}

impl<P: Payload, T: Label> Line<P, T> for ForwardLine<P, T> {
    #[inline]
    fn send(&mut self, (start, end): (Instant, Instant), tag: T, frame: Frame<P>) {
        let is_intact = self.wire.carry_with(start, frame.octets, tag.kind(), || tag.stake());
        self.tap.see_on_link(start, || {
            let (direction, content) = (Direction::Forward, tag.shown(frame));
            Sight { at: start, direction, arrives: is_intact, content }
        });
        self.arrivals.push(end + self.flight, Arrival { tag, frame, is_intact });
    }
}

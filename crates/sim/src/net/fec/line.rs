//! The wire between encoder and decoder, and what travels with a frame.

use super::HEADER_OCTETS;
use super::port::Line;
use crate::kernel::Pipe;
use crate::net::wire::Kind;
use crate::net::{Frame, Wire};
use lossylink_core::engine::fec::{DataStamp, ParityStamp};
use lossylink_core::time::{Duration, Instant};

/// What travels with a frame from the encoder to the decoder.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tag {
    /// When the frame came to the encoder.
    pub(super) entered: Instant,
    pub(super) part: Part,
}

/// What a frame is to the protection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Part {
    /// Nothing: it is not tagged (FEC-1).
    #[default]
    Untagged,
    Data(DataStamp),
    Parity(ParityStamp),
}

/// A frame at the far end of the wire.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Arrival<P> {
    pub(super) tag: Tag,
    pub(super) frame: Frame<P>,
    pub(super) is_intact: bool,
}

/// The wire, and what is under way on it.
#[derive(Clone, Debug)]
pub(super) struct ForwardLine<P: Copy + Default> {
    pub(super) wire: Wire,
    /// From the last bit on the wire to the decoder.
    pub(super) flight: Duration,
    pub(super) arrivals: Pipe<Arrival<P>>,
}

impl<P: Copy + Default> Line<P, Tag> for ForwardLine<P> {
    #[inline]
    fn send(&mut self, end: Instant, tag: Tag, frame: Frame<P>) {
        let kind = match tag.part {
            Part::Untagged => Kind::Data { header_octets: 0 },
            Part::Data(_) => Kind::Data { header_octets: HEADER_OCTETS },
            Part::Parity(_) => Kind::Parity,
        };
        let is_intact = self.wire.carry(frame.octets, kind);
        self.arrivals.push(end + self.flight, Arrival { tag, frame, is_intact });
    }
}

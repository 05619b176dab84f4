//! The two directions of the link, with the frames and control sets in flight on them.

use super::label::Label;
use super::shown;
use crate::kernel::Pipe;
use crate::net::tap::Content;
use crate::net::wire::Kind;
use crate::net::{Direction, Frame, Payload, Sight, Tap, Wire};
use lossylink_core::engine::llr::Control;
use lossylink_core::loss::Stake;
use lossylink_core::time::Instant;

/// Octets of a control ordered set; it has no preamble and no gap (LLR-6).
pub(super) const CONTROL_OCTETS: u32 = 8;

/// A frame on its way to the receiver.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Arrival<P> {
    pub(super) label: Label,
    pub(super) frame: Frame<P>,
}

/// A frame in its first transmission: the number stands in the preamble and adds nothing.
const FIRST: Kind = Kind::Data { header_octets: 0 };

/// Puts a control set on `wire`. To the loss process the set is a frame of eight bytes (LLR-6).
#[inline]
fn carry_control(wire: &mut Wire, at: Instant) -> bool {
    wire.carry_bare(at, CONTROL_OCTETS, Kind::Control)
}

/// The direction from the sender to the receiver. Control sets stand inside frames and overtake them, so control sets and frames
/// fly in separate pipes.
#[derive(Clone, Debug)]
pub(super) struct ForwardWire<P: Payload> {
    pub(super) wire: Wire,
    pub(super) frames: Pipe<Arrival<P>>,
    pub(super) controls: Pipe<Control>,
    /// Whether corrupted frames are seen where they arrive.
    pub(super) errors_seen: bool,
    pub(super) tap: Tap<P>,
}

impl<P: Payload> ForwardWire<P> {
    pub(super) fn new(wire: Wire, errors_seen: bool) -> Self {
        let tap = Tap::default();
        Self { wire, frames: Pipe::new(), controls: Pipe::new(), errors_seen, tap }
    }

    /// Sends a frame on which `stake` hangs at `now`, to arrive at `at`.
    #[inline]
    pub(super) fn send(
        &mut self,
        (now, at): (Instant, Instant),
        label: Label,
        frame: Frame<P>,
        is_replay: bool,
        stake: impl FnOnce() -> Stake,
    ) {
        let kind = if is_replay { Kind::Copy } else { FIRST };
        let arrives = self.wire.carry_with(now, frame.octets, kind, stake);
        see(&self.tap, (now, now), Direction::Forward, arrives, || shown::data(frame, label, is_replay));
        if arrives {
            self.frames.push(at, Arrival { label, frame });
        } else if let Label::Numbered(number) = label
            && self.errors_seen
        {
            self.frames.push(at, Arrival { label: Label::Bad(number), frame });
        }
    }

    /// Sends a control set at `now`, to arrive at `at`.
    pub(super) fn send_control(&mut self, (now, at): (Instant, Instant), control: Control) {
        let arrives = carry_control(&mut self.wire, now);
        see(&self.tap, (now, now), Direction::Forward, arrives, || shown::control(control));
        if arrives {
            self.controls.push(at, control);
        }
    }
}

/// Shows a frame or a control set to the tap. It sets out at the second instant; the first instant is the present.
#[inline]
fn see<P>(
    tap: &Tap<P>,
    (now, at): (Instant, Instant),
    direction: Direction,
    arrives: bool,
    content: impl FnOnce() -> Content<P>,
) {
    tap.see_on_link(now, || Sight { at, direction, arrives, content: content() });
}

/// The direction from the receiver to the sender: control sets, and frames without protection.
#[derive(Clone, Debug)]
pub(super) struct ReturnWire<P: Payload> {
    pub(super) wire: Wire,
    pub(super) controls: Pipe<Control>,
    pub(super) returned: Pipe<Frame<P>>,
    pub(super) tap: Tap<P>,
}

impl<P: Payload> ReturnWire<P> {
    pub(super) fn new(wire: Wire) -> Self {
        Self { wire, controls: Pipe::new(), returned: Pipe::new(), tap: Tap::default() }
    }

    /// Sends a control set at `now`, to arrive at `at`.
    #[inline]
    pub(super) fn send_control(&mut self, (now, at): (Instant, Instant), control: Control) {
        let arrives = carry_control(&mut self.wire, now);
        see(&self.tap, (now, now), Direction::Backward, arrives, || shown::control(control));
        if arrives {
            self.controls.push(at, control);
        }
    }

    /// Sends a frame without protection from `start` on, to arrive at `at`.
    pub(super) fn send(&mut self, now: Instant, (start, at): (Instant, Instant), frame: Frame<P>) {
        let arrives = self.wire.carry(start, frame.octets, FIRST);
        see(&self.tap, (now, start), Direction::Backward, arrives, || Content::Bare(frame));
        if arrives {
            self.returned.push(at, frame);
        }
    }
}

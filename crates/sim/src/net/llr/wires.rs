//! The two directions of the link, with what is in flight on them.

use super::label::Label;
use super::shown;
use crate::kernel::Pipe;
use crate::net::frame::GAP_OCTETS;
use crate::net::tap::Content;
use crate::net::{Direction, Frame, Sight, Tap, Traffic};
use lossylink_core::engine::llr::Control;
use lossylink_core::loss::LossProcess;
use lossylink_core::time::Instant;

/// Octets of a control ordered set; it has no preamble and no gap (LLR-6).
pub(super) const CONTROL_OCTETS: u32 = 8;

/// A frame on its way to the receiver.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Arrival<P> {
    pub(super) label: Label,
    pub(super) frame: Frame<P>,
}

/// One direction: decides what is corrupted, and counts what it carries. As
/// [`Wire`](crate::net::Wire), and carries control sets, which are shorter than the gap of a frame.
#[derive(Clone, Debug)]
pub(super) struct Line {
    loss: LossProcess,
    traffic: Traffic,
}

impl Line {
    pub(super) fn new(loss: LossProcess) -> Self {
        Self { loss, traffic: Traffic::default() }
    }

    pub(super) fn set_loss(&mut self, loss: LossProcess) {
        self.loss = loss;
    }

    pub(super) const fn traffic(&self) -> &Traffic {
        &self.traffic
    }

    /// Puts a frame on the line in its first transmission; true if it arrives whole.
    #[inline]
    pub(super) fn carry(&mut self, octets: u32) -> bool {
        let arrives = self.pass(octets - GAP_OCTETS);
        let traffic = &mut self.traffic;
        traffic.data_frames += 1;
        traffic.data_lost += u64::from(!arrives);
        traffic.data_octets += u64::from(octets);
        traffic.largest_octets = traffic.largest_octets.max(octets);
        arrives
    }

    /// Puts a frame on the line again.
    #[inline]
    pub(super) fn carry_replay(&mut self, octets: u32) -> bool {
        self.traffic.copy_octets += u64::from(octets);
        self.pass(octets - GAP_OCTETS)
    }

    /// Puts a control set on the line: to the loss process it is a frame of eight bytes (LLR-6).
    #[inline]
    pub(super) fn carry_control(&mut self) -> bool {
        self.traffic.control_octets += u64::from(CONTROL_OCTETS);
        self.pass(CONTROL_OCTETS)
    }

    #[inline]
    fn pass(&mut self, bytes: u32) -> bool {
        let lost = self.loss.is_lost(bytes);
        self.traffic.frames += 1;
        self.traffic.lost += u64::from(lost);
        !lost
    }
}

/// From the sender to the receiver. Control sets stand inside frames and overtake them, so they fly
/// apart.
#[derive(Clone, Debug)]
pub(super) struct ForwardWire<P: Copy + Default> {
    pub(super) line: Line,
    pub(super) frames: Pipe<Arrival<P>>,
    pub(super) controls: Pipe<Control>,
    /// Whether corrupted frames are seen where they arrive.
    pub(super) errors_seen: bool,
    pub(super) tap: Tap<P>,
}

impl<P: Copy + Default> ForwardWire<P> {
    pub(super) fn new(line: Line, errors_seen: bool) -> Self {
        let tap = Tap::default();
        Self { line, frames: Pipe::new(), controls: Pipe::new(), errors_seen, tap }
    }

    /// A frame is sent at `now`, to arrive at `at`.
    #[inline]
    pub(super) fn send(
        &mut self,
        (now, at): (Instant, Instant),
        label: Label,
        frame: Frame<P>,
        is_replay: bool,
    ) {
        let octets = frame.octets;
        let arrives = if is_replay { self.line.carry_replay(octets) } else { self.line.carry(octets) };
        see(&self.tap, (now, now), Direction::Forward, arrives, || shown::data(frame, label, is_replay));
        if arrives {
            self.frames.push(at, Arrival { label, frame });
        } else if let Label::Numbered(number) = label {
            if self.errors_seen {
                self.frames.push(at, Arrival { label: Label::Bad(number), frame });
            }
        }
    }

    /// A control set is sent at `now`, to arrive at `at`.
    pub(super) fn send_control(&mut self, (now, at): (Instant, Instant), control: Control) {
        let arrives = self.line.carry_control();
        see(&self.tap, (now, now), Direction::Forward, arrives, || shown::control(control));
        if arrives {
            self.controls.push(at, control);
        }
    }
}

/// Shows what sets out at the second instant; the first is the present.
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

/// From the receiver to the sender: control sets, and frames that nobody protects.
#[derive(Clone, Debug)]
pub(super) struct ReturnWire<P: Copy + Default> {
    pub(super) line: Line,
    pub(super) controls: Pipe<Control>,
    pub(super) returned: Pipe<Frame<P>>,
    pub(super) tap: Tap<P>,
}

impl<P: Copy + Default> ReturnWire<P> {
    pub(super) fn new(line: Line) -> Self {
        Self { line, controls: Pipe::new(), returned: Pipe::new(), tap: Tap::default() }
    }

    /// A control set is sent at `now`, to arrive at `at`.
    #[inline]
    pub(super) fn send_control(&mut self, (now, at): (Instant, Instant), control: Control) {
        let arrives = self.line.carry_control();
        see(&self.tap, (now, now), Direction::Backward, arrives, || shown::control(control));
        if arrives {
            self.controls.push(at, control);
        }
    }

    /// A frame that nobody protects is sent from `start` on, to arrive at `at`.
    pub(super) fn send(&mut self, now: Instant, (start, at): (Instant, Instant), frame: Frame<P>) {
        let arrives = self.line.carry(frame.octets);
        see(&self.tap, (now, start), Direction::Backward, arrives, || Content::Bare(frame));
        if arrives {
            self.returned.push(at, frame);
        }
    }
}

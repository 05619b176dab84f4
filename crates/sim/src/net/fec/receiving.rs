//! The receiving end: the decoder, the frames that wait for it, and the frames that leave.

use super::label::{Part, Tag};
use super::lost::{LostFrames, Stamped};
use super::{FecOptions, kept_bytes};
use crate::kernel::{Pipe, Ring};
use crate::net::coded::{Arrival, Exit, HEADER_OCTETS};
use crate::net::{Frame, Payload};
use lossylink_core::engine::fec::{Admission, DataStamp, DataVerdict, Decoder, Output, ParityStamp, Release};
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::Bytes;

/// The receiving switch.
#[derive(Clone, Debug)]
pub(super) struct Receiving<P: Payload> {
    decode: Duration,
    pub(super) decoder: Decoder,
    pub(super) lost: LostFrames<P>,
    /// In order: intact frames behind a hole.
    held: Ring<Stamped<P>>,
    /// In order: the time at which the last frame left.
    last: Instant,
    /// Eager: rebuilt frames whose arithmetic is under way.
    rebuilding: Pipe<Frame<P>>,
}

impl<P: Payload> Receiving<P> {
    pub(super) fn new(options: &FecOptions) -> Self {
        Self {
            decode: options.decode,
            decoder: Decoder::new(options.decoder()),
            lost: LostFrames::new(),
            held: Ring::new(),
            last: Instant::ZERO,
            rebuilding: Pipe::new(),
        }
    }

    /// Returns when the receiving end next has an event of its own.
    #[inline]
    pub(super) fn poll_timeout(&self) -> Instant {
        self.decoder.poll_timeout().min(self.rebuilding.poll_timeout())
    }

    /// Runs the events that are due at `now`: rebuilt frames leave, blocks are given up.
    #[inline]
    pub(super) fn advance(&mut self, now: Instant, exit: &mut Exit<P>) {
        while let Some((at, frame)) = self.rebuilding.pop_due(now) {
            exit.delivered.push_apart(at, frame);
        }
        if self.decoder.poll_timeout() <= now {
            self.decoder.handle_timeout(now);
            self.obey(now, exit);
        }
    }

    /// Receives a frame at the decoder.
    #[inline]
    pub(super) fn receive(&mut self, now: Instant, arrival: Arrival<P, Tag>, exit: &mut Exit<P>) {
        let Arrival { tag, frame, is_intact } = arrival;
        match tag.part {
            Part::Data(stamp) => {
                let frame = Frame { octets: frame.octets - HEADER_OCTETS, ..frame };
                self.receive_data(now, Stamped { stamp, entered: tag.entered, frame }, is_intact, exit);
            }
            Part::Parity(stamp) if is_intact => self.receive_parity(now, &stamp, kept_bytes(&frame), exit),
            Part::Untagged if is_intact => self.deliver(now, tag.entered, frame, false, exit),
            Part::Parity(_) | Part::Untagged => {}
        }
    }

    #[inline]
    fn receive_data(&mut self, now: Instant, stamped: Stamped<P>, is_intact: bool, exit: &mut Exit<P>) {
        let Stamped { stamp, entered, frame } = stamped;
        if !is_intact {
            self.lost.push_corrupted(stamped);
            return;
        }
        let bytes = kept_bytes(&frame);
        if self.decoder.admit(stamp.block, bytes) == Admission::Stale {
            return;
        }
        self.obey(now, exit);
        match self.decoder.handle_data(now, stamp, bytes) {
            DataVerdict::Forward => self.deliver(now, entered, frame, false, exit),
            DataVerdict::Hold => self.held.push(stamped),
            DataVerdict::Drop => {}
        }
        self.obey(now, exit);
    }

    #[inline]
    fn receive_parity(&mut self, now: Instant, stamp: &ParityStamp, bytes: Bytes, exit: &mut Exit<P>) {
        if self.decoder.admit(stamp.block, bytes) == Admission::Open {
            self.obey(now, exit);
            self.decoder.handle_parity(now, stamp, bytes);
            self.obey(now, exit);
        }
    }

    /// Carries out the outputs of the decoder.
    #[inline]
    fn obey(&mut self, now: Instant, exit: &mut Exit<P>) {
        while let Some(output) = self.decoder.poll() {
            if let Output::Release { stamp } = output {
                self.release(now, stamp, exit);
            }
        }
    }

    /// Releases a frame that was held or rebuilt.
    fn release(&mut self, now: Instant, stamp: DataStamp, exit: &mut Exit<P>) {
        if self.held.front().is_some_and(|held| held.stamp == stamp) {
            let held = self.held.pop().expect("the front was just seen");
            self.deliver(now, held.entered, held.frame, false, exit);
        } else {
            let decoder = &self.decoder;
            let found = self.lost.find(stamp, |stamp| decoder.has_left(stamp.block));
            let Stamped { entered, frame, .. } = found.expect("only lost frames are rebuilt");
            self.deliver(now, entered, frame, true, exit);
        }
    }

    /// Delivers a frame from the far switch, a rebuilt frame after its arithmetic. In order, no frame passes it.
    #[inline]
    fn deliver(
        &mut self,
        now: Instant,
        entered: Instant,
        frame: Frame<P>,
        is_recovered: bool,
        exit: &mut Exit<P>,
    ) {
        let mut leaves = if is_recovered { now + self.decode } else { now };
        if self.decoder.config().release == Release::InOrder {
            leaves = leaves.max(self.last);
            self.last = leaves;
        } else if leaves > now {
            self.rebuilding.push(leaves, frame);
            exit.note(leaves, entered, is_recovered);
            return;
        }
        exit.deliver(leaves, entered, frame, is_recovered);
    }
}

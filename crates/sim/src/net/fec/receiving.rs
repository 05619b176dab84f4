//! The receiving end: the decoder, the frames that wait for it, and those that leave.

use super::line::{Arrival, Part};
use super::lost::{LostFrames, Stamped};
use super::{FecOptions, HEADER_OCTETS, Latency};
use crate::kernel::{Pipe, Ring};
use crate::net::Frame;
use crate::net::frame::FCS_OCTETS;
use lossylink_core::engine::fec::{Admission, DataStamp, DataVerdict, Decoder, Output, ParityStamp, Release};
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::Bytes;

/// Period of the series of latencies.
const LATENCY_PERIOD: Duration = Duration::from_ms(1);

/// The receiving switch.
#[derive(Clone, Debug)]
pub(super) struct Receiving<P: Copy + Default> {
    decode: Duration,
    pub(super) decoder: Decoder,
    pub(super) lost: LostFrames<P>,
    /// In order: intact frames behind a hole.
    held: Ring<Stamped<P>>,
    /// Eager: rebuilt frames whose arithmetic is under way.
    rebuilding: Pipe<Frame<P>>,
    pub(super) delivered: Pipe<Frame<P>>,
    pub(super) latency: Latency,
}

impl<P: Copy + Default> Receiving<P> {
    pub(super) fn new(options: &FecOptions) -> Self {
        Self {
            decode: options.decode,
            decoder: Decoder::new(options.decoder()),
            lost: LostFrames::new(),
            held: Ring::new(),
            rebuilding: Pipe::new(),
            delivered: Pipe::new(),
            latency: Latency::new(LATENCY_PERIOD),
        }
    }

    /// When it next does something by itself.
    #[inline]
    pub(super) fn deadline(&self) -> Instant {
        self.decoder.poll_timeout().min(self.rebuilding.due())
    }

    /// Does what is due at `now`: rebuilt frames leave, blocks are given up.
    #[inline]
    pub(super) fn advance(&mut self, now: Instant) {
        while let Some((at, frame)) = self.rebuilding.pop_due(now) {
            self.delivered.push(at, frame);
        }
        if self.decoder.poll_timeout() <= now {
            self.decoder.handle_timeout(now);
            self.obey(now);
        }
    }

    /// A frame reaches the decoder.
    #[inline]
    pub(super) fn receive(&mut self, now: Instant, arrival: Arrival<P>) {
        let Arrival { tag, frame, is_intact } = arrival;
        match tag.part {
            Part::Data(stamp) => self.receive_data(now, tag.entered, stamp, frame, is_intact),
            Part::Parity(stamp) if is_intact => self.receive_parity(now, &stamp, kept_bytes(&frame)),
            Part::Untagged if is_intact => self.deliver(now, tag.entered, frame, false),
            Part::Parity(_) | Part::Untagged => {}
        }
    }

    #[inline]
    fn receive_data(
        &mut self,
        now: Instant,
        entered: Instant,
        stamp: DataStamp,
        coded: Frame<P>,
        is_intact: bool,
    ) {
        let frame = Frame { octets: coded.octets - HEADER_OCTETS, ..coded };
        let stamped = Stamped { stamp, entered, frame };
        if !is_intact {
            self.lost.push_corrupted(stamped);
            return;
        }
        let bytes = kept_bytes(&frame);
        if self.decoder.admit(stamp.block, bytes) == Admission::Stale {
            return;
        }
        self.obey(now);
        match self.decoder.handle_data(now, stamp, bytes) {
            DataVerdict::Forward => self.deliver(now, entered, frame, false),
            DataVerdict::Hold => self.held.push(stamped),
            DataVerdict::Drop => {}
        }
        self.obey(now);
    }

    #[inline]
    fn receive_parity(&mut self, now: Instant, stamp: &ParityStamp, bytes: Bytes) {
        if self.decoder.admit(stamp.block, bytes) == Admission::Open {
            self.obey(now);
            self.decoder.handle_parity(now, stamp, bytes);
            self.obey(now);
        }
    }

    /// Does what the decoder wants.
    #[inline]
    fn obey(&mut self, now: Instant) {
        while let Some(output) = self.decoder.poll() {
            if let Output::Release { stamp } = output {
                self.release(now, stamp);
            }
        }
    }

    /// A frame that was held or rebuilt leaves.
    fn release(&mut self, now: Instant, stamp: DataStamp) {
        if self.held.front().is_some_and(|held| held.stamp == stamp) {
            let held = self.held.pop().expect("the front was just seen");
            self.deliver(now, held.entered, held.frame, false);
        } else {
            let decoder = &self.decoder;
            let found = self.lost.find(stamp, |stamp| decoder.has_left(stamp.block));
            let Stamped { entered, frame, .. } = found.expect("only lost frames are rebuilt");
            self.deliver(now, entered, frame, true);
        }
    }

    /// A frame leaves the far switch, a rebuilt one after its arithmetic. In order, none passes it.
    #[inline]
    fn deliver(&mut self, now: Instant, entered: Instant, frame: Frame<P>, is_recovered: bool) {
        let mut leaves = if is_recovered { now + self.decode } else { now };
        if self.decoder.config().release == Release::InOrder {
            leaves = leaves.max(self.delivered.last_due());
            self.delivered.push(leaves, frame);
        } else if is_recovered && leaves > now {
            self.rebuilding.push(leaves, frame);
        } else {
            self.delivered.push(leaves, frame);
        }
        self.latency.note(leaves, entered, is_recovered);
    }
}

/// Bytes for which the decoder needs room.
#[inline]
pub(super) fn kept_bytes<P>(frame: &Frame<P>) -> Bytes {
    Bytes(u64::from(frame.frame_bytes_with_fcs() - FCS_OCTETS))
}

//! Trains of frames on a link that decides on each frame at once, and frames that are certain to cross that link.

use super::{DirectLink, Line, Scheme};
use crate::kernel::Train;
use crate::net::wire::Kind;
use crate::net::{Ecn, Frame, Passage, Payload};
use lossylink_core::time::{Duration, Instant};

impl<P: Payload> Line<P> {
    /// Puts the first frames of a train on the free wire, as long as each frame finds the wire free and all of them have one
    /// fate. The line must have no tap.
    #[inline]
    fn carry_train(&mut self, train: Train, frame: &Frame<P>) -> Passage {
        let serialisation = self.rate.serialisation(frame.octets);
        let keeps_distance = train.spacing >= serialisation;
        let clear = self.wire.clear_starts(train, frame.octets);
        let starts = train.up_to(if keeps_distance { clear.max(1) } else { 1 });
        self.pass(starts, frame.octets, serialisation, clear > 0)
    }

    /// Carries frames of `octets` that begin to leave at the times in `starts`. `is_clear` tells whether all of them are certain
    /// to arrive.
    #[inline(always)]
    fn pass(&mut self, starts: Train, octets: u32, serialisation: Duration, is_clear: bool) -> Passage {
        self.busy_until = starts.last() + serialisation;
        if is_clear {
            self.wire.carry_clear(starts.count, octets, 0);
        } else if !self.wire.carry(starts.first, octets, Kind::Data { header_octets: 0 }) {
            return Passage::LOST;
        }
        Passage::whole(starts.from(starts.first + serialisation + self.flight))
    }
}

impl<P: Payload, S: Scheme<P>> DirectLink<P, S> {
    /// Puts the first frames of a train behind the frame that occupies the line, as long as they leave by `until` and have one
    /// fate.
    #[inline]
    fn carry_behind(&mut self, train: Train, frame: &Frame<P>, until: Instant) -> Passage {
        let (octets, serialisation) = (frame.octets, self.line.rate.serialisation(frame.octets));
        // Frames that come before a markable frame leaves decide whether that frame is marked.
        if frame.ecn == Ecn::Capable || self.line.busy_until > until {
            return Passage::NONE;
        }
        let starts = train.starts(self.line.busy_until, serialisation);
        let starts = starts.unwrap_or(Train::of_one(self.line.busy_until));
        let clear = self.line.wire.clear_starts(starts.up_to(starts.come_by(until)), octets);
        let starts = starts.up_to(clear.max(1));
        let entered = self.queue.let_through(train.up_to(starts.count), starts, octets);
        if entered == 0 {
            return Passage::LOST;
        }
        let passage = self.line.pass(starts.up_to(entered), octets, serialisation, clear > 0);
        // If not all frames had room, one more frame was dropped.
        Passage { taken: starts.count.min(entered + 1), ..passage }
    }

    /// Whether `frames` data frames of `octets` that begin to leave by `until` are certain to arrive, and leave the scheme of the
    /// link as it was.
    pub(in crate::net) fn is_clear_for(&self, frames: u64, octets: u32, until: Instant) -> bool {
        let (clear, by) = self.line.wire.clear_frames(octets);
        S::SKIPS_CLEAN && clear >= frames && until <= by
    }

    /// Lets `frames` data frames of `octets` pass that begin to leave by `until`, without a look at each, if each is certain to
    /// arrive and leaves the scheme of the link as it was. Otherwise returns false and changes nothing.
    pub(in crate::net) fn skip_clean(&mut self, frames: u64, octets: u32, until: Instant) -> bool {
        let is_clear = self.is_clear_for(frames, octets, until);
        if is_clear {
            self.line.wire.skip(frames, octets);
        }
        is_clear
    }

    /// Decides on the frames that wait in the queue and leave by `until`.
    pub(super) fn decide_waiting(&mut self, until: Instant) {
        while self.line.busy_until <= until {
            let start = self.line.busy_until;
            let Some(frame) = self.queue.poll_ahead(start) else { return };
            self.send(start, frame);
        }
    }

    /// Carries the first frames of a train across the link, as long as they have one fate and leave the queue by `until`.
    #[inline]
    pub(super) fn take_forward(&mut self, train: Train, frame: &Frame<P>, until: Instant) -> Passage {
        if !(S::SKIPS_CLEAN && self.queue.is_empty()) {
            Passage::NONE
        } else if self.line.busy_until <= train.first {
            self.line.carry_train(train, frame)
        } else {
            self.carry_behind(train, frame, until)
        }
    }
}

//! Sources of the frames of one direction of a link.

use super::{Ecn, Frame, Payload};
#[cfg(feature = "fast")]
use crate::kernel::Train;
use crate::kernel::Trains;
#[cfg(feature = "fast")]
use lossylink_core::time::Duration;
use lossylink_core::time::Instant;

/// The number of frames from which on a look at them together is worth its cost.
#[cfg(feature = "fast")]
pub const MANY: u32 = 4;

/// Frames that come to a link, each at its time.
pub trait Source<P> {
    /// Returns when the next frame may come while `backlog` frames wait at the link; never, if no frame comes.
    fn poll_timeout(&self, backlog: usize) -> Instant;

    /// Whether the next frame comes as soon as the link has room, and is then due at once.
    #[inline(always)]
    fn waits_for_room(&self) -> bool {
        false
    }

    /// Hands the next frame to `offer`, if it comes. The time of the frame has come, and `backlog` frames wait at the link.
    fn take(&mut self, backlog: usize, offer: impl FnOnce(Instant, Frame<P>));

    // --- Trains, for the fast half alone. The defaults are right for any source.

    /// Whether enough frames come by `until` to be worth a look at them together.
    #[cfg(feature = "fast")]
    #[inline(always)]
    fn brings_many(&self, _until: Instant) -> bool {
        false
    }

    /// Returns a train of frames that come one after another up to and including `until`, and the first frame. The first frame
    /// finds `backlog` frames waiting. Frames like it leave `apart` from then on, as long as any frame waits. `None` if the first
    /// frame does not come, or not by `until`.
    #[cfg(feature = "fast")]
    #[inline(always)]
    fn train(
        &self,
        _backlog: usize,
        _until: Instant,
        _apart: impl Fn(u32) -> Duration,
    ) -> Option<(Train, Frame<P>)> {
        None
    }

    /// Takes the first `count` frames of a train that [`Source::train`] returned.
    #[cfg(feature = "fast")]
    #[inline(always)]
    fn skip(&mut self, _count: u32) {}
}

impl<P: Payload> Source<P> for Trains<Frame<P>> {
    #[inline(always)]
    fn poll_timeout(&self, _backlog: usize) -> Instant {
        Self::poll_timeout(self)
    }

    #[cfg(feature = "fast")]
    #[inline(always)]
    fn brings_many(&self, until: Instant) -> bool {
        self.has_due(MANY, until)
    }

    #[cfg(feature = "fast")]
    #[inline(always)]
    fn train(
        &self,
        _backlog: usize,
        until: Instant,
        _apart: impl Fn(u32) -> Duration,
    ) -> Option<(Train, Frame<P>)> {
        let (train, frame) = self.front().filter(|(train, _)| train.first <= until)?;
        Some((train.up_to(train.come_by(until)), *frame))
    }

    #[cfg(feature = "fast")]
    #[inline(always)]
    fn skip(&mut self, count: u32) {
        Self::skip(self, count);
    }

    #[inline(always)]
    fn take(&mut self, _backlog: usize, offer: impl FnOnce(Instant, Frame<P>)) {
        Self::take(self, |at, frame| offer(at, *frame));
    }
}

/// A source without frames.
#[derive(Clone, Copy, Debug)]
pub struct NoFrames;

impl<P> Source<P> for NoFrames {
    #[inline(always)]
    fn poll_timeout(&self, _backlog: usize) -> Instant {
        Instant::NEVER
    }

    #[inline(always)]
    fn take(&mut self, _backlog: usize, _offer: impl FnOnce(Instant, Frame<P>)) {}
}

/// A source whose frames are counted.
#[derive(Debug)]
pub(super) struct Counted<'a, S> {
    source: &'a mut S,
    /// Frames that were taken.
    pub(super) taken: u64,
}

impl<'a, S> Counted<'a, S> {
    pub(super) const fn new(source: &'a mut S) -> Self {
        Self { source, taken: 0 }
    }
}

impl<P, S: Source<P>> Source<P> for Counted<'_, S> {
    fn poll_timeout(&self, backlog: usize) -> Instant {
        self.source.poll_timeout(backlog)
    }

    fn waits_for_room(&self) -> bool {
        self.source.waits_for_room()
    }

    fn take(&mut self, backlog: usize, offer: impl FnOnce(Instant, Frame<P>)) {
        self.source.take(backlog, |at, frame| {
            self.taken += 1;
            offer(at, frame);
        });
    }

    #[cfg(feature = "fast")]
    fn brings_many(&self, until: Instant) -> bool {
        self.source.brings_many(until)
    }

    #[cfg(feature = "fast")]
    fn train(
        &self,
        backlog: usize,
        until: Instant,
        apart: impl Fn(u32) -> Duration,
    ) -> Option<(Train, Frame<P>)> {
        self.source.train(backlog, until, apart)
    }

    #[cfg(feature = "fast")]
    fn skip(&mut self, count: u32) {
        self.taken += u64::from(count);
        self.source.skip(count);
    }
}

/// Frames that a saturated source keeps waiting: one is in service, one is next.
pub const SATURATED_BACKLOG: usize = 2;

/// A source of numbered frames of one size that fill the room at the link, as long as any frames are left.
#[derive(Clone, Copy, Debug)]
pub struct Saturated {
    /// Size of each frame, Ethernet header included and check sequence not.
    pub frame_bytes: u32,
    /// The number of frames that have come.
    pub offered: u64,
    /// The number of frames in all.
    pub packets: u64,
}

impl Source<u64> for Saturated {
    #[inline(always)]
    fn poll_timeout(&self, backlog: usize) -> Instant {
        let comes = backlog < SATURATED_BACKLOG && self.offered < self.packets;
        if comes { Instant::ZERO } else { Instant::NEVER }
    }

    #[inline(always)]
    fn waits_for_room(&self) -> bool {
        true
    }

    #[cfg(feature = "fast")]
    #[inline(always)]
    fn brings_many(&self, _until: Instant) -> bool {
        true
    }

    #[cfg(feature = "fast")]
    #[inline(always)]
    fn train(
        &self,
        _backlog: usize,
        _until: Instant,
        _apart: impl Fn(u32) -> Duration,
    ) -> Option<(Train, Frame<u64>)> {
        let count = u32::try_from(self.packets - self.offered).unwrap_or(u32::MAX);
        let frame = Frame::of_frame_bytes(self.frame_bytes, Ecn::NotCapable, self.offered);
        (count > 0).then_some((Train { count, ..Train::of_one(Instant::ZERO) }, frame))
    }

    #[cfg(feature = "fast")]
    #[inline(always)]
    fn skip(&mut self, count: u32) {
        self.offered += u64::from(count);
    }

    #[inline(always)]
    fn take(&mut self, _backlog: usize, offer: impl FnOnce(Instant, Frame<u64>)) {
        offer(Instant::ZERO, Frame::of_frame_bytes(self.frame_bytes, Ecn::NotCapable, self.offered));
        self.offered += 1;
    }
}

/// A link that a saturated source fills event by event.
#[cfg(all(test, feature = "fast"))]
pub(in crate::net) mod filling {
    use super::{Saturated, Source};
    use crate::net::ProtectedLink;
    use lossylink_core::time::Instant;

    /// Runs everything that happens up to and including `until`, and fills the room at the link after each event. Returns when
    /// the last event happened.
    pub(in crate::net) fn step_filling(
        link: &mut impl ProtectedLink<u64>,
        source: &mut Saturated,
        until: Instant,
    ) -> Instant {
        let mut last = Instant::ZERO;
        loop {
            while !source.poll_timeout(link.backlog()).is_never() {
                source.take(link.backlog(), |_, frame| link.offer(last, frame));
            }
            if link.poll_timeout() > until {
                return last;
            }
            last = link.advance(link.poll_timeout());
        }
    }
}

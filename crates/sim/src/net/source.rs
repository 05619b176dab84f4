//! Where the frames of one direction of a link come from.

use super::Frame;
use crate::kernel::Pipe;
use lossylink_core::time::Instant;

/// Frames that come to a link, each at its time.
pub trait Source<P> {
    /// When the next frame may come; never, if none comes any more.
    fn poll_timeout(&self) -> Instant;

    /// The time of the next frame has come, and `backlog` frames wait at the link: hands it to `offer`, if it comes.
    fn take(&mut self, backlog: usize, offer: impl FnOnce(Instant, Frame<P>));
}

impl<P: Copy + Default> Source<P> for Pipe<Frame<P>> {
    #[inline(always)]
    fn poll_timeout(&self) -> Instant {
        Self::poll_timeout(self)
    }

    #[inline(always)]
    fn take(&mut self, _backlog: usize, offer: impl FnOnce(Instant, Frame<P>)) {
        Self::take(self, |at, frame| offer(at, *frame));
    }
}

/// Nothing comes.
#[derive(Clone, Copy, Debug)]
pub struct NoFrames;

impl<P> Source<P> for NoFrames {
    #[inline(always)]
    fn poll_timeout(&self) -> Instant {
        Instant::NEVER
    }

    #[inline(always)]
    fn take(&mut self, _backlog: usize, _offer: impl FnOnce(Instant, Frame<P>)) {}
}

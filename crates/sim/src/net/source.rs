//! Where the frames of one direction of a link come from.

use super::Frame;
use crate::kernel::Pipe;
use lossylink_core::time::Instant;

/// Frames that come to a link, each at its time.
pub trait Source<P> {
    /// When the next frame may come while `backlog` frames wait at the link; never, if none does.
    fn poll_timeout(&self, backlog: usize) -> Instant;

    /// Whether it is room at the link that lets the next frame come, which is then due at once.
    #[inline(always)]
    fn waits_for_room(&self) -> bool {
        false
    }

    /// The time of the next frame has come, and `backlog` frames wait at the link: hands it to `offer`, if it comes.
    fn take(&mut self, backlog: usize, offer: impl FnOnce(Instant, Frame<P>));
}

impl<P: Copy + Default> Source<P> for Pipe<Frame<P>> {
    #[inline(always)]
    fn poll_timeout(&self, _backlog: usize) -> Instant {
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
    fn poll_timeout(&self, _backlog: usize) -> Instant {
        Instant::NEVER
    }

    #[inline(always)]
    fn take(&mut self, _backlog: usize, _offer: impl FnOnce(Instant, Frame<P>)) {}
}

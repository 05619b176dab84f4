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

/// A source that waits for room, and the link that it fills event by event.
#[cfg(test)]
pub(in crate::net) mod filling {
    use super::Source;
    use crate::net::{Ecn, Frame, ProtectedLink};
    use lossylink_core::time::Instant;

    /// Frames that come as long as fewer than two wait.
    pub(in crate::net) struct Fill {
        pub(in crate::net) bytes: u32,
        pub(in crate::net) left: u64,
    }

    impl Source<u64> for Fill {
        fn poll_timeout(&self, backlog: usize) -> Instant {
            if backlog < 2 && self.left > 0 { Instant::ZERO } else { Instant::NEVER }
        }

        fn waits_for_room(&self) -> bool {
            true
        }

        fn take(&mut self, _backlog: usize, offer: impl FnOnce(Instant, Frame<u64>)) {
            self.left -= 1;
            offer(Instant::ZERO, Frame::of_frame_bytes(self.bytes, Ecn::NotCapable, self.left));
        }
    }

    /// Lets happen what happens up to and including `until`, event by event, and fills what room there is after each; says
    /// when the last of it happened.
    pub(in crate::net) fn step_filling(
        link: &mut impl ProtectedLink<u64>,
        source: &mut Fill,
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

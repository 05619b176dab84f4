//! Lets the two switches of a link run ahead of each other as far as none can notice.
//!
//! Nothing that the receiving switch says takes effect at the sending switch sooner than the way back
//! takes. So the sending switch may run that far ahead. The receiving switch then sees all that was sent to
//! it by then. Each switch sees the events that it would see one by one, in the same order: at equal
//! times those of the sending switch go first.

use super::LinkGuardianLink;
use super::wires::ControlFrame;
use lossylink_core::time::{Duration, Instant};

impl<P: Copy + Default> LinkGuardianLink<P> {
    /// Does everything that is due up to and including `until`; says when the last of it happened, or
    /// [`Instant::ZERO`].
    #[inline]
    pub(super) fn go_ahead(&mut self, until: Instant) -> Instant {
        let mut latest = Instant::ZERO;
        let (mut near, mut far) = (self.next_near(), self.next_far());
        loop {
            let next = near.min(far);
            if next > until || next.is_never() {
                return latest;
            }
            let end = self.stride(next).min(until);
            let mut now = Instant::ZERO;
            while near <= end {
                // What has just happened may have freed the port, which was idle before.
                now = near.max(now);
                self.step_near(now);
                near = self.next_near();
            }
            latest = latest.max(now);
            far = far.min(self.forward.poll_timeout());
            while far <= end {
                latest = latest.max(far);
                self.step_far(far);
                far = self.next_far();
            }
            if end == until {
                return latest;
            }
            near = near.min(self.backward.poll_timeout());
        }
    }

    /// How far both switches may run when nothing happens before `next`: nothing that the receiving switch has
    /// yet to say takes effect by then. Whoever looks at the wires sees both switches at once: then the
    /// clock must not go back.
    #[inline]
    fn stride(&self, next: Instant) -> Instant {
        if self.sending.tap.is_open() {
            return next;
        }
        self.receiving.back.silent_until(next) - Duration::from_ps(1)
    }

    /// When the sending switch next does something, or hears something.
    #[inline]
    pub(super) fn next_near(&self) -> Instant {
        self.backward.poll_timeout().min(self.sending.poll_timeout())
    }

    /// When the receiving switch next does something, or a frame reaches it.
    #[inline]
    pub(super) fn next_far(&self) -> Instant {
        self.forward.poll_timeout().min(self.receiving.poll_timeout())
    }

    /// Lets happen the first of what happens at the sending switch at `now`.
    #[inline]
    fn step_near(&mut self, now: Instant) {
        if self.backward.poll_timeout() <= now {
            self.handle_control(now);
        } else {
            self.sending.step(now, &mut self.forward);
        }
    }

    /// Lets happen the first of what happens at the receiving switch at `now`: what arrives goes before what it does
    /// by itself.
    #[inline]
    fn step_far(&mut self, now: Instant) {
        let Self { forward, receiving, backward, .. } = self;
        if forward.arrivals.poll_timeout() <= now {
            forward.arrivals.take(|_, arrival| receiving.receive(now, arrival));
        } else if forward.copies.poll_timeout() <= now {
            forward.copies.take(|_, copy| receiving.receive_copy(now, copy));
        } else {
            receiving.step(now, backward);
        }
    }

    /// The first control frame whose time has come takes effect at the sender.
    #[inline]
    fn handle_control(&mut self, now: Instant) {
        match self.backward.poll(now) {
            Some(ControlFrame::Ack(leading)) => self.sending.handle_ack(now, leading),
            Some(ControlFrame::Notification(notification)) => {
                self.sending.handle_notification(now, &notification);
            }
            Some(ControlFrame::Pause(request)) => self.sending.handle_pause(now, request),
            None => {}
        }
    }
}

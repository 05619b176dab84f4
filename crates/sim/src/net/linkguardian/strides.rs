//! Lets the two switches of a link run ahead of each other as far as none can notice.
//!
//! Nothing that the receiving switch says takes effect at the sending switch sooner than the way back
//! takes. So the sending switch may run that far ahead. The receiving switch then sees all that was sent to
//! it by then. Each switch sees the events that it would see one by one, in the same order: at equal
//! times those of the sending switch go first.

use super::LinkGuardianLink;
use super::timing::Timing;
use super::wires::ControlFrame;
use lossylink_core::time::{Duration, Instant};

/// How far both switches may run beyond what happens next: nothing that the receiving switch says from then on takes
/// effect by then.
pub(super) fn longest(timing: &Timing) -> Duration {
    timing.least_told() - Duration::from_ps(1)
}

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
            let end = until.min(next + self.stride);
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

#[cfg(test)]
mod tests {
    use super::super::{LinkGuardianLink, Options};
    use crate::config::switch_profile;
    use crate::net::{Ecn, Frame, LineRate, ProtectedLink};
    use lossylink_core::engine::linkguardian::SenderConfig;
    use lossylink_core::loss::{LossModel, LossProcess};
    use lossylink_core::rng::Streams;
    use lossylink_core::time::{Duration, Instant};
    use lossylink_core::units::BitRate;
    use proptest::prelude::*;

    /// A link that loses one frame in twenty, both ways.
    fn link(gbps: u64, ordered: bool, seed: u64) -> LinkGuardianLink<u64> {
        let sender = SenderConfig { copies: 2, dummies: 3, hole_cap: Some(5) };
        let options = Options { sender, control_copies: 1, ordered, backpressure: true, deduplicate: true };
        let streams = Streams::new(seed);
        let loss = |name| LossProcess::new(&LossModel::bernoulli(0.05).unwrap(), streams.stream(name));
        LinkGuardianLink::new(
            &switch_profile("tofino1"),
            LineRate::new(BitRate::from_gbps(gbps)),
            Duration::ZERO,
            &options,
            (loss("forward"), loss("back")),
            &mut streams.stream("phases"),
        )
    }

    /// All that comes out of the link by now, and what it tells about itself.
    fn seen(link: &mut LinkGuardianLink<u64>, now: Instant) -> String {
        let delivered: Vec<_> = std::iter::from_fn(|| link.delivered().pop_due(now)).collect();
        let returned: Vec<_> = std::iter::from_fn(|| link.returned().pop_due(now)).collect();
        format!("{:?} {delivered:?} {returned:?} {:?}", link.poll_timeout(), link.counters(now))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn running_ahead_changes_nothing(
            offers in prop::collection::vec((0u64..400, 60u32..1515, 0u8..8), 1..200),
            is_fast: bool,
            ordered: bool,
            seed in 0u64..1000,
        ) {
            let gbps = if is_fast { 100 } else { 10 };
            let (mut ahead, mut stepped) = (link(gbps, ordered, seed), link(gbps, ordered, seed));
            let mut now = Instant::ZERO;
            for (number, (wait, bytes, kind)) in (0..).zip(offers) {
                now += Duration::from_ns(if kind == 0 { 20 * wait } else { wait });
                let latest = ahead.advance(now);
                let mut last = Instant::ZERO;
                while stepped.poll_timeout() <= now {
                    last = stepped.advance(stepped.poll_timeout());
                }
                prop_assert_eq!(latest, last);
                prop_assert_eq!(seen(&mut ahead, now), seen(&mut stepped, now));
                for link in [&mut ahead, &mut stepped] {
                    let frame = Frame::of_frame_bytes(bytes, Ecn::NotCapable, number);
                    if kind == 1 { link.offer_back(now, frame) } else { link.offer(now, frame) }
                }
            }
        }
    }
}

//! The times at which DCQCN lets packets leave.

use super::config::Config;
use super::dcqcn::RateLimiter;
use lossylink_core::time::Instant;

/// The pacer of one end's packets. A refused packet arms a timer, which the next question disarms.
///
/// The interface's line is no concern of this end: the owner of the line asks for a packet when the line is free
/// (RDMA-19).
#[derive(Clone, Debug)]
pub(super) struct Pacer {
    pub(super) limiter: Option<RateLimiter>,
    refused_until: Instant,
}

impl Pacer {
    pub(super) fn new(config: &Config) -> Self {
        Self { limiter: config.dcqcn.map(RateLimiter::new), refused_until: Instant::NEVER }
    }

    /// Begins a new round of questions, in which no packet has been refused.
    #[inline]
    pub(super) const fn reset(&mut self) {
        self.refused_until = Instant::NEVER;
    }

    /// Whether a packet may leave now; if not, [`deadline`](Self::poll_timeout) says when.
    #[inline]
    pub(super) fn may_send(&mut self, now: Instant) -> bool {
        let open_from = self.limiter.as_ref().map_or(Instant::ZERO, RateLimiter::open_from);
        let may_send = open_from <= now;
        if !may_send {
            self.refused_until = open_from;
        }
        may_send
    }

    /// Notes that a packet of `ip_bytes` left.
    #[inline]
    pub(super) fn note_sent(&mut self, now: Instant, ip_bytes: u32) {
        if let Some(limiter) = &mut self.limiter {
            limiter.note_sent(now, ip_bytes);
        }
    }

    /// Returns when a packet that was refused may leave; [`Instant::NEVER`] if none was refused.
    #[inline]
    pub(super) const fn poll_timeout(&self) -> Instant {
        self.refused_until
    }
}

#[cfg(test)]
mod tests {
    use super::super::dcqcn::Dcqcn;
    use super::*;
    use lossylink_core::time::Duration;
    use lossylink_core::units::BitRate;

    // RDMA-34
    #[test]
    fn a_notification_holds_the_next_packet_back_and_arms_a_timer() {
        let dcqcn = Some(Dcqcn::on(BitRate::from_gbps(100)));
        let mut pacer = Pacer::new(&Config { dcqcn, ..Config::default() });
        let start = Instant::ZERO + Duration::from_us(1);
        pacer.limiter.as_mut().unwrap().handle_notification(start);
        assert!(pacer.may_send(start));
        pacer.note_sent(start, 1068);
        // Half the line's rate: 1068 bytes at 50 Gb/s.
        let open = start + Duration::from_ps(170_880);
        assert!(!pacer.may_send(start));
        assert_eq!(pacer.poll_timeout(), open);
        pacer.reset();
        assert!(pacer.poll_timeout().is_never());
        assert!(!pacer.may_send(open.just_before()));
        assert!(pacer.may_send(open));
    }

    #[test]
    fn without_a_limiter_everything_leaves_at_once() {
        let mut pacer = Pacer::new(&Config::default());
        pacer.note_sent(Instant::ZERO, 1068);
        assert!(pacer.may_send(Instant::ZERO));
    }
}

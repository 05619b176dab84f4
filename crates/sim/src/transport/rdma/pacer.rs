//! When the next packet may leave: the interface's line, and DCQCN on top of it.

use super::config::Config;
use super::dcqcn::RateLimiter;
use crate::net::{Ecn, Frame, LineRate};
use lossylink_core::time::{Duration, Instant};

/// Spaces the packets of one end. A refused packet arms a timer, which the next question disarms.
#[derive(Clone, Debug)]
pub(super) struct Pacer {
    /// The interface's line, if the driver leaves it to this end (RDMA-19).
    line: Option<LineRate>,
    line_free_at: Instant,
    pub(super) limiter: Option<RateLimiter>,
    refused_until: Instant,
}

impl Pacer {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            line: config.interface_rate.map(LineRate::new),
            line_free_at: Instant::ZERO,
            limiter: config.dcqcn.map(RateLimiter::new),
            refused_until: Instant::NEVER,
        }
    }

    /// A new round of questions: nothing has been refused.
    #[inline]
    pub(super) const fn reset(&mut self) {
        self.refused_until = Instant::NEVER;
    }

    /// Whether a packet may leave now; if not, [`deadline`](Self::poll_timeout) says when.
    #[inline]
    pub(super) fn may_send(&mut self, now: Instant) -> bool {
        let limiter_open = self.limiter.as_ref().map_or(Instant::ZERO, RateLimiter::open_from);
        let open_from = limiter_open.max(self.line_free_at);
        let may_send = open_from <= now;
        if !may_send {
            self.refused_until = open_from;
        }
        may_send
    }

    /// A packet of `ip_bytes` left.
    #[inline]
    pub(super) fn note_sent(&mut self, now: Instant, ip_bytes: u32) {
        if let Some(line) = self.line {
            let frame = Frame::of_ip_bytes(ip_bytes, Ecn::NotCapable, ());
            self.line_free_at = now + line.serialisation(frame.octets);
        }
        if let Some(limiter) = &mut self.limiter {
            limiter.note_sent(now, ip_bytes);
        }
    }

    /// How far apart packets of `ip_bytes` leave over the interface's line.
    #[inline]
    pub(super) fn spacing(&self, ip_bytes: u32) -> Duration {
        let octets = Frame::of_ip_bytes(ip_bytes, Ecn::NotCapable, ()).octets;
        self.line.map_or(Duration::ZERO, |line| line.serialisation(octets))
    }

    /// When a packet that was refused may leave; [`Instant::NEVER`] without one.
    #[inline]
    pub(super) const fn poll_timeout(&self) -> Instant {
        self.refused_until
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lossylink_core::units::BitRate;

    // RDMA-19
    #[test]
    fn an_interface_takes_one_packet_at_a_time() {
        let interface_rate = Some(BitRate::from_gbps(100));
        let mut pacer = Pacer::new(&Config { interface_rate, ..Config::default() });
        let start = Instant::ZERO + Duration::from_us(1);
        assert!(pacer.may_send(start));
        pacer.note_sent(start, 1068);
        // 1106 octets at 80 ps.
        let free = start + Duration::from_ps(88_480);
        assert!(!pacer.may_send(start));
        assert_eq!(pacer.poll_timeout(), free);
        pacer.reset();
        assert!(pacer.poll_timeout().is_never());
        assert!(!pacer.may_send(Instant::from_ps(free.as_ps() - 1)));
        assert!(pacer.may_send(free));
    }

    #[test]
    fn without_rates_everything_leaves_at_once() {
        let mut pacer = Pacer::new(&Config::default());
        pacer.note_sent(Instant::ZERO, 1068);
        assert!(pacer.may_send(Instant::ZERO));
    }
}

//! The timers of each end: one enumeration an end, and the sender's repair timer.

use super::clock::Clock;
use super::rtt::RoundTrip;
use lossylink_core::time::Instant;

/// A timer of the sender, and the time when it fires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SenderTimer {
    /// The connection request has no answer: it will be repeated.
    ConnectionRequest(Instant),
    /// Retransmission timeout: all outstanding segments will count as lost.
    RetransmissionTimeout(Instant),
    /// The reordering window closes: segments that were overtaken longer ago will count as lost
    /// (RFC 8985).
    Reordering(Instant),
    /// Loss probe: the tail will be probed for a loss (RFC 8985 section 7).
    LossProbe(Instant),
    /// Pacing: the pacing rate will allow the next packet.
    Pacing(Instant),
}

/// A timer of the receiver, and the time when it fires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiverTimer {
    /// The answer to a connection request has no answer: it will be repeated.
    ConnectionAnswer(Instant),
    /// Delayed acknowledgement: it will have waited long enough for a second segment.
    DelayedAck(Instant),
    /// Thinned duplicate acknowledgements will be summed up.
    CompressedAck(Instant),
}

impl SenderTimer {
    /// Returns when the timer fires.
    pub const fn at(self) -> Instant {
        match self {
            Self::ConnectionRequest(at)
            | Self::RetransmissionTimeout(at)
            | Self::Reordering(at)
            | Self::LossProbe(at)
            | Self::Pacing(at) => at,
        }
    }
}

impl ReceiverTimer {
    /// Returns when the timer fires.
    pub const fn at(self) -> Instant {
        match self {
            Self::ConnectionAnswer(at) | Self::DelayedAck(at) | Self::CompressedAck(at) => at,
        }
    }
}

/// The sender's timer of handshake and repair. There is one, as in Linux: a timer that is armed
/// replaces the timer before.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RepairTimer {
    armed: Option<SenderTimer>,
}

impl RepairTimer {
    /// Returns the timer, if it is armed.
    pub(super) const fn armed(&self) -> Option<SenderTimer> {
        self.armed
    }

    /// Returns when the timer fires; [`Instant::NEVER`] if it is not armed.
    pub(super) fn poll_timeout(&self) -> Instant {
        self.armed.map_or(Instant::NEVER, SenderTimer::at)
    }

    /// Arms `timer` for `length` jiffies.
    pub(super) fn arm(&mut self, timer: fn(Instant) -> SenderTimer, length: u64, clock: &Clock) {
        self.armed = Some(timer(clock.fires_after(length)));
    }

    /// Arms the retransmission timeout from the stamp of the first outstanding segment or from now,
    /// or disarms the timer without data outstanding. (TCP-8)
    ///
    /// In place of a probe or reordering timer the timeout runs from the first outstanding segment.
    pub(super) fn restart_timeout(&mut self, head_sent_us: Option<u64>, rtt: &RoundTrip, clock: &Clock) {
        let Some(sent_us) = head_sent_us else { return self.disarm() };
        let length = match self.armed {
            Some(SenderTimer::Reordering(_) | SenderTimer::LossProbe(_)) => {
                rtt.left_of_timeout(sent_us, clock).unwrap_or(1)
            }
            _ => rtt.timeout(),
        };
        self.arm(SenderTimer::RetransmissionTimeout, length, clock);
    }

    /// Disarms the timer.
    pub(super) const fn disarm(&mut self) {
        self.armed = None;
    }

    /// Whether the retransmission timeout is armed.
    pub(super) const fn is_timeout(&self) -> bool {
        matches!(self.armed, Some(SenderTimer::RetransmissionTimeout(_)))
    }

    /// Whether the end of a reordering window is armed.
    pub(super) const fn is_reordering(&self) -> bool {
        matches!(self.armed, Some(SenderTimer::Reordering(_)))
    }

    /// Whether a loss probe is armed.
    pub(super) const fn is_probe(&self) -> bool {
        matches!(self.armed, Some(SenderTimer::LossProbe(_)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lossylink_core::time::Duration;

    const fn ms(ms: u64) -> Instant {
        Instant::from_ps(ms * 1_000_000_000)
    }

    /// TCP-8: 220 jiffies, in slots of 8, from the first segment or from now.
    #[test]
    fn in_place_of_a_probe_the_timeout_runs_from_the_first_segment() {
        let mut clock = Clock::new(Duration::from_ms(1), Duration::ZERO);
        clock.refresh(ms(100));
        let mut rtt = RoundTrip::new(Duration::from_ms(200), &clock);
        (0..100).for_each(|number| rtt.sample(20_000, number, number + 10, &clock));
        let mut timer = RepairTimer::default();
        timer.restart_timeout(Some(60_000), &rtt, &clock);
        assert_eq!(timer.armed(), Some(SenderTimer::RetransmissionTimeout(ms(327))), "from now");
        timer.arm(SenderTimer::LossProbe, 2, &clock);
        timer.restart_timeout(Some(60_000), &rtt, &clock);
        assert_eq!(timer.armed(), Some(SenderTimer::RetransmissionTimeout(ms(287))), "from 60 ms on");
        timer.arm(SenderTimer::Reordering, 2, &clock);
        clock.refresh(ms(280));
        timer.restart_timeout(Some(60_000), &rtt, &clock);
        assert_eq!(timer.poll_timeout(), ms(282), "that is past: at the next tick");
        timer.restart_timeout(None, &rtt, &clock);
        assert_eq!(timer.poll_timeout(), Instant::NEVER);
    }
}

//! A packet that circulates in the lowest-priority queue and is sent only while a counter is
//! above zero (LG-17, LG-18). While the counter is zero its rounds are not simulated.

use lossylink_core::time::{Duration, Instant};

/// A packet that circulates, and is replaced when it leaves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Circulating {
    period: Duration,
    /// A time at which the packet is back in its queue.
    returns: Instant,
}

impl Circulating {
    /// Builds a packet that goes round once a `period` and is first back at `phase`. A period of zero means that a packet is
    /// always at hand.
    pub(super) fn new(period: Duration, phase: Duration) -> Self {
        Self { period, returns: Instant::ZERO + phase }
    }

    /// Returns the first time from `since` on at which the packet is back.
    #[inline]
    pub(super) fn next_return(&mut self, since: Instant) -> Instant {
        if self.period == Duration::ZERO {
            self.returns = self.returns.max(since);
        } else if self.returns < since {
            let late = (since - self.returns).as_ps();
            self.returns += self.period * late.div_ceil(self.period.as_ps());
        }
        self.returns
    }

    /// Returns when the packet can leave a port that was idle until `busy_since` and is busy from then until `busy_until`. Once
    /// back, the packet waits for the port; on an idle port it does not wait.
    #[inline]
    pub(super) fn departure(&mut self, busy_since: Instant, busy_until: Instant) -> Instant {
        self.next_return(busy_since).max(busy_until)
    }

    /// Returns the time of a round.
    #[inline]
    #[cfg(feature = "fast")]
    pub(super) const fn period(&self) -> Duration {
        self.period
    }

    /// Sends the packet off at `now`.
    pub(super) fn depart(&mut self, now: Instant) {
        self.returns = now + self.period;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ns(ns: u64) -> Instant {
        Instant::from_ps(ns * 1000)
    }

    // LG-17, LG-18
    #[test]
    fn the_packet_keeps_its_cycle_while_the_port_is_idle() {
        let mut packet = Circulating::new(Duration::from_ns(600), Duration::from_ns(100));
        assert_eq!(packet.next_return(ns(0)), ns(100));
        assert_eq!(packet.next_return(ns(101)), ns(700));
        assert_eq!(packet.next_return(ns(1300)), ns(1300));
        assert_eq!(packet.next_return(ns(600_101)), ns(600_700));
    }

    #[test]
    fn the_packet_waits_for_a_busy_port() {
        let mut packet = Circulating::new(Duration::from_ns(600), Duration::from_ns(100));
        assert_eq!(packet.departure(ns(50), ns(900)), ns(900));
        assert_eq!(packet.departure(ns(150), ns(200)), ns(700));
        packet.depart(ns(900));
        assert_eq!(packet.next_return(ns(901)), ns(1500));
    }

    #[test]
    fn a_cycle_of_zero_is_always_ready() {
        let mut packet = Circulating::new(Duration::ZERO, Duration::ZERO);
        assert_eq!(packet.departure(ns(5), ns(9)), ns(9));
        assert_eq!(packet.next_return(ns(7)), ns(7));
    }
}

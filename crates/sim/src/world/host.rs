//! What a host adds between its network interface and its transport: the time to wake up.
//!
//! A packet that reaches an idle host is handled after the latency of an interrupt, a scheduler
//! and a stack; those that arrive meanwhile are handled with it. The latency is drawn once a flow
//! from the host profile's quantile function, because the state that decides it (power states,
//! interrupt moderation) outlives a flow of some microseconds.

use crate::config::LatencyTable;
use lossylink_core::time::{Duration, Instant};

/// One host's wake-ups.
#[derive(Clone, Copy, Debug, Default)]
pub struct Host {
    latency: Duration,
    handled_until: Instant,
}

impl Host {
    /// A host that takes `latency` from an arrival to its handling.
    pub const fn new(latency: Duration) -> Self {
        Self { latency, handled_until: Instant::ZERO }
    }

    /// Changes the latency of the wake-ups to come.
    pub fn set_latency(&mut self, latency: Duration) {
        self.latency = latency;
    }

    /// When a packet that arrives at `now` is handled.
    #[inline]
    pub fn handled_at(&mut self, now: Instant) -> Instant {
        if now > self.handled_until {
            self.handled_until = now + self.latency;
        }
        self.handled_until
    }
}

/// The latency at `fraction` of a quantile function, linear between its points.
pub fn latency_at(table: &LatencyTable, fraction: f64) -> Duration {
    let above = table.partition_point(|&(probability, _)| probability < fraction);
    let (Some(&(p0, ns0)), Some(&(p1, ns1))) =
        (table.get(above.saturating_sub(1)), table.get(above.min(table.len().saturating_sub(1))))
    else {
        return Duration::ZERO;
    };
    let weight = if p1 > p0 { (fraction - p0) / (p1 - p0) } else { 0.0 };
    Duration::from_ns_f64(ns0 + weight * (ns1 - ns0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: u64) -> Instant {
        Instant::ZERO + Duration::from_us(us)
    }

    #[test]
    fn packets_that_arrive_during_a_wake_up_are_handled_with_it() {
        let mut host = Host::new(Duration::from_us(5));
        assert_eq!(host.handled_at(us(10)), us(15));
        assert_eq!(host.handled_at(us(12)), us(15));
        assert_eq!(host.handled_at(us(15)), us(15));
        assert_eq!(host.handled_at(us(16)), us(21));
    }

    #[test]
    fn an_ideal_host_adds_nothing() {
        let mut host = Host::default();
        assert_eq!(host.handled_at(us(10)), us(10));
        assert_eq!(host.handled_at(us(11)), us(11));
    }

    #[test]
    fn latencies_interpolate() {
        let table = vec![(0.0, 0.0), (0.5, 100.0), (1.0, 1000.0)];
        assert_eq!(latency_at(&table, 0.0), Duration::ZERO);
        assert_eq!(latency_at(&table, 0.25), Duration::from_ns(50));
        assert_eq!(latency_at(&table, 0.5), Duration::from_ns(100));
        assert_eq!(latency_at(&table, 0.75), Duration::from_ns(550));
        assert_eq!(latency_at(&table, 1.0), Duration::from_ns(1000));
    }
}

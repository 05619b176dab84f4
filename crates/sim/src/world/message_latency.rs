//! The latency that the RDMA interfaces of two hosts add to a message. (`docs/protocols/hosts.md`)

use super::quantiles::Quantiles;
use crate::config::HostProfile;
use lossylink_core::time::Duration;

/// The latency that the RDMA interfaces of two hosts add to a message.
#[derive(Clone, Debug)]
pub struct MessageLatency {
    drawn: Quantiles,
    /// The size of the largest message that comes with its doorbell.
    inline_bytes: u64,
    /// The additional latency of a larger message, which the interface fetches.
    fetch: Duration,
}

impl MessageLatency {
    /// Returns the latency of the interfaces of these hosts.
    pub fn of(host: &HostProfile) -> Self {
        Self {
            drawn: Quantiles::new(&host.rdma_latency),
            inline_bytes: host.rdma_inline_bytes,
            fetch: Duration::from_ns_f64(host.rdma_fetch_ns),
        }
    }

    /// Returns the latency that the interfaces add to a message of `bytes` at `quantile`. (HOST-8)
    #[inline]
    pub fn at(&self, quantile: f64, bytes: u64) -> Duration {
        let drawn = self.drawn.at(quantile);
        if bytes > self.inline_bytes { drawn + self.fetch } else { drawn }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::host_profile;

    // HOST-8
    #[test]
    fn an_interface_fetches_only_what_does_not_come_with_the_doorbell() {
        let mut host = host_profile("ideal");
        host.rdma_latency = vec![(0.0, 100.0), (1.0, 300.0)];
        (host.rdma_inline_bytes, host.rdma_fetch_ns) = (220, 7_000.0);
        let ns = |quantile, bytes| MessageLatency::of(&host).at(quantile, bytes).as_ps() / 1000;
        assert_eq!([ns(0.5, 220), ns(0.5, 221), ns(0.0, 24_387)], [200, 7_200, 7_100]);
    }
}

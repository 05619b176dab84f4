//! A host profile: everything that belongs to the end hosts, as data.

use crate::world::host::latency_at;
use lossylink_core::time::Duration;
use serde::Deserialize;

/// A quantile function: points of (probability, nanoseconds), linear in between.
pub type LatencyTable = Vec<(f64, f64)>;

/// Timers, interface and latencies of the hosts; keys as in `scenarios/host/*.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostProfile {
    /// Name for reports.
    pub name: String,
    /// Whether the values were fitted to published results.
    pub calibrated: bool,
    /// Where the values come from.
    pub source: String,
    /// One jiffy.
    pub tick_us: u64,
    /// Least retransmission timeout.
    pub rto_min_us: u64,
    /// Least delay of a delayed acknowledgement.
    pub delayed_ack_us: u64,
    /// Initial window in segments.
    pub initial_window: u32,
    /// Immediate acknowledgements at the start of a connection.
    pub quick_acks: u32,
    /// Rate of the interface; the protected link's rate if that is faster.
    pub nic_rate_bps: u64,
    /// Whether bursts are handed to the interface whole.
    pub segmentation_offload: bool,
    /// Largest such burst.
    pub segmentation_max_bytes: u32,
    /// What the stack hands down for one flow, payload bits a second; 0: whatever the interface takes.
    pub flow_rate_bps: u64,
    /// Between the two hosts, all switches and cables, without serialisation.
    pub network_one_way_ns: f64,
    /// Stack and interface, once per burst handed down.
    pub send_latency: LatencyTable,
    /// Interrupt and stack, once per wake-up for `receive_burst_packets` packets or more.
    pub receive_latency: LatencyTable,
    /// Packets of the burst that `receive_latency` belongs to; a smaller burst takes its share.
    pub receive_burst_packets: u32,
    /// Once per flow, however many wake-ups it has.
    pub flow_latency: LatencyTable,
    /// The same for long flows, under whose load interfaces moderate their interrupts.
    pub bulk_latency: LatencyTable,
    /// Local ACK timeout of the RDMA interface.
    pub rdma_timeout_us: u64,
    /// Its retry count.
    pub rdma_retry_count: u32,
    /// Whether the RDMA interface slows down when packets are marked (DCQCN); a scenario's transport
    /// decides.
    #[serde(default)]
    pub rdma_dcqcn: bool,
    /// Between the two RDMA interfaces, without serialisation.
    pub rdma_one_way_ns: f64,
    /// Doorbell to completion, once per message.
    pub rdma_latency: LatencyTable,
}

impl HostProfile {
    /// One jiffy.
    pub const fn tick(&self) -> Duration {
        Duration::from_us(self.tick_us)
    }

    /// What a wake-up for `packets` adds, at `quantile`.
    pub fn wake_up(&self, quantile: f64, packets: u64) -> Duration {
        let whole = u64::from(self.receive_burst_packets.max(1));
        let received = latency_at(&self.receive_latency, quantile).mul_ratio(packets.min(whole), whole);
        received + latency_at(&self.send_latency, quantile)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A profile of this repository.
    pub(crate) fn host_profile(name: &str) -> HostProfile {
        let path = format!("{}/../../scenarios/host/{name}.toml", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&path).expect("the profile is part of the repository");
        toml::from_str(&text).expect("the profile fits the structure")
    }

    #[test]
    fn latency_tables_are_quantile_functions() {
        for name in ["ideal", "ae-hosts"] {
            let host = host_profile(name);
            let tables = [&host.send_latency, &host.receive_latency, &host.flow_latency, &host.bulk_latency];
            for table in tables.into_iter().chain([&host.rdma_latency]) {
                assert!(table.is_sorted_by(|a, b| a.0 < b.0 && a.1 <= b.1), "{name}: {table:?}");
                assert_eq!((table[0].0, table[table.len() - 1].0), (0.0, 1.0));
            }
        }
    }

    #[test]
    fn a_small_burst_takes_its_share_of_a_wake_up() {
        let mut host = host_profile("ideal");
        host.receive_latency = vec![(0.0, 1_000.0), (1.0, 21_000.0)];
        host.receive_burst_packets = 10;
        let ns = |quantile, packets| host.wake_up(quantile, packets).as_ps() / 1000;
        assert_eq!([ns(0.5, 1), ns(0.5, 9), ns(0.5, 10), ns(0.5, 11)], [1_100, 9_900, 11_000, 11_000]);
        assert_eq!([ns(0.0, 1), ns(1.0, 1)], [100, 2_100]);
        host.receive_burst_packets = 1;
        assert_eq!(host.wake_up(0.5, 1), Duration::from_us(11), "every wake-up takes the whole");
        host.send_latency = vec![(0.0, 500.0), (1.0, 500.0)];
        assert_eq!(host.wake_up(0.5, 1), Duration::from_ns(11_500), "the way out is taken once");
    }
}

//! A host profile: everything that belongs to the end hosts, as data.

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
    /// Room in the host's own transmit queue.
    pub transmit_queue_bytes: u64,
    /// Between the two hosts, all switches and cables, without serialisation.
    pub network_one_way_ns: f64,
    /// Stack and interface, once per burst handed down.
    pub send_latency: LatencyTable,
    /// Interrupt and stack, once per wake-up.
    pub receive_latency: LatencyTable,
    /// The same for long flows, under whose load interfaces moderate their interrupts.
    pub bulk_latency: LatencyTable,
    /// Local ACK timeout of the RDMA interface.
    pub rdma_timeout_us: u64,
    /// Its retry count.
    pub rdma_retry_count: u32,
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
            for table in [&host.send_latency, &host.receive_latency, &host.bulk_latency, &host.rdma_latency] {
                assert!(table.is_sorted_by(|a, b| a.0 < b.0 && a.1 <= b.1), "{name}: {table:?}");
                assert_eq!((table[0].0, table[table.len() - 1].0), (0.0, 1.0));
            }
        }
    }
}

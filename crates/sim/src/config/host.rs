//! A host profile: the properties of the end hosts, as data.

use super::ConfigError;
use lossylink_core::probability::Probability;
use lossylink_core::time::Duration;
use serde::Deserialize;

/// A quantile function of a latency: points of (probability, nanoseconds), linear in between.
pub type LatencyTable = Vec<(f64, f64)>;

/// The properties of the end hosts: timers, interface and latencies; keys as in `scenarios/host/*.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostProfile {
    /// Name of the profile in reports.
    pub name: String,
    /// Whether the values were fitted to published results.
    pub calibrated: bool,
    /// The source of the values.
    pub source: String,
    /// Length of one jiffy, in microseconds.
    pub tick_us: u64,
    /// The share of the ticks that come to a core before another core has counted the jiffy.
    #[serde(default)]
    pub missed_tick_share: f64,
    /// Least retransmission timeout, in microseconds.
    pub rto_min_us: u64,
    /// Least delay of a delayed acknowledgement, in microseconds.
    pub delayed_ack_us: u64,
    /// Initial congestion window, in segments.
    pub initial_window: u32,
    /// Acknowledgements that are sent at once at the start of a connection.
    pub quick_acks: u32,
    /// Line rate of the interface; the protected link's rate if the interface is faster.
    pub nic_rate_bps: u64,
    /// Whether bursts are handed to the interface whole.
    pub segmentation_offload: bool,
    /// Largest burst that is handed to the interface whole.
    pub segmentation_max_bytes: u32,
    /// Whether packets that arrive in order are merged until the core begins to handle them.
    pub generic_receive_offload: bool,
    /// The rate at which the stack hands down one flow, in payload bits a second; 0: whatever the interface takes.
    pub flow_rate_bps: u64,
    /// Latency of one way between the two hosts, all switches and cables, without serialisation.
    pub network_one_way_ns: f64,
    /// Time from the arrival of a packet at an idle host to its handling, drawn for each wake-up.
    pub receive_latency: LatencyTable,
    /// Delay that the interface adds to a wake-up that finds three packets or more, drawn for each wake-up.
    pub moderation_latency: LatencyTable,
    /// Delay that the interface adds in place of `moderation_latency` once a flow has kept its core in use for
    /// `sustained_after_us`; 0: never.
    #[serde(default)]
    pub sustained_moderation_ns: f64,
    /// How long a flow keeps its core in use, without a pause as long, until the interface moderates at its highest.
    #[serde(default)]
    pub sustained_after_us: u64,
    /// Time of the stack for each segment that it receives.
    pub receive_segment_ns: f64,
    /// Local ACK timeout of the RDMA interface.
    pub rdma_timeout_us: u64,
    /// Retry count of the RDMA interface.
    pub rdma_retry_count: u32,
    /// Whether the RDMA interface slows down when packets are marked (DCQCN); a scenario's transport
    /// decides.
    #[serde(default)]
    pub rdma_dcqcn: bool,
    /// Latency of one way between the two RDMA interfaces, without serialisation.
    pub rdma_one_way_ns: f64,
    /// Time from doorbell to completion, once per message.
    pub rdma_latency: LatencyTable,
    /// Largest message whose payload goes to the interface with its doorbell.
    pub rdma_inline_bytes: u64,
    /// Time that a larger message takes more, once per message, because the interface fetches its payload from
    /// memory.
    pub rdma_fetch_ns: f64,
}

impl HostProfile {
    /// Returns the length of one jiffy.
    pub const fn tick(&self) -> Duration {
        Duration::from_us(self.tick_us)
    }

    /// Returns the chance that a tick is missed.
    ///
    /// # Errors
    /// If the share is no probability.
    pub fn missed_ticks(&self) -> Result<Probability, ConfigError> {
        let share = self.missed_tick_share;
        Probability::new(share).ok_or_else(|| {
            ConfigError(format!("host.missed_tick_share is {share}: give a share of the ticks, from 0 to 1"))
        })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Returns a profile of this repository.
    pub(crate) fn host_profile(name: &str) -> HostProfile {
        let path = format!("{}/../../scenarios/host/{name}.toml", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&path).expect("the profile is part of the repository");
        toml::from_str(&text).expect("the profile fits the structure")
    }

    #[test]
    fn latency_tables_are_quantile_functions() {
        for name in ["ideal", "lab", "ae-hosts"] {
            let host = host_profile(name);
            for table in [&host.receive_latency, &host.moderation_latency, &host.rdma_latency] {
                assert!(table.is_sorted_by(|a, b| a.0 < b.0 && a.1 <= b.1), "{name}: {table:?}");
                assert_eq!((table[0].0, table[table.len() - 1].0), (0.0, 1.0));
            }
        }
    }

    // TCP-4
    #[test]
    fn a_share_of_missed_ticks_is_a_probability() {
        let mut host = host_profile("ideal");
        assert!(host.missed_ticks().is_ok_and(Probability::is_never));
        for bad in [-0.1, 1.5] {
            host.missed_tick_share = bad;
            assert!(host.missed_ticks().is_err_and(|error| error.0.contains("from 0 to 1")));
        }
    }
}

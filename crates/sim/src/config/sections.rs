//! The plain sections of a configuration.

use lossylink_core::loss::LossModel;
use lossylink_core::time::Duration;
use lossylink_core::units::BitRate;
use serde::Deserialize;

/// The protected link.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkConfig {
    /// Line rate of the link, in bits per second on the wire.
    pub rate_bps: u64,
    /// Line rate of the way back, in bits per second on the wire; `None` is as forward.
    #[serde(default)]
    pub rate_back_bps: Option<u64>,
    /// One-way delay of the cable and of the line's code, beyond the delay in the switch profile.
    pub propagation_ps: u64,
    /// Largest IP packet.
    pub mtu_bytes: u32,
}

impl LinkConfig {
    /// Returns the line rate.
    pub const fn rate(&self) -> BitRate {
        BitRate::from_bps(self.rate_bps)
    }

    /// Returns the line rate of the way back.
    pub fn rate_back(&self) -> BitRate {
        BitRate::from_bps(self.rate_back_bps.unwrap_or(self.rate_bps))
    }

    /// Returns the delay of the cable.
    pub const fn propagation(&self) -> Duration {
        Duration::from_ps(self.propagation_ps)
    }
}

/// Losses of a link in both directions.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LossDirections {
    /// Losses in the direction of the data.
    #[serde(default)]
    pub forward: LossModel,
    /// Losses in the direction of the acknowledgements.
    #[serde(default)]
    pub reverse: LossModel,
}

/// The traffic that is sent: frames of the stress test, or datagrams.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrafficConfig {
    /// Frames of the stress test to send.
    pub packets: Option<u64>,
    /// Length of an Ethernet frame without check sequence.
    pub frame_bytes: u32,
    /// The source of the frames.
    pub source: TrafficSource,
    /// Mean rate of a UDP source, in bits of frames without check sequence.
    pub rate_bps: Option<u64>,
    /// Frames of a bursty UDP source that leave back to back.
    pub burst_packets: Option<u64>,
    /// Whether to follow every frame of a saturated stress test from offer to delivery.
    #[serde(default)]
    pub follow: bool,
}

/// A source of frames.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum TrafficSource {
    /// The switch's packet generator (stress).
    Generator,
    /// A queue that is never empty (stress).
    Saturated,
    /// A TCP connection (fec).
    Tcp,
    /// Datagrams at equal distances (fec).
    UdpSmooth,
    /// Datagrams in bursts with pauses between them (fec).
    UdpBursty,
}

/// The transport protocol.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TransportConfig {
    /// TCP's congestion control.
    pub congestion_control: String,
    /// TCP's maximum segment size.
    pub mss_bytes: u32,
    /// Whether TCP sends timestamps.
    pub timestamps: bool,
    /// Segments acknowledged by one ACK.
    pub delayed_ack: u32,
    /// Least retransmission timeout.
    pub rto_min_ps: u64,
    /// Segments sent before the first ACK.
    pub initial_window: u32,
    /// The largest window that a TCP receiver offers; `None` is that of Linux's default buffer.
    #[serde(default)]
    pub receive_window_bytes: Option<u64>,
    /// Whether bursts reach the link whole.
    pub segmentation_offload: bool,
    /// The name of the recovery by which an RDMA interface repairs a gap.
    pub recovery: String,
    /// Payload of an RDMA packet.
    pub mtu_bytes: u32,
    /// Whether RDMA senders slow down when packets are marked.
    #[serde(default)]
    pub dcqcn: bool,
    /// The protocol of long flows.
    #[serde(default)]
    pub protocol: WorkloadProtocol,
}

/// The path between the hosts.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathConfig {
    /// Round trip of the network; `None` is the artifact's path.
    pub rtt_ps: Option<u64>,
    /// Losses of the hops behind the link, which nothing protects.
    #[serde(default)]
    pub loss: LossDirections,
    /// The jitter of frames behind the link.
    #[serde(default)]
    pub jitter: JitterConfig,
}

/// The jitter of frames behind the link: each frame is delayed by a time of its own.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JitterConfig {
    /// The longest delay toward the receiver.
    pub forward_ps: u64,
    /// The longest delay on the way back.
    pub back_ps: u64,
    /// Whether frames may overtake each other.
    pub reorders: bool,
}

impl PathConfig {
    /// Whether the hops around the link may lose or delay frames by chance.
    pub fn is_impaired(&self) -> bool {
        let loses = self.loss.forward != LossModel::None || self.loss.reverse != LossModel::None;
        loses || self.jitter.forward_ps > 0 || self.jitter.back_ps > 0
    }
}

/// The flows of an experiment.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowConfig {
    /// Payload of each flow, in bytes.
    pub size_bytes: u64,
    /// Number of flows one after another, or of runs.
    pub trials: u64,
    /// The largest standard error of a measured figure, as a share of its mean, with which runs end before
    /// `trials`; `None` runs all.
    #[serde(default)]
    pub precision: Option<f64>,
    /// Flows at the same time.
    pub count: u32,
}

/// Blocks of flows that are run for another run, which puts the parts together.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartConfig {
    /// The first block to run.
    pub first_block: u64,
    /// How many blocks to run.
    pub blocks: u64,
}

/// Flows that begin at random.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkloadConfig {
    /// The protocol of the flows.
    pub protocol: WorkloadProtocol,
    /// Name of the distribution of flow sizes.
    pub distribution: String,
    /// The distribution of flow sizes: size in bytes, share of flows that are no longer.
    pub points: Vec<(f64, f64)>,
    /// The load: bytes of the flows that begin, over the bytes that the link carries at its rate.
    pub load: f64,
}

/// The protocol of the flows of a workload, or of long flows.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum WorkloadProtocol {
    /// A TCP connection for each flow.
    #[default]
    Tcp,
    /// An RDMA write for each flow, on a pool of connections.
    Rdma,
}

/// The times of the events on a time line.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimelineConfig {
    /// When the link starts to corrupt.
    pub corruption_ps: u64,
    /// When the link is clean again; `None` is never.
    #[serde(default)]
    pub corruption_end_ps: Option<u64>,
    /// When the protection is switched on; `None` leaves that to a monitor.
    pub protection_ps: Option<u64>,
    /// Time between two readings of the monitor.
    pub poll_ps: u64,
    /// Width of one bin, which is one row of the table.
    pub bin_ps: u64,
}

/// The simulated time of an experiment.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunConfig {
    /// Simulated time in all.
    pub duration_ps: u64,
    /// Time at the start that is not counted.
    #[serde(default)]
    pub warmup_ps: u64,
    /// Time at the end that is not counted.
    #[serde(default)]
    pub cooldown_ps: u64,
}

/// How rare losses are looked for.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RareConfig {
    /// Copies of the link in which a loss is steered.
    pub looks: u64,
    /// Whether the tail of the latency is looked at as well.
    #[serde(default = "yes")]
    pub tail: bool,
}

fn yes() -> bool {
    true
}

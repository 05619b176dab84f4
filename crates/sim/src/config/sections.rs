//! The plain sections of a configuration.

use lossylink_core::engine::monitor::MonitorConfig;
use lossylink_core::loss::LossSpec;
use lossylink_core::time::Duration;
use lossylink_core::units::BitRate;
use serde::Deserialize;

/// The protected link.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkConfig {
    /// Bits per second on the wire.
    pub rate_bps: u64,
    /// Bits per second on the wire of the way back; `None` is as forward.
    #[serde(default)]
    pub rate_back_bps: Option<u64>,
    /// One-way delay of the cable, beyond what the switch profile contains.
    pub propagation_ps: u64,
    /// Largest IP packet.
    pub mtu_bytes: u32,
}

impl LinkConfig {
    /// The line rate.
    pub const fn rate(&self) -> BitRate {
        BitRate::from_bps(self.rate_bps)
    }

    /// The line rate of the way back.
    pub fn rate_back(&self) -> BitRate {
        BitRate::from_bps(self.rate_back_bps.unwrap_or(self.rate_bps))
    }

    /// The cable's delay.
    pub const fn propagation(&self) -> Duration {
        Duration::from_ps(self.propagation_ps)
    }
}

/// Losses in both directions.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LossDirections {
    /// Of the direction that the data takes.
    #[serde(default)]
    pub forward: LossSpec,
    /// Of the direction that acknowledgements take.
    #[serde(default)]
    pub reverse: LossSpec,
}

/// What is sent: frames of the stress test, or datagrams.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrafficConfig {
    /// Frames of the stress test to send.
    pub packets: Option<u64>,
    /// Ethernet frame without check sequence.
    pub frame_bytes: u32,
    /// Where they come from.
    pub source: TrafficSource,
    /// Mean rate of a UDP source, in bits of frames without check sequence.
    pub rate_bps: Option<u64>,
    /// Frames of a bursty UDP source that leave back to back.
    pub burst_packets: Option<u64>,
    /// Follow every frame of a saturated stress test from offer to delivery.
    #[serde(default)]
    pub follow: bool,
}

/// Where frames come from.
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
    /// TCP's algorithm.
    pub congestion_control: String,
    /// TCP's maximum segment size.
    pub mss_bytes: u32,
    /// TCP timestamps.
    pub timestamps: bool,
    /// Segments acknowledged by one ACK.
    pub delayed_ack: u32,
    /// Least retransmission timeout.
    pub rto_min_ps: u64,
    /// Segments sent before the first ACK.
    pub initial_window: u32,
    /// Most that a receiver offers; `None` is what Linux's default buffer gives.
    #[serde(default)]
    pub receive_window_bytes: Option<u64>,
    /// Whether bursts reach the link whole.
    pub segmentation_offload: bool,
    /// What an RDMA interface does at a gap.
    pub recovery: String,
    /// RDMA packet payload.
    pub mtu_bytes: u32,
    /// Whether RDMA senders slow down when packets are marked.
    #[serde(default)]
    pub dcqcn: bool,
    /// What carries long flows.
    #[serde(default)]
    pub protocol: WorkloadProtocol,
}

/// The path between the hosts.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathConfig {
    /// Round trip of the network; `None` is the artifact's path.
    pub rtt_ps: Option<u64>,
    /// What the hops behind the link corrupt, which nothing protects.
    #[serde(default)]
    pub loss: LossDirections,
    /// The most that frames take longer behind the link.
    #[serde(default)]
    pub jitter: JitterConfig,
}

/// What frames take longer behind the link, each by a time of its own.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JitterConfig {
    /// The most toward the receiver.
    pub forward_ps: u64,
    /// The most on the way back.
    pub back_ps: u64,
    /// Whether frames may overtake each other.
    pub reorders: bool,
}

impl PathConfig {
    /// Whether no two frames cross the hops around the link alike.
    pub fn is_uneven(&self) -> bool {
        let loses = self.loss.forward != LossSpec::None || self.loss.reverse != LossSpec::None;
        loses || self.jitter.forward_ps > 0 || self.jitter.back_ps > 0
    }
}

/// The flows of an experiment.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowConfig {
    /// Bytes of each.
    pub size_bytes: u64,
    /// Flows one after another, or runs.
    pub trials: u64,
    /// Runs end before `trials` when the standard errors of what is measured are within this share of the
    /// means; `None` runs all.
    #[serde(default)]
    pub precision: Option<f64>,
    /// Flows at the same time.
    pub count: u32,
}

/// Blocks of flows that are run for another run, which puts the parts together.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartConfig {
    /// The first of them.
    pub first_block: u64,
    /// How many.
    pub blocks: u64,
}

/// Flows that begin at random.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkloadConfig {
    /// What carries them.
    pub protocol: WorkloadProtocol,
    /// Name of the distribution of their sizes.
    pub distribution: String,
    /// The distribution: size in bytes, share of flows that are no longer.
    pub points: Vec<(f64, f64)>,
    /// Bytes of flows over the link's rate.
    pub load: f64,
}

/// What carries the flows of a workload, or long flows.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum WorkloadProtocol {
    /// A TCP connection for each flow.
    #[default]
    Tcp,
    /// An RDMA write for each flow, on a pool of connections.
    Rdma,
}

/// When things happen on a time line.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimelineConfig {
    /// The link starts to corrupt.
    pub corruption_ps: u64,
    /// The link is clean again; `None` is never.
    #[serde(default)]
    pub corruption_end_ps: Option<u64>,
    /// The protection is switched on; `None` leaves that to a monitor.
    pub protection_ps: Option<u64>,
    /// Time between two readings of the monitor.
    pub poll_ps: u64,
    /// Width of one row.
    pub bin_ps: u64,
}

/// When the monitor takes a link for corrupting, and when for healed.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MonitorSection {
    /// Frames that the decision to do less looks back on.
    pub window_frames: u64,
    /// Loss rate from which a link is to be protected.
    pub on_loss: f64,
    /// Loss rate below which it needs no protection any more.
    pub off_loss: f64,
    /// How sure a decision must be.
    pub confidence: f64,
    /// Least time before a decision that does less.
    pub hold_ps: u64,
}

impl MonitorSection {
    /// The monitor's settings; what the section leaves out is as published.
    pub fn settings(&self) -> MonitorConfig {
        MonitorConfig {
            window_frames: self.window_frames,
            on_loss: self.on_loss,
            off_loss: self.off_loss,
            confidence: self.confidence,
            hold: Duration::from_ps(self.hold_ps),
            ..MonitorConfig::default()
        }
    }
}

/// How long an experiment runs.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunConfig {
    /// Simulated time.
    pub duration_ps: u64,
    /// Start that is not counted.
    #[serde(default)]
    pub warmup_ps: u64,
    /// End that is not counted.
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

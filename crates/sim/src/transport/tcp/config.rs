//! The settings of a connection; the defaults are those of Linux.

use super::congestion::CongestionControl;
use super::headers::{HEADERS, TIMESTAMPS_OPTION};
use lossylink_core::probability::Probability;
use lossylink_core::time::Duration;
use lossylink_core::units::BitRate;

/// The least maximum segment size that a host accepts (Linux `TCP_MIN_MSS`), bytes.
const LEAST_PAYLOAD: u32 = 48;

/// Settings that both hosts of a connection share.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Maximum segment size announced in the handshake, bytes.
    pub mss_bytes: u32,
    /// The largest IP packet of the path, bytes; caps the segments at `mtu_bytes - 40`.
    pub mtu_bytes: u32,
    /// RFC 7323 timestamps: 12 bytes of every segment, always at the cost of its payload, because
    /// the announced maximum counts options in (Linux; RFC 6691 section 3).
    pub timestamps: bool,
    /// The congestion control, which decides how many segments are in flight.
    pub congestion_control: CongestionControl,
    /// Congestion window after the handshake, segments (RFC 6928).
    pub initial_window: u32,
    /// Least variance term of the retransmission timeout (Linux `rto_min`).
    pub rto_min: Duration,
    /// Timer tick: one jiffy, 1/HZ.
    pub tick: Duration,
    /// The share of the ticks that a host misses: timers of a missed tick fire one tick later. Zero on a host of one core.
    pub missed_ticks: Probability,
    /// Number of full segments that one acknowledgement may cover (RFC 9293 section 3.8.6.3).
    pub delayed_ack_segments: u32,
    /// Number of segments acknowledged one by one at the start of a connection (Linux `TCP_MAX_QUICKACKS`).
    pub quick_acks: u32,
    /// The least time that an acknowledgement waits for a second segment (Linux `TCP_DELACK_MIN`).
    pub delayed_ack_min: Duration,
    /// Whether duplicate acknowledgements beyond the third are thinned (Linux `tcp_comp_sack_*`).
    pub sack_compression: bool,
    /// Whether the connection negotiates ECN; DCTCP always does.
    pub ecn: bool,
    /// The most segments that leave as one burst (segmentation offload); 1 = off.
    pub max_burst_segments: u32,
    /// The greatest rate at which the host's stack hands payload down; `None` if the stack is never the limit.
    pub stack_rate: Option<BitRate>,
    /// Receive window, bytes: half of Linux's default largest receive buffer of 6 MiB.
    pub receive_window_bytes: u64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            mss_bytes: 1460,
            mtu_bytes: 1500,
            timestamps: false,
            congestion_control: CongestionControl::Cubic,
            initial_window: 10,
            rto_min: Duration::from_ms(200),
            tick: Duration::from_ms(1),
            missed_ticks: Probability::NEVER,
            delayed_ack_segments: 2,
            quick_acks: 16,
            delayed_ack_min: Duration::from_ms(40),
            sack_compression: true,
            ecn: false,
            max_burst_segments: 1,
            stack_rate: None,
            receive_window_bytes: 3 << 20,
        }
    }
}

impl Config {
    /// Returns the payload of a full segment, bytes: the announced maximum or the payload that fits the path, less the
    /// timestamps option.
    pub fn payload_bytes(&self) -> u32 {
        let options = if self.timestamps { TIMESTAMPS_OPTION } else { 0 };
        self.mss_bytes.min(self.mtu_bytes.saturating_sub(HEADERS)).saturating_sub(options).max(LEAST_PAYLOAD)
    }

    /// Whether the hosts negotiate ECN.
    pub fn uses_ecn(&self) -> bool {
        self.ecn || self.congestion_control.counts_marks()
    }

    /// Returns the longest time of a flow of `flow_bytes` in which its ends send equal packets, equally long after the
    /// packets that they are handed, whenever these come. The packets of a turn are handed on in order and at once, and none
    /// is lost or marked. Returns `None` if the times of packets change the packets that the ends send.
    ///
    /// Within a tick no timer fires and no window decays, because each lasts a tick at the least. Growth of the window
    /// beyond the initial one may depend on measured round trips. So the segments behind the first acknowledgement must fit
    /// the initial window.
    #[cfg(feature = "fast")]
    pub(crate) fn timing_invariant_for(&self, flow_bytes: u64) -> Option<Duration> {
        let segments = flow_bytes.div_ceil(u64::from(self.payload_bytes()));
        let fits =
            segments <= 2 * u64::from(self.initial_window) && segments <= self.receive_window_segments();
        // Stamps are in milliseconds of a clock, bursts and the pace of a model follow from measured rates.
        let is_measured =
            self.timestamps || self.max_burst_segments > 1 || self.congestion_control.models_path();
        (fits && !is_measured).then_some(self.tick)
    }

    /// Returns the receive window in full segments.
    pub(super) fn receive_window_segments(&self) -> u64 {
        (self.receive_window_bytes / u64::from(self.payload_bytes())).max(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "fast")]
    #[test]
    fn packets_follow_from_their_order_as_long_as_nothing_was_measured() {
        let bytes = |segments: u64| segments * 1460;
        let usual = Config::default();
        assert_eq!(
            [20, 21].map(|segments| usual.timing_invariant_for(bytes(segments))),
            [Some(usual.tick), None]
        );
        assert_eq!(usual.timing_invariant_for(bytes(20) + 1), None);
        let others = [
            Config { timestamps: true, ..usual.clone() },
            Config { max_burst_segments: 2, ..usual.clone() },
            Config { congestion_control: CongestionControl::Bbr, ..usual.clone() },
            Config { receive_window_bytes: bytes(2), ..usual },
        ];
        others.iter().for_each(|other| assert_eq!(other.timing_invariant_for(bytes(3)), None, "{other:?}"));
    }

    #[test]
    fn payload_is_capped_by_the_path_and_by_timestamps() {
        let payload = |mss_bytes, mtu_bytes, timestamps| {
            Config { mss_bytes, mtu_bytes, timestamps, ..Config::default() }.payload_bytes()
        };
        assert_eq!(payload(1460, 1500, false), 1460);
        assert_eq!(payload(1460, 1500, true), 1448);
        assert_eq!(payload(4312, 1500, false), 1460);
        assert_eq!(payload(4312, 4352, false), 4312);
        assert_eq!(payload(536, 1500, true), 524);
    }
}

//! The settings of a connection; the defaults are those of Linux.

use super::congestion::CongestionControl;
use super::headers::{HEADERS, TIMESTAMPS_OPTION};
use lossylink_core::time::Duration;
use lossylink_core::units::BitRate;

/// Least maximum segment size that a host accepts (Linux `TCP_MIN_MSS`), bytes.
const LEAST_PAYLOAD: u32 = 48;

/// Settings that both hosts of a connection share.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Maximum segment size announced in the handshake, bytes.
    pub mss_bytes: u32,
    /// Largest IP packet of the path, bytes; caps the segments at `mtu_bytes - 40`.
    pub mtu_bytes: u32,
    /// RFC 7323 timestamps: 12 bytes of every segment, always at the cost of its payload, because
    /// the announced maximum counts options in (Linux; RFC 6691 section 3).
    pub timestamps: bool,
    /// Who decides how much is in flight.
    pub congestion_control: CongestionControl,
    /// Congestion window after the handshake, segments (RFC 6928).
    pub initial_window: u32,
    /// Least variance term of the retransmission timeout (Linux `rto_min`).
    pub rto_min: Duration,
    /// Timer tick: one jiffy, 1/HZ.
    pub tick: Duration,
    /// An acknowledgement for every so many full segments (RFC 9293 section 3.8.6.3).
    pub delayed_ack_segments: u32,
    /// Segments acknowledged one by one at the start of a connection (Linux `TCP_MAX_QUICKACKS`).
    pub quick_acks: u32,
    /// Least time that an acknowledgement waits for a second segment (Linux `TCP_DELACK_MIN`).
    pub delayed_ack_min: Duration,
    /// Whether duplicate acknowledgements beyond the third are thinned (Linux `tcp_comp_sack_*`).
    pub sack_compression: bool,
    /// Whether the connection negotiates ECN; DCTCP always does.
    pub ecn: bool,
    /// Most segments that leave as one burst (segmentation offload); 1 = off.
    pub max_burst_segments: u32,
    /// Payload that the host's stack hands down at most, if that is ever felt.
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
    /// Payload of a full segment, bytes: the announced maximum or what the path carries, less the
    /// timestamps option.
    pub fn payload_bytes(&self) -> u32 {
        let options = if self.timestamps { TIMESTAMPS_OPTION } else { 0 };
        self.mss_bytes.min(self.mtu_bytes.saturating_sub(HEADERS)).saturating_sub(options).max(LEAST_PAYLOAD)
    }

    /// Whether the hosts negotiate ECN.
    pub fn uses_ecn(&self) -> bool {
        self.ecn || self.congestion_control.counts_marks()
    }

    /// Receive window in full segments.
    pub(super) fn receive_window_segments(&self) -> u64 {
        (self.receive_window_bytes / u64::from(self.payload_bytes())).max(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

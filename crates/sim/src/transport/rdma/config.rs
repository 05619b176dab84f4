//! The settings of a queue pair; the defaults are those of the published experiments' network card.

use super::dcqcn::Dcqcn;
use super::psn::HALF;
use lossylink_core::time::Duration;
use std::fmt;
use std::str::FromStr;

/// Local ACK timeout that a ConnectX-5 shows in the published runs: 4.096 us * 2^8 by the
/// specification's formula (InfiniBand 9.7.6.1.3) is 1.049 ms; 1.07 ms were measured.
const CX5_TIMEOUT: Duration = Duration::from_us(1_070);
/// Transport retries in the published runs.
const CX5_RETRIES: u32 = 5;
/// Packets from one acknowledgement request to the next: 2^8, the value that Linux's mlx5 driver programs (`log_ack_req_freq`).
const MLX5_ACK_INTERVAL: u32 = 256;
/// READs that may wait for responses at a time: 2^4, the limit of ConnectX cards.
const MLX5_OUTSTANDING_READS: u32 = 16;
/// Selective repeat's window by default, packets: 1 MiB at MTU 1024, more than 100 Gb/s carry in 80 us.
const DEFAULT_WINDOW: u32 = 1024;

/// Settings that both ends of a connection share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// Path MTU: the payload of a full packet.
    pub mtu: Mtu,
    /// Recovery of lost packets.
    pub recovery: Recovery,
    /// The time for which a requester waits for an answer (local ACK timeout, InfiniBand 9.7.6.1.3).
    pub timeout: Duration,
    /// Retries without progress before the connection fails (InfiniBand 9.9.2.1).
    pub retry_count: u32,
    /// Packets from one acknowledgement request to the next. A requester also asks for an acknowledgement at the end of a
    /// message.
    pub ack_interval: u32,
    /// READs that may wait for responses at a time.
    pub outstanding_reads: u32,
    /// The sequence number of the first packet, 24 bits.
    pub first_psn: u32,
    /// Rate control by DCQCN, if any.
    pub dcqcn: Option<Dcqcn>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            mtu: Mtu::default(),
            recovery: Recovery::GoBackN,
            timeout: CX5_TIMEOUT,
            retry_count: CX5_RETRIES,
            ack_interval: MLX5_ACK_INTERVAL,
            outstanding_reads: MLX5_OUTSTANDING_READS,
            first_psn: 0,
            dcqcn: None,
        }
    }
}

impl Config {
    /// Returns the number of packets that may be under way without an answer (RDMA-17).
    pub(super) fn window(&self) -> u64 {
        match self.recovery {
            Recovery::GoBackN => HALF,
            Recovery::SelectiveRepeat { window_packets } => u64::from(window_packets),
        }
    }

    /// Returns the least time until the retries run out, of which `made` have been made without progress. A gap is told once, so
    /// that of two retries in a row one comes of the timer, which may be about to expire.
    pub(super) fn retries_last(&self, made: u32) -> Duration {
        // One retry more than the configured number makes the connection fail.
        let more = u64::from(self.retry_count.saturating_sub(made)) + 1;
        self.timeout * (more / 2).saturating_sub(1)
    }

    /// Returns the number of packets between acknowledgement requests: at most half a window, or the window would stall.
    pub(super) fn ack_interval(&self) -> u64 {
        u64::from(self.ack_interval).clamp(1, self.window() / 2)
    }
}

/// A path MTU of InfiniBand: the payload of a full packet, not of the Ethernet frame (RDMA-2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mtu(u16);

impl Mtu {
    /// Sizes of all MTUs, bytes (InfiniBand 9.2.9 and the path record).
    pub const ALL_BYTES: [u16; 5] = [256, 512, 1024, 2048, 4096];

    /// Returns the MTU of `bytes`, or an error that names the MTUs to use instead.
    pub fn new(bytes: u32) -> Result<Self, UnsupportedMtu> {
        let known = Self::ALL_BYTES.into_iter().find(|&known| u32::from(known) == bytes);
        known.map(Self).ok_or(UnsupportedMtu(bytes))
    }

    /// Returns the size of the MTU in bytes.
    #[inline]
    pub const fn bytes(self) -> u64 {
        self.0 as u64
    }
}

impl Default for Mtu {
    fn default() -> Self {
        Self(1024)
    }
}

/// An MTU that InfiniBand does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("RDMA has no MTU of {0} bytes: use one of 256, 512, 1024, 2048, 4096")]
pub struct UnsupportedMtu(pub u32);

/// Recovery of lost packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// The responder drops every packet out of order, and the requester repeats all packets from the gap on, as shipped cards
    /// do.
    GoBackN,
    /// The responder keeps packets out of order, and the requester repeats the missing packets only.
    SelectiveRepeat {
        /// Number of packets that either end keeps track of; a power of two, at least 64.
        window_packets: u32,
    },
}

impl Recovery {
    /// Selective repeat with the default window.
    pub const SELECTIVE_REPEAT: Self = Self::SelectiveRepeat { window_packets: DEFAULT_WINDOW };
    /// All kinds of recovery, with default windows.
    pub const ALL: [Self; 2] = [Self::GoBackN, Self::SELECTIVE_REPEAT];

    /// Returns the name of the recovery in settings and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::GoBackN => "go-back-n",
            Self::SelectiveRepeat { .. } => "selective-repeat",
        }
    }
}

impl fmt::Display for Recovery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that belongs to no recovery.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown RDMA recovery {0:?}: use go-back-n or selective-repeat")]
pub struct UnknownRecovery(pub String);

impl FromStr for Recovery {
    type Err = UnknownRecovery;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.into_iter().find(|recovery| recovery.name() == name);
        known.ok_or_else(|| UnknownRecovery(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // RDMA-2
    #[test]
    fn only_infiniband_mtus_are_taken() {
        for bytes in Mtu::ALL_BYTES {
            assert_eq!(Mtu::new(u32::from(bytes)).map(Mtu::bytes), Ok(u64::from(bytes)));
        }
        for bytes in [0, 255, 1500, 8192] {
            let refusal = Mtu::new(bytes).unwrap_err().to_string();
            assert!(refusal.contains(&bytes.to_string()) && refusal.contains("256, 512, 1024, 2048, 4096"));
        }
    }

    #[test]
    fn names_round_trip_and_others_are_refused_with_the_list() {
        for recovery in Recovery::ALL {
            assert_eq!(recovery.name().parse(), Ok(recovery));
        }
        let refusal = "go-back".parse::<Recovery>().unwrap_err().to_string();
        assert!(refusal.contains("\"go-back\"") && refusal.contains("selective-repeat"), "{refusal}");
    }

    // RDMA-5
    #[test]
    fn acknowledgements_are_asked_for_twice_a_window_at_least() {
        let recovery = Recovery::SelectiveRepeat { window_packets: 64 };
        assert_eq!(Config { recovery, ..Config::default() }.ack_interval(), 32);
        assert_eq!(Config::default().ack_interval(), 256);
        assert_eq!(Config { ack_interval: 0, ..Config::default() }.ack_interval(), 1);
    }
}

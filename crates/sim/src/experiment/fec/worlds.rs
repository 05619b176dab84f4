//! The two kinds of traffic across a code: a TCP flow, and datagrams that no host acknowledges.

use super::watch::World;
use crate::config::{Config, TrafficSource};
use crate::measure::Delays;
use crate::net::{AnyLink, Frame, Latency, LineRate, ProtectedLink};
use crate::world::datagrams::{Datagram, DatagramSource, Datagrams};
use crate::{ConfigError, experiment::long_flow::TcpNetwork};
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::{BitRate, Bytes};

/// UDP, IPv4 and Ethernet headers, bytes.
const UDP_HEADER_BYTES: u32 = 8 + 20 + 14;

impl World for TcpNetwork {
    fn run_until(&mut self, until: Instant, counted_at: Instant) {
        self.count_until(counted_at);
        Self::run_until(self, until);
    }

    fn waiting_bytes(&self) -> u64 {
        self.link.waiting_bytes()
    }

    fn delays(&self) -> &Delays {
        Self::latency(self).expect("it is measured from the start")
    }

    fn latency(&self) -> Option<&Latency> {
        self.link.latency()
    }

    fn received_bytes(&self) -> u64 {
        self.conversations().iter().map(|ends| ends.far.bytes_in_order()).sum()
    }

    fn window(&self) -> f64 {
        f64::from(self.conversation(0).near.congestion_window())
    }
}

/// Datagrams over any link.
pub(super) type UdpWorld = Datagrams<AnyLink<Datagram>>;

impl World for UdpWorld {
    fn run_until(&mut self, until: Instant, _counted_at: Instant) {
        Self::run_until(self, until);
    }

    fn waiting_bytes(&self) -> u64 {
        self.link.waiting_bytes()
    }

    fn delays(&self) -> &Delays {
        Self::delays(self)
    }

    fn latency(&self) -> Option<&Latency> {
        self.link.latency()
    }

    fn received_bytes(&self) -> u64 {
        let frame_bytes = u64::from(self.source().frame_bytes);
        self.delays().len() * (frame_bytes - u64::from(UDP_HEADER_BYTES))
    }

    fn window(&self) -> f64 {
        f64::NAN
    }
}

/// Returns the configured source of datagrams, if the source is one; bursts leave at the rate of the
/// `interface`.
pub(super) fn datagram_source(
    config: &Config,
    interface: LineRate,
) -> Result<Option<DatagramSource>, ConfigError> {
    let Some(traffic) = &config.traffic else { return Ok(None) };
    let burst = match traffic.source {
        TrafficSource::Tcp => return Ok(None),
        TrafficSource::UdpSmooth => 1,
        TrafficSource::UdpBursty => *config.require(&traffic.burst_packets, "traffic.burst_packets")?,
        _ => return Err(ConfigError("fec has the sources tcp, udp-smooth and udp-bursty".into())),
    };
    let rate_bps = *config.require(&traffic.rate_bps, "traffic.rate_bps")?;
    if burst == 0 || rate_bps == 0 || traffic.frame_bytes <= UDP_HEADER_BYTES {
        return Err(ConfigError("a UDP source needs a rate, a burst and a payload".into()));
    }
    let frame = Frame::of_frame_bytes(traffic.frame_bytes, crate::net::Ecn::NotCapable, ());
    let spacing = interface.serialisation(frame.octets);
    let period = Bytes(u64::from(traffic.frame_bytes) * burst) / BitRate::from_bps(rate_bps);
    if period < spacing * burst {
        return Err(ConfigError(format!(
            "traffic.rate = {} is more than the sending interface at {} can carry; lower it",
            BitRate::from_bps(rate_bps),
            interface.bit_rate()
        )));
    }
    let source = DatagramSource { frame_bytes: traffic.frame_bytes, burst, period, spacing };
    Ok(Some(DatagramSource { spacing: if burst > 1 { spacing } else { Duration::ZERO }, ..source }))
}

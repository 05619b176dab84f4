//! From a configuration to the parts of a world: losses, link, path, hosts.

use crate::ConfigError;
use crate::config::{Config, HostProfile, ProtectionKind};
use crate::net::frame::FCS_OCTETS;
use crate::net::linkguardian::Options;
use crate::net::linkguardian::timing::queue_limits;
use crate::net::plain::PlainConfig;
use crate::net::{AnyLink, LineRate, LinkGuardianLink, PlainLink};
use crate::transport::tcp;
use crate::world::Path;
use lossylink_core::loss::{LossModel, LossProcess};
use lossylink_core::rng::Streams;
use lossylink_core::time::Duration;

/// Ethernet header in front of an IP packet, bytes.
const ETHERNET_BYTES: u32 = 14;

/// A configuration whose parts have been checked.
#[derive(Clone, Debug)]
pub(super) struct Setup<'a> {
    pub(super) config: &'a Config,
    pub(super) rate: LineRate,
    pub(super) forward: LossModel,
    pub(super) reverse: LossModel,
}

impl<'a> Setup<'a> {
    pub(super) fn new(config: &'a Config) -> Result<Self, ConfigError> {
        Ok(Self {
            config,
            rate: LineRate::new(config.link.rate()),
            forward: config.loss.forward.model()?,
            reverse: config.loss.reverse.model()?,
        })
    }

    /// The loss rate of a full frame: what the rule for N copies goes by, as a control daemon
    /// would estimate it.
    pub(super) fn loss_rate(&self) -> f64 {
        self.forward.mean_loss_rate(self.config.link.mtu_bytes + ETHERNET_BYTES + FCS_OCTETS)
    }

    /// LinkGuardian's options on this link.
    pub(super) fn linkguardian(&self) -> Options {
        self.config.protection.linkguardian(self.loss_rate())
    }

    /// From a dequeue at the link to the receiver's decision, without serialisation.
    pub(super) fn flight(&self) -> Duration {
        Duration::from_ns_f64(self.config.switch.data_pipeline_ns) + self.config.link.propagation()
    }

    /// The protected link, with its own random streams.
    pub(super) fn link<P: Copy + Default>(&self, streams: &Streams) -> Result<AnyLink<P>, ConfigError> {
        let forward = LossProcess::new(&self.forward, streams.stream("link/0/loss"));
        let reverse = LossProcess::new(&self.reverse, streams.stream("link/0/reverse-loss"));
        let switch = &self.config.switch;
        match self.config.protection.kind {
            ProtectionKind::None => {
                let plain =
                    PlainConfig { rate: self.rate, flight: self.flight(), queue: queue_limits(switch) };
                Ok(AnyLink::Plain(PlainLink::new(plain, forward, reverse)))
            }
            ProtectionKind::Lg | ProtectionKind::LgNb => Ok(AnyLink::LinkGuardian(LinkGuardianLink::new(
                switch,
                self.rate,
                self.config.link.propagation(),
                &self.linkguardian(),
                (forward, reverse),
                &mut streams.stream("link/0/phases"),
            ))),
            ProtectionKind::Fec | ProtectionKind::FecModel => {
                Err(ConfigError("this simulator has no forward error correction".into()))
            }
        }
    }

    /// The host profile.
    pub(super) fn host(&self) -> Result<&HostProfile, ConfigError> {
        self.config.require(&self.config.host, "host")
    }

    /// The configured round trip of a path that is nothing but the link.
    fn rtt(&self) -> Option<Duration> {
        self.config.path.and_then(|path| path.rtt_ps).map(Duration::from_ps)
    }

    /// The hops around the link: none with `path.rtt`, else those of the artifact.
    pub(super) fn path(&self, one_way_ns: f64) -> Result<Path, ConfigError> {
        if let Some(rtt) = self.rtt() {
            let too_short = || {
                ConfigError(format!(
                    "path.rtt = {rtt} is shorter than the link's own round trip of {}; raise it, or take a faster switch profile",
                    self.flight() * 2
                ))
            };
            return Path::direct(rtt, self.flight()).ok_or_else(too_short);
        }
        let interface = match self.host()?.nic_rate_bps {
            0 => self.rate,
            bps => {
                LineRate::new(lossylink_core::units::BitRate::from_bps(bps.min(self.config.link.rate_bps)))
            }
        };
        let one_way = Duration::from_ns_f64(one_way_ns) + self.config.link.propagation();
        let queue_bytes = self.config.switch.receiver_queue_bytes;
        Ok(Path::artifact(self.rate, interface, one_way, self.flight(), queue_bytes))
    }

    /// The settings of the TCP connections, and whether an interface cuts their bursts.
    pub(super) fn tcp(&self) -> Result<(tcp::Config, bool), ConfigError> {
        let transport = self.config.require(&self.config.transport, "transport")?;
        let host = self.host()?;
        let congestion_control = transport
            .congestion_control
            .parse()
            .map_err(|error: tcp::UnknownCongestionControl| ConfigError(error.to_string()))?;
        let mut config = tcp::Config {
            mss_bytes: transport.mss_bytes,
            mtu_bytes: self.config.link.mtu_bytes,
            timestamps: transport.timestamps,
            congestion_control,
            initial_window: transport.initial_window,
            rto_min: Duration::from_ps(transport.rto_min_ps),
            tick: host.tick(),
            delayed_ack_segments: transport.delayed_ack,
            quick_acks: host.quick_acks,
            delayed_ack_min: Duration::from_us(host.delayed_ack_us),
            ..tcp::Config::default()
        };
        // On the artifact's path an interface cuts bursts at once; a virtual path has none, so
        // there bursts cross whole, which is one of the traps of the Mathis study.
        let has_interface = self.rtt().is_none();
        if transport.segmentation_offload && !has_interface {
            config.max_burst_segments = (host.segmentation_max_bytes / config.payload_bytes()).max(1);
        }
        Ok((config, has_interface))
    }
}

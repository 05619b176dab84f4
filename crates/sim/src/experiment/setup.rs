//! From a configuration to the parts of a world: losses, link, path, hosts.

use crate::ConfigError;
use crate::config::{Config, HostProfile, MeterConfig, PriorityConfig, ProtectionKind, ReleaseConfig};
use crate::net::coded::EgressOptions;
use crate::net::fec::FecOptions;
use crate::net::fec_model::FecModelOptions;
use crate::net::frame::FCS_OCTETS;
use crate::net::linkguardian::Options;
use crate::net::linkguardian::timing::queue_limits;
use crate::net::meter::MeterOptions;
use crate::net::plain::PlainConfig;
use crate::net::{
    AnyLink, FecLink, FecModelLink, LineRate, LinkGuardianLink, Marker, PlainLink, ProtectedLink, Red,
};
use crate::transport::{rdma, tcp};
use crate::world::Path;
use lossylink_core::engine::fec::{Code, Release};
use lossylink_core::loss::{LossModel, LossProcess, LossSpec};
use lossylink_core::rng::Streams;
use lossylink_core::time::Duration;
use lossylink_core::units::{BitRate, Bytes};

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
            forward: model(&config.loss.forward)?,
            reverse: model(&config.loss.reverse)?,
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

    /// The options of forward error correction on this link.
    fn fec(&self) -> Result<FecOptions, ConfigError> {
        let protection = &self.config.protection;
        let egress = self.egress()?;
        let mut options = FecOptions::new(protection.code()?, egress, self.rate, self.queue());
        if let Some(ps) = protection.fec_flush_ps {
            options = options.with_flush(Duration::from_ps(ps), self.rate, self.queue());
        }
        options.release = match protection.fec_release {
            ReleaseConfig::Eager => Release::Eager,
            ReleaseConfig::InOrder => Release::InOrder,
        };
        options.check(self.rate)?;
        Ok(options)
    }

    /// The options of the switch model on this link.
    fn fec_model(&self) -> Result<FecModelOptions, ConfigError> {
        let protection = &self.config.protection;
        if protection.fec_priority == PriorityConfig::Data {
            let words = "the decoder of fec-model knows one block at a time, which data that pass its parity would \
                         end; leave priority out, or use fec";
            return Err(ConfigError(words.into()));
        }
        let flush = protection.fec_flush_ps.map(Duration::from_ps);
        let published = FecModelOptions::published(protection.code()?);
        let options = FecModelOptions { flush, egress: self.egress()?, ..published };
        options.check(self.rate)?;
        Ok(options)
    }

    /// What a code's frames meet before the wire.
    fn egress(&self) -> Result<EgressOptions, ConfigError> {
        let protection = &self.config.protection;
        let meter = |marks| MeterOptions::usual(self.rate.bit_rate(), self.queue(), marks);
        Ok(EgressOptions {
            meter: match protection.fec_meter {
                MeterConfig::Off => None,
                MeterConfig::Police => Some(meter(false)),
                MeterConfig::Mark => Some(meter(true)),
            },
            data_first: protection.fec_priority == PriorityConfig::Data,
            change: protection.code_change()?,
        })
    }

    /// Room in the queue in front of the link.
    const fn queue(&self) -> Bytes {
        Bytes(self.config.switch.queue_bytes)
    }

    /// From a dequeue at the link to the receiver's decision, without serialisation.
    pub(super) fn flight(&self) -> Duration {
        Duration::from_ns_f64(self.config.switch.data_pipeline_ns) + self.config.link.propagation()
    }

    /// The losses of both directions, each with its own random stream.
    fn losses(&self, streams: &Streams) -> (LossProcess, LossProcess) {
        let forward = LossProcess::new(&self.forward, streams.stream("link/0/loss"));
        (forward, LossProcess::new(&self.reverse, streams.stream("link/0/reverse-loss")))
    }

    /// The link without protection.
    fn unprotected<P: Copy + Default>(&self, losses: (LossProcess, LossProcess)) -> PlainLink<P> {
        let queue = queue_limits(&self.config.switch);
        let plain = PlainConfig { rate: self.rate, flight: self.flight(), queue };
        PlainLink::new(plain, losses.0, losses.1)
    }

    /// The link under LinkGuardian.
    fn guarded<P: Copy + Default>(
        &self,
        options: &Options,
        losses: (LossProcess, LossProcess),
        streams: &Streams,
    ) -> LinkGuardianLink<P> {
        let phases = &mut streams.stream("link/0/phases");
        let propagation = self.config.link.propagation();
        LinkGuardianLink::new(&self.config.switch, self.rate, propagation, options, losses, phases)
    }

    /// The protected link, with its own random streams.
    pub(super) fn link<P: Copy + Default>(&self, streams: &Streams) -> Result<AnyLink<P>, ConfigError> {
        let losses = self.losses(streams);
        let mut link = match self.config.protection.kind {
            ProtectionKind::None => AnyLink::Plain(self.unprotected(losses)),
            ProtectionKind::Lg | ProtectionKind::LgNb => {
                AnyLink::LinkGuardian(self.guarded(&self.linkguardian(), losses, streams))
            }
            ProtectionKind::Fec | ProtectionKind::FecModel => self.coded(losses)?,
        };
        if self.config.transport.as_ref().is_some_and(|transport| transport.dcqcn) {
            link.queue_mut().set_marker(Marker::red(self.marking()?, streams.stream("link/0/marking")));
        }
        Ok(link)
    }

    /// The marking that DCQCN wants of the queue in front of the link.
    fn marking(&self) -> Result<Red, ConfigError> {
        let switch = &self.config.switch;
        Red::new(switch.red_min_bytes, switch.red_max_bytes, switch.red_max_probability)
    }

    /// The link under a code: the engine, or the switch model.
    fn coded<P: Copy + Default>(
        &self,
        losses: (LossProcess, LossProcess),
    ) -> Result<AnyLink<P>, ConfigError> {
        let (switch, propagation) = (&self.config.switch, self.config.link.propagation());
        if self.config.protection.kind == ProtectionKind::Fec {
            return Ok(AnyLink::Fec(FecLink::new(switch, self.rate, propagation, &self.fec()?, losses)));
        }
        let options = self.fec_model()?;
        Ok(AnyLink::FecModel(FecModelLink::new(switch, self.rate, propagation, &options, losses)))
    }

    /// A link that is clean and without protection.
    pub(super) fn clean_link<P: Copy + Default>(&self, streams: &Streams) -> AnyLink<P> {
        AnyLink::Plain(self.bare_link(streams))
    }

    /// The same, as it is.
    pub(super) fn bare_link<P: Copy + Default>(&self, streams: &Streams) -> PlainLink<P> {
        self.unprotected(clean(streams))
    }

    /// A clean link on which the protection waits to be switched on. A code is there from the
    /// start, without parity, and LinkGuardian comes later ([`Setup::late_guard`]).
    pub(super) fn waiting_link<P: Copy + Default>(
        &self,
        streams: &Streams,
    ) -> Result<AnyLink<P>, ConfigError> {
        if self.config.protection.kind.is_code() {
            let mut link = self.coded(clean(streams))?;
            link.set_code(without_parity(self.config.protection.code()?));
            return Ok(link);
        }
        Ok(self.clean_link(streams))
    }

    /// No losses of the forward direction, on a link that has healed.
    pub(super) fn no_loss(streams: &Streams) -> LossProcess {
        clean(streams).0
    }

    /// The losses that set in on a clean link.
    pub(super) fn forward_loss(&self, streams: &Streams) -> LossProcess {
        self.losses(streams).0
    }

    /// LinkGuardian for a link that has run without it, with `copies` unless the user chose them.
    pub(super) fn late_guard<P: Copy + Default>(&self, copies: u8, streams: &Streams) -> LinkGuardianLink<P> {
        let mut options = self.linkguardian();
        options.sender.copies = self.config.protection.copies.unwrap_or(copies);
        self.guarded(&options, clean(streams), streams)
    }

    /// The host profile.
    pub(super) fn host(&self) -> Result<&HostProfile, ConfigError> {
        self.config.require(&self.config.host, "host")
    }

    /// The configured round trip of a path that is nothing but the link.
    fn rtt(&self) -> Option<Duration> {
        self.config.path.and_then(|path| path.rtt_ps).map(Duration::from_ps)
    }

    /// The hops around the link: with `path.rtt` at most an interface, else those of the artifact.
    pub(super) fn path(&self, one_way_ns: f64) -> Result<Path, ConfigError> {
        if let Some(rtt) = self.rtt() {
            let too_short = || {
                ConfigError(format!(
                    "path.rtt = {rtt} is shorter than the link's own round trip of {}; raise it, or take a faster switch profile",
                    self.flight() * 2
                ))
            };
            let host = self.host()?;
            let interface = (host.nic_rate_bps > 0).then(|| self.interface_rate(host));
            return Path::direct(rtt, self.flight(), interface).ok_or_else(too_short);
        }
        let interface = self.interface_rate(self.host()?);
        let one_way = Duration::from_ns_f64(one_way_ns) + self.config.link.propagation();
        let queue_bytes = self.config.switch.receiver_queue_bytes;
        Ok(Path::artifact(self.rate, interface, one_way, self.flight(), queue_bytes))
    }

    /// The rate of a host's interface: as its profile says, and never above the link's.
    pub(super) fn interface_rate(&self, host: &HostProfile) -> LineRate {
        match host.nic_rate_bps {
            0 => self.rate,
            bps => LineRate::new(BitRate::from_bps(bps.min(self.config.link.rate_bps))),
        }
    }

    /// What the stack hands down for one flow; none if the interface is the slower of the two.
    fn stack_rate(&self, host: &HostProfile) -> Option<BitRate> {
        let felt =
            host.flow_rate_bps > 0 && host.flow_rate_bps < self.interface_rate(host).bit_rate().as_bps();
        felt.then(|| BitRate::from_bps(host.flow_rate_bps))
    }

    /// The settings of the RDMA connections. Interfaces form packets as they leave.
    pub(super) fn rdma(&self) -> Result<rdma::Config, ConfigError> {
        let transport = self.config.require(&self.config.transport, "transport")?;
        let host = self.host()?;
        let interface = self.interface_rate(host).bit_rate();
        let refuse = |error: &dyn std::error::Error| ConfigError(error.to_string());
        Ok(rdma::Config {
            mtu: rdma::Mtu::new(transport.mtu_bytes).map_err(|error| refuse(&error))?,
            recovery: transport.recovery.parse().map_err(|error: rdma::UnknownRecovery| refuse(&error))?,
            timeout: Duration::from_us(host.rdma_timeout_us),
            retry_count: host.rdma_retry_count,
            interface_rate: Some(interface),
            dcqcn: transport.dcqcn.then(|| rdma::Dcqcn::on(interface)),
            ..rdma::Config::default()
        })
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
            stack_rate: self.stack_rate(host),
            ..tcp::Config::default()
        };
        // An interface cuts bursts at once; a virtual path has none unless its rate is given, so
        // there bursts cross whole, which is one of the traps of the Mathis study.
        let has_interface = self.rtt().is_none() || host.nic_rate_bps > 0;
        if transport.segmentation_offload && !has_interface {
            config.max_burst_segments = (host.segmentation_max_bytes / config.payload_bytes()).max(1);
        }
        Ok((config, has_interface))
    }
}

/// The model that is described.
fn model(spec: &LossSpec) -> Result<LossModel, ConfigError> {
    spec.model().map_err(|error| ConfigError(error.to_string()))
}

/// The code of an encoder that tags nothing (FEC-1).
pub(super) fn without_parity(code: Code) -> Code {
    Code::new(u32::from(code.size()), 0).expect("the size is that of a code")
}

/// No losses in either direction.
fn clean(streams: &Streams) -> (LossProcess, LossProcess) {
    let none = |name| LossProcess::new(&LossModel::None, streams.stream(name));
    (none("link/0/loss"), none("link/0/reverse-loss"))
}

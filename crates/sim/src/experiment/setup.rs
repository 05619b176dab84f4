//! From a configuration to the parts of a world: losses, link, path, hosts.

use crate::ConfigError;
use crate::config::{Config, HostProfile, PathConfig};
use crate::net::frame::{ETHERNET_OCTETS, FCS_OCTETS, GAP_OCTETS, MINIMUM_OCTETS};
use crate::net::{
    Advice, AnyLink, Blueprint, LineRate, LineRates, Losses, Marker, Payload, ProtectedLink, Red, clean,
    linkguardian,
};
use crate::transport::{rdma, tcp};
use crate::world::{Jitter, Path, Rdma, Rooms};
use lossylink_core::engine::linkguardian::DEFAULT_TARGET_LOSS;
use lossylink_core::loss::{LossLaw, LossModel, LossProcess};
use lossylink_core::protection::Protection;
use lossylink_core::rng::Streams;
use lossylink_core::time::Duration;
use lossylink_core::units::BitRate;
use std::sync::Arc;

/// A configuration, and what its parts have in common.
#[derive(Clone, Debug)]
pub(super) struct Setup<'a> {
    pub(super) config: &'a Config,
    /// Line rate of the data, and of the links around the link under test.
    pub(super) rate: LineRate,
    /// The plan of the link under test.
    pub(super) plan: Blueprint,
}

impl<'a> Setup<'a> {
    pub(super) fn new(config: &'a Config) -> Self {
        let rate = LineRate::new(config.link.rate());
        let rates = LineRates { forward: rate, back: LineRate::new(config.link.rate_back()) };
        let full = config.link.mtu_bytes + ETHERNET_OCTETS + FCS_OCTETS;
        let plan = Blueprint {
            switch: Arc::clone(&config.switch),
            rates,
            propagation: config.link.propagation(),
            law: config.loss.forward.law(full, rate.bit_rate()),
            control_law: config.loss.reverse.law(MINIMUM_OCTETS - GAP_OCTETS, rates.back.bit_rate()),
            frame_octets: full + GAP_OCTETS,
            protection: config.protection.clone(),
            is_switched: false,
            is_fast: config.skip,
        };
        Self { config, rate, plan }
    }

    /// Builds every part once, to find out whether it can be built.
    pub(super) fn check(&self, streams: &Streams) -> Result<(), ConfigError> {
        if self.config.timeline.is_some() {
            self.waiting_link::<()>(streams)?;
        } else {
            self.link::<()>(streams)?;
        }
        let (Some(host), Some(_)) = (&self.config.host, &self.config.transport) else { return Ok(()) };
        self.impaired(self.path(host.network_one_way_ns)?, streams)?;
        self.rdma()?;
        self.tcp().map(drop)
    }

    /// Returns the loss rate of a full frame.
    pub(super) fn loss_rate(&self) -> f64 {
        self.config.loss.forward.mean_loss_rate(self.plan.frame_octets - GAP_OCTETS)
    }

    /// Returns the bytes of the frames of the traffic with their check sequence: full frames, unless the traffic has a size of its own.
    pub(super) fn traffic_frame_bytes(&self) -> u32 {
        let full = self.plan.frame_octets - GAP_OCTETS;
        let least = MINIMUM_OCTETS - GAP_OCTETS;
        let traffic = self.config.traffic.as_ref();
        traffic.map_or(full, |traffic| (traffic.frame_bytes + FCS_OCTETS).max(least))
    }

    /// Returns the law of the losses for the frames of the traffic.
    pub(super) fn traffic_law(&self) -> LossLaw {
        self.config.loss.forward.law(self.traffic_frame_bytes(), self.rate.bit_rate())
    }

    /// Returns the numbers of copies that are advised when the protection is switched on.
    pub(super) fn advice(&self) -> Advice {
        Advice {
            copies: linkguardian::advised_copies(&self.plan, DEFAULT_TARGET_LOSS),
            control_copies: linkguardian::advised_control_copies(&self.plan, DEFAULT_TARGET_LOSS),
        }
    }

    /// Returns the loss processes of both directions, each with its own random stream.
    fn losses(&self, streams: &Streams) -> Losses {
        let LineRates { forward, back } = self.plan.rates;
        let process =
            |model, rate: LineRate, name| LossProcess::on_line(model, rate.bit_rate(), streams.stream(name));
        let loss = &self.config.loss;
        (process(&loss.forward, forward, "link/0/loss"), process(&loss.reverse, back, "link/0/reverse-loss"))
    }

    /// Builds the protected link, with its own random streams.
    pub(super) fn link<P: Payload>(&self, streams: &Streams) -> Result<AnyLink<P>, ConfigError> {
        let mut link = AnyLink::new(&self.plan, self.losses(streams), streams)?;
        if self.config.transport.as_ref().is_some_and(|transport| transport.dcqcn) {
            link.queue_mut().set_marker(Marker::red(self.marking()?, streams.stream("link/0/marking")));
        }
        Ok(link)
    }

    /// Returns the marking that DCQCN asks for in the queue in front of the link.
    fn marking(&self) -> Result<Red, ConfigError> {
        let switch = &self.config.switch;
        Red::new(switch.red_min_bytes, switch.red_max_bytes, switch.red_max_probability)
    }

    /// Builds a link without losses and without protection.
    pub(super) fn clean_link<P: Payload>(&self, streams: &Streams) -> AnyLink<P> {
        AnyLink::bare(&self.plan, streams)
    }

    /// Builds a link without losses on which the protection waits to be switched on.
    pub(super) fn waiting_link<P: Payload>(&self, streams: &Streams) -> Result<AnyLink<P>, ConfigError> {
        AnyLink::waiting(&Blueprint { is_switched: true, ..self.plan.clone() }, streams)
    }

    /// Whether there is a protection to switch on.
    pub(super) fn protects(&self) -> bool {
        self.config.protection != Protection::None
    }

    /// Returns loss processes that lose nothing, for a link that has healed.
    pub(super) fn healed(streams: &Streams) -> Losses {
        clean(streams)
    }

    /// Returns the loss processes of both directions, for a clean link that starts to corrupt.
    pub(super) fn setting_in(&self, streams: &Streams) -> Losses {
        self.losses(streams)
    }

    /// Returns the host profile.
    pub(super) fn host(&self) -> Result<&HostProfile, ConfigError> {
        self.config.require(&self.config.host, "host")
    }

    /// Returns the configured round trip of a path that consists of the link only.
    pub(super) fn rtt(&self) -> Option<Duration> {
        self.config.path.as_ref().and_then(|path| path.rtt_ps).map(Duration::from_ps)
    }

    /// Builds the hops around the link: with `path.rtt` at most an interface, else those of the artifact.
    pub(super) fn path(&self, one_way_ns: f64) -> Result<Path, ConfigError> {
        if let Some(rtt) = self.rtt() {
            let too_short = || {
                ConfigError(format!(
                    "path.rtt = {rtt} is shorter than the link's own round trip of {}; raise it, or take a faster switch profile",
                    self.plan.flight() * 2
                ))
            };
            let host = self.host()?;
            let interface = (host.nic_rate_bps > 0).then(|| self.interface_rate(host));
            return Path::direct(rtt, self.plan.flight(), interface).ok_or_else(too_short);
        }
        let interface = self.interface_rate(self.host()?);
        let one_way = Duration::from_ns_f64(one_way_ns) + self.config.link.propagation();
        let switch = &self.config.switch;
        let rooms = Rooms {
            // A queue does not count the frame that leaves it; a hop counts the bytes that its line has not sent.
            queue_bytes: switch.queue_bytes + u64::from(self.plan.frame_octets),
            receiver_queue_bytes: switch.receiver_queue_bytes,
        };
        Ok(Path::artifact(self.rate, interface, one_way, self.plan.flight(), rooms))
    }

    /// Whether every frame takes as long as any other over the hops around the link, as long as no frame is in
    /// its way.
    pub(super) fn has_clean_hops(&self) -> bool {
        !self.config.path.as_ref().is_some_and(PathConfig::is_impaired)
    }

    /// Returns `path` with the losses and the jitter of its hops.
    pub(super) fn impaired(&self, path: Path, streams: &Streams) -> Result<Path, ConfigError> {
        let Some(config) = self.config.path.as_ref().filter(|config| config.is_impaired()) else {
            return Ok(path);
        };
        let process = |model: &LossModel, name| {
            match model {
            LossModel::Phy(_) if !model.is_clean() => Err(ConfigError(
                "the hops around the link have no code of their own: write phy for loss.forward, or another model for path.loss"
                    .into(),
            )),
            model => Ok(LossProcess::new(model, streams.stream(name))),
        }
        };
        let (forward, back) = (&config.loss.forward, &config.loss.reverse);
        let path = path.losing((process(forward, "path/loss")?, process(back, "path/reverse-loss")?));
        let most = config.jitter;
        let jitter = |ps, name| Jitter::new(Duration::from_ps(ps), !most.reorders, streams.stream(name));
        Ok(path
            .jittering((jitter(most.forward_ps, "path/jitter"), jitter(most.back_ps, "path/reverse-jitter"))))
    }

    /// Returns the rate of a host's interface: that of its profile, and never above the link's.
    pub(super) fn interface_rate(&self, host: &HostProfile) -> LineRate {
        match host.nic_rate_bps {
            0 => self.rate,
            bps => LineRate::new(BitRate::from_bps(bps.min(self.config.link.rate_bps))),
        }
    }

    /// Returns the rate at which the stack hands down one flow; `None` if the interface is the slower of the two.
    fn stack_rate(&self, host: &HostProfile) -> Option<BitRate> {
        let felt =
            host.flow_rate_bps > 0 && host.flow_rate_bps < self.interface_rate(host).bit_rate().as_bps();
        felt.then(|| BitRate::from_bps(host.flow_rate_bps))
    }

    /// Builds RDMA with the settings of its connections. Interfaces form packets as the packets leave.
    pub(super) fn rdma(&self) -> Result<Rdma, ConfigError> {
        let transport = self.config.require(&self.config.transport, "transport")?;
        let host = self.host()?;
        let line = self.interface_rate(host);
        let refuse = |error: &dyn std::error::Error| ConfigError(error.to_string());
        let config = rdma::Config {
            mtu: rdma::Mtu::new(transport.mtu_bytes).map_err(|error| refuse(&error))?,
            recovery: transport.recovery.parse().map_err(|error: rdma::UnknownRecovery| refuse(&error))?,
            timeout: Duration::from_us(host.rdma_timeout_us),
            retry_count: host.rdma_retry_count,
            dcqcn: transport.dcqcn.then(|| rdma::Dcqcn::on(line.bit_rate())),
            ..rdma::Config::default()
        };
        Ok(Rdma { config, line: Some(line) })
    }

    /// Returns the settings of the TCP connections, and whether an interface cuts their bursts.
    pub(super) fn tcp(&self) -> Result<(tcp::Config, bool), ConfigError> {
        let transport = self.config.require(&self.config.transport, "transport")?;
        let host = self.host()?;
        let congestion_control = transport
            .congestion_control
            .parse()
            .map_err(|error: tcp::UnknownCongestionControl| ConfigError(error.to_string()))?;
        let usual = tcp::Config::default();
        let mut config = tcp::Config {
            mss_bytes: transport.mss_bytes,
            mtu_bytes: self.config.link.mtu_bytes,
            timestamps: transport.timestamps,
            congestion_control,
            initial_window: transport.initial_window,
            rto_min: Duration::from_ps(transport.rto_min_ps),
            tick: host.tick(),
            missed_ticks: host.missed_ticks()?,
            delayed_ack_segments: transport.delayed_ack,
            quick_acks: host.quick_acks,
            delayed_ack_min: Duration::from_us(host.delayed_ack_us),
            stack_rate: self.stack_rate(host),
            receive_window_bytes: transport.receive_window_bytes.unwrap_or(usual.receive_window_bytes),
            ..usual
        };
        // An interface cuts bursts. The virtual path of the Mathis study has none unless its rate is given: there
        // bursts cross whole and are lost whole, which is one of the study's traps.
        let is_study = self.config.experiment == "mathis";
        let has_interface = !is_study || self.rtt().is_none() || host.nic_rate_bps > 0;
        if transport.segmentation_offload && !has_interface {
            config.max_burst_segments = (host.segmentation_max_bytes / config.payload_bytes()).max(1);
        }
        Ok((config, has_interface))
    }
}

//! Networks of long flows, for runs of any kind.

use crate::profiles;
use lossylink_core::engine::linkguardian::SenderConfig;
use lossylink_core::loss::{LossModel, LossProcess};
use lossylink_core::rng::Streams;
use lossylink_core::time::Duration;
use lossylink_core::units::BitRate;
#[cfg(feature = "fast")]
use lossylink_sim::net::FastLinkGuardianLink;
use lossylink_sim::net::direct::DirectConfig;
use lossylink_sim::net::linkguardian::Options;
use lossylink_sim::net::{AnyLink, LineRate, LineRates, LinkGuardianLink, PlainLink, queue_limits};
use lossylink_sim::transport::tcp::{self, CongestionControl};
use lossylink_sim::world::network::{Addressed, Conversation};
use lossylink_sim::world::protocol::TcpPacket;
use lossylink_sim::world::{Jitter, Network, Path, Protocol, Reception, Rooms, Tcp};
use proptest::prelude::*;

pub(crate) type TcpNetwork = Network<Tcp, AnyLink<Addressed<TcpPacket>>>;

/// The parameters of a network.
#[derive(Clone, Debug)]
pub(crate) struct World {
    /// Whether the link is the fast twin of its model, where that twin is compiled.
    #[cfg_attr(not(feature = "fast"), expect(dead_code, reason = "there is no twin"))]
    pub(crate) is_fast: bool,
    pub(crate) seed: u64,
    pub(crate) gbps: u64,
    /// The rate of the way back; `None` for the rate of the way forward.
    pub(crate) back_mbps: Option<u64>,
    pub(crate) loss: f64,
    /// Whether losses come in bursts that last a time.
    pub(crate) fades: bool,
    /// The loss of the hops behind the link, in both directions.
    pub(crate) hop_loss: f64,
    /// The most that frames take longer behind the link, in both directions, and whether the frames keep their
    /// order.
    pub(crate) jitter: (Duration, bool),
    /// `None` for a link without protection, else whether the protection keeps order.
    pub(crate) ordered: Option<bool>,
    pub(crate) profile: &'static str,
    /// `None` for the artifact's path, else the time by which the round trip is longer than that of the link.
    pub(crate) extra_rtt: Option<Duration>,
    pub(crate) reception: Reception,
    pub(crate) flows: usize,
    pub(crate) algorithm: CongestionControl,
    /// The highest rate at which the stack of a host hands segments down.
    pub(crate) stack_gbps: Option<u64>,
    /// The size of a flow; `None` for endless flows.
    pub(crate) flow_bytes: Option<u64>,
    /// The number of segments that one acknowledgement may cover.
    pub(crate) delayed_ack: u32,
}

impl World {
    pub(crate) fn network(&self) -> TcpNetwork {
        let flows = (0..self.flows as u64).map(|index| self.flow(index)).collect();
        let protocol = Tcp { config: self.config(), cuts_bursts: false };
        let mut network = self.between(protocol, flows);
        (0..self.flows).for_each(|index| network.act(index, |now, ends| ends.near.open(now)));
        network
    }

    pub(crate) fn config(&self) -> tcp::Config {
        let stack_rate = self.stack_gbps.map(BitRate::from_gbps);
        tcp::Config {
            congestion_control: self.algorithm,
            stack_rate,
            delayed_ack_segments: self.delayed_ack,
            ..tcp::Config::default()
        }
    }

    /// Returns the two ends of a flow.
    pub(crate) fn flow(&self, index: u64) -> Conversation<Tcp> {
        Conversation {
            near: tcp::Sender::new(&self.config(), self.flow_bytes, Duration::from_us(100 * index)),
            far: tcp::Receiver::new(&self.config(), Duration::from_us(70 * index)),
        }
    }

    /// Returns the rates of the link.
    fn rates(&self) -> LineRates {
        let forward = LineRate::new(BitRate::from_gbps(self.gbps));
        let back = self.back_mbps.map_or(forward, |mbps| LineRate::new(BitRate::from_bps(mbps * 1_000_000)));
        LineRates { forward, back }
    }

    /// Returns the network between the hosts of these conversations.
    pub(crate) fn between<T: Protocol>(
        &self,
        protocol: T,
        conversations: Vec<Conversation<T>>,
    ) -> Network<T, AnyLink<Addressed<T::Packet>>> {
        let streams = Streams::new(self.seed);
        let fade = Duration::from_us(3);
        let model = if self.fades && self.loss > 0.0 {
            LossModel::fades(Duration::from_ns_f64(fade.as_ns_f64() * (1.0 / self.loss - 1.0)), fade)
        } else {
            LossModel::bernoulli(self.loss)
        };
        let model = model.unwrap();
        let loss = |name| LossProcess::new(&model, streams.stream(name));
        let (profile, rates) = (profiles::profile(self.profile), self.rates());
        let flight = Duration::from_ns_f64(profile.data_pipeline_ns);
        let losses = (loss("forward"), loss("reverse"));
        let link = match self.ordered {
            None => {
                let config = DirectConfig { rates, flight, queue: queue_limits(&profile) };
                PlainLink::new(config, losses.0, losses.1).into()
            }
            Some(ordered) => {
                let sender = SenderConfig { copies: 1, dummies: 3, hole_cap: Some(5) };
                let options =
                    Options { control_copies: 1, sender, ordered, backpressure: true, deduplicate: true };
                let mut phases = streams.stream("phases");
                let zero = Duration::ZERO;
                #[cfg(feature = "fast")]
                if self.is_fast {
                    let link =
                        FastLinkGuardianLink::new(&profile, rates, zero, &options, losses, &mut phases);
                    return self.beside(protocol, link.into(), conversations);
                }
                LinkGuardianLink::new(&profile, rates, zero, &options, losses, &mut phases).into()
            }
        };
        self.beside(protocol, link, conversations)
    }

    /// Returns the network between the hosts of these conversations, over this link.
    fn beside<T: Protocol>(
        &self,
        protocol: T,
        link: AnyLink<Addressed<T::Packet>>,
        conversations: Vec<Conversation<T>>,
    ) -> Network<T, AnyLink<Addressed<T::Packet>>> {
        let streams = Streams::new(self.seed);
        let (profile, rate) = (profiles::profile(self.profile), self.rates().forward);
        let flight = Duration::from_ns_f64(profile.data_pipeline_ns);
        let path = match self.extra_rtt {
            None => {
                let rooms = Rooms { queue_bytes: 560_000, receiver_queue_bytes: 120_000 };
                Path::artifact(rate, rate, Duration::from_us(5), flight, rooms)
            }
            Some(extra) => Path::direct(flight * 2 + extra, flight, None).unwrap(),
        };
        let model = LossModel::bernoulli(self.hop_loss).unwrap();
        let loss = |name| LossProcess::new(&model, streams.stream(name));
        let (most, keeps_order) = self.jitter;
        let jitter = |name| Jitter::new(most, keeps_order, streams.stream(name));
        let path =
            path.losing((loss("hop"), loss("hop back"))).jittering((jitter("jitter"), jitter("jitter back")));
        let mut network = Network::new(protocol, link, path, conversations);
        network.set_reception(&self.reception);
        network.set_draws(streams.stream("near"), streams.stream("far"));
        network
    }
}

/// Returns hosts whose latencies are constant or drawn, with any other property of a reception.
fn any_reception() -> impl Strategy<Value = Reception> {
    let constant = prop_oneof![Just(0), 0u64..20].prop_map(|us| Reception::waking_in(Duration::from_us(us)));
    let up_to = |us: u64| vec![(0.0, 0.0), (1.0, us as f64 * 1e3)];
    let drawn = (0u64..20, 0u64..20, 0u64..3, any::<bool>()).prop_map(
        move |(wake_up, moderation, segment, merges)| {
            Reception::new(&up_to(wake_up), &up_to(moderation), Duration::from_us(segment), merges)
        },
    );
    prop_oneof![constant, drawn]
}

pub(crate) fn any_world() -> impl Strategy<Value = World> {
    let place = (
        prop::option::of(any::<bool>()),
        prop_oneof![Just("tofino1"), Just("ideal")],
        prop::option::of((0u64..30).prop_map(Duration::from_us)),
        any_reception(),
    );
    let algorithm = prop_oneof![
        Just(CongestionControl::Reno),
        Just(CongestionControl::Cubic),
        Just(CongestionControl::Dctcp),
    ];
    let loss = prop_oneof![Just(0.0), 0.0..0.003f64, 0.0..0.05f64];
    let traffic =
        (any::<u64>(), prop_oneof![Just(10u64), Just(100)], loss, any::<bool>(), 1usize..4, algorithm);
    let back_mbps = prop_oneof![2 => Just(None), 1 => (20u64..150_000).prop_map(Some)];
    let hop_loss = prop_oneof![2 => Just(0.0), 1 => 0.0..0.01f64];
    let most = prop_oneof![2 => Just(0), 1 => 0u64..2_000, 1 => 0u64..50_000].prop_map(Duration::from_ns);
    let jitter = (most, any::<bool>());
    let source =
        (prop::option::of(2u64..40), prop::option::of(1u64..500_000), 1u32..4, hop_loss, back_mbps, jitter);
    (place, traffic, source).prop_map(
        |(
            (ordered, profile, extra_rtt, reception),
            (seed, gbps, loss, fades, flows, algorithm),
            (stack_gbps, flow_bytes, delayed_ack, hop_loss, back_mbps, jitter),
        )| World {
            is_fast: true,
            seed,
            gbps,
            back_mbps,
            loss,
            fades,
            hop_loss,
            jitter,
            ordered,
            profile,
            extra_rtt,
            reception,
            flows,
            algorithm,
            stack_gbps,
            flow_bytes,
            delayed_ack,
        },
    )
}

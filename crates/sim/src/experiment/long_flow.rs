//! Long TCP flows: the throughput experiment, and one trial of the Mathis study.

use super::capturing::Capture;
use super::fairness::jain;
use super::inspecting::{inspected, states};
use super::interval::{of_yielding, span_ends};
use super::long_writes;
use super::row::Row;
use super::setup::Setup;
use super::stress::ratio;
use crate::capture::TcpConnections;
use crate::config::{Config, WorkloadProtocol};
use crate::net::frame::{FCS_OCTETS, GAP_OCTETS};
use crate::net::{AnyLink, ProtectedLink, Tap, Traffic};
use crate::transport::tcp;
use crate::world::network::{Addressed, Conversation};
use crate::world::protocol::TcpPacket;
use crate::world::{LostBehind, Network, Reception, Tcp};
use crate::{ConfigError, Control, Outcome};
use lossylink_core::rng::{RngCore, Streams};
use lossylink_core::time::{Duration, Instant};
use serde_json::json;

/// Simulated time between two questions whether the caller cancelled the run.
const PROGRESS_STEP: Duration = Duration::from_ms(20);
/// Ticks of the wheel on which the timers of a flow fall anywhere.
const WHEEL_TICKS: u64 = 4096;

/// TCP flows over any kind of link.
pub(super) type TcpNetwork = Network<Tcp, AnyLink<Addressed<TcpPacket>>>;

/// Counters of all flows at an instant.
#[derive(Clone, Debug)]
pub(super) struct Snapshot {
    at: Instant,
    pub(super) flows: Vec<tcp::Statistics>,
    bytes: Vec<u64>,
    pub(super) traffic: Traffic,
    queue_drops: u64,
    lost_behind: LostBehind,
}

impl Snapshot {
    pub(super) fn of(network: &TcpNetwork) -> Self {
        let ends = network.conversations();
        Self {
            at: network.now(),
            flows: ends.iter().map(|ends| *ends.near.statistics()).collect(),
            bytes: ends.iter().map(|ends| ends.far.bytes_in_order()).collect(),
            traffic: *network.link.traffic(),
            queue_drops: network.link.queue().dropped() + network.hop_drops(),
            lost_behind: network.lost_behind(),
        }
    }

    /// Returns the Gb/s that the receivers' applications got between each snapshot and the next.
    fn gbps_between(snapshots: &[Self]) -> Vec<f64> {
        snapshots.windows(2).map(|pair| pair[1].bits_per_second_since(&pair[0]) / 1e9).collect()
    }

    /// Returns the bits a second that the receivers' applications got since `begin`.
    pub(super) fn bits_per_second_since(&self, begin: &Self) -> f64 {
        let bytes = self.bytes.iter().sum::<u64>() - begin.bytes.iter().sum::<u64>();
        bytes as f64 * 8.0 / (self.at - begin.at).as_secs_f64()
    }

    /// Returns Jain's index of the bytes that each flow delivered since `begin`; `None` if there were none.
    fn fairness_since(&self, begin: &Self) -> Option<f64> {
        jain(self.bytes.iter().zip(&begin.bytes).map(|(end, begin)| end - begin))
    }

    pub(super) fn sum(&self, of: fn(&tcp::Statistics) -> u64) -> u64 {
        self.flows.iter().map(of).sum()
    }
}

/// Runs the flows and reports the time between warm-up and cool-down.
pub(super) fn run(config: &Config, control: &Control) -> Result<Outcome, ConfigError> {
    let setup = Setup::new(config);
    let run = *config.require(&config.run, "run")?;
    let counted = run.duration_ps.checked_sub(run.warmup_ps + run.cooldown_ps).filter(|&ps| ps > 0);
    if counted.is_none() {
        let message = "nothing is left between run.warmup and run.cooldown; lengthen run.duration";
        return Err(ConfigError(message.into()));
    }
    if config.require(&config.transport, "transport")?.protocol == WorkloadProtocol::Rdma {
        return long_writes::run(&setup, &run, control);
    }
    let (tcp, _) = setup.tcp()?;
    let capture = Capture::open(&setup, || TcpConnections::new(tcp, None))?;
    let streams = Streams::new(config.seed);
    let mut link = inspected(&setup, setup.link(&streams)?);
    link.set_tap(capture.tap());
    let mut network = open_flows(&setup, link, &streams, capture.tap())?.stopping(control.stop());
    control.set_total(run.duration_ps);
    let begin = run_watched(&mut network, Duration::from_ps(run.warmup_ps), control);
    network.link.queue_mut().reset_high_water();
    let until = Duration::from_ps(run.duration_ps - run.cooldown_ps);
    let mut seen = vec![begin];
    for end in span_ends(Duration::from_ps(run.warmup_ps), until) {
        seen.push(run_watched(&mut network, end, control));
    }
    capture.finish()?;
    let interrupted = control.is_cancelled();
    let row = row(&setup, &network, &seen).finish();
    let now = network.now();
    let states = states(&setup, &mut network.link, now, interrupted)?;
    Ok(Outcome { row, states, interrupted, ..Outcome::default() })
}

/// Opens long flows over `link`, all of them at time zero; `tap` sees the frames at the hops around the link.
pub(super) fn open_flows(
    setup: &Setup<'_>,
    link: AnyLink<Addressed<TcpPacket>>,
    streams: &Streams,
    tap: Tap<Addressed<TcpPacket>>,
) -> Result<TcpNetwork, ConfigError> {
    let (tcp_config, cuts_bursts) = setup.tcp()?;
    let host = setup.host()?;
    let mut hosts = streams.stream("hosts");
    let wheel = WHEEL_TICKS * host.tick().as_ps();
    let count = setup.config.flow.map_or(1, |flow| flow.count);
    let conversations = (0..count).map(|_| {
        let mut phase = || Duration::from_ps(hosts.next_u64() % wheel);
        Conversation {
            near: tcp::Sender::new(&tcp_config, None, phase()),
            far: tcp::Receiver::new(&tcp_config, phase()),
        }
    });
    let conversations: Vec<_> = conversations.collect();
    let path = setup.impaired(setup.path(host.network_one_way_ns)?, streams)?;
    let protocol = Tcp { config: tcp_config, cuts_bursts };
    let network = Network::new(protocol, link, path, conversations).tapped(tap);
    let mut network = network.skipping(setup.config.skip);
    network.set_reception(&Reception::of(host));
    network.set_draws(streams.stream("hosts/near"), streams.stream("hosts/far"));
    for index in 0..count as usize {
        network.act(index, |now, ends| ends.near.open(now));
    }
    Ok(network)
}

/// Runs until `until` after the start, or until the caller cancels the run.
fn run_watched(network: &mut TcpNetwork, until: Duration, control: &Control) -> Snapshot {
    let end = Instant::ZERO + until;
    while network.now() < end && !control.is_cancelled() {
        let step = (network.now() + PROGRESS_STEP).min(end);
        let before = network.now();
        network.run_until(step);
        control.add_done((step - before).as_ps());
    }
    Snapshot::of(network)
}

/// Builds the row from the snapshots at the beginning of the counted time and at the ends of its spans.
fn row(setup: &Setup<'_>, network: &TcpNetwork, seen: &[Snapshot]) -> Row {
    let (begin, end) = (&seen[0], &seen[seen.len() - 1]);
    let seconds = (end.at - begin.at).as_secs_f64();
    let during = |of: fn(&tcp::Statistics) -> u64| end.sum(of) - begin.sum(of);
    let bits_per_second = end.bits_per_second_since(begin);
    let samples = during(|flow| flow.rtt_samples);
    let rtt_mean_us = during(|flow| flow.rtt_sum_us) as f64 / samples as f64;
    let rtt_min_us = end.flows.iter().map(|flow| flow.rtt_min_us).min().filter(|&us| us != u64::MAX);
    let offered = end.traffic.data_frames - begin.traffic.data_frames;
    let lost = end.traffic.data_lost - begin.traffic.data_lost;
    let window = during(|flow| flow.window_time) as f64 / during(|flow| flow.window_span_us) as f64;
    let loss_events = during(tcp::Statistics::loss_events);
    let config = &network.protocol().config;
    let largest = u64::from(end.traffic.largest_octets).saturating_sub(u64::from(GAP_OCTETS + FCS_OCTETS));
    let mut row = Row::new(setup);
    row.set("congestion_control", config.congestion_control.name())
        .set("flows", end.flows.len())
        .set("average_throughput_gbps", bits_per_second / 1e9)
        .set("average_throughput_gbps_ci95", json!(of_yielding(&Snapshot::gbps_between(seen), loss_events)))
        .set("fairness", end.fairness_since(begin))
        .set("measured_mbps", bits_per_second / 1e6)
        .set("retransmissions", during(|flow| flow.retransmissions))
        .set("timeouts", during(|flow| flow.timeouts))
        .set("loss_events", loss_events)
        .set("loss_probes", during(|flow| flow.loss_probes))
        .set("undo_events", during(|flow| flow.undo_events))
        .set("segments_sent", during(|flow| flow.segments_sent))
        .set("cwnd_packets_mean", window)
        .set("rtt_mean_ms", rtt_mean_us / 1e3)
        .set("rtt_min_ms", rtt_min_us.map(|us| us as f64 / 1e3))
        .set("mss_bytes", config.payload_bytes())
        .set("frames_offered", offered)
        .set("frames_lost", lost)
        .set("realised_loss_ratio", ratio(lost, offered))
        .set("largest_frame_bytes", largest)
        .set("queue_drops", end.queue_drops - begin.queue_drops)
        .set_lost_behind(end.lost_behind.since(begin.lost_behind))
        .set("queue_bytes_max", network.link.queue().high_water_bytes())
        .set("simulated_seconds", end.at.as_secs_f64())
        .set("counted_seconds", seconds);
    row
}

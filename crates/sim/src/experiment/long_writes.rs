//! Long RDMA flows that share the link: every sender writes one message after another.
//!
//! On the artifact's path all senders share one host's interface; with `path.rtt` each has its own,
//! and together they offer more than the link carries. That is what DCQCN is for.

use super::capturing::Capture;
use super::long_flow::jain;
use super::row::Row;
use super::setup::Setup;
use super::stress::ratio;
use crate::capture::RdmaConnection;
use crate::config::RunConfig;
use crate::net::{AnyLink, ProtectedLink, Traffic};
use crate::transport::rdma::{Operation, Packet, Requester, RequesterStatistics, Responder};
use crate::world::network::{Addressed, Conversation};
use crate::world::{Network, Rdma};
use crate::{ConfigError, Control, Outcome};
use lossylink_core::rng::Streams;
use lossylink_core::time::{Duration, Instant};

/// One message: a thousand full packets, so that its end is a small part of it.
const MESSAGE_BYTES: u64 = 1_024_000;
/// Messages posted and not complete: while the last packet of one is acknowledged the next is sent.
const DEPTH: usize = 2;
/// Simulated time between two looks at the caller's wishes.
const PROGRESS_STEP: Duration = Duration::from_ms(1);

type Writes = Network<Rdma, AnyLink<Addressed<Packet>>>;

/// Counters of all senders at one time.
#[derive(Clone, Debug)]
struct Snapshot {
    at: Instant,
    bytes: Vec<u64>,
    senders: Vec<RequesterStatistics>,
    traffic: Traffic,
    marked: u64,
    dropped: u64,
}

impl Snapshot {
    fn of(network: &Writes) -> Self {
        let ends = network.conversations();
        Self {
            at: network.now(),
            bytes: ends.iter().map(|ends| ends.far.bytes_in_order()).collect(),
            senders: ends.iter().map(|ends| *ends.near.statistics()).collect(),
            traffic: *network.link.traffic(),
            marked: network.link.queue().marked(),
            dropped: network.link.queue().dropped() + network.hop_drops(),
        }
    }

    fn sum(&self, of: fn(&RequesterStatistics) -> u64) -> u64 {
        self.senders.iter().map(of).sum()
    }
}

/// Runs the senders and reports what happened between warm-up and cool-down.
pub(super) fn run(setup: &Setup<'_>, run: &RunConfig, control: &Control) -> Result<Outcome, ConfigError> {
    let capture = Capture::open(setup, || RdmaConnection::new(MESSAGE_BYTES))?;
    let streams = Streams::new(setup.config.seed);
    let config = setup.rdma()?;
    let count = setup.config.flow.map_or(1, |flow| flow.count);
    let ends = (0..count)
        .map(|_| Conversation { near: Requester::new(&config), far: Responder::new(&config) })
        .collect();
    let path = setup.path(setup.host()?.rdma_one_way_ns)?;
    let link = setup.link(&streams)?.tapped(capture.tap());
    let mut network = Network::new(Rdma { config }, link, path, ends).tapped(capture.tap());
    (0..count as usize).for_each(|index| keep_busy(&mut network, index));
    control.set_total(run.duration_ps);
    let begin = run_watched(&mut network, Duration::from_ps(run.warmup_ps), control);
    network.link.queue_mut().reset_high_water();
    let end = run_watched(&mut network, Duration::from_ps(run.duration_ps - run.cooldown_ps), control);
    capture.finish()?;
    let row = row(setup, &network, &begin, &end).finish();
    Ok(Outcome { row, columns: Vec::new(), interrupted: control.is_cancelled() })
}

/// Posts messages until as many are outstanding as should be. A connection that failed begins anew.
fn keep_busy(network: &mut Writes, index: usize) {
    network.act(index, |now, ends| {
        if ends.near.has_failed() {
            ends.near.reconnect();
            ends.far.reconnect();
        }
        while ends.near.poll_completion().is_some() {}
        while ends.near.outstanding() < DEPTH {
            ends.near.post(now, Operation::Write(MESSAGE_BYTES));
        }
    });
}

/// Runs until `until` after the start, or until the caller loses patience.
fn run_watched(network: &mut Writes, until: Duration, control: &Control) -> Snapshot {
    let end = Instant::ZERO + until;
    while network.now() < end && !control.is_cancelled() {
        let from = network.now();
        let until = (from + PROGRESS_STEP).min(end);
        while network.step(until) {
            let index = network.touched();
            if network.conversation(index).near.outstanding() < DEPTH {
                keep_busy(network, index);
            }
        }
        network.wait_until(until);
        control.add_done((until - from).as_ps());
    }
    Snapshot::of(network)
}

fn row(setup: &Setup<'_>, network: &Writes, begin: &Snapshot, end: &Snapshot) -> Row {
    let seconds = (end.at - begin.at).as_secs_f64();
    let during = |of: fn(&RequesterStatistics) -> u64| end.sum(of) - begin.sum(of);
    let shares: Vec<u64> = end.bytes.iter().zip(&begin.bytes).map(|(end, begin)| end - begin).collect();
    let bits_per_second = shares.iter().sum::<u64>() as f64 * 8.0 / seconds;
    let offered = end.traffic.data_frames - begin.traffic.data_frames;
    let lost = end.traffic.data_lost - begin.traffic.data_lost;
    let config = &network.protocol().config;
    let mut row = Row::new(setup);
    row.set("protocol", "rdma")
        .set("recovery", config.recovery.name())
        .set("dcqcn", config.dcqcn.is_some())
        .set("rdma_mtu_bytes", config.mtu.bytes())
        .set("flows", shares.len())
        .set("average_throughput_gbps", bits_per_second / 1e9)
        .set("fairness", jain(shares.into_iter()))
        .set("measured_mbps", bits_per_second / 1e6)
        .set("retransmissions", during(|sender| sender.retransmissions))
        .set("timeouts", during(|sender| sender.timeouts))
        .set("congestion_notifications", during(|sender| sender.congestion_notifications))
        .set("frames_marked", end.marked - begin.marked)
        .set("frames_offered", offered)
        .set("frames_lost", lost)
        .set("realised_loss_ratio", ratio(lost, offered))
        .set("queue_drops", end.dropped - begin.dropped)
        .set("queue_bytes_max", network.link.queue().high_water_bytes())
        .set("simulated_seconds", end.at.as_secs_f64())
        .set("counted_seconds", seconds);
    row
}

//! Long RDMA flows that share the link: every sender writes one message after another.
//!
//! On the artifact's path all senders share one host's interface. With `path.rtt` each sender has an interface of its own,
//! and together they offer more than the link carries; DCQCN is for that case.

use super::capturing::Capture;
use super::fairness::jain;
use super::inspecting::{inspected, states};
use super::interval::{of_repeating, span_ends};
use super::row::Row;
use super::setup::Setup;
use super::stress::ratio;
use crate::capture::RdmaConnection;
use crate::config::RunConfig;
use crate::net::{AnyLink, ProtectedLink, Traffic};
use crate::transport::rdma::{Operation, Packet, Requester, Responder};
use crate::world::network::{Addressed, Conversation};
use crate::world::{LostBehind, Network, Rdma};
use crate::{ConfigError, Control, Outcome};
use lossylink_core::rng::Streams;
use lossylink_core::time::{Duration, Instant};
use serde_json::json;

/// Bytes of a message: a thousand full packets, so that its end is a small part of it.
const MESSAGE_BYTES: u64 = 1_024_000;
/// Messages posted and not complete: while the last packet of a message is acknowledged, the next message is sent.
const DEPTH: usize = 2;
/// Simulated time between two questions whether the caller cancelled the run.
const PROGRESS_STEP: Duration = Duration::from_ms(1);

/// Counters of a sender and its receiver, over all their connections.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    bytes: u64,
    retransmissions: u64,
    /// Times that the sender began to send packets again.
    repeats: u64,
    timeouts: u64,
    notifications: u64,
    failures: u64,
}

impl Counted {
    /// Returns these counters of earlier connections, with those of the present connection added.
    fn with(self, ends: &Conversation<Rdma>) -> Self {
        let sender = ends.near.statistics();
        Self {
            bytes: self.bytes + ends.far.bytes_in_order(),
            retransmissions: self.retransmissions + sender.retransmissions,
            repeats: self.repeats + sender.naks + sender.selective_naks + sender.timeouts,
            timeouts: self.timeouts + sender.timeouts,
            notifications: self.notifications + sender.congestion_notifications,
            failures: self.failures,
        }
    }
}

/// The senders on their network.
struct Writes {
    network: Network<Rdma, AnyLink<Addressed<Packet>>>,
    /// The counters of the connections that failed, by sender.
    ended: Vec<Counted>,
}

/// Counters of all senders at an instant.
#[derive(Clone, Debug)]
struct Snapshot {
    at: Instant,
    senders: Vec<Counted>,
    traffic: Traffic,
    marked: u64,
    dropped: u64,
    lost_behind: LostBehind,
}

impl Snapshot {
    fn of(writes: &Writes) -> Self {
        let network = &writes.network;
        let senders = writes.ended.iter().zip(network.conversations());
        Self {
            at: network.now(),
            senders: senders.map(|(ended, ends)| ended.with(ends)).collect(),
            traffic: *network.link.traffic(),
            marked: network.link.queue().marked(),
            dropped: network.link.queue().dropped() + network.hop_drops(),
            lost_behind: network.lost_behind(),
        }
    }

    /// Returns the Gb/s that the receivers got between each snapshot and the next.
    fn gbps_between(snapshots: &[Self]) -> Vec<f64> {
        let between = |pair: &[Self]| {
            let bytes = pair[1].sum(|sender| sender.bytes) - pair[0].sum(|sender| sender.bytes);
            bytes as f64 * 8.0 / (pair[1].at - pair[0].at).as_secs_f64() / 1e9
        };
        snapshots.windows(2).map(between).collect()
    }

    fn sum(&self, of: fn(&Counted) -> u64) -> u64 {
        self.senders.iter().map(of).sum()
    }
}

/// Runs the senders and reports the time between warm-up and cool-down.
pub(super) fn run(setup: &Setup<'_>, run: &RunConfig, control: &Control) -> Result<Outcome, ConfigError> {
    let capture = Capture::open(setup, || RdmaConnection::new(MESSAGE_BYTES))?;
    let streams = Streams::new(setup.config.seed);
    let rdma = setup.rdma()?;
    let count = setup.config.flow.map_or(1, |flow| flow.count);
    let ends = (0..count)
        .map(|_| Conversation { near: Requester::new(&rdma.config), far: Responder::new(&rdma.config) })
        .collect();
    let path = setup.impaired(setup.path(setup.host()?.rdma_one_way_ns)?, &streams)?;
    let mut link = inspected(setup, setup.link(&streams)?);
    link.set_tap(capture.tap());
    let network = Network::new(rdma, link, path, ends).tapped(capture.tap());
    let network = network.skipping(setup.config.skip).stopping(control.stop());
    let mut writes = Writes { network, ended: vec![Counted::default(); count as usize] };
    (0..count as usize).for_each(|index| writes.keep_busy(index));
    control.set_total(run.duration_ps);
    let begin = writes.run_watched(Duration::from_ps(run.warmup_ps), control);
    writes.network.link.queue_mut().reset_high_water();
    let mut seen = vec![begin];
    for end in
        span_ends(Duration::from_ps(run.warmup_ps), Duration::from_ps(run.duration_ps - run.cooldown_ps))
    {
        seen.push(writes.run_watched(end, control));
    }
    capture.finish()?;
    let row = row(setup, &writes, &seen).finish();
    let (now, interrupted) = (writes.network.now(), control.is_cancelled());
    let states = states(setup, &mut writes.network.link, now, interrupted)?;
    Ok(Outcome { row, states, interrupted, ..Outcome::default() })
}

impl Writes {
    /// Posts messages until [`DEPTH`] are outstanding. A connection that failed begins anew, and its packets that are still
    /// under way are dropped.
    fn keep_busy(&mut self, index: usize) {
        if self.network.conversation(index).near.has_failed() {
            self.ended[index] = self.ended[index].with(self.network.conversation(index));
            self.ended[index].failures += 1;
            self.network.renew(index);
            self.network.act(index, |_, ends| {
                ends.near.reconnect();
                ends.far.reconnect();
            });
        }
        self.network.act(index, |now, ends| {
            post(now, ends);
        });
    }

    /// Runs up to and including `until`, event by event: when a connection fails, both its ends begin anew at that instant.
    fn step_until(&mut self, until: Instant) {
        while !self.network.is_stopped() && self.network.step(until) {
            let index = self.network.touched();
            if self.network.conversation(index).near.outstanding() < DEPTH {
                self.keep_busy(index);
            }
        }
        if !self.network.is_stopped() {
            self.network.wait_until(until);
        }
    }

    /// Runs until `until` after the start, or until the caller cancels the run.
    fn run_watched(&mut self, until: Duration, control: &Control) -> Snapshot {
        let end = Instant::ZERO + until;
        while self.network.now() < end && !control.is_cancelled() {
            let from = self.network.now();
            let until = (from + PROGRESS_STEP).min(end);
            let senders = self.network.conversations();
            if senders.iter().any(|ends| ends.near.may_fail_within(until - from)) {
                self.step_until(until);
            } else {
                self.network.run_acting(until, |now, _, ends| post(now, ends));
            }
            control.add_done((until - from).as_ps());
        }
        Snapshot::of(self)
    }
}

/// Posts messages until [`DEPTH`] are outstanding; `false` if they already are.
fn post(now: Instant, ends: &mut Conversation<Rdma>) -> bool {
    if ends.near.outstanding() >= DEPTH {
        return false;
    }
    while ends.near.poll_completion().is_some() {}
    while ends.near.outstanding() < DEPTH {
        ends.near.post(now, Operation::Write(MESSAGE_BYTES));
    }
    true
}

/// Builds the row from the snapshots at the beginning of the counted time and at the ends of its spans.
fn row(setup: &Setup<'_>, writes: &Writes, seen: &[Snapshot]) -> Row {
    let (begin, end) = (&seen[0], &seen[seen.len() - 1]);
    let seconds = (end.at - begin.at).as_secs_f64();
    let during = |of: fn(&Counted) -> u64| end.sum(of) - begin.sum(of);
    let shares: Vec<u64> =
        end.senders.iter().zip(&begin.senders).map(|(end, begin)| end.bytes - begin.bytes).collect();
    let bits_per_second = shares.iter().sum::<u64>() as f64 * 8.0 / seconds;
    let offered = end.traffic.data_frames - begin.traffic.data_frames;
    let lost = end.traffic.data_lost - begin.traffic.data_lost;
    let timeouts = during(|sender| sender.timeouts);
    let (rates, repeats) = (Snapshot::gbps_between(seen), during(|sender| sender.repeats));
    let lost_behind = end.lost_behind.since(begin.lost_behind);
    let loss_ratio = ratio(lost + lost_behind.forward.unwrap_or(0), offered);
    let config = &writes.network.protocol().config;
    let mut row = Row::new(setup);
    row.set("protocol", "rdma")
        .set("recovery", config.recovery.name())
        .set("dcqcn", config.dcqcn.is_some())
        .set("rdma_mtu_bytes", config.mtu.bytes())
        .set("flows", shares.len())
        .set("average_throughput_gbps", bits_per_second / 1e9)
        .set("average_throughput_gbps_ci95", json!(of_repeating(&rates, repeats, loss_ratio, timeouts)))
        .set("fairness", jain(shares.into_iter()))
        .set("measured_mbps", bits_per_second / 1e6)
        .set("retransmissions", during(|sender| sender.retransmissions))
        .set("timeouts", timeouts)
        .set("connection_failures", during(|sender| sender.failures))
        .set("congestion_notifications", during(|sender| sender.notifications))
        .set("frames_marked", end.marked - begin.marked)
        .set("frames_offered", offered)
        .set("frames_lost", lost)
        .set("realised_loss_ratio", ratio(lost, offered))
        .set("queue_drops", end.dropped - begin.dropped)
        .set_lost_behind(lost_behind)
        .set("queue_bytes_max", writes.network.link.queue().high_water_bytes())
        .set("simulated_seconds", end.at.as_secs_f64())
        .set("counted_seconds", seconds);
    row
}

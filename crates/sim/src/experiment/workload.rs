//! Many flows that share the link: they begin at random at a set load, and the completion time of each is compared with that of the
//! flow alone.
//!
//! The run is made of replicas, each a network of its own that starts empty. Flows begin until all flows that count have ended; the
//! first flows of a replica find it emptier than the rest and do not count. Connections are pooled: a connection whose flow has ended
//! serves a later flow. Connections stand before flows come: there is no handshake to wait for, or to lose, and the round trip is
//! known.

use super::blocks::{Block, Workers};
use super::counted_flow::Flow;
use super::inspecting::{inspected, states};
use super::row::Row;
use super::serial::{Counters, SerialProtocol, draw_once, timer_phases};
use super::setup::Setup;
use super::slowdown::set_slowdowns;
use super::stress::ratio;
use crate::config::{Config, HostProfile, WorkloadConfig, WorkloadProtocol};
use crate::measure::{NEVER_PS, Spans};
use crate::net::{AnyLink, ProtectedLink};
use crate::workload::{Arrival, FlowSizes, Workload};
use crate::world::limits::wait_for_flow;
use crate::world::network::Addressed;
use crate::world::{LostBehind, MessageLatency, Network, Path, Protocol, Tcp};
use crate::{Columns, ConfigError, Control, Outcome, Stop};
use lossylink_core::rng::{Stream, Streams};
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::Bytes;
use serde_json::Value;

/// Flows of a replica that count.
const FLOWS_PER_REPLICA: u64 = 1000;
/// Flows of a replica before those that count.
const FLOWS_BEFORE: u64 = 100;
/// The least time that a replica waits for flows in progress once the last flow that counts has begun ([`wait_for_flow`]).
const PATIENCE: Duration = Duration::from_secs(10);
/// Connections of a replica; a flow that finds none free is not begun.
const MOST_CONNECTIONS: usize = 1 << 16;

/// Flows that are looked at, on average, where no flow has too much left to end before the next begins.
const FLOWS_AT_ONCE: usize = 64;

/// Results of one replica. `flows` are those that count, also those that never ended.
#[derive(Debug, Default)]
struct Finished {
    flows: Vec<Flow>,
    connections: usize,
    data_octets: u64,
    data_frames: u64,
    data_lost: u64,
    queue_bytes_max: u64,
    interface_bytes_max: u64,
    marked: u64,
    drops: u64,
    lost_behind: LostBehind,
    seconds: f64,
    /// The inspected states of the link of the first replica.
    states: Vec<Value>,
}

/// Values that all replicas share.
struct Shared<'a, T> {
    setup: Setup<'a>,
    host: &'a HostProfile,
    workload: &'a WorkloadConfig,
    sizes: FlowSizes,
    protocol: T,
    path: Path,
    /// The latency that the hosts add to a whole flow.
    once: Option<MessageLatency>,
}

type SharedNetwork<T> = Network<T, AnyLink<Addressed<<T as Protocol>::Packet>>>;

pub(super) fn run(config: &Config, control: &Control) -> Result<Outcome, ConfigError> {
    let setup = Setup::new(config);
    let workload = config.require(&config.workload, "workload")?;
    let host = setup.host()?;
    match workload.protocol {
        WorkloadProtocol::Tcp => {
            let (tcp, cuts_bursts) = setup.tcp()?;
            let name = tcp.congestion_control.name();
            let one_way_ns = host.network_one_way_ns;
            Shared::new(setup, Tcp { config: tcp, cuts_bursts }, one_way_ns)?
                .run(control, |row| describe(row, "tcp", Some(name), None))
        }
        WorkloadProtocol::Rdma => {
            let rdma = setup.rdma()?;
            let (name, one_way_ns) = (rdma.config.recovery.name(), host.rdma_one_way_ns);
            Shared::new(setup, rdma, one_way_ns)?.run(control, |row| describe(row, "rdma", None, Some(name)))
        }
    }
}

fn describe(row: &mut Row, protocol: &str, congestion_control: Option<&str>, recovery: Option<&str>) {
    row.set("protocol", protocol).set("congestion_control", congestion_control).set("recovery", recovery);
}

impl<'a, T: SerialProtocol> Shared<'a, T> {
    fn new(setup: Setup<'a>, protocol: T, one_way_ns: f64) -> Result<Self, ConfigError> {
        let config: &Config = setup.config;
        let host = config.require(&config.host, "host")?;
        let workload = config.require(&config.workload, "workload")?;
        let refuse = |error: &dyn std::error::Error| ConfigError(error.to_string());
        let sizes = FlowSizes::new(workload.points.clone()).map_err(|error| refuse(&error))?;
        let (path, once) = (setup.path(one_way_ns)?, T::once(host));
        let shared = Self { host, workload, sizes, path, protocol, once, setup };
        shared.arrivals(&Streams::new(0))?;
        Ok(shared)
    }

    fn arrivals(&self, streams: &Streams) -> Result<Workload, ConfigError> {
        let rate = self.setup.rate.bit_rate();
        Workload::new(self.sizes.clone(), self.workload.load, rate, streams)
            .map_err(|error| ConfigError(error.to_string()))
    }

    fn run(&self, control: &Control, describe: impl FnOnce(&mut Row)) -> Result<Outcome, ConfigError> {
        let config = self.setup.config;
        let trials = config.require(&config.flow, "flow")?.trials;
        let replica = |block| Replica::new(self, &block, control.stop())?.run(&block);
        let size = (trials, FLOWS_PER_REPLICA);
        let workers = Workers::new(config.threads)?;
        let (mut replicas, interrupted) = workers.run_blocks(size, config.seed, control, replica)?;
        if replicas.is_empty() {
            return Ok(Outcome::unfinished());
        }
        let flows: Vec<Flow> = replicas.iter().flat_map(|replica| &replica.flows).copied().collect();
        let mut row = Row::new(&self.setup);
        describe(&mut row);
        row.set("distribution", self.workload.distribution.as_str()).set("load", self.workload.load);
        self.set_totals(&mut row, &flows, &replicas);
        workers.share(|| {
            let took = flows.iter().map(|flow| flow.took.map_or(NEVER_PS, Duration::as_ps));
            let mut spans = Spans::new(flows.len(), took.clone().min().unwrap_or(0));
            took.for_each(|span_ps| spans.add(span_ps));
            row.set_completion_times(&spans.sort())?;
            set_slowdowns(&mut row, &flows);
            Ok(())
        })?;
        let states = replicas.first_mut().map(|first| std::mem::take(&mut first.states)).unwrap_or_default();
        let columns = vec![("trials".to_owned(), columns(&flows))];
        Ok(Outcome { row: row.finish(), columns, states, interrupted, ..Outcome::default() })
    }

    fn set_totals(&self, row: &mut Row, flows: &[Flow], replicas: &[Finished]) {
        let sum = |of: fn(&Finished) -> u64| replicas.iter().map(of).sum::<u64>();
        let most = |of: fn(&Finished) -> u64| replicas.iter().map(of).max().unwrap_or(0);
        let total = |of: fn(&Flow) -> u32| flows.iter().map(|flow| u64::from(of(flow))).sum::<u64>();
        let seconds: f64 = replicas.iter().map(|replica| replica.seconds).sum();
        let lost_behind = replicas.iter().map(|replica| replica.lost_behind).reduce(LostBehind::and);
        let line_octets = seconds * self.setup.config.link.rate_bps as f64 / 8.0;
        let ended = flows.iter().filter(|flow| flow.took.is_some()).count();
        row.set("trials", ended)
            .set("flows_unfinished", flows.len() - ended)
            .set("flow_bytes_mean", self.sizes.mean())
            .set("link_utilisation", sum(|replica| replica.data_octets) as f64 / line_octets)
            .set("connections_max", most(|replica| replica.connections as u64))
            .set("frames_offered", sum(|replica| replica.data_frames))
            .set("frames_lost", sum(|replica| replica.data_lost))
            .set(
                "realised_loss_ratio",
                ratio(sum(|replica| replica.data_lost), sum(|replica| replica.data_frames)),
            )
            .set("queue_bytes_max", most(|replica| replica.queue_bytes_max))
            .set("interface_queue_bytes_max", most(|replica| replica.interface_bytes_max))
            .set("frames_marked", sum(|replica| replica.marked))
            .set("queue_drops", sum(|replica| replica.drops))
            .set_lost_behind(lost_behind.unwrap_or_default())
            .set("retransmissions", total(|flow| flow.retransmissions))
            .set("timeouts", total(|flow| flow.timeouts))
            .set("simulated_seconds", seconds);
    }
}

/// A flow in progress.
#[derive(Clone, Copy, Debug)]
struct Running {
    start: Instant,
    bytes: u64,
    counts: bool,
    once: Duration,
    before: Counters,
}

/// A network with its pool of connections.
struct Replica<'a, T: SerialProtocol> {
    shared: &'a Shared<'a, T>,
    network: SharedNetwork<T>,
    arrivals: Workload,
    hosts: Stream,
    /// The flow of each connection, if it has one.
    running: Vec<Option<Running>>,
    idle: Vec<usize>,
    /// Connections whose flows have ended, in this order, and are not recorded yet.
    ended: Vec<usize>,
    begun: u64,
    alone: Alone,
    /// The round trip that connections have measured before their flows come.
    round_trip: Duration,
    /// The connection whose flow was last found to outlast an instant, and for how many questions no other is looked for.
    longest: usize,
    until_look: usize,
    finished: Finished,
}

impl<'a, T: SerialProtocol> Replica<'a, T> {
    fn new(shared: &'a Shared<'a, T>, block: &Block, stop: &Stop) -> Result<Self, ConfigError> {
        let hosts = block.streams.stream("hosts");
        let round_trip = round_trip(shared, &block.streams);
        let alone = Alone::measure(shared)?;
        let mut link = shared.setup.link(&block.streams)?;
        if block.index == 0 {
            link = inspected(&shared.setup, link);
        }
        let path = shared.setup.impaired(shared.path.clone(), &block.streams)?;
        let mut network = Network::new(shared.protocol.clone(), link, path, Vec::new())
            .skipping(shared.setup.config.skip)
            .stopping(stop);
        network.set_reception(&T::reception(shared.host));
        network.set_draws(block.streams.stream("hosts/near"), block.streams.stream("hosts/far"));
        let (running, idle, ended) = (Vec::new(), Vec::new(), Vec::new());
        let arrivals = shared.arrivals(&block.streams)?;
        let finished = Finished::default();
        let begun = 0;
        Ok(Self {
            shared,
            network,
            arrivals,
            hosts,
            running,
            idle,
            ended,
            begun,
            alone,
            round_trip,
            longest: 0,
            until_look: 0,
            finished,
        })
    }

    /// Lets flows begin until those that count have ended.
    fn run(mut self, block: &Block) -> Result<Finished, ConfigError> {
        let counted = FLOWS_BEFORE..FLOWS_BEFORE + block.trials;
        let patience = wait_for_flow(self.alone.takes(self.shared.sizes.quantile(1.0)), PATIENCE);
        let mut limit = Instant::NEVER;
        let mut next = self.next_arrival();
        while self.open_of(block.trials) > 0 && self.network.now() < limit && !self.network.is_stopped() {
            // The last flow that counts ends the run, between two arrivals. When it may end, the run goes event by event.
            let goes_on = self.begun < counted.end || (next.at < limit && self.outlasts(next.at));
            if goes_on {
                self.run_until(next.at);
            } else if self.network.step(next.at) {
                self.end_flow(self.network.touched());
                continue;
            }
            if self.network.is_stopped() {
                break;
            }
            self.network.wait_until(next.at);
            self.begin_flow(&next, counted.contains(&self.begun));
            self.begun += 1;
            if self.begun == counted.end {
                limit = next.at + patience;
            }
            next = self.next_arrival();
        }
        if block.index == 0 {
            let end = self.network.now();
            self.finished.states = states(&self.shared.setup, &mut self.network.link, end, false)?;
        }
        Ok(self.finish())
    }

    /// Whether a flow that counts is known to have too much left to send to end by `at`, even with the line to itself. Where no such
    /// flow was found, the search is repeated only after a while: the more flows there are, the later.
    fn outlasts(&mut self, at: Instant) -> bool {
        let span = at.saturating_since(self.network.now());
        let most = self.shared.setup.rate.bit_rate() * span;
        let Self { running, network, .. } = self;
        let is_long = |&index: &usize| {
            let counts = running.get(index).is_some_and(|flow| flow.is_some_and(|flow| flow.counts));
            counts && Bytes(T::unsent_bytes(network.conversation(index))) > most
        };
        if is_long(&self.longest) {
            return true;
        }
        if self.until_look > 0 {
            self.until_look -= 1;
            return false;
        }
        let found = (0..running.len()).find(is_long);
        self.longest = found.unwrap_or(self.longest);
        self.until_look = if found.is_some() { 0 } else { running.len() / FLOWS_AT_ONCE };
        found.is_some()
    }

    /// Runs up to and including `end`, with places that run ahead of each other, and records the flows that end.
    fn run_until(&mut self, end: Instant) {
        let Self { network, running, ended, .. } = self;
        network.run_watched(end, |index, ends| {
            if running[index].is_some() && T::has_ended(ends) && !ended.contains(&index) {
                ended.push(index);
            }
        });
        for place in 0..self.ended.len() {
            self.end_flow(self.ended[place]);
        }
        self.ended.clear();
    }

    fn next_arrival(&mut self) -> Arrival {
        self.arrivals.next().expect("arrivals never end")
    }

    /// Returns how many flows that count have not ended.
    fn open_of(&self, trials: u64) -> u64 {
        trials - self.finished.flows.len() as u64
    }

    fn begin_flow(&mut self, arrival: &Arrival, counts: bool) {
        let Some(index) = self.idle.pop().or_else(|| self.open_connection()) else {
            if counts {
                self.finished.flows.push(Flow::never(self.network.now(), arrival.size_bytes));
            }
            return;
        };
        let start = self.network.now();
        let once = draw_once(self.shared.once.as_ref(), &mut self.hosts, arrival.size_bytes);
        let phases = timer_phases(self.shared.host, start, &mut self.hosts);
        let mut before = Counters::default();
        let round_trip = self.round_trip;
        self.network.renew(index);
        self.network.act(index, |now, ends| {
            T::resume(now, ends, arrival.size_bytes, phases, round_trip);
            before = T::counters(ends);
        });
        self.running[index] = Some(Running { start, bytes: arrival.size_bytes, counts, once, before });
    }

    /// Adds a connection to the pool, unless it is full.
    fn open_connection(&mut self) -> Option<usize> {
        if self.running.len() == MOST_CONNECTIONS {
            return None;
        }
        self.running.push(None);
        Some(self.network.add(self.shared.protocol.conversation(1)))
    }

    /// Records the end of a flow, if the flow has ended.
    #[inline]
    fn end_flow(&mut self, index: usize) {
        let has_ended = self.running.get(index).is_some_and(Option::is_some)
            && T::has_ended(self.network.conversation(index));
        if has_ended && let Some(flow) = self.running[index].take() {
            self.idle.push(index);
            self.note(index, &flow);
        }
    }

    fn note(&mut self, index: usize, flow: &Running) {
        let counted = T::counters(self.network.conversation(index)).since(&flow.before);
        let took = self.network.take(index, T::completion);
        if !flow.counts {
            return;
        }
        let took = took.map(|took| took + flow.once);
        let alone_us = self.alone.takes(flow.bytes).as_us_f64();
        self.finished.flows.push(Flow {
            took,
            slowdown: took.map_or(f64::INFINITY, |took| took.as_us_f64() / alone_us),
            retransmissions: counted.retransmissions as u32,
            timeouts: counted.timeouts() as u32,
            ..Flow::never(flow.start, flow.bytes)
        });
    }

    fn finish(mut self) -> Finished {
        let connections = self.running.len();
        for (index, flow) in std::mem::take(&mut self.running).into_iter().enumerate() {
            flow.iter().for_each(|flow| self.note(index, flow));
        }
        let (link, traffic) = (&self.network.link, *self.network.link.traffic());
        self.finished.connections = connections;
        self.finished.data_octets = traffic.data_octets;
        self.finished.data_frames = traffic.data_frames;
        self.finished.data_lost = traffic.data_lost;
        self.finished.queue_bytes_max = link.queue().high_water_bytes();
        self.finished.interface_bytes_max = self.network.interface_bytes_max();
        self.finished.marked = link.queue().marked();
        self.finished.drops = link.queue().dropped() + self.network.hop_drops();
        self.finished.lost_behind = self.network.lost_behind();
        self.finished.seconds = (self.network.now() - Instant::ZERO).as_secs_f64();
        self.finished
    }
}

/// Measures the round trip of a flow of one byte on the empty, clean path between the hosts.
fn round_trip<T: SerialProtocol>(shared: &Shared<'_, T>, streams: &Streams) -> Duration {
    let ends = shared.protocol.conversation(1);
    let link = shared.setup.clean_link(&Streams::new(0));
    let mut network: SharedNetwork<T> =
        Network::new(shared.protocol.clone(), link, shared.path.clone(), vec![ends]);
    network.set_reception(&T::reception(shared.host));
    network.set_draws(streams.stream("pool/near"), streams.stream("pool/far"));
    network.act(0, |now, ends| T::start(now, ends, 1, (Duration::ZERO, Duration::ZERO)));
    while !T::has_ended(network.conversation(0)) && network.step(Instant::NEVER) {}
    T::round_trip(network.conversation(0))
}

/// The least completion time of a flow: that of a flow of one byte on the empty, clean path between hosts that add nothing, and the
/// rest at line rate.
#[derive(Clone, Copy, Debug)]
struct Alone {
    one_byte: Duration,
    payload: u64,
    per_packet: Duration,
}

impl Alone {
    fn measure<T: SerialProtocol>(shared: &Shared<'_, T>) -> Result<Self, ConfigError> {
        let link = shared.setup.clean_link(&Streams::new(0));
        let ends = shared.protocol.conversation(1);
        let mut network: SharedNetwork<T> =
            Network::new(shared.protocol.clone(), link, shared.path.clone(), vec![ends]);
        network.act(0, |now, ends| T::start(now, ends, 1, (Duration::ZERO, Duration::ZERO)));
        while !T::has_ended(network.conversation(0)) && network.step(Instant::NEVER) {}
        let mut one_byte = None;
        network.act(0, |_, ends| one_byte = T::completion(ends));
        // An interface may give up its retries before the answer is back.
        let too_slow = "a flow of one byte fails even alone: the hosts give up before its answer is back";
        let one_byte = one_byte.ok_or_else(|| ConfigError(format!("{too_slow}; raise link.rate")))?;
        let (payload, octets) = shared.protocol.full_packet();
        let per_packet = shared.setup.rate.serialisation(octets);
        Ok(Self { one_byte, payload: u64::from(payload), per_packet })
    }

    fn takes(&self, bytes: u64) -> Duration {
        self.one_byte + self.per_packet.mul_ratio(bytes - 1, self.payload)
    }
}

fn columns(flows: &[Flow]) -> Columns {
    let column = |of: fn(&Flow) -> f64| flows.iter().map(of).collect();
    vec![
        ("start_s".to_owned(), column(|flow| flow.start.as_secs_f64())),
        ("flow_bytes".to_owned(), column(|flow| flow.bytes as f64)),
        ("fct_us".to_owned(), column(|flow| flow.took.map_or(f64::INFINITY, Duration::as_us_f64))),
        ("slowdown".to_owned(), column(|flow| flow.slowdown)),
        ("retransmissions".to_owned(), column(|flow| f64::from(flow.retransmissions))),
        ("timeouts".to_owned(), column(|flow| f64::from(flow.timeouts))),
    ]
}

//! Completion times of TCP flows, one after another over the same link.
//!
//! Measured by the published rule: from the first data packet to the first acknowledgement that
//! covers all bytes, both seen at the sender.

use super::blocks::{Block, run_blocks};
use super::row::Row;
use super::setup::Setup;
use crate::config::{Config, FlowConfig, LossConfig};
use crate::net::{AnyLink, ProtectedLink};
use crate::transport::tcp;
use crate::world::host::latency_at;
use crate::world::network::{Addressed, Conversation};
use crate::world::protocol::TcpPacket;
use crate::world::{Network, Path, Tcp};
use crate::{ConfigError, Control, Outcome};
use lossylink_core::rng::{RngCore, Streams, uniform};
use lossylink_core::time::{Duration, Instant};

/// A flow that takes longer than this is given up and reported as such.
const FLOW_LIMIT: Duration = Duration::from_secs(600);
/// Timers fall anywhere on a wheel of so many ticks.
const WHEEL_TICKS: u64 = 4096;

type TcpNetwork = Network<Tcp, AnyLink<Addressed<TcpPacket>>>;

/// One flow's result.
#[derive(Clone, Copy, Debug, Default)]
struct Trial {
    fct_us: f64,
    lost_frames: u64,
    repair: Repair,
    statistics: tcp::Statistics,
}

/// The slowest mechanism that a flow needed to recover.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Repair {
    /// Nothing was sent again.
    #[default]
    Unneeded,
    /// A retransmission clocked by acknowledgements.
    Fast,
    /// The reordering timer.
    ReorderingTimer,
    /// A tail loss probe.
    Probe,
    /// A retransmission timeout.
    Timeout,
}

/// Results of one block.
#[derive(Debug, Default)]
struct Finished {
    trials: Vec<Trial>,
    unfinished: u64,
    frames_simulated: u64,
    frames_skipped: u64,
}

/// What all blocks share.
struct Experiment<'a> {
    setup: Setup<'a>,
    flow: FlowConfig,
    tcp: Tcp,
    path: Path,
    /// Whether a flow that meets no loss always takes the same time.
    repeats: bool,
}

pub(super) fn run(config: &Config, control: &Control) -> Result<Outcome, ConfigError> {
    let experiment = Experiment::new(config)?;
    let trials = experiment.flow.trials;
    let run_block = |block| experiment.run_block(block);
    let (blocks, interrupted) = run_blocks(trials, config.seed, config.threads, control, run_block)?;
    Ok(experiment.outcome(&blocks, interrupted))
}

impl<'a> Experiment<'a> {
    fn new(config: &'a Config) -> Result<Self, ConfigError> {
        let setup = Setup::new(config)?;
        let host = setup.host()?;
        let (tcp, cuts_bursts) = setup.tcp()?;
        let flow = *config.require(&config.flow, "flow")?;
        let is_ideal = [&host.send_latency, &host.receive_latency]
            .iter()
            .all(|table| table.iter().all(|&(_, ns)| ns == 0.0));
        let per_frame = !matches!(config.loss.forward, LossConfig::BitErrorRate { .. });
        let clean_reverse = config.loss.reverse == LossConfig::None;
        Ok(Self {
            flow,
            path: setup.path(host.network_one_way_ns)?,
            tcp: Tcp { config: tcp, cuts_bursts },
            repeats: config.skip && is_ideal && per_frame && clean_reverse,
            setup,
        })
    }

    fn run_block(&self, block: Block) -> Result<Finished, ConfigError> {
        let mut network = self.network(&block.streams)?;
        let mut finished = Finished::default();
        let mut clean: Option<CleanFlow> = None;
        for index in 0..block.trials {
            if let Some(flow) = clean.as_ref().filter(|flow| flow.repeats_on(&mut network.link)) {
                finished.trials.push(flow.trial);
                finished.frames_skipped += flow.frames;
                continue;
            }
            let before = *network.link.traffic();
            match self.run_flow(&mut network, &block.streams.trial(index)) {
                Some(trial) => finished.trials.push(trial),
                None => finished.unfinished += 1,
            }
            let after = network.link.traffic();
            let frames = after.frames - before.frames;
            finished.frames_simulated += frames;
            if self.repeats && after.lost == before.lost && clean.is_none() {
                let octets = after.largest_octets;
                clean = finished.trials.last().map(|&trial| CleanFlow { trial, frames, octets });
            }
        }
        Ok(finished)
    }

    fn network(&self, streams: &Streams) -> Result<TcpNetwork, ConfigError> {
        let conversation = Conversation {
            near: tcp::Sender::new(&self.tcp.config, Some(self.flow.size_bytes), Duration::ZERO),
            far: tcp::Receiver::new(&self.tcp.config, Duration::ZERO),
        };
        let link = self.setup.link(streams)?;
        Ok(Network::new(self.tcp.clone(), link, self.path.clone(), vec![conversation]))
    }

    /// Runs one flow on a new connection and lets the network fall silent; `None` if it does not
    /// finish. What it draws depends on its own streams only.
    fn run_flow(&self, network: &mut TcpNetwork, streams: &Streams) -> Option<Trial> {
        let host = self.setup.config.host.as_ref()?;
        let mut hosts = streams.stream("hosts");
        let pace = uniform(&mut hosts);
        network.set_latency(latency_at(&host.receive_latency, pace) + latency_at(&host.send_latency, pace));
        let wheel = WHEEL_TICKS * host.tick().as_ps();
        // Relative to the start of the flow, so that its course does not depend on when it starts.
        let start = network.now();
        let mut phase = || Duration::from_ps((start.as_ps() + hosts.next_u64() % wheel) % wheel);
        let (near_phase, far_phase) = (phase(), phase());
        let lost_before = network.link.traffic().data_lost;
        network.act(0, |now, ends| {
            ends.near.reopen(Some(self.flow.size_bytes), near_phase);
            ends.far.reopen(far_phase);
            ends.near.open(now);
        });
        let limit = start + FLOW_LIMIT;
        while network.conversation(0).near.completed_at().is_none() && network.step(limit) {}
        let near = &network.conversation(0).near;
        let times = near.completed_at().zip(near.first_data_at());
        let statistics = *near.statistics();
        while network.step(Instant::NEVER) {}
        let (completed, first) = times?;
        Some(Trial {
            fct_us: (completed - first).as_us_f64(),
            lost_frames: network.link.traffic().data_lost - lost_before,
            repair: Repair::of(&statistics),
            statistics,
        })
    }

    fn outcome(&self, blocks: &[Finished], interrupted: bool) -> Outcome {
        let trials: Vec<&Trial> = blocks.iter().flat_map(|block| &block.trials).collect();
        let sum = |of: fn(&Finished) -> u64| blocks.iter().map(of).sum::<u64>();
        let total =
            |of: fn(&tcp::Statistics) -> u64| trials.iter().map(|trial| of(&trial.statistics)).sum::<u64>();
        let repaired = |repair| trials.iter().filter(|trial| trial.repair == repair).count();
        let hit = trials.iter().filter(|trial| trial.lost_frames > 0).count();
        let mut row = Row::new(&self.setup);
        row.set("congestion_control", self.tcp.config.congestion_control.name())
            .set("flow_bytes", self.flow.size_bytes)
            .set("trials", trials.len())
            .set_completion_times(trials.iter().map(|trial| trial.fct_us).collect())
            .set("flows_hit", hit)
            .set("flows_unfinished", sum(|block| block.unfinished))
            .set("repaired_fast", repaired(Repair::Fast))
            .set("repaired_reordering_timer", repaired(Repair::ReorderingTimer))
            .set("repaired_probe", repaired(Repair::Probe))
            .set("repaired_timeout", repaired(Repair::Timeout))
            .set("retransmissions", total(|statistics| statistics.retransmissions))
            .set("timeouts", total(|statistics| statistics.timeouts))
            .set("mss_bytes", self.tcp.config.payload_bytes())
            .set("frames_simulated", sum(|block| block.frames_simulated))
            .set("frames_skipped", sum(|block| block.frames_skipped));
        let column = |of: fn(&Trial) -> f64| trials.iter().map(|trial| of(trial)).collect::<Vec<_>>();
        let columns = vec![
            ("fct_us".to_owned(), column(|trial| trial.fct_us)),
            ("lost_frames".to_owned(), column(|trial| trial.lost_frames as f64)),
            ("retransmissions".to_owned(), column(|trial| trial.statistics.retransmissions as f64)),
            ("timeouts".to_owned(), column(|trial| trial.statistics.timeouts as f64)),
        ];
        Outcome { row: row.finish(), columns: vec![("trials".to_owned(), columns)], interrupted }
    }
}

/// A flow that met no loss, on hosts that add nothing, over an unprotected link: the next one
/// that meets no loss takes exactly as long.
#[derive(Clone, Copy, Debug)]
struct CleanFlow {
    trial: Trial,
    frames: u64,
    octets: u32,
}

impl CleanFlow {
    /// Whether the next flow on `link` is certain to meet no loss; if so, its frames have passed.
    fn repeats_on(&self, link: &mut AnyLink<Addressed<TcpPacket>>) -> bool {
        let Some(plain) = link.as_plain_mut() else { return false };
        let wire = plain.forward_mut();
        let certain = wire.clear_frames(self.octets) >= self.frames;
        if certain {
            wire.skip(self.frames, self.octets);
        }
        certain
    }
}

impl Repair {
    fn of(statistics: &tcp::Statistics) -> Self {
        if statistics.timeouts > 0 {
            Self::Timeout
        } else if statistics.loss_probes > 0 {
            Self::Probe
        } else if statistics.reordering_timer_recoveries > 0 {
            Self::ReorderingTimer
        } else if statistics.fast_recoveries > 0 {
            Self::Fast
        } else {
            Self::Unneeded
        }
    }
}

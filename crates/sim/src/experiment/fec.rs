//! TCP over forward error correction: one long flow, several independent runs of it.
//!
//! Source: Wharf's evaluation (NetCompute 2018): transfers of 10 s over a faulty 10G link, 25 a point.

use super::blocks::{Block, run_blocks};
use super::long_flow::{Snapshot, open_flows};
use super::row::Row;
use super::setup::Setup;
use super::stress::ratio;
use crate::config::{Config, ProtectionKind};
use crate::measure::Histogram;
use crate::net::{AnyLink, ProtectedLink, Tap};
use crate::transport::tcp;
use crate::world::network::Addressed;
use crate::world::protocol::TcpPacket;
use crate::{ConfigError, Control, Outcome};
use lossylink_core::time::{Duration, Instant};

/// Resolution of the latency.
const LATENCY_BIN: Duration = Duration::from_ns(100);
/// Latencies beyond 20 ms share the last bin; the maximum is exact.
const LATENCY_BINS: usize = 200_000;
/// Simulated time between two looks at the caller's wishes.
const PATIENCE: Duration = Duration::from_ms(20);

/// One run of the flow.
struct Trial {
    gbps: f64,
    flow: tcp::Statistics,
    latency: Histogram,
    queue_bytes_max: u64,
    queue_drops: u64,
    data_frames: u64,
    data_lost: u64,
    recovered: u64,
}

pub(super) fn run(config: &Config, control: &Control) -> Result<Outcome, ConfigError> {
    let setup = Setup::new(config)?;
    let run = *config.require(&config.run, "run")?;
    if run.warmup_ps + run.cooldown_ps > 0 {
        return Err(ConfigError("fec counts the whole run; leave run.warmup and run.cooldown out".into()));
    }
    let trials = config.require(&config.flow, "flow")?.trials;
    let end = Instant::from_ps(run.duration_ps);
    let one = |block| run_trial(&setup, block, end, control);
    let (finished, interrupted) = run_blocks((trials, 1), config.seed, config.threads, control, one)?;
    let finished: Vec<Trial> = finished.into_iter().flatten().collect();
    let interrupted = interrupted || control.is_cancelled();
    Ok(Outcome { row: row(&setup, &finished).finish(), columns: columns(&finished), interrupted })
}

/// Runs one flow to `end`; `None` if the caller loses patience.
fn run_trial(
    setup: &Setup<'_>,
    block: Block,
    end: Instant,
    control: &Control,
) -> Result<Option<Trial>, ConfigError> {
    let link: AnyLink<Addressed<TcpPacket>> = setup.link(&block.streams)?;
    let mut network = open_flows(setup, link, &block.streams, Tap::default())?;
    let begin = Snapshot::of(&network);
    network.measure_latency(Histogram::new(LATENCY_BIN.as_ps(), LATENCY_BINS));
    while network.now() < end {
        if control.is_cancelled() {
            return Ok(None);
        }
        let step = (network.now() + PATIENCE).min(end);
        network.run_until(step);
    }
    let finish = Snapshot::of(&network);
    Ok(network.take_latency().map(|latency| Trial {
        gbps: finish.bits_per_second_since(&begin) / 1e9,
        flow: finish.flows[0],
        latency,
        queue_bytes_max: network.link.queue().high_water_bytes(),
        queue_drops: network.link.queue().dropped(),
        data_frames: finish.traffic.data_frames,
        data_lost: finish.traffic.data_lost,
        recovered: recovered(&network.link),
    }))
}

/// Data frames that the link lost and the protection brought back.
fn recovered(link: &AnyLink<Addressed<TcpPacket>>) -> u64 {
    match link {
        AnyLink::Plain(_) => 0,
        AnyLink::LinkGuardian(link) => {
            let receiver = link.counters(Instant::ZERO).receiver;
            receiver.retransmissions - receiver.duplicates
        }
        AnyLink::Fec(link) => link.counters().decoder.recovered,
        AnyLink::FecModel(link) => link.counters().recovered,
    }
}

fn row(setup: &Setup<'_>, trials: &[Trial]) -> Row {
    let count = trials.len() as f64;
    let mean = |of: &dyn Fn(&Trial) -> f64| trials.iter().map(of).sum::<f64>() / count;
    let sum = |of: fn(&Trial) -> u64| trials.iter().map(of).sum::<u64>();
    let mut latency = Histogram::new(LATENCY_BIN.as_ps(), LATENCY_BINS);
    trials.iter().for_each(|trial| latency.merge(&trial.latency));
    let us = |ps: f64| ps / 1e6;
    let lost = sum(|trial| trial.data_lost);
    let residual = lost.saturating_sub(sum(|trial| trial.recovered));
    let protection = &setup.config.protection;
    let is_code = matches!(protection.kind, ProtectionKind::Fec | ProtectionKind::FecModel);
    let transport = setup.config.transport.as_ref();
    let mut row = Row::new(setup);
    row.set("congestion_control", transport.map(|transport| transport.congestion_control.as_str()))
        .set("trials", trials.len())
        .set("fec_k", protection.fec_k.filter(|_| is_code))
        .set("fec_h", protection.fec_h.filter(|_| is_code))
        .set("throughput_gbps", mean(&|trial| trial.gbps))
        .set("cwnd_packets_mean", mean(&|trial| trial.flow.window_mean().unwrap_or_default()))
        .set("retransmissions", sum(|trial| trial.flow.retransmissions))
        .set("timeouts", sum(|trial| trial.flow.timeouts))
        .set("latency_us_mean", latency.mean().map(us))
        .set("latency_us_p50", latency.percentile(0.5).map(us))
        .set("latency_us_p99", latency.percentile(0.99).map(us))
        .set("latency_us_max", latency.max().map(|ps| us(ps as f64)))
        .set("queue_bytes_max", trials.iter().map(|trial| trial.queue_bytes_max).max())
        .set("queue_drops", sum(|trial| trial.queue_drops))
        .set("frames_offered", sum(|trial| trial.data_frames))
        .set("frames_lost", lost)
        .set("residual_lost_packets", residual)
        .set("residual_loss_rate", ratio(residual, sum(|trial| trial.data_frames)))
        .set("mss_bytes", setup.tcp().map(|(tcp, _)| tcp.payload_bytes()).ok());
    row
}

fn columns(trials: &[Trial]) -> Vec<(String, crate::Columns)> {
    let column = |of: fn(&Trial) -> f64| trials.iter().map(of).collect::<Vec<_>>();
    let columns = vec![
        ("throughput_gbps".to_owned(), column(|trial| trial.gbps)),
        ("latency_us_mean".to_owned(), column(|trial| trial.latency.mean().unwrap_or(f64::NAN) / 1e6)),
        ("queue_bytes_max".to_owned(), column(|trial| trial.queue_bytes_max as f64)),
    ];
    vec![("trials".to_owned(), columns)]
}

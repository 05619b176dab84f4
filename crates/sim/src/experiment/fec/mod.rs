//! TCP or UDP over forward error correction: one flow, several independent runs of it.
//!
//! Source: Wharf's evaluation (NetCompute 2018): TCP transfers of 10 s over a faulty 10G link, 25 a
//! point; UDP at 100 Mb/s.

mod row;
mod trial;
mod watch;
mod worlds;

use super::blocks::{Block, run_blocks};
use super::inspecting::{inspected, states};
use super::long_flow::open_flows;
use super::setup::Setup;
use crate::config::Config;
use crate::net::{AnyLink, ProtectedLink, Tap};
use crate::world::datagrams::{DatagramSource, Datagrams};
use crate::{ConfigError, Control, Outcome};
use lossylink_core::time::Instant;
use trial::Trial;
use watch::watch;
use worlds::{UdpWorld, datagram_source};

pub(super) fn run(config: &Config, control: &Control) -> Result<Outcome, ConfigError> {
    let setup = Setup::new(config)?;
    let run = *config.require(&config.run, "run")?;
    if run.warmup_ps + run.cooldown_ps > 0 {
        return Err(ConfigError("fec counts the whole run; leave run.warmup and run.cooldown out".into()));
    }
    let source = datagram_source(config, setup.interface_rate(setup.host()?))?;
    let trials = config.require(&config.flow, "flow")?.trials;
    let end = Instant::from_ps(run.duration_ps);
    let one = |block: Block| match source {
        None => run_tcp(&setup, block, end, control),
        Some(source) => run_udp(&setup, source, block, end, control),
    };
    let (finished, interrupted) = run_blocks((trials, 1), config.seed, config.threads, control, one)?;
    let mut finished: Vec<Trial> = finished.into_iter().flatten().collect();
    let states = finished.first_mut().map(|trial| std::mem::take(&mut trial.states)).unwrap_or_default();
    let interrupted = interrupted || control.is_cancelled();
    let columns = trial::columns(&finished);
    Ok(Outcome { row: row::row(&setup, &finished)?.finish(), columns, states, interrupted })
}

/// Runs one TCP flow to `end`; `None` if the caller loses patience.
fn run_tcp(
    setup: &Setup<'_>,
    block: Block,
    end: Instant,
    control: &Control,
) -> Result<Option<Trial>, ConfigError> {
    let link = link_of(setup, &block)?;
    let mut network = open_flows(setup, link, &block.streams, Tap::default())?;
    network.measure_latency();
    let Some(seen) = watch(&mut network, end, control) else { return Ok(None) };
    let flow = *network.conversation(0).near.statistics();
    let mut trial = Trial::new(&network, seen, end, Some(flow));
    trial.states = states(setup, &mut network.link, end, false)?;
    let drained = drain(end, &mut network.link);
    Ok(Some(trial.with_losses(drained, &mut network.link)))
}

/// Runs datagrams to `end`; `None` if the caller loses patience.
fn run_udp(
    setup: &Setup<'_>,
    source: DatagramSource,
    block: Block,
    end: Instant,
    control: &Control,
) -> Result<Option<Trial>, ConfigError> {
    let mut world: UdpWorld = Datagrams::new(link_of(setup, &block)?, source);
    let Some(seen) = watch(&mut world, end, control) else { return Ok(None) };
    let mut trial = Trial::new(&world, seen, end, None);
    trial.states = states(setup, &mut world.link, end, false)?;
    let drained = drain(end, &mut world.link);
    Ok(Some(trial.with_losses(drained, &mut world.link)))
}

/// The link of a trial; that of the first can be looked at.
fn link_of<P: Copy + Default>(setup: &Setup<'_>, block: &Block) -> Result<AnyLink<P>, ConfigError> {
    let link = setup.link(&block.streams)?;
    Ok(if block.index == 0 { inspected(setup, link) } else { link })
}

/// Lets what is under way arrive, so that every lost packet has been repaired or given up; returns when
/// that is done.
fn drain<P: Copy + Default>(end: Instant, link: &mut impl ProtectedLink<P>) -> Instant {
    let mut now = end;
    while !link.poll_timeout().is_never() {
        now = link.poll_timeout().max(now);
        link.advance(now);
        while link.delivered().pop().is_some() {}
    }
    now
}

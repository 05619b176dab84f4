//! TCP or UDP over forward error correction: one flow, several independent runs of it.
//!
//! Source: Wharf's evaluation (NetCompute 2018): TCP transfers of 10 s over a faulty 10G link, 25 a
//! point; UDP at 100 Mb/s.

mod row;
mod trial;
mod watch;
mod worlds;

use super::blocks::{Block, Workers};
use super::inspecting::{inspected, states};
use super::long_flow::open_flows;
use super::setup::Setup;
use crate::config::Config;
use crate::net::{AnyLink, Payload, ProtectedLink, Tap};
use crate::world::datagrams::{DatagramSource, Datagrams};
use crate::world::limits::{LATEST, turn};
use crate::{ConfigError, Control, Outcome};
use lossylink_core::time::Instant;
use trial::Trial;
use watch::watch;
use worlds::{UdpWorld, datagram_source};

pub(super) fn run(config: &Config, control: &Control) -> Result<Outcome, ConfigError> {
    let setup = Setup::new(config);
    let run = *config.require(&config.run, "run")?;
    if run.warmup_ps + run.cooldown_ps > 0 {
        return Err(ConfigError("fec counts the whole run; leave run.warmup and run.cooldown out".into()));
    }
    let source = datagram_source(config, setup.interface_rate(setup.host()?))?;
    let flow = config.require(&config.flow, "flow")?;
    let end = Instant::from_ps(run.duration_ps);
    let one = |block: Block| match source {
        None => run_tcp(&setup, block, end, control),
        Some(source) => run_udp(&setup, source, block, end, control),
    };
    let (seed, workers) = (config.seed, Workers::new(config.threads)?);
    let (finished, interrupted) = match flow.precision {
        None => workers.run_blocks((flow.trials, 1), seed, control, one)?,
        Some(share) => workers.run_until(flow.trials, seed, control, one, |trials: &[Option<Trial>]| {
            is_precise(trials, share)
        })?,
    };
    let mut finished: Vec<Trial> = finished.into_iter().flatten().collect();
    let states = finished.first_mut().map(|trial| std::mem::take(&mut trial.states)).unwrap_or_default();
    let interrupted = interrupted || control.is_cancelled();
    if finished.is_empty() {
        return Ok(Outcome::unfinished());
    }
    let columns = trial::columns(&finished);
    Ok(Outcome {
        row: row::row(&setup, &finished)?.finish(),
        columns,
        states,
        interrupted,
        ..Outcome::default()
    })
}

/// Whether the standard errors of rate and mean latency are within `share` of their means.
fn is_precise(trials: &[Option<Trial>], share: f64) -> bool {
    let of = |value: fn(&Trial) -> f64| -> Vec<f64> { trials.iter().flatten().map(value).collect() };
    [of(|trial| trial.gbps), of(|trial| trial.delays.mean_us().unwrap_or(f64::NAN))]
        .iter()
        .all(|values| relative_error(values) <= share)
}

/// Returns the standard error of the mean of `values`, over the mean; infinite for fewer than two values.
fn relative_error(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    if values.len() < 2 { f64::INFINITY } else { (squares / (count - 1.0) / count).sqrt() / mean }
}

/// Runs one TCP flow to `end`; `None` if the caller cancels the run.
fn run_tcp(
    setup: &Setup<'_>,
    block: Block,
    end: Instant,
    control: &Control,
) -> Result<Option<Trial>, ConfigError> {
    let link = link_of(setup, &block)?;
    let mut network = open_flows(setup, link, &block.streams, Tap::default())?.stopping(control.stop());
    network.measure_latency();
    let Some(seen) = watch(&mut network, end, control) else { return Ok(None) };
    let flow = *network.conversation(0).near.statistics();
    let mut trial = Trial::new(&network, seen, end, Some(flow));
    trial.states = states(setup, &mut network.link, end, false)?;
    let drained = drain(end, &mut network.link, control);
    Ok(Some(trial.with_losses(drained, &mut network.link)))
}

/// Runs datagrams to `end`; `None` if the caller cancels the run.
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
    let drained = drain(end, &mut world.link, control);
    Ok(Some(trial.with_losses(drained, &mut world.link)))
}

/// Builds the link of a trial; that of the first trial is inspected if the configuration asks for that.
fn link_of<P: Payload>(setup: &Setup<'_>, block: &Block) -> Result<AnyLink<P>, ConfigError> {
    let link = setup.link(&block.streams)?;
    Ok(if block.index == 0 { inspected(setup, link) } else { link })
}

/// Lets the frames that are under way arrive, until every lost packet has been repaired or given up, or will never be.
/// Returns the time at which that is done.
fn drain<P: Payload>(end: Instant, link: &mut impl ProtectedLink<P>, control: &Control) -> Instant {
    let mut now = end;
    while !control.is_cancelled() {
        let (next, latest) = (link.poll_timeout(), link.standstill().min(LATEST));
        if next > latest {
            break;
        }
        now = now.max(link.advance(turn(end, next).min(latest)));
        link.delivered().take_trains(|_, _| {});
    }
    now
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_standard_error_is_that_of_the_mean() {
        // Sample deviation 1, four values, mean 10: 0.5 / 10.
        let half = 0.75_f64.sqrt();
        let values = [10.0 - half, 10.0 + half, 10.0 - half, 10.0 + half];
        assert!((relative_error(&values) - 0.05).abs() < 1e-12);
        assert_eq!(relative_error(&[10.0]), f64::INFINITY);
        // A trial whose latency was not measured is not precise: a comparison with NaN is false.
        assert!(relative_error(&[f64::NAN, 1.0]).is_nan());
    }
}

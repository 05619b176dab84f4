//! The performance of a protection on corrupting links: tried on the simulated link, or taken from a table of
//! measurements.

use super::super::blocks::{Block, Workers, blocks};
use super::super::{rare, stress};
use super::setup::{CAPACITY_BPS, Setup};
use crate::config::{Config, LossDirections, PointsConfig};
use crate::fabric::{Between, Performance, Point};
use crate::outcome::Columns;
use crate::{ConfigError, Control};
use lossylink_core::loss::LossModel;
use lossylink_core::protection::Protection;

/// Points in a decade of the loss ratio.
const PER_DECADE: i32 = 4;
/// The powers of ten between which the loss ratios of corrupting links lie, as published.
const DECADES: (i32, i32) = (-8, -2);

/// The points of a protection on links of one rate.
pub(super) struct Points {
    points: Vec<Point>,
    between: Between,
}

impl Points {
    /// Returns the performance of the protection on any link.
    pub(super) fn performance(&self) -> Performance {
        Performance::new(self.points.clone(), self.between)
    }
}

/// Returns how many points of the protection have to be simulated.
pub(super) fn count(setup: &Setup<'_>) -> u64 {
    match setup.section.points {
        PointsConfig::Simulation { .. } => losses(setup).len() as u64,
        PointsConfig::Table { .. } => 0,
    }
}

/// Returns the points of the protection; `None` if the caller cancelled the run.
pub(super) fn points(
    setup: &Setup<'_>,
    workers: &Workers,
    control: &Control,
) -> Result<Option<Points>, ConfigError> {
    let looks = match &setup.section.points {
        PointsConfig::Simulation { looks } => *looks,
        PointsConfig::Table { points, nearest } => {
            let point = |&(loss, effective_loss, bps): &(f64, f64, u64)| Point {
                loss,
                effective_loss,
                carried: (bps / CAPACITY_BPS) as u32,
            };
            let between = if *nearest { Between::Nearest } else { Between::Interpolated };
            return Ok(Some(Points { points: points.iter().map(point).collect(), between }));
        }
    };
    let clean =
        Config { protection: Protection::None, loss: LossDirections::default(), ..alone(setup.config) };
    let full_gbps = speed(&clean, control)?;
    let losses = losses(setup);
    let point =
        |block: Block| tried(setup, losses[block.index as usize], (full_gbps, looks), (workers, control));
    let each = blocks((losses.len() as u64, 1), setup.config.seed);
    let (points, interrupted) = workers.run_all(&each, control, &point)?;
    Ok((!interrupted).then_some(Points { points, between: Between::Interpolated }))
}

/// Returns the loss ratios that are tried: the published range, and beyond it those of the recorded failures.
fn losses(setup: &Setup<'_>) -> Vec<f64> {
    let of_trace = setup.recorded().into_iter().flatten().map(|failure| failure.loss);
    let (mut least, mut most) = (DECADES.0 * PER_DECADE, DECADES.1 * PER_DECADE);
    for loss in of_trace {
        let place = libm::log10(loss) * f64::from(PER_DECADE);
        least = least.min(place.floor() as i32);
        most = most.max(place.ceil() as i32);
    }
    // A link that loses every frame has no speed to speak of.
    (least..=most.min(-1)).map(|place| libm::pow(10.0, f64::from(place) / f64::from(PER_DECADE))).collect()
}

/// Returns the configuration in which a link is tried: frames at line rate, and nothing else.
fn alone(config: &Config) -> Config {
    Config { experiment: "stress".to_owned(), fabric: None, threads: 1, ..config.clone() }
}

/// Returns the speed of the link in Gb/s; `control` only stops the run.
fn speed(config: &Config, control: &Control) -> Result<f64, ConfigError> {
    let nothing = || ConfigError("nothing came through the link; raise traffic.packets".into());
    stress::speed_of(config, &control.silent())?.filter(|&gbps| gbps > 0.0).ok_or_else(nothing)
}

/// Tries a link at one loss ratio: frames at line rate give the speed, steered losses give the loss that remains.
fn tried(
    setup: &Setup<'_>,
    loss: f64,
    (full_gbps, looks): (f64, u64),
    (workers, control): (&Workers, &Control),
) -> Result<Point, ConfigError> {
    let forward = LossModel::bernoulli(loss).map_err(|error| ConfigError(error.to_string()))?;
    let losses = LossDirections { forward, reverse: setup.config.loss.reverse.clone() };
    let config = Config { loss: losses, ..alone(setup.config) };
    let effective_loss = rare::residual_loss(&config, looks, workers, &control.silent())?
        .map_err(|why| ConfigError(format!("what stays lost at a loss of {loss:.1e}: {why}")))?;
    // A link cannot carry more than without corruption. Frames at the edges of the test can make it seem so.
    let share = (speed(&config, control)? / full_gbps).min(1.0);
    Ok(Point { loss, effective_loss, carried: (share * f64::from(setup.full())).round() as u32 })
}

/// Returns the points as a table.
pub(super) fn table(points: &Points) -> (String, Columns) {
    let column =
        |name: &str, of: fn(&Point) -> f64| (name.to_owned(), points.points.iter().map(of).collect());
    let columns = vec![
        column("loss_rate", |point| point.loss),
        column("effective_loss_rate", |point| point.effective_loss),
        column("capacity_gbps", |point| f64::from(point.carried) / 100.0),
    ];
    ("points".to_owned(), columns)
}

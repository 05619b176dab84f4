//! Years of a whole fabric under CorrOpt, with a protection of the links that stay in service or without one.

mod points;
mod setup;
mod summary;

use super::blocks::{Block, Workers, blocks};
use super::row::unread;
use crate::config::Config;
use crate::fabric::{DrawnRepairs, Plan, Protection, Row, Year};
use crate::outcome::Columns;
use crate::{ConfigError, Control, Outcome, Stop};
use setup::Setup;
use summary::{Summary, Watch};

/// Refuses a fabric that [`run`] would refuse, without running anything.
pub(super) fn check(config: &Config) -> Result<(), ConfigError> {
    config.fabric.as_ref().map_or(Ok(()), |section| Setup::new(config, section).map(drop))
}

pub(super) fn run(config: &Config, control: &Control) -> Result<Outcome, ConfigError> {
    let setup = Setup::new(config, config.require(&config.fabric, "fabric")?)?;
    let workers = Workers::new(config.threads)?;
    let mut points = None;
    if setup.protects() {
        control.set_total(points::count(&setup) + setup.section.years);
        points = points::points(&setup, &workers, control)?;
        if points.is_none() {
            return Ok(Outcome::unfinished());
        }
    } else {
        control.set_total(setup.section.years);
    }
    let year = |block: Block| Ok(live_through(&setup, points.as_ref(), block, control.stop()));
    let years = blocks((setup.section.years, 1), config.seed);
    let (lived, interrupted) = workers.run_all(&years, control, &year)?;
    if lived.is_empty() {
        return Ok(Outcome::unfinished());
    }
    let mut columns = vec![summary::years(&lived), summary::shares(&lived)];
    columns.extend(lived.into_iter().next().and_then(|first| first.events));
    columns.extend(points.as_ref().map(points::table));
    // The row is made of the table of years, so that row and table say the same.
    let row = summary::row(&setup, &columns[0].1).map_err(unread)?;
    Ok(Outcome { row, columns, interrupted, ..Outcome::default() })
}

/// Lives through one year of the fabric: its failures and its repairs.
fn live_through(setup: &Setup<'_>, points: Option<&points::Points>, year: Block, stop: &Stop) -> Lived {
    let protection = points.map(|points| Protection {
        performance: points.performance(),
        pods: setup.protected_pods(&year.streams),
    });
    let plan = Plan {
        topology: setup.topology,
        constraint_ppm: setup.section.constraint_ppm,
        full: setup.full(),
        protection,
    };
    let drawn = setup.failures(&year.streams);
    let failures = setup.recorded().unwrap_or(&drawn);
    let mut watch = Watch::new(setup, failures);
    // Every event is kept of the first year only.
    let mut events = (year.index == 0).then(Vec::new);
    let repairs = DrawnRepairs::new(setup.repair_times, year.streams.stream("repairs"));
    let counts = Year::new(&plan, repairs).stopping(stop).run(failures, |row| {
        watch.see(row);
        if let Some(events) = &mut events {
            events.push(*row);
        }
    });
    Lived { summary: watch.finish(counts), events: events.map(|events| table_of(setup, &events)) }
}

/// The result of a year: its summary, and of the first year its events.
struct Lived {
    summary: Summary,
    events: Option<(String, Columns)>,
}

/// Returns the state of the fabric after each event, with the columns of the published simulator.
fn table_of(setup: &Setup<'_>, rows: &[Row]) -> (String, Columns) {
    let topology = &setup.topology;
    let (tors, pods) = (f64::from(topology.pods * topology.tors), f64::from(topology.pods));
    let column = |name: &str, of: &dyn Fn(&Row) -> f64| (name.to_owned(), rows.iter().map(of).collect());
    let columns = vec![
        column("time_s", &|row| f64::from(row.at_s)),
        column("penalty", &|row| row.penalty.to_f64()),
        column("effective_penalty", &|row| row.protected.penalty.to_f64()),
        column("paths_mean", &|row| row.paths as f64 / tors),
        column("paths_least", &|row| f64::from(row.least_paths)),
        column("capacity_gbps_mean", &|row| row.protected.capacity as f64 / 100.0 / pods),
        column("capacity_gbps_least", &|row| f64::from(row.protected.least_capacity) / 100.0),
        column("loss_rate_max", &|row| row.max_loss),
        column("links_disabled", &|row| f64::from(row.disabled)),
        column("links_corrupting", &|row| f64::from(row.corrupting)),
        column("protected_ports_per_pipe_max", &|row| f64::from(row.protected.ports)),
    ];
    ("events".to_owned(), columns)
}

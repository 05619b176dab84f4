//! The figures of a year of a fabric, and of several years.

use super::super::interval::student;
use super::Lived;
use super::setup::Setup;
use crate::fabric::{Counts, Failure, Row};
use crate::measure::{Description, percentile_sorted};
use crate::outcome::{Column, Columns};
use serde_json::{Map, Value, json};
use std::io;

/// The longest part of a year that is counted, in seconds, from the first failure on: the published window.
const YEAR_S: u32 = 365 * DAY_S;
const DAY_S: u32 = 86_400;
/// Steps between the shares of a year's distributions.
const STEPS: usize = 400;

/// The way in which the figures of several years become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Over {
    /// The sum of the years, for a count.
    Sum,
    /// The mean of the years, with its interval.
    Mean,
    /// The greatest of the years.
    Most,
    /// The least of the years.
    Least,
}

/// A figure of a year, under its name in rows and tables.
struct Figure {
    name: &'static str,
    over: Over,
    of: fn(&Summary) -> f64,
}

const fn figure(name: &'static str, over: Over, of: fn(&Summary) -> f64) -> Figure {
    Figure { name, over, of }
}

const FIGURES: [Figure; 21] = [
    figure("failures", Over::Sum, |year| (year.counts.failures + year.counts.skipped) as f64),
    figure("failures_skipped", Over::Sum, |year| year.counts.skipped as f64),
    figure("failures_kept", Over::Sum, |year| year.counts.refused as f64),
    figure("repairs", Over::Sum, |year| year.counts.repairs as f64),
    figure("links_disabled_mean", Over::Mean, |year| year.disabled),
    figure("links_disabled_max", Over::Most, |year| f64::from(year.disabled_most)),
    figure("links_corrupting_mean", Over::Mean, |year| year.corrupting),
    figure("links_corrupting_max", Over::Most, |year| f64::from(year.corrupting_most)),
    figure("corrupting_time_share", Over::Mean, |year| year.corrupting_share),
    figure("penalty_mean", Over::Mean, |year| year.penalty),
    figure("penalty_max", Over::Most, |year| year.penalty_most),
    figure("penalty_gain_p50", Over::Mean, |year| year.gains[STEPS / 2]),
    figure("penalty_gain_max", Over::Most, |year| year.gains[STEPS]),
    figure("paths_least_share_min", Over::Least, |year| year.paths_least),
    figure("capacity_share_mean", Over::Mean, |year| year.capacity),
    figure("capacity_least_share_mean", Over::Mean, |year| year.capacity_least),
    figure("capacity_least_share_p1", Over::Mean, |year| year.capacity_least_p1),
    figure("capacity_least_share_p0_1", Over::Mean, |year| year.capacity_least_p0_1),
    figure("capacity_least_share_min", Over::Least, |year| year.capacity_least_min),
    figure("capacity_decrease_share_max", Over::Most, |year| year.decreases[STEPS]),
    figure("protected_ports_per_pipe_max", Over::Most, |year| f64::from(year.ports)),
];

/// The figures of one fabric in one year. Means are over time.
#[derive(Clone, Debug, Default)]
pub(super) struct Summary {
    counts: Counts,
    disabled: f64,
    disabled_most: u32,
    corrupting: f64,
    corrupting_most: u32,
    /// Share of the time in which a corrupting link stays in service, because the fabric cannot spare it.
    corrupting_share: f64,
    penalty: f64,
    penalty_most: f64,
    paths_least: f64,
    capacity: f64,
    capacity_least: f64,
    capacity_least_p1: f64,
    capacity_least_p0_1: f64,
    capacity_least_min: f64,
    ports: u32,
    /// The penalty without protection over that with it, for each change. At the end, quantiles: the ratios that shares
    /// of the changes do not exceed, in [`STEPS`] steps.
    gains: Vec<f64>,
    /// The capacity of the least pod without protection less that with it, in shares of a healthy pod; kept as `gains`
    /// is.
    decreases: Vec<f64>,
}

/// The account of a fabric through its year.
pub(super) struct Watch {
    /// The window that is counted: its begin and its end.
    begin_s: u32,
    end_s: u32,
    last: Option<Row>,
    seconds: f64,
    healthy_paths: f64,
    /// Capacity of a healthy pod, and of all pods, in hundredths of Gb/s.
    healthy: (f64, f64),
    /// Least capacity of a pod, and the seconds that it held.
    least: Vec<(u32, u32)>,
    sums: Summary,
}

impl Watch {
    pub(super) fn new(setup: &Setup<'_>, failures: &[Failure]) -> Self {
        let topology = &setup.topology;
        let begin_s = failures.first().map_or(0, |first| first.at_s);
        let last_s = failures.last().map_or(0, |last| last.at_s);
        let pod = setup.pod();
        Self {
            begin_s,
            end_s: last_s.clamp(begin_s + DAY_S, begin_s + YEAR_S),
            last: None,
            seconds: 0.0,
            healthy_paths: f64::from(topology.paths()),
            healthy: (pod, pod * f64::from(topology.pods)),
            least: Vec::new(),
            sums: Summary { paths_least: 1.0, ..Summary::default() },
        }
    }

    /// Takes the state of the fabric after an event.
    pub(super) fn see(&mut self, row: &Row) {
        if let Some(last) = self.last {
            self.hold(&last, row.at_s);
            let changed = Row { at_s: last.at_s, ..*row } != last;
            if changed && row.at_s <= self.end_s {
                self.sums.gains.push(row.bare.penalty.to_f64() / row.protected.penalty.to_f64());
                let decrease = f64::from(row.bare.least_capacity) - f64::from(row.protected.least_capacity);
                self.sums.decreases.push(decrease / self.healthy.0);
            }
        }
        self.last = Some(*row);
    }

    /// Counts `row`, which lasts until `until_s`.
    fn hold(&mut self, row: &Row, until_s: u32) {
        let seconds = until_s.min(self.end_s).saturating_sub(row.at_s.max(self.begin_s));
        if seconds == 0 {
            return;
        }
        let (weight, sums) = (f64::from(seconds), &mut self.sums);
        self.seconds += weight;
        let (side, penalty) = (&row.protected, row.protected.penalty.to_f64());
        sums.disabled += weight * f64::from(row.disabled);
        sums.disabled_most = sums.disabled_most.max(row.disabled);
        sums.corrupting += weight * f64::from(row.corrupting);
        sums.corrupting_most = sums.corrupting_most.max(row.corrupting);
        sums.corrupting_share += if row.corrupting > 0 { weight } else { 0.0 };
        sums.penalty += weight * penalty;
        sums.penalty_most = sums.penalty_most.max(penalty);
        sums.paths_least = sums.paths_least.min(f64::from(row.least_paths) / self.healthy_paths);
        sums.capacity += weight * side.capacity as f64;
        sums.capacity_least += weight * f64::from(side.least_capacity);
        sums.ports = sums.ports.max(side.ports);
        match self.least.last_mut() {
            Some((value, held)) if *value == side.least_capacity => *held += seconds,
            _ => self.least.push((side.least_capacity, seconds)),
        }
    }

    pub(super) fn finish(mut self, counts: Counts) -> Summary {
        if let Some(last) = self.last {
            self.hold(&last, self.end_s);
        }
        let (pod, all) = self.healthy;
        self.least.sort_unstable();
        let quantile = |share| time_quantile(&self.least, share * self.seconds) / pod;
        let [p1, p0_1, min] = [0.01, 0.001, 0.0].map(quantile);
        let sums = self.sums;
        Summary {
            counts,
            disabled: sums.disabled / self.seconds,
            corrupting: sums.corrupting / self.seconds,
            corrupting_share: sums.corrupting_share / self.seconds,
            penalty: sums.penalty / self.seconds,
            capacity: sums.capacity / self.seconds / all,
            capacity_least: sums.capacity_least / self.seconds / pod,
            capacity_least_p1: p1,
            capacity_least_p0_1: p0_1,
            capacity_least_min: min,
            gains: quantiles(sums.gains),
            decreases: quantiles(sums.decreases),
            ..sums
        }
    }
}

/// Returns the quantiles of the values, in [`STEPS`] steps from none to all. A year keeps no more of a distribution.
fn quantiles(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_unstable_by(f64::total_cmp);
    (0..=STEPS).map(|step| percentile_sorted(&values, step as f64 / STEPS as f64)).collect()
}

/// Returns the value below which a state lay for `seconds` seconds. The values of `held` ascend, each with the seconds
/// that it held.
fn time_quantile(held: &[(u32, u32)], seconds: f64) -> f64 {
    let mut before = 0.0;
    for &(value, lasted) in held {
        before += f64::from(lasted);
        if before > seconds {
            return f64::from(value);
        }
    }
    held.last().map_or(0.0, |&(value, _)| f64::from(value))
}

/// Returns the table with the figures of each year, a row for each.
pub(super) fn years(lived: &[Lived]) -> (String, Columns) {
    let mut columns = vec![("year".to_owned(), (0..lived.len()).map(|year| year as f64).collect())];
    columns.extend(FIGURES.iter().map(|figure| {
        (figure.name.to_owned(), lived.iter().map(|year| (figure.of)(&year.summary)).collect())
    }));
    ("years".to_owned(), columns)
}

/// Returns the table with the distributions of each year: the value that a share of the changes does not exceed.
pub(super) fn shares(lived: &[Lived]) -> (String, Columns) {
    let each = |of: &dyn Fn(usize, &Summary, usize) -> f64| -> Column {
        let of_year = |(year, lived): (usize, &Lived)| -> Vec<f64> {
            (0..=STEPS).map(|step| of(year, &lived.summary, step)).collect()
        };
        lived.iter().enumerate().flat_map(of_year).collect()
    };
    let columns = vec![
        ("year".to_owned(), each(&|year, _, _| year as f64)),
        ("share".to_owned(), each(&|_, _, step| step as f64 / STEPS as f64)),
        ("penalty_gain".to_owned(), each(&|_, year, step| year.gains[step])),
        ("capacity_decrease_share".to_owned(), each(&|_, year, step| year.decreases[step])),
    ];
    ("shares".to_owned(), columns)
}

/// Returns the row of all years, from the table of the years.
pub(super) fn row(setup: &Setup<'_>, years: &Columns) -> io::Result<Map<String, Value>> {
    let mut row = Map::new();
    let count = years.first().map_or(0, |(_, values)| values.len());
    if count == 0 {
        return Ok(row);
    }
    let share = |ppm: u32| f64::from(ppm) / 1e6;
    row.insert("links".into(), json!(setup.topology.links()));
    row.insert("paths_per_tor".into(), json!(setup.topology.paths()));
    row.insert("pod_gbps".into(), json!(setup.pod() / 100.0));
    row.insert("constraint_share".into(), json!(share(setup.section.constraint_ppm)));
    row.insert("deployment_share".into(), json!(share(setup.section.deployment_ppm)));
    row.insert("years".into(), json!(count));
    for figure in &FIGURES {
        let of_figure = years.iter().find(|(name, _)| name == figure.name);
        let values = of_figure.map(|(_, values)| values.values()).transpose()?.unwrap_or_default();
        let sum = values.iter().sum::<f64>();
        let described = Description::of(values);
        let of = |value: fn(&Description) -> f64| described.as_ref().map(value);
        let value = match figure.over {
            Over::Sum => json!(sum as u64),
            Over::Mean => json!(of(Description::mean)),
            Over::Most => json!(of(Description::max)),
            Over::Least => json!(of(Description::min)),
        };
        row.insert(figure.name.into(), value);
        if figure.over == Over::Mean {
            row.insert(
                format!("{}_ci95", figure.name),
                described.as_ref().map_or(Value::Null, |values| interval(values, count)),
            );
        }
    }
    Ok(row)
}

/// Returns the interval of the mean by Student's law; null with one value.
fn interval(values: &Description, count: usize) -> Value {
    if count < 2 {
        return Value::Null;
    }
    let half = student((count - 1) as f64) * values.standard_deviation() / (count as f64).sqrt();
    json!([values.mean() - half, values.mean() + half])
}

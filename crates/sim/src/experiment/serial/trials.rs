//! The numbers of each trial that its row of the table shows, in as few bits as they take.

use super::trial::Trial;
use crate::ConfigError;
use crate::experiment::row::{Row, unread};
use crate::measure::{NEVER_PS, SortedSpans, Spans};
use crate::numbers::{Ordered, Packed, Packing, Store};
use crate::outcome::{Column, Columns};
use lossylink_core::time::Duration;
use serde::{Deserialize, Serialize};
use std::io;

/// Octets of packed numbers that stay in memory: about a million trials.
const ROOM: usize = 5 << 20;
/// The most completion times that are put in order in memory.
const IN_MEMORY: usize = 1 << 20;

/// Makes the store in which a run keeps the completion times and counters of its trials.
pub(super) fn store() -> Store {
    Store::new(ROOM)
}

/// The numbers of each trial.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(super) struct Trials<T = Packed> {
    took_ps: T,
    lost_frames: T,
    retransmissions: T,
    timeouts: T,
}

impl Trials<Packing> {
    pub(super) fn new(store: &Store) -> Self {
        let packing = || Packing::new(store.clone());
        Self { took_ps: packing(), lost_frames: packing(), retransmissions: packing(), timeouts: packing() }
    }

    pub(super) fn add(&mut self, trial: &Trial) {
        self.took_ps.push(trial.took.map_or(NEVER_PS, Duration::as_ps));
        self.lost_frames.push(trial.lost_frames.into());
        self.retransmissions.push(trial.retransmissions.into());
        self.timeouts.push(trial.timeouts.into());
    }

    pub(super) fn finish(self) -> Trials {
        Trials {
            took_ps: self.took_ps.finish(),
            lost_frames: self.lost_frames.finish(),
            retransmissions: self.retransmissions.finish(),
            timeouts: self.timeouts.finish(),
        }
    }
}

/// Returns the table of all trials.
pub(super) fn columns(trials: &[&Trials]) -> Columns {
    let column = |name: &str, of: fn(&Trials) -> &Packed, each| {
        (name.to_owned(), Column::packed(trials.iter().map(|trials| of(trials).clone()), each))
    };
    vec![
        column("fct_us", |trials| &trials.took_ps, Duration::from_us(1).as_ps()),
        column("lost_frames", |trials| &trials.lost_frames, 1),
        column("retransmissions", |trials| &trials.retransmissions, 1),
        column("timeouts", |trials| &trials.timeouts, 1),
    ]
}

/// Adds the completion times of the trials to a row, with all threads of the pool in which this runs.
pub(super) fn set_completion_times(row: &mut Row, trials: &[&Trials]) -> Result<(), ConfigError> {
    set_from(row, trials, IN_MEMORY)
}

/// Adds the completion times as [`set_completion_times`] does, with at most `in_memory` of them put in order in memory.
fn set_from(row: &mut Row, trials: &[&Trials], in_memory: usize) -> Result<(), ConfigError> {
    let took: Vec<&Packed> = trials.iter().map(|trials| &trials.took_ps).collect();
    let count: usize = took.iter().map(|packed| packed.len()).sum();
    if count > in_memory {
        return row.set_completion_times(&Ordered::of(&took).map_err(unread)?).map(drop);
    }
    row.set_completion_times(&sorted_spans(&took, count).map_err(unread)?).map(drop)
}

/// Returns the `count` completion times of `took` in ascending order, in memory.
fn sorted_spans(took: &[&Packed], count: usize) -> io::Result<SortedSpans> {
    let shortest_ps = took.iter().filter_map(|packed| packed.least()).min().unwrap_or(0);
    let mut spans = Spans::new(count, shortest_ps);
    took.iter().try_for_each(|packed| packed.for_each(|span_ps| spans.add(span_ps)))?;
    Ok(spans.sort())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Ascending;

    /// Returns the published messages: most take equally long, some wait for a host, one in fifty loses a frame and
    /// sends up to 23 again, one in a thousand waits for a timeout.
    fn trial(place: u64) -> Trial {
        let hit = place.is_multiple_of(50);
        let took_ps =
            17_974_840 + if place.is_multiple_of(1000) { 1_050_000_000 } else { place % 8 * 1_000_000 };
        let retransmissions = if hit { place as u32 % 24 } else { 0 };
        let timeouts = u32::from(place.is_multiple_of(1000));
        Trial {
            took: Some(Duration::from_ps(took_ps)),
            lost_frames: hit.into(),
            retransmissions,
            timeouts,
            repair: None,
        }
    }

    /// Returns trials as [`trial`] does, but one in 1,499 never ends.
    fn trial_or_never(place: u64) -> Trial {
        let trial = trial(place);
        Trial { took: trial.took.filter(|_| !place.is_multiple_of(1499)), ..trial }
    }

    fn kept(store: &Store, trials: impl Iterator<Item = Trial>) -> Trials {
        let mut kept = Trials::new(store);
        trials.for_each(|trial| kept.add(&trial));
        kept.finish()
    }

    fn of_places(store: &Store, places: std::ops::Range<u64>) -> Trials {
        kept(store, places.map(trial))
    }

    fn octets(trials: &Trials) -> usize {
        [&trials.took_ps, &trials.lost_frames, &trials.retransmissions, &trials.timeouts]
            .map(Packed::octets)
            .iter()
            .sum()
    }

    #[test]
    fn a_trial_is_held_in_five_octets() {
        const TRIALS: usize = 100_000;
        let held = octets(&of_places(&Store::default(), 0..TRIALS as u64));
        assert!(held <= 5 * TRIALS, "{:.2} octets a trial", held as f64 / TRIALS as f64);
    }

    #[test]
    fn columns_and_spans_are_those_of_the_trials() {
        let pieces = [0..3000, 3000..3001].map(|places| kept(&Store::default(), places.map(trial_or_never)));
        let trials: Vec<Trial> = (0..3001).map(trial_or_never).collect();
        let took_us = |trial: &Trial| trial.took.map_or(f64::INFINITY, Duration::as_us_f64);
        let of = |of: &dyn Fn(&Trial) -> f64| trials.iter().map(of).collect::<Column>();
        let expected: Columns = vec![
            ("fct_us".to_owned(), of(&took_us)),
            ("lost_frames".to_owned(), of(&|trial| trial.lost_frames.into())),
            ("retransmissions".to_owned(), of(&|trial| trial.retransmissions.into())),
            ("timeouts".to_owned(), of(&|trial| trial.timeouts.into())),
        ];
        assert_eq!(columns(&pieces.each_ref()), expected);
        let mut took: Vec<f64> = trials.iter().map(took_us).collect();
        took.sort_unstable_by(f64::total_cmp);
        let packed: Vec<&Packed> = pieces.iter().map(|piece| &piece.took_ps).collect();
        let mut found = Vec::new();
        sorted_spans(&packed, took.len()).unwrap().for_each(|span, _| found.push(span)).unwrap();
        assert_eq!(found, took);
    }

    #[test]
    fn what_never_ended_is_slower_than_all_that_did() {
        let trials = kept(&Store::default(), (0..3001).map(trial_or_never));
        for in_memory in [0, 5000] {
            let mut row = Row::default();
            set_from(&mut row, &[&trials], in_memory).unwrap();
            let row = row.finish();
            let of = |key: &str| row[&format!("fct_us_{key}")].as_f64();
            assert!(
                ["mean", "p99_99", "p99_999", "max", "std"].into_iter().all(|key| of(key).is_none()),
                "{row:?}"
            );
            // Of 3,001 flows 2,997 took no longer than the 99.9th percentile, which is the longest of those that ended.
            let ended = [("min", 17.974_84), ("p99", 24.974_84), ("p99_9", 1_067.974_84)];
            assert!(ended.into_iter().all(|(key, us)| of(key) == Some(us)), "{row:?}");
        }
    }

    #[test]
    fn what_is_laid_aside_gives_the_same_table_and_figures() {
        let places = [0..70_000, 70_000..70_001, 70_001..100_000];
        let pieces = |store: &Store| places.clone().map(|places| of_places(store, places));
        let row = |pieces: &[&Trials], in_memory| {
            let mut row = Row::default();
            set_from(&mut row, pieces, in_memory).unwrap();
            row.finish()
        };
        let expected = pieces(&Store::default());
        for room in [0, 100_000] {
            let aside = pieces(&Store::new(room));
            assert!(aside.iter().map(octets).sum::<usize>() <= room);
            let (aside, expected) = (aside.each_ref(), expected.each_ref());
            assert_eq!(columns(&aside), columns(&expected));
            assert_eq!(row(&aside, 99_999), row(&expected, 100_000));
        }
    }

    /// Returns the most octets that the memory of a run has for `trials` trials and their totals.
    fn most_octets(trials: u64) -> u64 {
        let run = || {
            let trials = of_places(&store(), 0..trials);
            set_completion_times(&mut Row::default(), &[&trials]).unwrap();
        };
        allocation_counter::measure(run).bytes_max
    }

    #[test]
    fn memory_does_not_grow_with_the_trials() {
        let (some, many) = (most_octets(1_500_000), most_octets(6_000_000));
        assert!(many < some + (1 << 20), "{some} and {many} octets");
    }
}

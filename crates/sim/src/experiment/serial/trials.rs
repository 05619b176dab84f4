//! What is kept of each trial: what its row of the table shows, in as few bits as that takes.

use super::results::{Piece, Trial};
use crate::measure::SortedSpans;
use crate::outcome::{Column, Columns, Packed, Packing};
use lossylink_core::time::Duration;
use serde::{Deserialize, Serialize};

/// Numbers of each trial.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(super) struct Trials<T = Packed> {
    took_ps: T,
    lost_frames: T,
    retransmissions: T,
    timeouts: T,
}

impl Trials<Packing> {
    pub(super) fn add(&mut self, trial: &Trial) {
        self.took_ps.push(trial.took.as_ps());
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

/// The table of all trials.
pub(super) fn columns(pieces: &[Piece]) -> Columns {
    let column = |name: &str, of: fn(&Trials) -> &Packed, each| {
        (name.to_owned(), Column::packed(pieces.iter().map(|piece| of(&piece.trials).clone()), each))
    };
    vec![
        column("fct_us", |trials| &trials.took_ps, Duration::from_us(1).as_ps()),
        column("lost_frames", |trials| &trials.lost_frames, 1),
        column("retransmissions", |trials| &trials.retransmissions, 1),
        column("timeouts", |trials| &trials.timeouts, 1),
    ]
}

/// What the trials took, in ascending order.
pub(super) fn sorted_spans(pieces: &[Piece]) -> SortedSpans {
    let took = || pieces.iter().map(|piece| &piece.trials.took_ps);
    let shortest_ps = took().filter_map(Packed::least).min().unwrap_or(0);
    SortedSpans::new(took().map(Packed::len).sum(), shortest_ps, took().flat_map(Packed::numbers))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Sorted;

    /// The published messages: most take the same time, some wait for a host, one in fifty loses a frame and sends up to
    /// 23 again, one in a thousand waits for a timeout.
    fn trial(place: u64) -> Trial {
        let hit = place.is_multiple_of(50);
        let took_ps =
            17_974_840 + if place.is_multiple_of(1000) { 1_050_000_000 } else { place % 8 * 1_000_000 };
        let retransmissions = if hit { place as u32 % 24 } else { 0 };
        let timeouts = u32::from(place.is_multiple_of(1000));
        Trial {
            took: Duration::from_ps(took_ps),
            lost_frames: hit.into(),
            retransmissions,
            timeouts,
            repair: None,
        }
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
        let mut piece = Piece::default();
        (0..TRIALS as u64).for_each(|place| piece.add(trial(place)));
        let held = octets(&piece.finish().trials);
        assert!(held <= 5 * TRIALS, "{:.2} octets a trial", held as f64 / TRIALS as f64);
    }

    #[test]
    fn columns_and_spans_are_those_of_the_trials() {
        let pieces = [0..3000, 3000..3001].map(|places| {
            let mut piece = Piece::default();
            places.for_each(|place| piece.add(trial(place)));
            piece.finish()
        });
        let trials: Vec<Trial> = (0..3001).map(trial).collect();
        let of = |of: &dyn Fn(&Trial) -> f64| trials.iter().map(of).collect::<Column>();
        let expected: Columns = vec![
            ("fct_us".to_owned(), of(&|trial| trial.took.as_us_f64())),
            ("lost_frames".to_owned(), of(&|trial| trial.lost_frames.into())),
            ("retransmissions".to_owned(), of(&|trial| trial.retransmissions.into())),
            ("timeouts".to_owned(), of(&|trial| trial.timeouts.into())),
        ];
        assert_eq!(columns(&pieces), expected);
        let mut took: Vec<f64> = trials.iter().map(|trial| trial.took.as_us_f64()).collect();
        took.sort_unstable_by(f64::total_cmp);
        let spans = sorted_spans(&pieces);
        assert!((0..spans.count()).map(|place| spans.value(place)).eq(took));
    }
}

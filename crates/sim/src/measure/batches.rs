//! Counts of events by batches: the trials are divided into a few long stretches, and each event falls into one of them.
//!
//! Events that come together fall into one batch. The counts of the batches therefore spread as the sum of all events does,
//! whatever makes events come together, as long as a batch is longer than the memory of that cause ([`super::clusters`]).

use lossylink_core::binomial::BATCHES;

/// Counts of events among trials that are numbered from zero, in at most [`BATCHES`] batches of consecutive trials.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batches {
    trials: u64,
    counts: Vec<u64>,
}

impl Batches {
    /// Divides `trials` trials into batches, as equal as they can be. Without trials nothing is counted.
    pub fn new(trials: u64) -> Self {
        Self { trials, counts: vec![0; trials.min(BATCHES) as usize] }
    }

    /// Counts an event in each trial from `first` up to `end`.
    pub fn add(&mut self, first: u64, end: u64) {
        let mut first = first;
        while first < end && !self.counts.is_empty() {
            let batch = self.batch_of(first);
            let last = self.counts.len() - 1;
            let until = if batch == last { end } else { end.min(self.first_of(batch + 1)) };
            self.counts[batch] += until - first;
            first = until;
        }
    }

    /// Takes back the event of a trial.
    pub fn take_back(&mut self, number: u64) {
        if !self.counts.is_empty() {
            let batch = self.batch_of(number);
            self.counts[batch] = self.counts[batch].saturating_sub(1);
        }
    }

    /// Returns the events and trials of each batch that has begun when `trials` trials are over.
    pub fn upto(&self, trials: u64) -> Vec<(u64, u64)> {
        let size = |batch: usize| {
            let end = if batch + 1 == self.counts.len() { u64::MAX } else { self.first_of(batch + 1) };
            trials.min(end).saturating_sub(self.first_of(batch))
        };
        let sized = self.counts.iter().enumerate().map(|(batch, &count)| (count, size(batch)));
        sized.filter(|&(_, size)| size > 0).collect()
    }

    /// Returns the batch of a trial. A trial beyond those that were foreseen belongs to the last batch.
    fn batch_of(&self, number: u64) -> usize {
        let batch = u128::from(number) * self.counts.len() as u128 / u128::from(self.trials);
        usize::try_from(batch).unwrap_or(usize::MAX).min(self.counts.len() - 1)
    }

    fn first_of(&self, batch: usize) -> u64 {
        (batch as u128 * u128::from(self.trials)).div_ceil(self.counts.len() as u128) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn events_are_split_among_batches_where_one_ends() {
        let mut batches = Batches::new(640);
        batches.add(5, 25);
        batches.take_back(6);
        batches.add(639, 700);
        let of = batches.upto(700);
        assert_eq!((of.len(), &of[..4], of[63]), (64, &[(4, 10), (10, 10), (5, 10), (0, 10)][..], (61, 70)));
        assert_eq!(batches.upto(15), [(4, 10), (10, 5)]);
    }

    #[test]
    fn few_trials_are_a_batch_each_and_none_are_no_batch() {
        let mut batches = Batches::new(3);
        batches.add(1, 2);
        assert_eq!(batches.upto(3), [(0, 1), (1, 1), (0, 1)]);
        let mut none = Batches::default();
        none.add(0, 10);
        none.take_back(0);
        assert_eq!(none.upto(10), []);
    }

    proptest! {
        #[test]
        fn nothing_is_counted_twice_or_left_out(trials in 1u64..10_000, ends in prop::collection::vec(0u64..10_000, 2)) {
            let (first, end) = (ends[0].min(ends[1]).min(trials), ends[0].max(ends[1]).min(trials));
            let (mut together, mut apart) = (Batches::new(trials), Batches::new(trials));
            together.add(first, end);
            (first..end).for_each(|number| apart.add(number, number + 1));
            prop_assert_eq!(&together, &apart);
            let (events, sizes): (Vec<u64>, Vec<u64>) = together.upto(trials).into_iter().unzip();
            prop_assert_eq!(events.iter().sum::<u64>(), end - first);
            prop_assert_eq!(sizes.iter().sum::<u64>(), trials);
            prop_assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1);
        }
    }
}

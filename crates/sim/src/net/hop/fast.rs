//! Trains of frames through a hop.

use super::Hop;
use crate::kernel::Train;

impl Hop {
    /// Returns the train in which frames of `octets` that come as `train` reach the next element, if they stay one train
    /// ([`Train::starts`]) and the queue has room for each of them. Nothing is changed yet: [`Hop::let_through`] sends the train.
    #[inline]
    pub fn foresee(&mut self, train: Train, octets: u32) -> Option<Train> {
        let serialisation = self.rate.serialisation(octets);
        let starts = train.starts(self.busy_until, serialisation)?;
        let leaves = starts.from(starts.first + serialisation);
        self.foreseen = leaves.last();
        // No frame waits longer than the first and the last.
        self.foreseen_longest = (leaves.first - train.first).max(self.foreseen - train.last());
        (self.foreseen_longest <= self.limit).then(|| leaves.from(leaves.first + self.delay))
    }

    /// Sends the train that was foreseen last.
    #[inline]
    pub fn let_through(&mut self) {
        self.busy_until = self.foreseen;
        self.longest = self.longest.max(self.foreseen_longest);
    }
}

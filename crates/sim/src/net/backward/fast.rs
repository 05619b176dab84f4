//! Trains on the unprotected way back.

use super::Backward;
use crate::kernel::Train;
use crate::net::wire::Kind;
use crate::net::{Frame, Passage, Payload};

impl<P: Payload> Backward<P> {
    /// Takes a train of frames like `frame` that reaches the far switch, and returns the fate of its first frames, as far as they
    /// share one. No tap may look at the wire.
    #[inline]
    pub(in crate::net) fn take(&mut self, train: Train, frame: &Frame<P>) -> Passage {
        let serialisation = self.rate.serialisation(frame.octets);
        let starts = train.starts(self.busy_until, serialisation);
        let starts = starts.unwrap_or_else(|| Train::of_one(train.first.max(self.busy_until)));
        let clear = self.wire.clear_starts(starts, frame.octets);
        let starts = starts.up_to(clear.max(1));
        self.busy_until = starts.last() + serialisation;
        if clear > 0 {
            self.wire.carry_clear(starts.count, frame.octets, 0);
        } else if !self.wire.carry(starts.first, frame.octets, Kind::Data { header_octets: 0 }) {
            return Passage::LOST;
        }
        Passage::whole(starts.from(starts.first + serialisation + self.flight))
    }
}

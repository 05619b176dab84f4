//! Data frames that did not reach the decoder: from here they are brought back when the decoder rebuilds them.
//!
//! The simulator counts frames instead of coding their bytes (FEC-5: any k of them rebuild the
//! rest), so a rebuilt frame is the lost one, brought back.

use crate::kernel::Ring;
use crate::net::{Frame, Payload};
use lossylink_core::engine::fec::DataStamp;
use lossylink_core::time::Instant;

/// The number of lost frames that are remembered. Blocks leave the decoder's window long before this many are lost. A link that
/// passes no frame at all moves no window.
const REMEMBERED: usize = 1 << 16;

/// A data frame with its stamp and the time at which it came to the encoder.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stamped<P> {
    pub(super) stamp: DataStamp,
    pub(super) entered: Instant,
    pub(super) frame: Frame<P>,
}

impl<P: Default> Default for Stamped<P> {
    fn default() -> Self {
        let stamp = DataStamp { block: Default::default(), index: 0 };
        Self { stamp, entered: Instant::ZERO, frame: Frame::default() }
    }
}

/// Lost frames in the order of their stamps. Frames dropped by the queue, which are known early, stand apart from frames
/// corrupted on the wire.
#[derive(Clone, Debug)]
pub(super) struct LostFrames<P: Payload> {
    dropped: Ring<Stamped<P>>,
    corrupted: Ring<Stamped<P>>,
    recovered_from_wire: u64,
}

impl<P: Payload> LostFrames<P> {
    pub(super) fn new() -> Self {
        Self { dropped: Ring::new(), corrupted: Ring::new(), recovered_from_wire: 0 }
    }

    /// Returns how many frames were found that had been corrupted on the wire.
    pub(super) const fn recovered_from_wire(&self) -> u64 {
        self.recovered_from_wire
    }

    /// Adds a frame for which the queue had no room.
    pub(super) fn push_dropped(&mut self, lost: Stamped<P>) {
        push(&mut self.dropped, lost);
    }

    /// Adds a frame that arrived corrupted.
    pub(super) fn push_corrupted(&mut self, lost: Stamped<P>) {
        push(&mut self.corrupted, lost);
    }

    /// Finds the frame with this stamp. Forgets the frames in front for which `has_left` holds.
    pub(super) fn find(
        &mut self,
        stamp: DataStamp,
        has_left: impl Fn(DataStamp) -> bool,
    ) -> Option<Stamped<P>> {
        let corrupted = take(&mut self.corrupted, stamp, &has_left);
        self.recovered_from_wire += u64::from(corrupted.is_some());
        corrupted.or_else(|| take(&mut self.dropped, stamp, &has_left))
    }
}

/// Finds the frame with this stamp. Forgets the frames in front for which `has_left` holds.
fn take<P: Payload>(
    ring: &mut Ring<Stamped<P>>,
    stamp: DataStamp,
    has_left: impl Fn(DataStamp) -> bool,
) -> Option<Stamped<P>> {
    while ring.front().is_some_and(|lost| has_left(lost.stamp)) {
        ring.pop();
    }
    (0..ring.len()).filter_map(|place| ring.get(place)).find(|lost| lost.stamp == stamp).copied()
}

fn push<P: Payload>(ring: &mut Ring<Stamped<P>>, lost: Stamped<P>) {
    if ring.len() == REMEMBERED {
        ring.pop();
    }
    ring.push(lost);
}

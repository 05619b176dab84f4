//! Trains of frames across a leg.

use super::{Chances, Leg, Losing};
use crate::kernel::Train;
use crate::net::Hop;
use crate::net::frame::GAP_OCTETS;

impl Leg {
    /// Returns how a train of frames of `octets` leaves the leg; `None`, and nothing has happened, if it does not stay one train.
    #[inline(always)]
    pub fn cross_train(&mut self, train: Train, octets: u32) -> Option<Train> {
        if self.chances.as_ref().is_some_and(|chances| !chances.cross_alike(train, octets)) {
            return None;
        }
        let crossed = self.cross_by_time(train, octets)?;
        if let Some(chances) = &mut self.chances {
            chances.pass(train.count, octets);
        }
        Some(crossed)
    }

    /// Returns how a train of frames without losses and jitter leaves the leg; `None`, and nothing has happened, if it does not
    /// stay one train.
    #[inline(always)]
    fn cross_by_time(&mut self, train: Train, octets: u32) -> Option<Train> {
        let entered = train.from(train.first + self.delay);
        if self.hops.is_empty() { Some(entered) } else { self.cross_hops(entered, octets) }
    }

    /// Returns how a train of frames leaves the hops of the leg; `None`, and nothing has happened, if it does not stay one train.
    #[inline(never)]
    fn cross_hops(&mut self, entered: Train, octets: u32) -> Option<Train> {
        let arrives = self.hops.iter_mut().try_fold(entered, |train, hop| hop.foresee(train, octets))?;
        self.hops.iter_mut().for_each(Hop::let_through);
        Some(arrives)
    }
}

impl Chances {
    /// Whether the frames of `octets` that enter the leg at the times in `train` are certain to cross without a loss and without
    /// jitter.
    fn cross_alike(&self, train: Train, octets: u32) -> bool {
        let clear = |losses: &Losing| {
            let (process, bytes) = (&losses.process, octets - GAP_OCTETS);
            process.clear_frames(bytes) >= u64::from(train.count)
                && train.last() < process.clear_before(bytes)
        };
        self.jitter.is_none() && self.losses.as_ref().is_none_or(clear)
    }

    /// Notes that `frames` frames of `octets` have crossed without a loss, as was certain.
    fn pass(&mut self, frames: u32, octets: u32) {
        if let Some(losses) = &mut self.losses {
            losses.process.skip(u64::from(frames), octets - GAP_OCTETS);
        }
    }
}

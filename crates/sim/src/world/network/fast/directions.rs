//! The two directions of a link, where they may go apart: each runs as far as the host at its end needs.
//!
//! ```text
//!  near --at_link--> forward --> far        the forward direction runs when the far host waits for it,
//!  near <----- back <--back_at_link-- far   the way back when the near host does
//! ```

use super::places::Next;
use crate::net::{Direction, ProtectedLink};
use crate::world::Protocol;
use crate::world::network::{Addressed, Conversation, Network};
use lossylink_core::time::Instant;

impl<T: Protocol, L: ProtectedLink<Addressed<T::Packet>>> Network<T, L> {
    /// Gives each place its turn that has to wait for no other place, up to and including `end`. Returns when the last event of
    /// these turns happened, or `None` if nothing happened. The directions of the link may go apart, and the forward direction
    /// has its next event at `forward`.
    #[inline]
    pub(super) fn take_turns_apart(
        &mut self,
        forward: Instant,
        mut next: Next,
        end: Instant,
        act: &mut impl FnMut(Instant, usize, &mut Conversation<T>) -> bool,
    ) -> Option<Instant> {
        let mut latest = None;
        next.forward = forward.min(self.at_link.poll_timeout());
        next.back = self.back_at_link.poll_timeout();
        if next.far > self.fast.places.far_until(&next, true).min(end) {
            let until = self.fast.places.forward_until(&next).min(end);
            if next.forward <= until {
                latest =
                    latest.max(happened(self.link.run_apart(Direction::Forward, until, &mut self.at_link)));
                self.collect_trains();
                (next.far, next.far_holds) = (self.next_at_far(), self.at_far.holds_others());
                let Some(forward) = self.link.poll_apart() else { return latest };
                next.forward = forward.min(self.at_link.poll_timeout());
            }
        }
        let until = self.fast.places.far_until(&next, true).min(end);
        if next.far <= until {
            self.run_far(until);
            latest = latest.max(Some(self.now));
            (next.far, next.far_holds) = (self.next_at_far(), self.at_far.holds_others());
            next.back = self.back_at_link.poll_timeout();
        }
        if next.near > self.fast.places.near_until(&next, true).min(end) {
            let until = self.fast.places.back_until(&next).min(end);
            if next.back <= until {
                latest = latest.max(happened(self.link.run_apart(
                    Direction::Backward,
                    until,
                    &mut self.back_at_link,
                )));
                self.collect_trains();
                (next.near, next.near_holds) = (self.next_at_near(), self.at_near.holds_others());
                if self.link.poll_apart().is_none() {
                    return latest;
                }
                next.back = self.back_at_link.poll_timeout();
            }
        }
        let until = self.fast.places.near_until(&next, true).min(end);
        if next.near <= until {
            self.run_near(until, act);
            latest = latest.max(Some(self.now));
        }
        latest
    }
}

/// Returns the time of the last event, if there was any.
fn happened(at: Instant) -> Option<Instant> {
    (at > Instant::ZERO).then_some(at)
}

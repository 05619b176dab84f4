//! Lets the two directions of a link, where they may go apart, run each as far as the host at its end needs.
//!
//! ```text
//!  near --at_link--> forward --> far        the forward direction runs when the far host waits for it,
//!  near <----- back <--back_at_link-- far   the way back when the near host does
//! ```
//!
//! As long as the two go apart, only a host answers the other one: what the forward direction does concerns the near host by what the
//! far one sends then, and so the other way round. A packet that finds a host idle is handled when the host is awake; at a host that
//! holds packets any other is handled no sooner than these.

use super::turns::{Leads, Next};
use crate::kernel::ahead::just_short_of;
use crate::net::{Direction, ProtectedLink};
use crate::world::Protocol;
use crate::world::network::{Addressed, Conversation, Network};
use lossylink_core::time::{Duration, Instant};

/// When each place does something next, and what of it the other places may come to know.
#[derive(Clone, Copy, Debug)]
struct Apart {
    near: Instant,
    far: Instant,
    /// Each direction, where it may let a frame out.
    forward: Instant,
    back: Instant,
    near_holds: bool,
    far_holds: bool,
}

impl Apart {
    /// The first instant at which a packet that comes `way` behind `at` may be answered by a host, less one step of the clock.
    #[inline]
    fn answer(at: Instant, holds: bool, way: Duration) -> Instant {
        if holds { Instant::NEVER } else { just_short_of(at, way) }
    }

    /// How far the forward direction may run: no packet of the near host reaches it sooner.
    fn forward_until(&self, leads: &Leads) -> Instant {
        let sends = leads.wake_up + leads.near_to_link;
        let far = leads.far_to_link + leads.link_to_near + sends;
        let near = self.near.max(just_short_of(self.near, leads.near_to_link));
        near.min(Self::answer(self.back, self.near_holds, leads.link_to_near + sends))
            .min(Self::answer(self.far, self.near_holds, far))
            .min(Self::answer(
                self.forward,
                self.near_holds || self.far_holds,
                leads.link_to_far + leads.wake_up + far,
            ))
    }

    /// How far the way back may run: no packet of the far host reaches it sooner, and all that has happened in the forward direction by
    /// then is known.
    fn back_until(&self, leads: &Leads) -> Instant {
        let far = self.far.max(just_short_of(self.far, leads.far_to_link));
        far.min(self.forward.just_before()).min(self.forward_until(leads))
    }

    /// How far the far host may run, which goes after the link and before the near host.
    fn far_until(&self, leads: &Leads) -> Instant {
        let near = leads.near_to_link + leads.link_to_far;
        let answer = self.far.max(just_short_of(self.far, leads.far_to_far()));
        just_short_of(self.forward, leads.link_to_far)
            .min(self.near.max(just_short_of(self.near, near)))
            .min(Self::answer(self.back, self.near_holds, leads.link_to_near + leads.wake_up + near))
            .min(answer)
    }

    /// How far the near host may run, which goes last.
    fn near_until(&self, leads: &Leads) -> Instant {
        let far = leads.far_to_link + leads.link_to_near;
        let answer = self.near.max(just_short_of(self.near, leads.near_to_near()));
        just_short_of(self.back, leads.link_to_near)
            .min(just_short_of(self.far, far))
            .min(Self::answer(self.forward, self.far_holds, leads.link_to_far + leads.wake_up + far))
            .min(answer)
    }
}

impl<T: Protocol, L: ProtectedLink<Addressed<T::Packet>>> Network<T, L> {
    /// Gives each place its turn that has to wait for no other, up to and including `end`; returns when the last of it happened, or
    /// nothing if nothing did. The directions of the link may go apart, and the forward one next does something at `forward`.
    #[inline]
    pub(super) fn take_turns_apart(
        &mut self,
        forward: Instant,
        next: Next,
        end: Instant,
        act: &mut impl FnMut(Instant, usize, &mut Conversation<T>) -> bool,
    ) -> Option<Instant> {
        let mut latest = None;
        let mut next = Apart {
            near: next.near,
            far: next.far,
            forward: forward.min(self.at_link.poll_timeout()),
            back: self.back_at_link.poll_timeout(),
            near_holds: self.at_near.holds_others(),
            far_holds: self.at_far.holds_others(),
        };
        if next.far > next.far_until(&self.fast.leads).min(end) {
            let until = next.forward_until(&self.fast.leads).min(end);
            if next.forward <= until {
                latest =
                    latest.max(happened(self.link.run_apart(Direction::Forward, until, &mut self.at_link)));
                self.collect_trains();
                (next.far, next.far_holds) = (self.next_at_far(), self.at_far.holds_others());
                let Some(forward) = self.link.poll_apart() else { return latest };
                next.forward = forward.min(self.at_link.poll_timeout());
            }
        }
        let until = next.far_until(&self.fast.leads).min(end);
        if next.far <= until {
            self.run_far(until);
            latest = latest.max(Some(self.now));
            (next.far, next.far_holds) = (self.next_at_far(), self.at_far.holds_others());
            next.back = self.back_at_link.poll_timeout();
        }
        if next.near > next.near_until(&self.fast.leads).min(end) {
            let until = next.back_until(&self.fast.leads).min(end);
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
        let until = next.near_until(&self.fast.leads).min(end);
        if next.near <= until {
            self.run_near(until, act);
            latest = latest.max(Some(self.now));
        }
        latest
    }
}

/// When something last happened, if anything did.
fn happened(at: Instant) -> Option<Instant> {
    (at > Instant::ZERO).then_some(at)
}

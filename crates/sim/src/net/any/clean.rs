//! Frames that are certain to cross a link like frames before them are carried by arithmetic.

use super::{AnyLink, Line};
use crate::net::{IdleLink, Payload};
use lossylink_core::time::Instant;

impl<P: Payload> AnyLink<P> {
    /// Whether [`skip_clean`](Self::skip_clean) would carry `frames` data frames of `octets` that begin to leave by `until`.
    pub fn is_clear_for(&mut self, frames: u64, octets: u32, until: Instant) -> bool {
        match &mut self.line {
            Line::Plain(link) => link.is_clear_for(frames, octets, until),
            Line::Inspected(link) => link.seen().is_some_and(|link| link.is_clear_for(frames, octets, until)),
            _ => false,
        }
    }

    /// Carries `frames` data frames of `octets`, which begin to leave by `until`, by one sum, if each frame is certain to cross like
    /// frames before it. Otherwise returns false and changes nothing.
    pub fn skip_clean(&mut self, frames: u64, octets: u32, until: Instant) -> bool {
        match &mut self.line {
            Line::Plain(link) => link.skip_clean(frames, octets, until),
            // Skipped frames take no time, so a look that is still to come falls on none of them.
            Line::Inspected(link) => link.seen().is_some_and(|link| link.skip_clean(frames, octets, until)),
            _ => false,
        }
    }

    /// Returns the closed form of the link, if the link is idle, has no tap, and carries frames in closed form.
    #[inline]
    pub fn idle(&self) -> Option<IdleLink> {
        match &self.line {
            Line::FastLinkGuardian(link) => link.idle(),
            _ => None,
        }
    }

    /// Carries at once the frames that `idle` has carried since `idle` was taken from this link. Returns false and changes
    /// nothing, unless each frame is certain to arrive and the link is idle again by `end`.
    pub fn carry_in_closed_form(&mut self, idle: IdleLink, end: Instant) -> bool {
        match &mut self.line {
            Line::FastLinkGuardian(link) => link.carry_in_closed_form(idle, end),
            _ => false,
        }
    }
}

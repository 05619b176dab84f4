//! Frames that are certain to cross a link as others did before them, by a sum.

use super::{AnyLink, Line};
use crate::net::{IdleLink, Payload};
use lossylink_core::time::Instant;

impl<P: Payload> AnyLink<P> {
    /// Lets `frames` data frames of `octets` pass without looking at each, if each is certain to cross as others did before;
    /// false, and nothing has happened, if not.
    pub fn skip_clean(&mut self, frames: u64, octets: u32) -> bool {
        match &mut self.line {
            Line::Plain(link) => link.skip_clean(frames, octets),
            // Frames that are skipped take no time: as long as an instant is to come, none is.
            Line::Inspected(link) => link.seen().is_some_and(|link| link.skip_clean(frames, octets)),
            _ => false,
        }
    }

    /// The link, if it is at rest, nobody looks at it, and it carries frames that are certain to arrive by arithmetic.
    #[inline]
    pub fn idle(&self) -> Option<IdleLink> {
        match &self.line {
            Line::FastLinkGuardian(link) => link.idle(),
            _ => None,
        }
    }

    /// Carries the frames that `idle` has carried since it was this link, if each is certain to arrive and the link is at rest
    /// again by `end`; false, and nothing has happened, if not.
    pub fn carry_in_closed_form(&mut self, idle: IdleLink, end: Instant) -> bool {
        match &mut self.line {
            Line::FastLinkGuardian(link) => link.carry_in_closed_form(idle, end),
            _ => false,
        }
    }
}

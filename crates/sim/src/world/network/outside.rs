//! A network whose hosts are outside of the simulation, and whose time is theirs.
//!
//! The owner says what time it is. No frame that a host sends from then on reaches the link before the leg to it
//! has passed: so far the link may run ahead, and the owner need not wake up for what happens inside of it.

use super::{Addressed, Network};
use crate::kernel::ahead::just_short_of;
use crate::net::ProtectedLink;
use crate::world::protocol::{Arrival, Carried, Outside};
use lossylink_core::time::{Duration, Instant};

/// The two hosts of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The host that the data usually comes from.
    Near,
    /// The other one.
    Far,
}

impl<L: ProtectedLink<Addressed<Carried>>> Network<Outside, L> {
    /// A host sends a frame at `now`.
    pub fn send(&mut self, now: Instant, end: End, frame: Carried) {
        self.keep_up(now);
        self.act(0, |_, hosts| match end {
            End::Near => hosts.near.send(frame),
            End::Far => hosts.far.send(frame),
        });
    }

    /// When the owner has to ask again: a frame comes out, or one may.
    ///
    /// What the link does reaches a host no sooner than the leg to it takes: for so long the link may wait.
    pub fn poll_outside(&self) -> Instant {
        let hosts = &self.conversations[0];
        if hosts.near.has_arrivals() || hosts.far.has_arrivals() {
            return self.now;
        }
        let link = self.link_next().saturating_add(self.path.least_to_hosts());
        link.min(self.at_far.poll_timeout()).min(self.at_near.poll_timeout())
    }

    /// Whether anything is under way on the link, or will be without another frame of a host.
    pub fn is_link_busy(&self) -> bool {
        !self.link_next().is_never()
    }

    /// When the owner has to ask so that the link has come to `moment`: it may run at `now` what lies less than the lead
    /// ahead.
    pub fn asked_for(&self, moment: Instant) -> Instant {
        let lead = self.path.least_to_link();
        if moment.is_never() || lead == Duration::ZERO {
            moment
        } else {
            Instant::from_ps((moment.as_ps() + 1).saturating_sub(lead.as_ps()))
        }
    }

    /// How far the link may run at `now`.
    pub fn reach(&self, now: Instant) -> Instant {
        now.max(just_short_of(now, self.path.least_to_link()))
    }

    /// Lets everything happen on the link until `moment`, which lies within its reach at `now`.
    pub fn run_link(&mut self, now: Instant, moment: Instant) {
        if self.link_next() <= moment {
            self.now = now;
            self.link.run(moment, &mut self.at_link, &mut self.back_at_link);
            self.collect();
        }
    }

    /// The next frame that has come out by `now`, and where.
    pub fn take_arrival(&mut self, now: Instant) -> Option<(End, Arrival)> {
        self.keep_up(now);
        self.take(0, |hosts| {
            let far = hosts.far.take().map(|arrival| (End::Far, arrival));
            far.or_else(|| hosts.near.take().map(|arrival| (End::Near, arrival)))
        })
    }

    fn link_next(&self) -> Instant {
        let entries = self.at_link.poll_timeout().min(self.back_at_link.poll_timeout());
        self.link.poll_timeout().min(entries)
    }

    /// Lets happen what has happened by `now`, and inside of the link what no host can change any more.
    fn keep_up(&mut self, now: Instant) {
        self.run_link(now, self.reach(now));
        while self.at_far.poll_timeout() <= now {
            self.now = self.at_far.poll_timeout();
            self.handle_at_far();
        }
        while self.at_near.poll_timeout() <= now {
            self.now = self.at_near.poll_timeout();
            self.handle_at_near();
        }
        self.now = now;
    }
}

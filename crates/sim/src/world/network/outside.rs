//! A network whose hosts are outside of the simulation, and keep the time.
//!
//! The owner says what time it is. No frame that a host sends from then on reaches the link before the leg to it has
//! passed. The link may run ahead up to then, and the owner need not wake up for events inside of the link.

use super::{Addressed, Network};
use crate::kernel::ahead::just_short_of;
use crate::net::ProtectedLink;
use crate::world::protocol::{Arrival, Carried, Outside};
use lossylink_core::time::{Duration, Instant};

/// The two hosts of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The host that usually sends the data.
    Near,
    /// The host that usually receives the data.
    Far,
}

impl<L: ProtectedLink<Addressed<Carried>>> Network<Outside, L> {
    /// Sends a frame of a host at `now`.
    pub fn send(&mut self, now: Instant, end: End, frame: Carried) {
        self.keep_up(now);
        self.act(0, |_, hosts| match end {
            End::Near => hosts.near.send(frame),
            End::Far => hosts.far.send(frame),
        });
    }

    /// Returns when the owner has to ask again: a frame comes out then, or may come out.
    ///
    /// An event of the link reaches a host no sooner than the leg to the host takes. The link may wait for that time.
    pub fn poll_outside(&self) -> Instant {
        let hosts = &self.conversations[0];
        if hosts.near.has_arrivals() || hosts.far.has_arrivals() {
            return self.now;
        }
        let link = self.link_next().saturating_add(self.path.least_to_hosts());
        link.min(self.at_far.poll_timeout()).min(self.at_near.poll_timeout())
    }

    /// Whether a frame is under way on the link, or an event of the link will come without another frame of a host.
    pub fn is_link_busy(&self) -> bool {
        !self.link_next().is_never()
    }

    /// Returns when the owner has to ask so that the link has come to `moment`. At `now` the link may run as far ahead
    /// as the least time from a host to the link, that time excluded.
    pub fn asked_for(&self, moment: Instant) -> Instant {
        let lead = self.path.least_to_link();
        if moment.is_never() || lead == Duration::ZERO {
            moment
        } else {
            Instant::from_ps((moment.as_ps() + 1).saturating_sub(lead.as_ps()))
        }
    }

    /// Returns how far the link may run at `now`.
    pub fn reach(&self, now: Instant) -> Instant {
        now.max(just_short_of(now, self.path.least_to_link()))
    }

    /// Handles all events of the link until `moment`, which lies within its reach at `now`.
    pub fn run_link(&mut self, now: Instant, moment: Instant) {
        if self.link_next() <= moment {
            self.now = now;
            self.link.run(moment, &mut self.at_link, &mut self.back_at_link);
            self.collect();
        }
    }

    /// Returns the next frame that has come out by `now`, and the host at which it came out.
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

    /// Handles the events up to `now`, and those inside of the link that no host can change any more.
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

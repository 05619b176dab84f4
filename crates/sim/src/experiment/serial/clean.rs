//! Trials that meet no loss: a flow that takes the same course in all of them is computed once. Equals [`Serial::run_flow`].

use super::trial::Trial;
use super::{Serial, SerialNetwork, SerialProtocol, draw_once, draws};
use crate::fast::{Path as Fast, takes};
use crate::net::{AnyLink, ProtectedLink};
use crate::world::network::{Course, Taken};
use crate::world::{Network, Reception};
use lossylink_core::rng::Streams;
use lossylink_core::time::Duration;

/// How often the hosts of a rehearsal take twice as long to wake up, at the most, the first one included.
const WAKE_UPS_TRIED: u32 = 4;

/// Trials of a block that meet no loss, and so need not be run.
#[derive(Clone, Copy, Debug)]
pub(super) struct CleanTrials {
    may_skip: bool,
    flow: Option<CleanFlow>,
}

/// A flow on hosts that add nothing to its packets: the next one that meets no loss takes exactly as long.
#[derive(Clone, Copy, Debug)]
struct CleanFlow {
    trial: Trial,
    frames: u64,
    octets: u32,
}

impl CleanTrials {
    /// Of a block in which no trial has run; `may_skip` says whether trials may be left out.
    pub(super) const fn new(may_skip: bool) -> Self {
        Self { may_skip, flow: None }
    }

    /// The next trial, with the frames that it puts on the link forward, if it is certain to meet no loss and to go like one before:
    /// then it has happened. `None`, and nothing has happened, if it must be run.
    #[inline]
    pub(super) fn take<T: SerialProtocol>(
        &self,
        serial: &Serial<'_, T>,
        network: &mut SerialNetwork<T>,
        streams: &Streams,
    ) -> Option<(Trial, u64)> {
        if !self.may_skip {
            return None;
        }
        let by_course =
            serial.course.as_ref().and_then(|course| course.take(network, &serial.reception, streams));
        by_course.or_else(|| {
            let flow = self.flow.filter(|flow| network.link.skip_clean(flow.frames, flow.octets))?;
            let once = draw_once(serial.once.as_ref(), &mut streams.stream("hosts"), serial.flow.size_bytes);
            Some((flow.trial.with(once), flow.frames))
        })
    }

    /// A trial ran without a loss, and put `frames` frames of at most `octets` each on the link.
    pub(super) fn note<T>(&mut self, serial: &Serial<'_, T>, ran: Trial, frames: u64, octets: u32) {
        let repeats = serial.is_repeatable && serial.skips() && self.may_skip;
        if repeats && self.flow.is_none() && ran.took.is_some() {
            self.flow = Some(CleanFlow { trial: ran, frames, octets });
        }
    }
}

/// The course of a flow on hosts that draw what they take: the next one that meets no loss takes the same, with draws of its
/// own.
#[derive(Clone, Debug)]
pub(super) struct CleanCourse {
    course: Course,
    /// A flow that takes longer is not certain to take this course.
    limit: Duration,
    /// Frames that it puts on an unprotected link, forward, and the octets of the largest.
    frames: u64,
    octets: u32,
    /// Whether the link is one that every flow crosses like the one before.
    crosses_alike: bool,
}

impl CleanCourse {
    /// A flow that takes this course at once, and lets the time pass that it takes. Gives the frames that it put on the link
    /// forward, too. `None`, and nothing has happened, if it is not certain to take this course.
    #[inline]
    fn take<T: SerialProtocol>(
        &self,
        network: &mut SerialNetwork<T>,
        reception: &Reception,
        streams: &Streams,
    ) -> Option<(Trial, u64)> {
        let (taken, frames) = if self.crosses_alike {
            (self.skip(network, reception, streams)?, self.frames)
        } else {
            let before = network.link.traffic().frames;
            (self.carry(network, reception, streams)?, network.link.traffic().frames - before)
        };
        network.wait_until(network.now() + taken.whole);
        Some((Trial::clean(taken.counted), frames))
    }

    /// Every flow crosses the link like the one before.
    fn skip<T: SerialProtocol>(
        &self,
        network: &mut SerialNetwork<T>,
        reception: &Reception,
        streams: &Streams,
    ) -> Option<Taken> {
        let taken = self.course.taken(reception, draws(streams))?;
        let is_certain = taken.whole < self.limit && network.link.skip_clean(self.frames, self.octets);
        is_certain.then_some(taken)
    }

    /// The link says when each frame leaves it.
    fn carry<T: SerialProtocol>(
        &self,
        network: &mut SerialNetwork<T>,
        reception: &Reception,
        streams: &Streams,
    ) -> Option<Taken> {
        let (start, mut idle) = (network.now(), network.link.idle()?);
        let taken = self.course.taken_over(&mut idle, start, reception, draws(streams))?;
        let is_certain =
            taken.whole < self.limit && network.link.carry_in_closed_form(idle, start + taken.whole);
        is_certain.then_some(taken)
    }
}

impl<T> Serial<'_, T> {
    fn skips(&self) -> bool {
        takes(Fast::CleanTrials) && self.setup.config.skip
    }
}

impl<T: SerialProtocol> Serial<'_, T> {
    /// The course of a flow that meets no loss, if it has one.
    pub(super) fn rehearsed(&self, crosses_alike: bool) -> Option<CleanCourse> {
        if !self.skips() || self.once.is_some() {
            return None;
        }
        let bytes = self.flow.size_bytes;
        let limit = self.protocol.steady_for(bytes)?.min(self.reception.sustained_after());
        // Long enough for all that is sent in a turn, and no longer than must be: timers run.
        let least = self.reception.least_wake_up();
        let (course, network) =
            (0..WAKE_UPS_TRIED).find_map(|doublings| self.rehearsed_in(least * (1 << doublings)))?;
        let traffic = network.link.traffic();
        let (frames, octets) = (traffic.frames, traffic.largest_octets);
        Some(CleanCourse { course, limit, frames, octets, crosses_alike })
    }

    /// The course of a flow between hosts that always wake up in `wake_up`, if it has one, and the network in which it was found.
    fn rehearsed_in(&self, wake_up: Duration) -> Option<(Course, SerialNetwork<T>)> {
        let (bytes, plan) = (self.flow.size_bytes, &self.setup.plan);
        let link = AnyLink::bare(plan, &Streams::new(self.setup.config.seed));
        let conversation = self.protocol.conversation(bytes);
        let mut network = Network::new(self.protocol.clone(), link, self.path.clone(), vec![conversation]);
        let no_phases = (Duration::ZERO, Duration::ZERO);
        let open = |now, ends: &mut _| T::start(now, ends, bytes, no_phases);
        let course = network.rehearse((&self.reception, wake_up), plan.rates, open, T::completion)?;
        let counted = T::counters(network.conversation(0));
        let is_clean = counted.retransmissions == 0 && counted.slowest().is_none();
        is_clean.then_some((course, network))
    }
}

//! Lets the two switches of a link run ahead of each other, as far as neither switch can notice.
//!
//! The receiving switch tells the sending switch two facts that change which frames are sent: that a frame was lost, and that too
//! many frames wait. Each fact needs a cause, and then time to take effect. So the sending switch runs ahead up to the first
//! instant at which it could be told. The receiving switch follows with all frames that were sent to it by then.
//!
//! An acknowledgement only frees copies. While no copy is asked for, a look at a copy may wait, and so may an acknowledgement:
//! both are caught up with later, each at its own time. While a copy is asked for, the sending switch runs ahead by the least
//! time of the way back, and takes in acknowledgements as they come.
//!
//! Each switch sees the events that it would see one by one, in that order. At equal times the events of the sending switch go first.

use super::FastLinkGuardianLink;
use super::frames::ControlFrame;
use super::timing::Timing;
use crate::fast::{Path as Fast, takes};
use crate::kernel::ahead;
use crate::net::Payload;
use crate::net::frame::{MINIMUM_OCTETS, USUAL_OCTETS};
use crate::net::source::{self, MANY, Source};
use lossylink_core::engine::linkguardian::Position;
use lossylink_core::time::{Duration, Instant};

/// The number of frames in whose time the switches run ahead of each other at the most. Chosen by the instructions that a frame
/// of the stress test takes: 300 with 64 frames, 278 with 256, 258 with 1,024.
const FRAMES_TOGETHER: u64 = 1024;

impl Timing {
    /// Returns the time from the first to the last of [`MANY`] frames of the usual size.
    pub(super) fn many(&self) -> Duration {
        self.rate.serialisation(USUAL_OCTETS) * u64::from(MANY - 1)
    }

    /// Returns the least time from the port back until a control frame takes effect at the sender.
    pub(super) fn least_told(&self) -> Duration {
        let flight = self.control_return.min(self.resume_flight).min(self.pause_reaction);
        self.rate_back.serialisation(MINIMUM_OCTETS) + flight
    }

    /// Returns the least time from a decision about a pause until the pause or resume takes effect at the sender.
    pub(super) fn least_pause(&self) -> Duration {
        self.timer_packet
            + self.rate_back.serialisation(MINIMUM_OCTETS)
            + self.resume_flight.min(self.pause_reaction)
    }

    /// Returns the least time from the arrival that shows a loss until a notification or a pause takes effect at the sender.
    pub(super) fn least_notice(&self) -> Duration {
        (self.notification_port + self.told()).min(self.least_pause())
    }
}

/// The places from which control frames come to the sending switch, and last the sending switch itself.
const PORT_BACK: usize = 0;
const BACKPRESSURE: usize = 1;
const SENDING: usize = 2;

/// The times by which the switches may run ahead of each other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leads {
    /// The least times to the sending switch, from the port of the way back and from a decision about a pause.
    told: ahead::Leads<3>,
    /// The longest time by which the sending switch runs ahead.
    longest: Duration,
    /// The time from the first to the last of [`MANY`] frames of the usual size.
    many: Duration,
}

impl Leads {
    pub(super) fn of(timing: &Timing) -> Self {
        if !takes(Fast::Switches) {
            return Self::none();
        }
        let smallest = timing.rate.serialisation(MINIMUM_OCTETS);
        // With half a window at the most, the sender abandons no position because acknowledgements are late.
        let safe = smallest * u64::from(Position::WINDOW / 2);
        let longest = (timing.rate.serialisation(USUAL_OCTETS) * FRAMES_TOGETHER).min(safe);
        Self { told: Self::told(timing.least_told(), timing.least_pause()), longest, many: timing.many() }
    }

    /// Returns leads of zero: both switches go event by event.
    pub(super) fn none() -> Self {
        let at_once = Duration::from_ps(1);
        Self { told: Self::told(at_once, at_once), longest: Duration::ZERO, many: Duration::ZERO }
    }

    fn told(by_port: Duration, by_pause: Duration) -> ahead::Leads<3> {
        ahead::Leads::along(
            &[(PORT_BACK, SENDING, by_port), (BACKPRESSURE, SENDING, by_pause)],
            [Duration::MAX; 3],
        )
    }

    /// Whether the switches may run ahead of each other at all.
    #[inline]
    pub(super) fn let_run_ahead(&self) -> bool {
        self.longest > Duration::ZERO
    }

    /// Returns the instant up to which the sending switch has heard of every control frame, if a control frame next leaves the
    /// port of the way back at `control`, and backpressure may next decide at `pause`.
    #[inline]
    fn heard(&self, control: Instant, pause: Instant) -> Instant {
        self.told.until(SENDING, &[control, pause, Instant::NEVER])
    }
}

impl<P: Payload> FastLinkGuardianLink<P> {
    /// Runs every event that is due up to and including `until`, and takes the frames that the hosts send by then. Returns when
    /// the last event happened, or [`Instant::ZERO`].
    #[inline]
    pub(super) fn go_ahead(
        &mut self,
        until: Instant,
        forward: &mut impl Source<P>,
        backward: &mut impl Source<P>,
    ) -> Instant {
        let mut latest = Instant::ZERO;
        loop {
            let next = self.next_to_send(forward).min(self.next_far()).min(backward.poll_timeout(0));
            if next > until || next.is_never() {
                return latest;
            }
            self.look_ahead(next, until);
            latest = latest.max(self.run_near(until, forward));
            let end = until.min(self.hears_loss_until());
            latest = latest.max(self.run_far(end, backward)).max(self.take_late_acks(end));
        }
    }

    /// Returns when the sending switch next has an event, a control frame takes effect, or `source` has a frame.
    #[inline]
    fn next_to_send(&self, source: &impl Source<P>) -> Instant {
        self.next_near().min(source.poll_timeout(self.sending.normal.len()))
    }

    /// Finds the instant up to which the sending switch knows every control frame that takes effect, if it goes on up to `until`.
    /// The next event at either switch is at `now`.
    #[inline]
    fn look_ahead(&mut self, now: Instant, until: Instant) {
        self.forward.note_seen(now, self.receiving.engine.expected());
        self.acks_may_wait = self.sending.acks_only_free_copies() && !self.backward.has_notification();
        self.heard = if self.acks_may_wait {
            // A test for certainty that no pause comes is needed only if the sending switch goes on beyond the earliest pause.
            let may_pause = self.receiving.may_pause();
            let looks = may_pause && self.leads.heard(Instant::NEVER, now) < until;
            let octets =
                if looks { self.receiving.octets_below_pause(now, &self.forward.arrivals) } else { None };
            self.forward.expect(octets);
            let pause = if may_pause && octets.is_none() { now } else { Instant::NEVER };
            let longest = now.saturating_add(self.leads.longest);
            self.leads.heard(self.receiving.back.next_control(), pause).min(longest)
        } else {
            self.forward.expect(None);
            self.leads.heard(now, Instant::NEVER)
        };
    }

    /// Finds the instant up to which the sending switch knows every control frame that takes effect, while the two directions
    /// take turns. No event has happened in either direction since `behind`, and the next event of the forward direction is at
    /// `now`. Returns false if the way back has stayed too far behind.
    #[inline]
    pub(super) fn look_forward(&mut self, now: Instant, behind: Instant) -> bool {
        self.forward.expect(None);
        self.acks_may_wait = true;
        self.heard = behind.saturating_add(self.leads.longest);
        now <= self.heard
    }

    /// Returns the instant up to which the sending switch hears of no loss, not even of a loss that the receiving switch has not
    /// detected yet.
    #[inline]
    pub(super) fn hears_loss_until(&self) -> Instant {
        self.heard.min(self.forward.poll_told())
    }

    /// Runs the events of the sending switch that are due up to and including `until`, as far as the switch knows every control
    /// frame that takes effect. Returns when the last event happened.
    #[inline]
    pub(super) fn run_near(&mut self, until: Instant, forward: &mut impl Source<P>) -> Instant {
        let mut now = Instant::ZERO;
        loop {
            let told =
                if self.acks_may_wait { self.backward.poll_pause() } else { self.backward.poll_timeout() };
            let rare = told.min(self.sending.poll_rare());
            if rare > now {
                now = self.send_ahead(now, until.min(rare.just_before()), forward);
            }
            if rare > until.min(self.hears_loss_until()) || rare.is_never() {
                return now;
            }
            now = now.max(rare);
            self.step_near(now);
        }
    }

    /// Takes the frames that come up to and including `until`, and sends the frames that leave the port by then. Returns when the
    /// last frame came or left, `now` if none did.
    #[inline(always)]
    fn send_ahead(&mut self, mut now: Instant, until: Instant, forward: &mut impl Source<P>) -> Instant {
        let until = until.min(self.heard);
        loop {
            let port = self.sending.poll_port();
            let backlog = self.sending.normal.len();
            let comes = forward.poll_timeout(backlog);
            let next = port.min(comes);
            let end = until.min(self.forward.poll_told());
            if next > end {
                return now;
            }
            let wire = &mut self.forward;
            let leave_many = backlog >= source::MANY as usize && next + self.leads.many <= end;
            let is_worth_it = leave_many || forward.brings_many(end);
            let sent = if is_worth_it { self.sending.send_trains(now, end, forward, wire) } else { None };
            if let Some(last) = sent {
                now = last;
                continue;
            }
            // The last event may have freed the port, which was idle before.
            now = next.max(now);
            if port <= now {
                self.sending.serve(now, wire);
            } else {
                forward.take(backlog, |_, frame| self.sending.offer(now, frame, wire));
            }
        }
    }

    /// Runs the events of the receiving switch that are due up to and including `end`. Returns when the last event happened.
    #[inline]
    pub(super) fn run_far(&mut self, end: Instant, backward: &mut impl Source<P>) -> Instant {
        let mut latest = Instant::ZERO;
        loop {
            let entry = backward.poll_timeout(0);
            let others = end.min(entry).min(self.forward.copies.poll_timeout().just_before());
            latest = latest.max(self.receiving.take_in(&mut self.forward.arrivals, others));
            latest = latest.max(self.receiving.send_acks(others, &mut self.backward));
            let far = self.next_far();
            if far > end.min(entry) {
                if entry > end || entry.is_never() {
                    return latest;
                }
                latest = latest.max(entry);
                let Self { receiving, backward: wire, .. } = self;
                backward.take(0, |at, frame| receiving.offer_back(at, frame, wire));
            } else {
                latest = latest.max(far);
                self.step_far(far);
            }
        }
    }

    /// Takes in the acknowledgements that took effect by `end`, after the sending switch has run beyond `end`.
    #[inline]
    pub(super) fn take_late_acks(&mut self, end: Instant) -> Instant {
        if self.backward.poll_timeout() > end {
            return Instant::ZERO;
        }
        self.sending.take_late_acks(end, &mut self.backward)
    }

    /// Returns when the sending switch next has an event, or a control frame takes effect.
    #[inline]
    pub(super) fn next_near(&self) -> Instant {
        self.backward.poll_timeout().min(self.sending.poll_timeout())
    }

    /// Returns when the receiving switch next has an event, or a frame reaches it.
    #[inline]
    pub(super) fn next_far(&self) -> Instant {
        self.forward.poll_timeout().min(self.receiving.poll_timeout())
    }

    /// Runs the first event at the sending switch that is due at `now`.
    #[inline]
    fn step_near(&mut self, now: Instant) {
        if self.backward.poll_timeout() <= now {
            self.handle_control(now);
        } else {
            self.sending.step(now, &mut self.forward);
        }
    }

    /// Runs the first event at the receiving switch that is due at `now`: a frame that arrives goes before an event of the switch's own.
    #[inline]
    fn step_far(&mut self, now: Instant) {
        let Self { forward, receiving, backward, .. } = self;
        if forward.arrivals.poll_timeout() <= now {
            forward.arrivals.take(|_, arrival| receiving.receive(now, arrival));
        } else if forward.copies.poll_timeout() <= now {
            forward.copies.take(|_, copy| receiving.receive_copy(now, copy));
        } else {
            receiving.step(now, backward);
        }
    }

    /// Lets the first control frame whose time has come take effect at the sender.
    #[inline]
    fn handle_control(&mut self, now: Instant) {
        match self.backward.poll(now) {
            Some((at, ControlFrame::Ack(leading))) => self.sending.handle_ack(at, leading),
            Some((at, ControlFrame::Notification(notification))) => {
                self.sending.handle_notification(at, &notification);
            }
            Some((at, ControlFrame::Pause(request))) => self.sending.handle_pause(at, request),
            None => {}
        }
    }
}

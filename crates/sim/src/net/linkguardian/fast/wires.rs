//! The two directions of the link, with the frames in flight.

use super::frames::{Arrival, ControlFrame, Copied};
use super::timing::{HEADER_OCTETS, Timing};
use crate::kernel::{Member, Pipe, Train, Trains};
use crate::net::frame::MINIMUM_OCTETS;
use crate::net::wire::Kind;
use crate::net::{Frame, Payload, Wire};
use lossylink_core::engine::linkguardian::{Notification, Position};
use lossylink_core::loss::Stake;
use lossylink_core::time::{Duration, Instant};

/// Octets that no frame exceeds. The largest IP packet has 65,535 bytes, and a segmentation offload may send one whole.
const LARGEST_OCTETS: u32 = 1 << 17;

/// Returns the name of a data frame and its copies.
const fn unit(position: Position) -> u64 {
    position.index() as u64
}

/// The wire from the sender to the receiver. A retransmission bypasses the egress pipeline and may overtake the frame before, so
/// copies have a pipe of their own.
///
/// Each of the `send` methods takes the times at which the frame begins to leave and arrives, and returns whether the frame
/// arrives.
#[derive(Clone, Debug)]
pub(super) struct ForwardWire<P: Payload> {
    pub(super) wire: Wire,
    pub(super) arrivals: Trains<Arrival<P>>,
    pub(super) copies: Pipe<Copied<P>>,
    /// The longest time from the arrival that shows a loss during which no control frame that follows from the loss takes effect
    /// at the sender.
    notice: Duration,
    /// No notification of an undetected loss takes effect at the sender up to this instant, which is `NEVER` if no loss is
    /// undetected.
    told: Instant,
    /// The position of the last lost frame.
    last_lost: Position,
    /// The size of the frames that cannot make the receiver pause the sender, as long as no frame is lost; `None` if the size does
    /// not matter.
    expected_octets: Option<u32>,
    /// No pause that follows from a frame of another size takes effect at the sender up to this instant.
    surprise: Instant,
}

impl<P: Payload> ForwardWire<P> {
    pub(super) fn new(wire: Wire, timing: &Timing) -> Self {
        let notice = timing.least_notice() - Duration::from_ps(1);
        let (arrivals, copies) = (Trains::new(), Pipe::new());
        Self {
            wire,
            arrivals,
            copies,
            notice,
            told: Instant::NEVER,
            last_lost: Position::ZERO,
            expected_octets: None,
            surprise: Instant::NEVER,
        }
    }

    /// Returns the instant up to which neither a notification of an undetected loss nor a pause that follows from a frame of
    /// another size takes effect at the sender.
    #[inline]
    pub(super) fn poll_told(&self) -> Instant {
        self.told.min(self.surprise)
    }

    /// Whether the receiver has detected every lost frame.
    pub(super) const fn has_no_undetected_loss(&self) -> bool {
        self.told.is_never()
    }

    /// Notes that from now on frames of `octets` cannot make the receiver pause the sender, as long as no frame is lost. With
    /// `None` no frame can.
    #[inline]
    pub(super) const fn expect(&mut self, octets: Option<u32>) {
        (self.expected_octets, self.surprise) = (octets, Instant::NEVER);
    }

    /// Whether a frame of any size cannot make the receiver pause the sender.
    #[inline]
    pub(super) const fn expects_any(&self) -> bool {
        self.expected_octets.is_none()
    }

    /// Whether a frame of `octets` cannot make the receiver pause the sender, as long as no frame is lost.
    #[inline]
    pub(super) fn expects(&self, octets: u32) -> bool {
        self.expected_octets.is_none_or(|expected| expected == octets)
    }

    /// Notes that the receiver has taken in every arrival before `now`, and expects position `expected` next. Lost frames before
    /// `expected` are detected, and no other loss is detected before `now`.
    #[inline]
    pub(super) fn note_seen(&mut self, now: Instant, expected: Position) {
        if !self.told.is_never() {
            let is_detected = expected.is_after(self.last_lost);
            self.told =
                if is_detected { Instant::NEVER } else { self.told.max(now.saturating_add(self.notice)) };
        }
    }

    #[cold]
    fn note_loss(&mut self, at: Instant, lost: Position) {
        self.told = self.told.min(at + self.notice);
        self.last_lost = lost;
    }

    /// Returns when a frame next arrives.
    #[inline]
    pub(super) fn poll_timeout(&self) -> Instant {
        self.arrivals.poll_timeout().min(self.copies.poll_timeout())
    }

    #[inline]
    pub(super) fn send_data(&mut self, (start, at): (Instant, Instant), data: Copied<P>) -> bool {
        let kind = Kind::Data { header_octets: HEADER_OCTETS };
        let stake = || Stake::Fresh { unit: unit(data.position) };
        let arrives = self.wire.carry_with(start, data.frame.octets, kind, stake);
        if arrives {
            if !self.expects(data.frame.octets) {
                self.surprise = self.surprise.min(at + self.notice);
            }
            self.arrivals.push_apart(at, Arrival::Data(data));
        } else {
            self.note_loss(at, data.position);
        }
        arrives
    }

    /// Returns how many of the next data frames are certain to arrive whole, as far as they begin to leave by the instant that is
    /// returned with their number.
    #[inline]
    pub(super) fn clear_frames(&self) -> (u64, Instant) {
        self.wire.clear_frames(LARGEST_OCTETS)
    }

    /// Sends a train of data frames that are certain to arrive whole, `data` first. Equals [`ForwardWire::send_data`] of each,
    /// which arrives at its time in `arrive`.
    #[inline]
    pub(super) fn send_train(&mut self, arrive: Train, data: &Copied<P>) {
        self.wire.carry_clear(arrive.count, data.frame.octets, HEADER_OCTETS);
        self.arrivals.push_if_many(arrive, &Arrival::Data(*data));
    }

    pub(super) fn send_copy(&mut self, (start, at): (Instant, Instant), copy: Copied<P>) -> bool {
        let repair = || Stake::Repair { unit: unit(copy.position) };
        let arrives = self.wire.carry_with(start, copy.frame.octets, Kind::Copy, repair);
        if arrives {
            self.copies.push(at, copy);
        }
        arrives
    }

    pub(super) fn send_dummy(&mut self, (start, at): (Instant, Instant), position: Position) -> bool {
        let arrives = self.wire.carry(start, MINIMUM_OCTETS, Kind::Control);
        if arrives {
            self.arrivals.push_apart(at, Arrival::Dummy(position));
        }
        arrives
    }

    /// Returns how many of the next dummies are certain to arrive, as far as they begin to leave by the instant that is returned with
    /// their number.
    #[inline]
    pub(super) fn clear_dummies(&self) -> (u64, Instant) {
        self.wire.clear_frames(MINIMUM_OCTETS)
    }

    /// Sends a train of dummies that are certain to arrive. Equals [`ForwardWire::send_dummy`] of each, which arrives at its time
    /// in `arrive`.
    #[inline]
    pub(super) fn send_dummies(&mut self, arrive: Train, position: Position) {
        self.wire.carry_control(u64::from(arrive.count), MINIMUM_OCTETS);
        self.arrivals.push_if_many(arrive, &Arrival::Dummy(position));
    }
}

/// A train of acknowledgements, each with the newest position of the register. Acknowledgements are equally spaced, and so are
/// changes of the register.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Acks {
    /// The position in the first acknowledgement.
    pub(super) leading: Position,
    /// The age of that position in the register when the first acknowledgement leaves.
    pub(super) held: Duration,
    /// The time from one acknowledgement to the next.
    pub(super) every: Duration,
    /// The time from one change of the register to the next; zero if the register does not change.
    pub(super) step: Duration,
}

impl Acks {
    /// Builds acknowledgements that all carry the position `leading`.
    pub(super) const fn of(leading: Position) -> Self {
        Self { leading, held: Duration::ZERO, every: Duration::ZERO, step: Duration::ZERO }
    }

    /// Moves on by `count` acknowledgements.
    #[inline]
    fn follow(&mut self, count: u32) {
        if self.step > Duration::ZERO {
            let held = self.held + self.every * u64::from(count);
            let changes = held.as_ps() / self.step.as_ps();
            self.leading = self.leading.plus(changes as u32);
            self.held = held - self.step * changes;
        }
    }

    /// Returns the acknowledgement `count` places behind the first.
    #[inline]
    pub(super) fn nth(mut self, count: u32) -> Self {
        self.follow(count);
        self
    }
}

/// Control frames that tell the sender which frames have arrived.
#[derive(Clone, Copy, Debug)]
enum Feedback {
    Acks(Acks),
    Notification(Notification),
}

impl Default for Feedback {
    fn default() -> Self {
        Self::Acks(Acks::default())
    }
}

impl Member for Feedback {
    #[inline]
    fn distance(&self, _next: &Self, _count: u32) -> Option<u32> {
        None
    }

    #[inline]
    fn follow(&mut self, count: u32, _step: u32) {
        if let Self::Acks(acks) = self {
            acks.follow(count);
        }
    }
}

/// The wire from the receiver to the sender, for frames of the hosts and control frames. No frame overtakes another on the wire.
/// Acknowledgements and notifications take effect in the order in which they were sent, and so do pauses, which take a way of their
/// own through the sender (LG-26).
#[derive(Clone, Debug)]
pub(super) struct BackwardWire<P: Payload> {
    pub(super) wire: Wire,
    pub(super) returned: Pipe<Frame<P>>,
    /// Acknowledgements and notifications.
    feedback: Trains<Feedback>,
    pauses: Pipe<ControlFrame>,
    /// The number of notifications in flight.
    notifications: usize,
    /// The time at which the next control frame takes effect.
    due: Instant,
}

impl<P: Payload> BackwardWire<P> {
    pub(super) fn new(wire: Wire) -> Self {
        Self {
            wire,
            returned: Pipe::new(),
            feedback: Trains::new(),
            pauses: Pipe::new(),
            notifications: 0,
            due: Instant::NEVER,
        }
    }

    /// Sends an explicit ACK from `start` on, which takes effect at `effective`. Returns whether the ACK arrives.
    #[inline]
    pub(super) fn send_ack(&mut self, (start, effective): (Instant, Instant), leading: Position) -> bool {
        let arrives = self.wire.carry(start, MINIMUM_OCTETS, Kind::Control);
        if arrives {
            self.push_ack(effective, leading);
        }
        arrives
    }

    /// Adds an ACK that rides on a frame that arrives.
    #[inline]
    pub(super) fn push_ack(&mut self, effective: Instant, leading: Position) {
        self.feedback.push_apart(effective, Feedback::Acks(Acks::of(leading)));
        self.due = self.due.min(effective);
    }

    /// Adds a train of explicit ACKs that arrive. Each takes effect at its time in `effective`.
    #[inline]
    pub(super) fn push_acks(&mut self, effective: Train, acks: Acks) {
        self.feedback.push_entry(effective, Feedback::Acks(acks));
        self.due = self.due.min(effective.first);
    }

    /// Sends a notification or a pause from `start` on, which takes effect at `effective`. Returns whether the frame arrives.
    pub(super) fn send_urgent(
        &mut self,
        (start, effective): (Instant, Instant),
        frame: ControlFrame,
    ) -> bool {
        let stake = || match &frame {
            ControlFrame::Notification(notification) => Stake::Repair { unit: unit(notification.first_lost) },
            ControlFrame::Ack(_) | ControlFrame::Pause(_) => Stake::Nothing,
        };
        let arrives = self.wire.carry_with(start, MINIMUM_OCTETS, Kind::Control, stake);
        if arrives {
            let effective = if let ControlFrame::Notification(notification) = frame {
                self.notifications += 1;
                let effective = effective.max(self.feedback.last_due());
                self.feedback.push_apart(effective, Feedback::Notification(notification));
                effective
            } else {
                let effective = effective.max(self.pauses.last_due());
                self.pauses.push(effective, frame);
                effective
            };
            self.due = self.due.min(effective);
        }
        arrives
    }

    /// Returns when the next control frame takes effect.
    #[inline]
    pub(super) const fn poll_timeout(&self) -> Instant {
        self.due
    }

    /// Hands each train of acknowledgements that took effect by `until` to `take`. No other control frame took effect by then.
    /// Returns when the last acknowledgement took effect, or [`Instant::ZERO`].
    #[inline]
    pub(super) fn take_acks(&mut self, until: Instant, mut take: impl FnMut(Train, &Acks)) -> Instant {
        let mut latest = Instant::ZERO;
        while self.due <= until {
            let (mut whole, mut part) = (0, 0);
            for (train, item) in self.feedback.oldest() {
                let Feedback::Acks(acks) = item else { break };
                if train.first > until {
                    break;
                }
                if train.last() <= until {
                    whole += 1;
                } else {
                    part = train.come_by(until);
                }
                let train = if part > 0 { train.up_to(part) } else { *train };
                take(train, acks);
                latest = train.last();
                if part > 0 {
                    break;
                }
            }
            assert!(whole > 0 || part > 0, "the sender ran past what it was told");
            self.feedback.skip_trains(whole);
            if part > 0 {
                self.feedback.skip(part);
            }
            self.due = self.feedback.poll_timeout().min(self.pauses.poll_timeout());
        }
        latest
    }

    /// Returns when the next pause or resume takes effect.
    #[inline]
    pub(super) const fn poll_pause(&self) -> Instant {
        self.pauses.poll_timeout()
    }

    /// Whether a loss notification is in flight.
    pub(super) const fn has_notification(&self) -> bool {
        self.notifications > 0
    }

    /// Whether no control frames but acknowledgements are in flight.
    #[inline]
    pub(super) fn carries_acks_only(&self) -> bool {
        !self.has_notification() && self.pauses.is_empty()
    }

    /// Takes the next control frame that took effect by `now`, with its time. Pauses come last.
    #[inline]
    pub(super) fn poll(&mut self, now: Instant) -> Option<(Instant, ControlFrame)> {
        if self.due > now {
            return None;
        }
        let told = self.feedback.pop_due(now).map(|(at, item)| match item {
            Feedback::Acks(acks) => (at, ControlFrame::Ack(acks.leading)),
            Feedback::Notification(notification) => (at, ControlFrame::Notification(notification)),
        });
        let (at, frame) = told.or_else(|| self.pauses.pop_due(now))?;
        self.due = self.feedback.poll_timeout().min(self.pauses.poll_timeout());
        self.notifications -= usize::from(matches!(frame, ControlFrame::Notification(_)));
        Some((at, frame))
    }
}

#[cfg(test)]
impl<P: Payload + std::fmt::Debug> BackwardWire<P> {
    /// Returns everything in flight as text, frame by frame.
    pub(super) fn under_way(&self) -> String {
        let Self { wire, returned, feedback, pauses, notifications, due } = self;
        let told: Vec<_> = (feedback.members().into_iter())
            .map(|(at, item)| match item {
                Feedback::Acks(acks) => (at, ControlFrame::Ack(acks.leading)),
                Feedback::Notification(notification) => (at, ControlFrame::Notification(notification)),
            })
            .collect();
        format!("{wire:?} {returned:?} {told:?} {pauses:?} {notifications} {due:?}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lossylink_core::engine::linkguardian::PauseRequest;
    use lossylink_core::loss::{LossModel, LossProcess};
    use lossylink_core::rng::Streams;

    #[test]
    fn acknowledgements_are_taken_up_to_the_time_and_no_further() {
        let loss = LossProcess::new(&LossModel::None, Streams::new(0).stream("back"));
        let mut wire = BackwardWire::<u64>::new(Wire::new(loss));
        let at = Instant::from_ps;
        let acks: Vec<_> = (10..14).map(|ps| (at(ps), Position::new(ps as u16, false))).collect();
        // The middle two acknowledgements carry one position, and are one entry.
        let acks = [acks[0], acks[1], (acks[2].0, acks[1].1), acks[3]];
        wire.push_ack(acks[0].0, acks[0].1);
        wire.push_acks(
            Train { spacing: Duration::from_ps(1), count: 2, ..Train::of_one(acks[1].0) },
            Acks::of(acks[1].1),
        );
        wire.push_ack(acks[3].0, acks[3].1);
        wire.send_urgent((at(12), at(13)), ControlFrame::Pause(PauseRequest::Pause));
        for (until, expected, next) in [(9, 0..0, 10), (11, 0..2, 12), (12, 2..3, 13)] {
            let mut taken = Vec::new();
            let latest = wire.take_acks(at(until), |train, acks| {
                taken.extend((0..train.count).map(|index| (train.nth(index), acks.nth(index).leading)));
            });
            assert_eq!(taken, acks[expected]);
            assert_eq!(latest, taken.last().map_or(Instant::ZERO, |&(at, _)| at));
            assert_eq!(wire.poll_timeout(), at(next));
        }
        wire.poll(at(13));
        assert_eq!(wire.poll_timeout(), at(13), "the pause takes effect, too");
    }

    // LG-15, LG-17: the register changes every 3 ps, and an acknowledgement leaves every 2 ps.
    #[test]
    fn acknowledgements_of_a_register_that_changes_say_the_newest() {
        let leading = Position::new(65_534, false);
        let (every, step) = (Duration::from_ps(2), Duration::from_ps(3));
        let acks = Acks { leading, held: Duration::from_ps(1), every, step };
        let said: Vec<_> = (0..6).map(|place| acks.nth(place).leading.steps_after(leading)).collect();
        assert_eq!(said, [0, 1, 1, 2, 3, 3]);
        assert_eq!(acks.nth(2).nth(3).leading, acks.nth(5).leading);
    }
}

//! The two directions of the link, with what is in flight on them.

use super::frames::{Arrival, ControlFrame, Copied};
use super::timing::{HEADER_OCTETS, Timing};
use crate::kernel::{Member, Pipe, Train, Trains};
use crate::net::frame::MINIMUM_OCTETS;
use crate::net::wire::Kind;
use crate::net::{Frame, Payload, Wire};
use lossylink_core::engine::linkguardian::{Notification, Position};
use lossylink_core::loss::Stake;
use lossylink_core::time::{Duration, Instant};

/// Octets that no frame exceeds: an IP packet of 65,535 bytes, which a segmentation offload may send whole, has fewer.
const LARGEST_OCTETS: u32 = 1 << 17;

/// The name of a data frame and its copies.
const fn unit(position: Position) -> u64 {
    position.index() as u64
}

/// From the sender to the receiver. Retransmissions bypass the egress pipeline and may overtake
/// the frame before them, so they fly apart. Frames are sent with the times at which they begin to leave and arrive; each
/// says whether it arrives.
#[derive(Clone, Debug)]
pub(super) struct ForwardWire<P: Payload> {
    pub(super) wire: Wire,
    pub(super) arrivals: Trains<Arrival<P>>,
    pub(super) copies: Pipe<Copied<P>>,
    /// From the arrival that shows a loss until the sender may hear of it: it has not, by then.
    notice: Duration,
    /// Until then the sender hears of no lost frame that the receiver has not missed yet; never, if there is none.
    told: Instant,
    /// The last frame that was lost.
    last_lost: Position,
    /// The size of the frames that make no news at the receiver as long as none is lost, if others may.
    expected_octets: Option<u32>,
    /// Until then the sender hears nothing that comes of a frame of another size.
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

    /// Up to when the sender hears of no loss that the receiver has not detected yet, and of nothing that comes of a frame
    /// that is not as expected.
    #[inline]
    pub(super) fn poll_told(&self) -> Instant {
        self.told.min(self.surprise)
    }

    /// Whether the receiver has missed every frame that was lost.
    pub(super) const fn has_no_undetected_loss(&self) -> bool {
        self.told.is_never()
    }

    /// From now on frames of `octets` make no news at the receiver as long as none is lost; if there is none such, none do.
    #[inline]
    pub(super) const fn expect(&mut self, octets: Option<u32>) {
        (self.expected_octets, self.surprise) = (octets, Instant::NEVER);
    }

    /// Whether the size of a frame makes no difference.
    #[inline]
    pub(super) const fn expects_any(&self) -> bool {
        self.expected_octets.is_none()
    }

    /// Whether a frame of `octets` makes no news at the receiver as long as none is lost.
    #[inline]
    pub(super) fn expects(&self, octets: u32) -> bool {
        self.expected_octets.is_none_or(|expected| expected == octets)
    }

    /// The receiver has seen all that comes before `now` and expects this position next: lost frames before it
    /// are no news any more, and none of the others is detected before `now`.
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

    /// When a frame next arrives.
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

    /// How many data frames are certain to arrive whole if they are sent next.
    #[inline]
    pub(super) fn clear_frames(&self) -> u64 {
        self.wire.clear_frames(LARGEST_OCTETS)
    }

    /// Sends a train of data frames that are certain to arrive whole, `data` first, when each arrives: as
    /// [`ForwardWire::send_data`] of each.
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

    /// How many dummies are certain to arrive if they are sent next.
    #[inline]
    pub(super) fn clear_dummies(&self) -> u64 {
        self.wire.clear_frames(MINIMUM_OCTETS)
    }

    /// Sends a train of dummies that are certain to arrive, when each arrives: as [`ForwardWire::send_dummy`] of each.
    #[inline]
    pub(super) fn send_dummies(&mut self, arrive: Train, position: Position) {
        self.wire.carry_control(u64::from(arrive.count), MINIMUM_OCTETS);
        self.arrivals.push_if_many(arrive, &Arrival::Dummy(position));
    }
}

/// Acknowledgements that leave at equal distances while the register changes at equal distances: each says the newest.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Acks {
    /// What the first says.
    pub(super) leading: Position,
    /// How long the register has held that when the first leaves.
    pub(super) held: Duration,
    /// From one acknowledgement to the next.
    pub(super) every: Duration,
    /// From one position of the register to the next; zero, if it does not change.
    pub(super) step: Duration,
}

impl Acks {
    /// One, or such as say the same.
    pub(super) const fn of(leading: Position) -> Self {
        Self { leading, held: Duration::ZERO, every: Duration::ZERO, step: Duration::ZERO }
    }

    /// Turns it into the one `count` places behind it.
    #[inline]
    fn follow(&mut self, count: u32) {
        if self.step > Duration::ZERO {
            let held = self.held + self.every * u64::from(count);
            let changes = held.as_ps() / self.step.as_ps();
            self.leading = self.leading.plus(changes as u32);
            self.held = held - self.step * changes;
        }
    }

    /// The one `count` places behind it.
    #[inline]
    pub(super) fn nth(mut self, count: u32) -> Self {
        self.follow(count);
        self
    }
}

/// What says what has arrived.
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

/// From the receiver to the sender: frames of the hosts, and control frames. Nothing overtakes on a
/// wire: acknowledgements and notifications take effect in the order in which they were sent, and so
/// do pauses, which take a way of their own through the sender (LG-26).
#[derive(Clone, Debug)]
pub(super) struct BackwardWire<P: Payload> {
    pub(super) wire: Wire,
    pub(super) returned: Pipe<Frame<P>>,
    /// Acknowledgements and notifications.
    feedback: Trains<Feedback>,
    pauses: Pipe<ControlFrame>,
    /// Notifications in flight.
    notifications: usize,
    /// When the first control frame takes effect.
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

    /// An explicit ACK is sent from `start` on, to be effective at `effective`; true if it arrives.
    #[inline]
    pub(super) fn send_ack(&mut self, (start, effective): (Instant, Instant), leading: Position) -> bool {
        let arrives = self.wire.carry(start, MINIMUM_OCTETS, Kind::Control);
        if arrives {
            self.push_ack(effective, leading);
        }
        arrives
    }

    /// An ACK rides on a frame that arrives.
    #[inline]
    pub(super) fn push_ack(&mut self, effective: Instant, leading: Position) {
        self.feedback.push_apart(effective, Feedback::Acks(Acks::of(leading)));
        self.due = self.due.min(effective);
    }

    /// Explicit ACKs are sent that arrive, to be effective when the train says.
    #[inline]
    pub(super) fn push_acks(&mut self, effective: Train, acks: Acks) {
        self.feedback.push_entry(effective, Feedback::Acks(acks));
        self.due = self.due.min(effective.first);
    }

    /// A notification or a pause is sent from `start` on, to be effective at `effective`; true if it arrives.
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

    /// When the next control frame takes effect.
    #[inline]
    pub(super) const fn poll_timeout(&self) -> Instant {
        self.due
    }

    /// Hands the acknowledgements that have taken effect by `until` to `take`, each train with its first. Nothing else has, and is
    /// still there. Says when the last of them did, or [`Instant::ZERO`].
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

    /// When the next pause or its end takes effect.
    #[inline]
    pub(super) const fn poll_pause(&self) -> Instant {
        self.pauses.poll_timeout()
    }

    /// Whether a loss notification is in flight.
    pub(super) const fn has_notification(&self) -> bool {
        self.notifications > 0
    }

    /// Whether nothing is in flight but acknowledgements and frames of the hosts.
    #[inline]
    pub(super) fn carries_acks_only(&self) -> bool {
        !self.has_notification() && self.pauses.is_empty()
    }

    /// Takes a control frame that has taken effect by `now`, with when it did: pauses last.
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
    /// All that is under way, frame by frame.
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
        // The middle two say the same, and are one entry.
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

    // LG-15, LG-17: the register changes every 3 ps, and every 2 ps is said what it holds.
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

//! The receiving switch takes in trains of frames while no rare event is due.

use super::{DEQUEUE, ReceivingSwitch, RxBuffer};
use crate::kernel::Trains;
use crate::net::Payload;
use crate::net::linkguardian::frames::Arrival;
use lossylink_core::engine::linkguardian::Backpressure;
use lossylink_core::time::Instant;

impl<P: Payload> ReceivingSwitch<P> {
    /// Takes in the new frames that arrive by `until`, and the frames that come round by then. No rare event is due by then, and
    /// none follows from these frames. Returns when the last frame came; `None` if none did. Equals [`ReceivingSwitch::receive`]
    /// and [`ReceivingSwitch::come_round`] of each.
    #[inline]
    pub(super) fn take_trains(
        &mut self,
        arrivals: &mut Trains<Arrival<P>>,
        until: Instant,
    ) -> Option<Instant> {
        if self.round.is_never() {
            self.pass_on(arrivals, until)
        } else {
            let held = self.hold_trains(arrivals, until);
            let last = held.max(self.let_go(until.min(arrivals.poll_timeout().just_before())));
            if last.is_none() && self.may_turn(arrivals.poll_timeout()) {
                self.turn(arrivals, until)
            } else {
                last
            }
        }
    }

    /// Whether the next frame, which comes round or arrives at `arrival`, extends the newest run of the reorder queue
    /// (`PortQueue::goes_on`).
    #[inline]
    fn may_turn(&self, arrival: Instant) -> bool {
        matches!(&self.buffer, RxBuffer::Loop(buffer) if buffer.goes_on(self.round.min(arrival)))
    }

    /// Holds the new frames that arrive in sequence by `until`, while a position is awaited. A frame that comes round by then is
    /// forwarded in its turn, or sent on another round. Equals [`ReceivingSwitch::receive`] and [`ReceivingSwitch::come_round`] of
    /// each.
    #[inline(never)]
    fn turn(&mut self, arrivals: &mut Trains<Arrival<P>>, until: Instant) -> Option<Instant> {
        let RxBuffer::Loop(buffer) = &mut self.buffer else { return None };
        let acts_from_bytes = match &self.backpressure {
            // A frame at the end of the queue changes no other frame's departure.
            Some(backpressure) if self.agenda.get(DEQUEUE).is_never() => backpressure.acts_from(),
            _ => u64::MAX,
        };
        let mut latest = None;
        while let Some(next) = self.engine.may_hold(0).filter(|&next| next != self.engine.expected()) {
            let expected = self.engine.expected();
            let (mut come, mut end) = (None, until);
            if let Some((train, arrival)) = arrivals.front().filter(|(train, _)| train.first <= until) {
                match arrival {
                    Arrival::Data(data)
                        if data.position == expected && self.engine.may_hold(train.count).is_some() =>
                    {
                        come = Some((train, data));
                        end = until.min(train.last());
                    }
                    _ => end = train.first.just_before(),
                }
            }
            let turned = buffer.turn(come, (next, expected), (end, acts_from_bytes), &mut self.delivered);
            if turned.last == Instant::ZERO {
                break;
            }
            latest = Some(turned.last);
            let gone = turned.next.steps_after(next);
            if gone > 0 {
                self.engine.deliver_many_in_turn(turned.delivered, gone);
            }
            let Some((train, _)) = come else { break };
            if turned.held > 0 {
                self.back.update_train(train.up_to(turned.held), expected);
                self.engine.hold_in_sequence(turned.held);
                arrivals.skip(turned.held);
            }
            if turned.held < train.count {
                break;
            }
        }
        self.round = buffer.next_round();
        self.watch();
        latest
    }

    /// Forwards the new frames that arrive in sequence by `until`, if no frame is held. Equals [`ReceivingSwitch::receive`] of
    /// each.
    #[inline]
    fn pass_on(&mut self, arrivals: &mut Trains<Arrival<P>>, until: Instant) -> Option<Instant> {
        let waits = matches!(&self.buffer, RxBuffer::Memory(memory) if memory.depth_bytes() > 0);
        if waits || !self.engine.is_in_sequence() {
            return None;
        }
        let mut latest = None;
        while arrivals.poll_timeout() <= until {
            let (expected, Some((train, arrival))) = (self.engine.expected(), arrivals.front()) else {
                break;
            };
            let train = train.up_to(train.come_by(until));
            match arrival {
                Arrival::Data(data) if data.position == expected => {
                    self.delivered.push_train(train, &data.bare());
                    self.back.update_train(train, expected);
                    self.engine.pass_in_sequence(train.last(), train.count);
                }
                Arrival::Dummy(position) if *position == expected => {
                    self.engine.pass_dummies(u64::from(train.count));
                }
                _ => break,
            }
            latest = Some(train.last());
            arrivals.skip(train.count);
        }
        latest
    }

    /// Holds the new frames that arrive in sequence by `until`, while each held frame comes round in its turn and one of them is
    /// still in the loop. Equals [`ReceivingSwitch::receive`] of each.
    #[inline]
    fn hold_trains(&mut self, arrivals: &mut Trains<Arrival<P>>, until: Instant) -> Option<Instant> {
        let RxBuffer::Loop(buffer) = &mut self.buffer else { return None };
        if !buffer.is_in_turn(self.engine.may_hold(0)?, self.engine.expected()) {
            return None;
        }
        let acts_from_bytes = self.backpressure.as_ref().map_or(u64::MAX, Backpressure::acts_from);
        let mut latest = None;
        while let Some((train, arrival)) = arrivals.front().filter(|(train, _)| train.first <= until) {
            let (train, expected) = (train.up_to(train.come_by(until)), self.engine.expected());
            let count = match arrival {
                Arrival::Data(first)
                    if first.position == expected && self.engine.may_hold(train.count).is_some() =>
                {
                    let count = buffer.hold_train(train, first, acts_from_bytes);
                    if count == 0 {
                        break;
                    }
                    self.back.update_train(train.up_to(count), expected);
                    self.engine.hold_in_sequence(count);
                    count
                }
                Arrival::Dummy(position) if *position == expected => {
                    self.engine.pass_dummies(u64::from(train.count));
                    train.count
                }
                _ => break,
            };
            arrivals.skip(count);
            latest = Some(train.nth(count - 1));
        }
        latest
    }

    /// Forwards the frames that come round by `until`, if each comes round in its turn. No frame arrives by then. Equals
    /// [`ReceivingSwitch::come_round`] of each.
    #[inline]
    fn let_go(&mut self, until: Instant) -> Option<Instant> {
        if self.round > until {
            return None;
        }
        let RxBuffer::Loop(buffer) = &mut self.buffer else { return None };
        let next = self.engine.may_hold(0)?;
        if !buffer.is_in_turn(next, self.engine.expected()) {
            return None;
        }
        let (count, last) = buffer.come_round_in_turn(until, &mut self.delivered);
        self.engine.deliver_many_in_turn(last, count);
        self.round = buffer.next_round();
        self.watch();
        Some(last)
    }
}

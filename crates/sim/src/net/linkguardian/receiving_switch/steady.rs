//! Takes in frames that arrive one behind another in one loop, as long as nothing is missing.

use super::{ReceivingSwitch, RxBuffer};
use crate::kernel::Pipe;
use crate::net::Payload;
use crate::net::linkguardian::FRAMES_TOGETHER;
use crate::net::linkguardian::wires::Arrival;
use lossylink_core::engine::linkguardian::{AckUpdate, Backpressure};
use lossylink_core::time::Instant;

impl<P: Payload> ReceivingSwitch<P> {
    /// Takes in the new frames that arrive by `until`, and lets those go on that come round by then, as long as nothing is
    /// missing and nothing rarer comes of it. Nothing rarer is due by then. Says when the last of them came; `None` if none did.
    #[inline]
    pub(super) fn take_steadily(
        &mut self,
        arrivals: &mut Pipe<Arrival<P>>,
        until: Instant,
    ) -> Option<Instant> {
        if self.round.is_never() {
            self.pass_on(arrivals, until)
        } else {
            let held = self.hold_sequence(arrivals, until);
            held.max(self.let_go(until.min(arrivals.poll_timeout().just_before())))
        }
    }

    /// Takes in the new frames that arrive in sequence by `until`, if nothing waits for its turn: each goes on.
    #[inline]
    fn pass_on(&mut self, arrivals: &mut Pipe<Arrival<P>>, until: Instant) -> Option<Instant> {
        let waits = matches!(&self.buffer, RxBuffer::Memory(memory) if memory.depth_bytes() > 0);
        if waits || !self.engine.is_in_sequence() {
            return None;
        }
        let mut expected = self.engine.expected();
        let first = arrivals.poll_timeout();
        let entries = arrivals.oldest();
        let places = self.delivered.room(entries.len().min(FRAMES_TOGETHER));
        let updates = self.back.room_for_updates(places.len());
        let (mut latest, mut first_data, mut latest_data) = (first, first, first);
        let (mut count, mut dummies) = (0, 0);
        let mut slots = places.iter_mut().zip(updates.places);
        for (at, arrival) in entries {
            if *at > until {
                break;
            }
            match arrival {
                Arrival::Data(data) if data.position == expected => {
                    let Some((place, update)) = slots.next() else { break };
                    *place = (*at, data.bare());
                    *update = (*at + updates.delay, AckUpdate::Advance(expected));
                    if count == 0 {
                        first_data = *at;
                    }
                    (expected, latest_data, count) = (expected.next(), *at, count + 1);
                }
                Arrival::Dummy(position) if *position == expected => dummies += 1,
                _ => break,
            }
            latest = *at;
        }
        if count + dummies == 0 {
            return None;
        }
        arrivals.skip_many(count + dummies);
        self.engine.pass_dummies(dummies as u64);
        if count > 0 {
            self.delivered.extend_by(count);
            self.back.extend_updates_by(first_data, count);
            self.engine.pass_in_sequence(latest_data, count as u32);
        }
        Some(latest)
    }

    /// Holds the new frames that arrive in sequence by `until`, as long as all that is held before them comes round in its turn and
    /// some of it is still there.
    #[inline]
    fn hold_sequence(&mut self, arrivals: &mut Pipe<Arrival<P>>, until: Instant) -> Option<Instant> {
        let first = arrivals.poll_timeout();
        if first > until {
            return None;
        }
        let RxBuffer::Loop(buffer) = &mut self.buffer else { return None };
        let next = self.engine.may_hold(FRAMES_TOGETHER as u32)?;
        let expected = self.engine.expected();
        if !buffer.is_in_turn(next, expected) {
            return None;
        }
        let calm_below = self.backpressure.as_ref().map_or(u64::MAX, Backpressure::acts_from);
        let entries = arrivals.oldest();
        let updates = self.back.room_for_updates(entries.len().min(FRAMES_TOGETHER));
        let entries = &entries[..updates.places.len()];
        let (mut latest, mut places) = (first, updates.places.iter_mut());
        let count = buffer.hold_sequence(entries, expected, until, calm_below, |at, position| {
            latest = at;
            if let Some(place) = places.next() {
                *place = (at + updates.delay, AckUpdate::Advance(position));
            }
        });
        if count == 0 {
            return None;
        }
        arrivals.skip_many(count as usize);
        self.back.extend_updates_by(first, count as usize);
        self.engine.hold_in_sequence(count);
        Some(latest)
    }

    /// Lets go on what comes round by `until`, if all of it comes in its turn. Nothing arrives by then.
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

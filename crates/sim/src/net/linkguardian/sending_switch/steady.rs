//! Sends data frames one behind another in one loop, as long as nothing else leaves.
//!
//! What is the same for all of them is asked for once. What they change is kept beside the loop and put in its place at its end.

use super::SendingSwitch;
use crate::net::Payload;
use crate::net::linkguardian::FRAMES_TOGETHER;
use crate::net::linkguardian::timing::HEADER_OCTETS;
use crate::net::linkguardian::tx_buffer::TxBuffer;
use crate::net::linkguardian::wires::ForwardWire;
use crate::net::source::Source;
use lossylink_core::time::Instant;

impl<P: Payload> SendingSwitch<P> {
    /// Takes the frames that `source` has by `until` and sends what the port sends by then, from `now` on, as long as only
    /// data frames leave and nobody looks, no copy is asked for, and the sender hears of no loss. Says when the last of it
    /// happened; `None` if nothing did.
    #[inline(always)]
    pub(in crate::net::linkguardian) fn send_steadily(
        &mut self,
        mut now: Instant,
        until: Instant,
        source: &mut impl Source<P>,
        wire: &mut ForwardWire<P>,
    ) -> Option<Instant> {
        let TxBuffer::Loop(copies) = &mut self.copies else { return None };
        if self.pause.holds() || !self.urgent.is_empty() || self.tap.is_open() {
            return None;
        }
        // One short of all, since the last costs the oldest its copy.
        let most = u64::from(self.engine.may_stamp().saturating_sub(1).min(FRAMES_TOGETHER as u32))
            .min(wire.clear_frames());
        if most == 0 {
            return None;
        }
        let first_number = self.engine.counters().data as u32;
        let (mut number, mut position) = (first_number, self.engine.next());
        let (mut wants_dummy, dummies) = (self.engine.wants_dummy(), self.engine.config().dummies > 0);
        let rate = self.timing.rate;
        let mut latest = None;
        let mut busy_until = self.busy_until;
        'frames: for (left, copy) in copies.room(number, most as usize) {
            loop {
                let backlog = self.normal.len();
                let mut next = source.poll_timeout(backlog);
                if backlog > 0 {
                    next = next.min(busy_until);
                } else if wants_dummy && self.dummy.departure(self.busy_since, busy_until) <= next {
                    break 'frames;
                }
                if next > until {
                    break 'frames;
                }
                now = now.max(next);
                latest = Some(now);
                if busy_until > now {
                    source.take(backlog, |_, frame| _ = self.normal.offer(frame));
                } else if backlog > 0 {
                    self.normal.poll_into(&mut copy.frame);
                    break;
                } else {
                    let mut came = false;
                    source.take(backlog, |_, frame| (copy.frame, came) = (frame, true));
                    if came {
                        break;
                    }
                }
            }
            if now > busy_until {
                self.busy_since = now;
            }
            copy.frame.octets += HEADER_OCTETS;
            (copy.position, copy.number) = (position, number);
            *left = now;
            busy_until = now + rate.serialisation(copy.frame.octets);
            (position, number, wants_dummy) = (position.next(), number.wrapping_add(1), dummies);
        }
        let sent = number.wrapping_sub(first_number);
        if sent > 0 {
            let pipeline = self.timing.data_pipeline;
            let kept = copies.extend_by(first_number, sent as usize);
            wire.send_many(
                kept.map(|(left, copy)| (left + rate.serialisation(copy.frame.octets) + pipeline, copy)),
            );
            self.engine.stamp_many(sent);
            self.busy_until = busy_until;
        }
        self.schedule_port();
        latest
    }
}

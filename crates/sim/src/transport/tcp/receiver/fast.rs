//! Trains of segments in order: equal to packet by packet, without the work that only matters when another event happens
//! between two segments.

use super::super::packet::{Ack, Data, Packet, SackBlocks};
use super::Receiver;
use crate::kernel::{Assembly, Train};
use lossylink_core::time::Duration;

impl Receiver {
    /// Takes packets of a train that bring one new segment each, in order and unmarked, as long as no segment is missing and
    /// no tick comes. So the clock's jiffy is that of the first packet, and no timer that is armed on the way is due. Hands
    /// the acknowledgements to `send`. Returns how many packets were taken.
    pub fn take_train(&mut self, train: Train, packet: &Packet, mut send: impl FnMut(Train, Packet)) -> u32 {
        let Packet::Data(data) = packet else { return 0 };
        self.clock.refresh(train.first);
        let before_estimate =
            self.compression.segments_before_estimate(self.next).min(u64::from(train.count)) as u32;
        if before_estimate == 0 || !self.is_predicted(data, train.step) {
            return 0;
        }
        let count = self.clock.within_tick(train.up_to(before_estimate));
        let mut acks = Assembly::default();
        let mut latest = None;
        let mut taken = 0;
        while taken < count {
            taken += 1;
            if !self.take_predicted_data() {
                continue;
            }
            let mut ack = Train::of_one(train.nth(taken - 1));
            if let Some((before, delayed)) = latest
                && delayed == self.delayed
            {
                // The state is that after the acknowledgement before, so the next acknowledgements are like this one.
                ack = self.repeat_ack(ack, train.spacing, taken - before, count - taken);
                taken += (ack.count - 1) * ack.step;
            }
            latest = Some((taken, self.delayed));
            let first = self.next - u64::from((ack.count - 1) * ack.step);
            if let Some((train, next)) = acks.add(ack, first) {
                send(train, self.plain_ack(next));
            }
        }
        self.clock.refresh(train.nth(count - 1));
        if let Some((train, next)) = acks.finish() {
            send(train, self.plain_ack(next));
        }
        count
    }

    /// Header prediction: whether a packet brings the next segment, a full one, and neither packet nor connection needs more work than
    /// to take in the segment.
    fn is_predicted(&self, data: &Data, step: u32) -> bool {
        let is_next = data.first == self.next && data.segments == 1 && step == 1;
        let is_plain = data.payload == self.payload && !data.window_reduced;
        let has_no_gap = self.reassembly.is_empty() && self.duplicate.is_none() && self.sacks.is_empty();
        let has_no_options = !(self.config.timestamps || self.ecn.is_on());
        is_next
            && is_plain
            && has_no_gap
            && has_no_options
            && self.caused == 0
            && !self.handshake.is_waiting()
    }

    /// Takes one segment. Returns whether all segments up to it are acknowledged now.
    #[inline]
    fn take_predicted_data(&mut self) -> bool {
        self.next += 1;
        self.delayed.note_in_order(u64::from(self.payload));
        self.delayed.note_data(self.payload, self.rtt.timeout(), &self.clock);
        let is_now = self.is_to_acknowledge();
        if is_now {
            self.note_acknowledged();
        }
        is_now
    }

    /// Takes as many of `left` segments as are acknowledged in groups of `step`, like the group whose acknowledgement is
    /// `ack`. Returns that acknowledgement and theirs.
    fn repeat_ack(&mut self, ack: Train, spacing: Duration, step: u32, left: u32) -> Train {
        let more = if step == 1 { left } else { left / step };
        self.next += u64::from(more * step);
        self.acknowledged = self.next;
        Train { spacing: spacing * u64::from(step), count: 1 + more, step, ..ack }
    }

    const fn plain_ack(&self, next: u64) -> Packet {
        let sack = SackBlocks::NONE;
        Packet::Ack(Ack { next, sack, ecn_echo: false, ecn_capable: false, echo: self.recent })
    }
}

//! Segments in order that come one behind another: the same as packet by packet, without what only
//! matters when something else happens between them.

use super::super::packet::{Ack, Data, Packet, SackBlocks};
use super::Receiver;
use crate::kernel::{Assembly, Train};

impl Receiver {
    /// Takes packets of a train that bring one new segment each, in order and unmarked, as long as nothing is missing and no
    /// tick comes: so the clock's jiffy is that of the first, and no timer that is armed on the way is due. Hands the
    /// acknowledgements to `send`. Returns how many packets were taken.
    pub fn take_train(&mut self, train: Train, packet: &Packet, mut send: impl FnMut(Train, Packet)) -> u32 {
        let Packet::Data(data) = packet else { return 0 };
        self.clock.refresh(train.first);
        let steady = self.compression.steady_before(self.next).min(u64::from(train.count)) as u32;
        if steady == 0 || !self.is_steady(data, train.step) {
            return 0;
        }
        let count = self.clock.within_tick(train.up_to(steady));
        let mut acks = Assembly::default();
        for index in 0..count {
            self.next += 1;
            self.delayed.note_in_order(u64::from(self.payload));
            self.delayed.note_data(self.payload, self.rtt.timeout(), &self.clock);
            if self.is_to_acknowledge() {
                self.delayed.acknowledged();
                self.compression.acknowledged();
                self.acknowledged = self.next;
                if let Some((train, next)) = acks.add(train.nth(index), self.next) {
                    send(train, self.plain_ack(next));
                }
            }
        }
        if count > 0 {
            self.clock.refresh(train.nth(count - 1));
        }
        if let Some((train, next)) = acks.finish() {
            send(train, self.plain_ack(next));
        }
        count
    }

    /// Whether a packet brings the next segment, a full one, and nothing is special about it or the connection.
    fn is_steady(&self, data: &Data, step: u32) -> bool {
        let is_next = data.first == self.next && data.segments == 1 && step == 1;
        let is_plain = data.payload == self.payload && !data.window_reduced;
        let is_calm =
            self.reassembly.is_empty() && self.duplicate.is_none() && self.sacks.iter().next().is_none();
        let has_no_options = !(self.config.timestamps || self.ecn.is_on());
        is_next && is_plain && is_calm && has_no_options && self.caused == 0 && !self.handshake.is_waiting()
    }

    const fn plain_ack(&self, next: u64) -> Packet {
        let sack = SackBlocks::NONE;
        Packet::Ack(Ack { next, sack, ecn_echo: false, ecn_capable: false, echo: self.recent })
    }
}

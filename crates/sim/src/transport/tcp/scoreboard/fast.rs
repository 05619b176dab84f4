//! Segments that are sent and acknowledged in trains.

use super::Scoreboard;
use super::segment::{LISTED, NONE, Segment};
use crate::kernel::Train;
use crate::transport::tcp::clock::Clock;

impl Scoreboard {
    /// Sends new segments at the times of the train, when `delivered` segments have been delivered.
    pub(in crate::transport::tcp) fn send_train(&mut self, train: Train, delivered: u64) {
        while (self.outstanding() + train.count) as usize > self.slots.len() {
            self.grow();
        }
        self.send_groups(train, 1, delivered, 0);
    }

    /// Handles a train of acknowledgements: for each of them as many segments are removed as it acknowledges, and as many new
    /// ones leave. `delivered` segments had been delivered before. More segments are outstanding than all of them acknowledge,
    /// and nothing is known of any but that it was sent, in the order of the numbers.
    pub(in crate::transport::tcp) fn exchange(&mut self, acks: Train, delivered: u64) {
        let step = u64::from(acks.step);
        self.una += step * u64::from(acks.count);
        self.send_groups(acks, acks.step, delivered + step, step);
        self.oldest = self.slot(self.una) as u32;
    }

    /// Sends a group of `size` segments, for which there is room, at each time of a train; `more` segments are delivered from
    /// one group to the next.
    #[inline]
    fn send_groups(&mut self, times: Train, size: u32, mut delivered: u64, more: u64) {
        let mask = self.slots.len() - 1;
        let (first, mut newest) = (self.slot(self.next), self.newest);
        match newest {
            NONE => self.oldest = first as u32,
            newest => self.slots[newest as usize].later = first as u32,
        }
        let (slots, mut slot, mut at) = (self.slots.as_mut_slice(), first, times.first);
        let mut leave = |sent_us: u64, delivered: u64| {
            let later = (slot + 1) & mask;
            slots[slot] = Segment {
                sent_us,
                delivered: delivered as u32,
                earlier: newest,
                later: later as u32,
                flags: LISTED,
                overtaken_by: 0,
            };
            (newest, slot) = (slot as u32, later);
        };
        for _ in 0..times.count {
            let sent_us = Clock::micros_at(at);
            if size == 1 {
                leave(sent_us, delivered);
            } else {
                (0..size).for_each(|_| leave(sent_us, delivered));
            }
            at += times.spacing;
            delivered += more;
        }
        self.slots[newest as usize].later = NONE;
        self.newest = newest;
        self.next += u64::from(times.count * size);
    }
}

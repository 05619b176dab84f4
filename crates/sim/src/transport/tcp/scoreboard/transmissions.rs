//! The segments that RACK may still declare lost, in the order of their last transmission: a list
//! linked through the slots of the ring.

use super::Scoreboard;
use super::segment::{LISTED, NONE, Segment};

impl Scoreboard {
    /// Returns the first segment on the transmission list.
    pub(in super::super) fn oldest_sent(&self) -> Option<u64> {
        self.number_of(self.oldest)
    }

    /// Returns the segment after `number` on the transmission list.
    pub(in super::super) fn sent_after(&self, number: u64) -> Option<u64> {
        self.number_of(self.get(number).later)
    }

    /// Returns the outstanding segment in a slot.
    pub(super) fn number_of(&self, slot: u32) -> Option<u64> {
        let first = self.slot(self.una);
        let ahead = (slot as usize).wrapping_sub(first) & (self.slots.len() - 1);
        (slot != NONE).then_some(self.una + ahead as u64)
    }

    pub(super) fn append(&mut self, slot: u32) {
        let newest = self.newest;
        let segment = &mut self.slots[slot as usize];
        segment.flags |= LISTED;
        segment.earlier = newest;
        segment.later = NONE;
        match newest {
            NONE => self.oldest = slot,
            newest => self.slots[newest as usize].later = slot,
        }
        self.newest = slot;
    }

    pub(super) fn prepend(&mut self, slot: u32) {
        let oldest = self.oldest;
        let segment = &mut self.slots[slot as usize];
        segment.flags |= LISTED;
        segment.earlier = NONE;
        segment.later = oldest;
        match oldest {
            NONE => self.newest = slot,
            oldest => self.slots[oldest as usize].earlier = slot,
        }
        self.oldest = slot;
    }

    pub(super) fn unlist(&mut self, slot: u32) {
        let Segment { mut earlier, later, flags, .. } = self.slots[slot as usize];
        if flags & LISTED == 0 {
            return;
        }
        if slot == self.oldest {
            (self.oldest, earlier) = (later, NONE);
        } else {
            self.slots[earlier as usize].later = later;
        }
        match later {
            NONE => self.newest = earlier,
            later => self.slots[later as usize].earlier = earlier,
        }
        self.slots[slot as usize].flags &= !LISTED;
    }
}

//! The state of every outstanding segment, as the sender knows it, in a ring indexed by segment number.
//!
//! Counters stand for scans: packets in flight, SACKed, lost and retransmitted are kept up to date
//! at each change of a segment, as in Linux. The segments that RACK may still declare lost form a
//! list in the order of their last transmission.

#[cfg(feature = "fast")]
mod fast;
mod segment;
mod transmissions;

use segment::{LISTED, LOST, NONE, RETRANSMITTED, SACKED};
pub(super) use segment::{Segment, Sent};

/// Number of slots of a new ring; a power of two that holds an initial window.
const FIRST_SLOTS: usize = 32;

/// The outstanding segments `una .. next`, and their state.
#[derive(Clone, Debug)]
pub(super) struct Scoreboard {
    slots: Vec<Segment>,
    una: u64,
    next: u64,
    sacked: u32,
    lost: u32,
    retransmitted: u32,
    /// One past the highest SACKed segment; meaningful while any is SACKed.
    sacked_end: u64,
    /// The segment below which no segment is lost and waiting to be retransmitted.
    resend_hint: u64,
    oldest: u32,
    newest: u32,
    /// The segment from which on the transmission list is in the order of the numbers.
    in_order_from: u64,
}

impl Scoreboard {
    pub(super) fn new() -> Self {
        Self::with_slots(vec![Segment::UNUSED; FIRST_SLOTS])
    }

    /// Returns an empty scoreboard in the memory of this one, which is of no use any more.
    pub(super) fn reopen(&mut self) -> Self {
        Self::with_slots(std::mem::take(&mut self.slots))
    }

    const fn with_slots(slots: Vec<Segment>) -> Self {
        Self {
            slots,
            una: 0,
            next: 0,
            sacked: 0,
            lost: 0,
            retransmitted: 0,
            sacked_end: 0,
            resend_hint: u64::MAX,
            oldest: NONE,
            newest: NONE,
            in_order_from: 0,
        }
    }

    /// Returns the first segment not cumulatively acknowledged.
    pub(super) const fn una(&self) -> u64 {
        self.una
    }

    /// Returns the next segment never sent.
    pub(super) const fn next(&self) -> u64 {
        self.next
    }

    /// Returns the number of segments sent and not cumulatively acknowledged.
    pub(super) const fn outstanding(&self) -> u32 {
        (self.next - self.una) as u32
    }

    pub(super) const fn sacked(&self) -> u32 {
        self.sacked
    }

    pub(super) const fn lost(&self) -> u32 {
        self.lost
    }

    pub(super) const fn retransmitted(&self) -> u32 {
        self.retransmitted
    }

    /// Returns the number of segments believed to have left the network without a cumulative acknowledgement.
    pub(super) const fn left(&self) -> u32 {
        self.sacked + self.lost
    }

    /// Returns the number of segments believed in the network (RFC 6675's pipe as Linux counts it).
    pub(super) const fn in_flight(&self) -> u32 {
        self.outstanding() + self.retransmitted - self.left()
    }

    /// Returns one past the highest SACKed segment, or `una` when no segment is SACKed.
    pub(super) const fn sacked_end(&self) -> u64 {
        if self.sacked == 0 { self.una } else { self.sacked_end }
    }

    pub(super) fn get(&self, number: u64) -> &Segment {
        &self.slots[self.slot(number)]
    }

    /// Returns the first outstanding segment, if any.
    pub(super) fn head(&self) -> Option<&Segment> {
        (self.una < self.next).then(|| self.get(self.una))
    }

    /// Whether the first outstanding segment was ever retransmitted or any retransmission is in flight.
    pub(super) fn any_retransmission(&self) -> bool {
        self.retransmitted > 0 || self.head().is_some_and(Segment::was_retransmitted)
    }

    /// Sends a new segment and returns its number.
    #[inline(always)]
    pub(super) fn send_new(&mut self, now_us: u64, delivered: u64) -> u64 {
        if self.outstanding() as usize == self.slots.len() {
            self.grow();
        }
        let number = self.next;
        self.next += 1;
        let slot = self.slot(number);
        self.slots[slot] = Segment { sent_us: now_us, delivered: delivered as u32, ..Segment::UNUSED };
        self.append(slot as u32);
        number
    }

    /// Sends a lost segment again.
    pub(super) fn resend(&mut self, number: u64, now_us: u64, delivered: u64) {
        self.stamp_again(number, now_us, delivered);
        let slot = self.slot(number);
        if self.slots[slot].flags & RETRANSMITTED == 0 {
            self.retransmitted += 1;
        }
        self.slots[slot].flags |= RETRANSMITTED;
        if self.resend_hint == number {
            self.resend_hint = number + 1;
        }
    }

    /// Sends a segment again as a tail-loss probe, which does not count as a retransmission in flight.
    pub(super) fn stamp_again(&mut self, number: u64, now_us: u64, delivered: u64) {
        let slot = self.slot(number);
        self.in_order_from = self.next;
        self.unlist(slot as u32);
        self.slots[slot].stamp_again(now_us, delivered as u32, self.next - number);
        self.append(slot as u32);
    }

    /// Removes the first outstanding segment and returns its last state.
    pub(super) fn pop_acknowledged(&mut self) -> Segment {
        let slot = self.slot(self.una);
        let segment = self.slots[slot];
        self.una += 1;
        if segment.flags & LISTED != 0 {
            self.unlist(slot as u32);
        }
        self.sacked -= u32::from(segment.is_sacked());
        self.lost -= u32::from(segment.is_lost());
        self.retransmitted -= u32::from(segment.is_retransmitted());
        segment
    }

    /// Whether every outstanding segment was sent once, in the order of the numbers, and nothing else is known of any.
    #[inline]
    pub(super) const fn is_in_sequence(&self) -> bool {
        self.sacked == 0 && self.lost == 0 && self.retransmitted == 0 && self.in_order_from <= self.una
    }

    /// Removes the segments before `end`, if every outstanding segment was sent once, in the order of the numbers, and
    /// nothing else is known of any. Returns when the first of them was sent, microseconds, and the state of the last.
    /// Otherwise returns `None` and removes none.
    #[inline]
    pub(super) fn pop_in_sequence(&mut self, end: u64) -> Option<(u64, Segment)> {
        if !(self.is_in_sequence() && self.una < end) {
            return None;
        }
        debug_assert_eq!(self.oldest_sent(), Some(self.una), "the list is in the order of the numbers");
        let (first_sent_us, last) = (self.get(self.una).sent_us, *self.get(end - 1));
        self.una = end;
        self.oldest = last.later;
        if last.later == NONE {
            self.newest = NONE;
        }
        Some((first_sent_us, last))
    }

    /// Marks a segment SACKed and returns its state before.
    ///
    /// A retransmission in flight of a segment that was not lost stays in flight. (TCP-15)
    pub(super) fn mark_sacked(&mut self, number: u64) -> Segment {
        let slot = self.slot(number);
        self.unlist(slot as u32);
        let before = self.slots[slot];
        let mut flags = before.flags & !LISTED;
        if flags & LOST != 0 {
            self.lost -= 1;
            self.retransmitted -= u32::from(flags & RETRANSMITTED != 0);
            flags &= !(LOST | RETRANSMITTED);
        }
        self.slots[slot].flags = flags | SACKED;
        self.sacked += 1;
        self.sacked_end = self.sacked_end().max(number + 1);
        before
    }

    /// Notes that the retransmission of a segment arrived, as a D-SACK tells: it is not in flight any more.
    pub(super) fn retransmission_arrived(&mut self, number: u64) {
        let slot = self.slot(number);
        if self.slots[slot].is_retransmitted() {
            self.slots[slot].flags &= !RETRANSMITTED;
            self.retransmitted -= 1;
            self.resend_hint = self.resend_hint.min(number);
        }
    }

    /// Declares a segment, or its retransmission, lost. Returns whether anything changed.
    pub(super) fn mark_lost(&mut self, number: u64) -> bool {
        let slot = self.slot(number);
        self.unlist(slot as u32);
        let flags = self.slots[slot].flags;
        if flags & SACKED != 0 || flags & (LOST | RETRANSMITTED) == LOST {
            return false;
        }
        if flags & LOST != 0 {
            self.retransmitted -= 1;
            self.slots[slot].flags &= !RETRANSMITTED;
        } else {
            self.lost += 1;
            self.slots[slot].flags |= LOST;
        }
        self.resend_hint = self.resend_hint.min(number);
        true
    }

    /// Takes back every loss mark, because the marks were wrong. (TCP-38)
    ///
    /// Segments off the transmission list return to its front: all segments on the list were sent later.
    pub(super) fn unmark_all_lost(&mut self) {
        self.in_order_from = self.next;
        for number in (self.una..self.next).rev() {
            let slot = self.slot(number);
            let flags = self.slots[slot].flags;
            if flags & LOST != 0 {
                self.slots[slot].flags &= !LOST;
                if flags & LISTED == 0 {
                    self.prepend(slot as u32);
                }
            }
        }
        self.lost = 0;
        self.resend_hint = u64::MAX;
    }

    /// Returns the lowest segment that is lost and whose retransmission is not in flight.
    pub(super) fn next_lost(&mut self) -> Option<u64> {
        if self.retransmitted >= self.lost {
            return None;
        }
        let first = self.resend_hint.max(self.una);
        let found = (first..self.next).find(|&number| self.is_waiting(number));
        self.resend_hint = found.unwrap_or(u64::MAX);
        found
    }

    /// Whether an outstanding segment is lost and its retransmission is not in flight.
    pub(super) fn is_waiting(&self, number: u64) -> bool {
        number < self.next && self.get(number).flags & (LOST | RETRANSMITTED | SACKED) == LOST
    }

    fn slot(&self, number: u64) -> usize {
        number as usize & (self.slots.len() - 1)
    }

    /// Doubles the ring. Links are slots, so they change with it.
    #[cold]
    fn grow(&mut self) {
        let old = self.slots.len();
        let mut wide = vec![Segment::UNUSED; 2 * old];
        let moved = |number: u64| number as usize & (2 * old - 1);
        for number in self.una..self.next {
            let link = |slot: u32| self.number_of(slot).map_or(NONE, |number| moved(number) as u32);
            let segment = *self.get(number);
            wide[moved(number)] =
                Segment { earlier: link(segment.earlier), later: link(segment.later), ..segment };
        }
        let link = |slot: u32| self.number_of(slot).map_or(NONE, |number| moved(number) as u32);
        let (oldest, newest) = (link(self.oldest), link(self.newest));
        (self.slots, self.oldest, self.newest) = (wide, oldest, newest);
    }
}

#[cfg(test)]
mod tests;

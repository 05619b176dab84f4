//! What the sender knows of every outstanding segment, as a ring indexed by segment number.
//!
//! Counters stand for scans: packets in flight, SACKed, lost and retransmitted are kept up to date
//! at each change of a segment, as in Linux. The segments that RACK may still declare lost form a
//! list in the order of their last transmission.

/// No slot: the end of the transmission list.
const NONE: u32 = u32::MAX;
/// Slots of a new ring; a power of two that holds an initial window.
const FIRST_SLOTS: usize = 32;

/// SACKed by the receiver.
const SACKED: u8 = 1;
/// Declared lost.
const LOST: u8 = 2;
/// Retransmitted, and the retransmission is believed in flight.
const RETRANSMITTED: u8 = 4;
/// Retransmitted at least once.
const EVER_RETRANSMITTED: u8 = 8;
/// On the transmission list.
const LISTED: u8 = 16;

/// One outstanding segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    /// When it was last sent, microseconds.
    pub(super) sent_us: u64,
    /// Segments delivered when it was last sent, modulo 2^32.
    pub(super) delivered: u32,
    earlier: u32,
    later: u32,
    flags: u8,
}

impl Segment {
    const UNUSED: Self = Self { sent_us: 0, delivered: 0, earlier: NONE, later: NONE, flags: 0 };

    pub(super) const fn is_sacked(&self) -> bool {
        self.flags & SACKED != 0
    }

    pub(super) const fn is_lost(&self) -> bool {
        self.flags & LOST != 0
    }

    /// Whether a retransmission of it is believed in flight.
    pub(super) const fn is_retransmitted(&self) -> bool {
        self.flags & RETRANSMITTED != 0
    }

    /// Whether it was retransmitted, tail-loss probes left out.
    pub(super) const fn was_retransmitted(&self) -> bool {
        self.flags & (RETRANSMITTED | EVER_RETRANSMITTED) != 0
    }
}

/// The outstanding segments `una .. next`.
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
    /// No segment below is lost and waiting to be retransmitted.
    resend_hint: u64,
    oldest: u32,
    newest: u32,
}

impl Scoreboard {
    pub(super) fn new() -> Self {
        Self::with_slots(vec![Segment::UNUSED; FIRST_SLOTS])
    }

    /// Forgets everything but keeps the memory.
    pub(super) fn clear(&mut self) {
        *self = Self::with_slots(std::mem::take(&mut self.slots));
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
        }
    }

    /// First segment not cumulatively acknowledged.
    pub(super) const fn una(&self) -> u64 {
        self.una
    }

    /// Next segment never sent.
    pub(super) const fn next(&self) -> u64 {
        self.next
    }

    /// Segments sent and not cumulatively acknowledged.
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

    /// Segments believed to have left the network without a cumulative acknowledgement.
    pub(super) const fn left(&self) -> u32 {
        self.sacked + self.lost
    }

    /// Segments believed in the network (RFC 6675's pipe as Linux counts it).
    pub(super) const fn in_flight(&self) -> u32 {
        self.outstanding() + self.retransmitted - self.left()
    }

    /// One past the highest SACKed segment, or `una` when none is.
    pub(super) const fn sacked_end(&self) -> u64 {
        if self.sacked == 0 { self.una } else { self.sacked_end }
    }

    pub(super) fn get(&self, number: u64) -> &Segment {
        &self.slots[self.slot(number)]
    }

    /// The first outstanding segment, if any.
    pub(super) fn head(&self) -> Option<&Segment> {
        (self.una < self.next).then(|| self.get(self.una))
    }

    /// Whether the first outstanding segment was ever retransmitted or any retransmission is in flight.
    pub(super) fn any_retransmission(&self) -> bool {
        self.retransmitted > 0 || self.head().is_some_and(Segment::was_retransmitted)
    }

    /// A new segment leaves; returns its number.
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

    /// A lost segment leaves again.
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

    /// A segment leaves again as a tail-loss probe, which does not count as a retransmission in flight.
    pub(super) fn stamp_again(&mut self, number: u64, now_us: u64, delivered: u64) {
        let slot = self.slot(number);
        self.unlist(slot as u32);
        let segment = &mut self.slots[slot];
        segment.sent_us = now_us;
        segment.delivered = delivered as u32;
        segment.flags |= EVER_RETRANSMITTED;
        self.append(slot as u32);
    }

    /// Removes the first outstanding segment and returns what was known of it.
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

    /// Marks a segment SACKed and returns what was known of it before.
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

    /// A D-SACK tells that the retransmission of a segment arrived: it is not in flight any more.
    pub(super) fn retransmission_arrived(&mut self, number: u64) {
        let slot = self.slot(number);
        if self.slots[slot].is_retransmitted() {
            self.slots[slot].flags &= !RETRANSMITTED;
            self.retransmitted -= 1;
            self.resend_hint = self.resend_hint.min(number);
        }
    }

    /// Declares a segment, or its retransmission, lost; returns whether anything changed.
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

    /// Takes back every loss mark: they were wrong. (TCP-38)
    ///
    /// Segments off the transmission list return to its front: all on it were sent later.
    pub(super) fn unmark_all_lost(&mut self) {
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

    /// The lowest segment that is lost and whose retransmission is not in flight.
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

    /// The first segment on the transmission list.
    pub(super) fn oldest_sent(&self) -> Option<u64> {
        self.number_of(self.oldest)
    }

    /// The segment after `number` on the transmission list.
    pub(super) fn sent_after(&self, number: u64) -> Option<u64> {
        self.number_of(self.get(number).later)
    }

    fn slot(&self, number: u64) -> usize {
        number as usize & (self.slots.len() - 1)
    }

    /// The outstanding segment in a slot.
    fn number_of(&self, slot: u32) -> Option<u64> {
        let first = self.slot(self.una);
        let ahead = (slot as usize).wrapping_sub(first) & (self.slots.len() - 1);
        (slot != NONE).then_some(self.una + ahead as u64)
    }

    fn append(&mut self, slot: u32) {
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

    fn prepend(&mut self, slot: u32) {
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

    fn unlist(&mut self, slot: u32) {
        let Segment { earlier, later, flags, .. } = self.slots[slot as usize];
        if flags & LISTED == 0 {
            return;
        }
        match earlier {
            NONE => self.oldest = later,
            earlier => self.slots[earlier as usize].later = later,
        }
        match later {
            NONE => self.newest = earlier,
            later => self.slots[later as usize].earlier = earlier,
        }
        self.slots[slot as usize].flags &= !LISTED;
    }

    /// Doubles the ring; links are slots, so they move along.
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
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn with_segments(count: u64) -> Scoreboard {
        let mut board = Scoreboard::new();
        for sent_us in 0..count {
            board.send_new(sent_us, 0);
        }
        board
    }

    fn by_transmission(board: &Scoreboard) -> Vec<u64> {
        std::iter::successors(board.oldest_sent(), |&number| board.sent_after(number)).collect()
    }

    #[test]
    fn counters_follow_a_segment_through_loss_and_repair() {
        let mut board = with_segments(4);
        assert_eq!(board.in_flight(), 4);
        board.mark_sacked(1);
        assert!(board.mark_lost(0));
        assert_eq!((board.left(), board.in_flight(), board.next_lost()), (2, 2, Some(0)));
        board.resend(0, 9, 1);
        assert_eq!((board.in_flight(), board.next_lost()), (3, None));
        assert_eq!(by_transmission(&board), [2, 3, 0]);
        let repaired = board.pop_acknowledged();
        assert!(repaired.was_retransmitted() && repaired.is_lost());
        assert_eq!((board.lost(), board.retransmitted(), board.sacked(), board.in_flight()), (0, 0, 1, 2));
    }

    /// TCP-14
    #[test]
    fn a_reported_duplicate_has_left_the_network() {
        let mut board = with_segments(2);
        board.mark_lost(0);
        board.resend(0, 5, 0);
        assert_eq!(board.in_flight(), 2);
        board.retransmission_arrived(0);
        assert_eq!((board.in_flight(), board.next_lost()), (1, Some(0)));
    }

    #[test]
    fn a_lost_retransmission_is_resent_again() {
        let mut board = with_segments(2);
        board.mark_lost(0);
        board.resend(0, 5, 0);
        assert!(board.mark_lost(0), "the retransmission is lost");
        assert!(!board.mark_lost(0), "already marked");
        assert_eq!((board.lost(), board.retransmitted(), board.next_lost()), (1, 0, Some(0)));
    }

    #[test]
    fn lost_segments_are_found_in_order_wherever_they_appear() {
        let mut board = with_segments(10);
        board.mark_lost(7);
        board.mark_lost(3);
        assert_eq!(board.next_lost(), Some(3));
        board.resend(3, 20, 0);
        assert_eq!(board.next_lost(), Some(7));
        board.mark_lost(1);
        assert_eq!(board.next_lost(), Some(1));
        board.resend(1, 21, 0);
        board.resend(7, 22, 0);
        assert_eq!(board.next_lost(), None);
    }

    #[test]
    fn the_ring_grows_and_keeps_its_order() {
        let mut board = with_segments(FIRST_SLOTS as u64);
        for _ in 0..5 {
            board.pop_acknowledged();
        }
        board.mark_lost(6);
        board.resend(6, 99, 0);
        for sent_us in 0..20 {
            board.send_new(100 + sent_us, 0);
        }
        let order = by_transmission(&board);
        let first_slots = FIRST_SLOTS as u64;
        let expected: Vec<u64> = std::iter::once(5)
            .chain(7..first_slots)
            .chain([6])
            .chain(first_slots..first_slots + 20)
            .collect();
        assert_eq!(order, expected);
    }

    /// TCP-38
    #[test]
    fn undone_losses_are_in_flight_again_and_oldest() {
        let mut board = with_segments(4);
        board.mark_lost(0);
        board.mark_lost(1);
        board.resend(0, 9, 0);
        board.unmark_all_lost();
        assert_eq!(by_transmission(&board), [1, 2, 3, 0]);
        assert_eq!((board.lost(), board.in_flight(), board.next_lost()), (0, 5, None));
    }

    /// Counts what the counters claim to know.
    fn assert_consistent(board: &Scoreboard) {
        let outstanding = || (board.una..board.next).map(|number| board.get(number));
        let count = |flag| outstanding().filter(|segment| segment.flags & flag != 0).count() as u32;
        assert_eq!(
            (board.sacked, board.lost, board.retransmitted),
            (count(SACKED), count(LOST), count(RETRANSMITTED))
        );
        let order = by_transmission(board);
        assert_eq!(order.len() as u32, count(LISTED));
        assert!(order.windows(2).all(|pair| board.get(pair[0]).sent_us <= board.get(pair[1]).sent_us));
        let highest = (board.una..board.next).filter(|&number| board.get(number).is_sacked()).max();
        assert_eq!(board.sacked_end(), highest.map_or(board.una, |number| number + 1));
    }

    proptest! {
        #[test]
        fn counters_and_order_agree_with_the_segments(steps in prop::collection::vec((0u8..7, 0u64..40), 1..300)) {
            let mut board = Scoreboard::new();
            for (now_us, (step, choice)) in (0..).zip(steps) {
                let number = board.una + choice % u64::from(board.outstanding()).max(1);
                let lowest_lost = (board.una..board.next).find(|&number| board.is_waiting(number));
                match step {
                    0 | 1 => { board.send_new(now_us, now_us); }
                    _ if board.outstanding() == 0 => {}
                    2 => { board.pop_acknowledged(); }
                    3 if !board.get(number).is_sacked() => { board.mark_sacked(number); }
                    4 => { board.mark_lost(number); }
                    5 => if let Some(number) = board.next_lost() {
                        prop_assert_eq!(Some(number), lowest_lost);
                        board.resend(number, now_us, now_us);
                    },
                    6 => board.retransmission_arrived(number),
                    _ => {}
                }
                assert_consistent(&board);
            }
        }
    }
}

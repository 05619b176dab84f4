//! The sender's handling of SACK blocks (Linux `tcp_sacktag_write_queue`).

use super::super::packet::{Ack, Block};
use super::super::progress::Progress;
use super::super::recovery_state::State;
use super::super::sack::{SackCache, reported_duplicate};
use super::Sender;

impl Sender {
    /// Marks the segments that the SACK blocks report. (TCP-12)
    pub(super) fn take_sacks(&mut self, ack: &Ack, progress: &mut Progress) {
        let una = self.board.una();
        let has_duplicate =
            reported_duplicate(ack).is_some_and(|block| self.take_duplicate_report(block, una, progress));
        if self.board.outstanding() == 0 {
            return;
        }
        let from = una.max(ack.next);
        let mut fresh = SackCache::default();
        for (index, block) in ack.blocks().enumerate() {
            let is_valid = block.start < block.end && block.end <= self.board.next();
            if index == 0 && has_duplicate {
                let end = block.end.min(self.board.next());
                (block.start.max(una)..end)
                    .for_each(|number| self.take_one_duplicate(number, from, progress));
            } else if is_valid && block.end > from {
                fresh.push(Block { start: block.start.max(from), end: block.end });
            }
        }
        fresh.sort();
        let known = std::mem::replace(&mut self.sacks, fresh);
        fresh.for_each_beyond(&known, |start, end| {
            (start..end).for_each(|number| self.take_one_sack(number, progress));
        });
        if (self.recovery.state() != State::Loss || self.undo.is_possible())
            && let Some(lowest) = progress.reordered_from
        {
            self.note_reordering(lowest);
        }
    }

    /// Takes a report of duplicates. Returns whether the report counts. (TCP-13)
    fn take_duplicate_report(&mut self, block: Block, una: u64, progress: &mut Progress) -> bool {
        let count = block.end - block.start;
        if count == 1 && self.probe.is_answered_by_duplicate(block.end) {
            progress.probe_duplicated = true;
        }
        self.statistics.duplicate_reports += count;
        if self.statistics.duplicate_reports > self.statistics.retransmissions {
            // The receiver reports more duplicates than this sender made, so the network duplicated
            // segments.
            return false;
        }
        if !progress.probe_duplicated {
            self.rack.note_duplicate();
        }
        progress.duplicate_reported = true;
        self.statistics.note_delivered(count, progress.congestion_echoed);
        if block.end <= una {
            self.undo.count_duplicates(block.end, count as u32);
        }
        true
    }

    /// Takes a duplicate of a segment that was outstanding. From number `from` on the segment still
    /// is. (TCP-14)
    fn take_one_duplicate(&mut self, number: u64, from: u64, progress: &mut Progress) {
        let segment = *self.board.get(number);
        if segment.was_retransmitted() {
            self.undo.count_duplicates(number + 1, 1);
            if segment.is_sacked() {
                progress.note_reordered(number);
            }
        }
        if number >= from {
            self.take_one_sack(number, progress);
            self.board.retransmission_arrived(number);
        }
    }

    /// Takes a segment that is reported for the first time. (TCP-15)
    fn take_one_sack(&mut self, number: u64, progress: &mut Progress) {
        let segment = *self.board.get(number);
        if segment.is_sacked() {
            return;
        }
        let resent = segment.was_retransmitted();
        let (now_us, least_us) = (self.clock.micros(), self.rtt.minimum_us());
        self.rack.deliver(now_us, segment.sent(number), resent, least_us);
        if !resent {
            if number < self.board.sacked_end() {
                progress.note_reordered(number);
            }
            progress.note_sacked(segment.sent_us, number < self.recovery.end());
        }
        self.board.mark_sacked(number);
        self.statistics.note_delivered(1, progress.congestion_echoed);
        progress.data_sacked = true;
        progress.note_delivered(number, &segment);
    }
}

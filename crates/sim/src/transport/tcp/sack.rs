//! What SACK blocks tell the sender (RFC 2018, RFC 2883; Linux `tcp_sacktag_write_queue`).

use super::packet::{Ack, Block, MOST_SACK_BLOCKS};
use super::progress::{Progress, extend};
use super::recovery::State;
use super::sender::Sender;

/// The blocks of the last acknowledgement: what they cover need not be visited again.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SackCache {
    blocks: [(u64, u64); MOST_SACK_BLOCKS],
    count: usize,
}

impl SackCache {
    fn push(&mut self, block: Block) {
        self.blocks[self.count] = (block.start, block.end);
        self.count += 1;
    }

    /// Ascending order, so that one pass finds what is new.
    fn sort(&mut self) {
        self.blocks[..self.count].sort_unstable();
    }

    /// Calls `visit` on every run of `start .. end` that the cache does not cover.
    fn for_each_gap(&self, start: u64, end: u64, mut visit: impl FnMut(u64, u64)) {
        let mut at = start;
        for &(seen_start, seen_end) in &self.blocks[..self.count] {
            if seen_start >= end {
                break;
            }
            if seen_start > at {
                visit(at, seen_start);
            }
            at = at.max(seen_end);
        }
        if at < end {
            visit(at, end);
        }
    }
}

impl Sender {
    /// Marks what the blocks report. (TCP-12)
    pub(super) fn take_sacks(&mut self, ack: &Ack, progress: &mut Progress) {
        let una = self.board.una();
        let duplicate = self.take_duplicate_report(ack, una, progress);
        if self.board.outstanding() == 0 {
            return;
        }
        let from = una.max(ack.next);
        let mut fresh = SackCache::default();
        for (index, block) in ack.blocks().enumerate() {
            let valid = block.start < block.end && block.end <= self.board.next();
            if index == 0 && duplicate {
                let end = block.end.min(self.board.next());
                (block.start.max(una)..end)
                    .for_each(|number| self.take_one_duplicate(number, from, progress));
            } else if valid && block.end > from {
                fresh.push(Block { start: block.start.max(from), end: block.end });
            }
        }
        fresh.sort();
        let known = std::mem::replace(&mut self.sack_cache, fresh);
        for &(start, end) in &fresh.blocks[..fresh.count] {
            known.for_each_gap(start, end, |start, end| {
                (start..end).for_each(|number| self.take_one_sack(number, progress));
            });
        }
        if self.state != State::Loss || self.undo.marker.is_some() {
            if let Some(lowest) = progress.reordered_from {
                self.note_reordering(lowest);
            }
        }
    }

    /// Recognises a D-SACK in the first block; returns whether it is one that counts. (TCP-13)
    fn take_duplicate_report(&mut self, ack: &Ack, una: u64, progress: &mut Progress) -> bool {
        let mut blocks = ack.blocks();
        let Some(first) = blocks.next() else { return false };
        let covered = blocks.next().is_some_and(|next| next.start <= first.start && first.end <= next.end);
        if first.start >= first.end || !(first.start < ack.next || covered) {
            return false;
        }
        let count = first.end - first.start;
        if count == 1 && self.probe.is_answered_by_duplicate(first.end) {
            progress.probe_duplicated = true;
        }
        self.statistics.duplicate_reports += count;
        if self.statistics.duplicate_reports > self.statistics.retransmissions {
            // More duplicates than this sender made: the network's doing.
            return false;
        }
        if !progress.probe_duplicated {
            self.rack.note_duplicate();
        }
        progress.duplicate_reported = true;
        self.count_delivered(count as u32, progress.congestion_echoed);
        if first.end <= una {
            self.undo.count_duplicates(first.end, count as u32);
        }
        true
    }

    /// A duplicate of a segment that was outstanding; it still is from `from` on. (TCP-14)
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

    /// A segment reported for the first time. (TCP-15)
    fn take_one_sack(&mut self, number: u64, progress: &mut Progress) {
        let segment = *self.board.get(number);
        if segment.is_sacked() {
            return;
        }
        let resent = segment.was_retransmitted();
        let (now_us, least_us) = (self.clock.micros(), self.rtt.minimum_us());
        self.rack.deliver(now_us, segment.sent_us, number + 1, resent, least_us);
        if !resent {
            if number < self.board.sacked_end() {
                progress.note_reordered(number);
            }
            progress.original_delivered |= number < self.recovery_end;
            extend(&mut progress.sacked_sent_us, segment.sent_us);
        }
        self.board.mark_sacked(number);
        self.count_delivered(1, progress.congestion_echoed);
        progress.data_sacked = true;
        progress.note_delivered(number, &segment);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// TCP-12
    #[test]
    fn only_what_the_last_blocks_did_not_cover_is_visited() {
        let mut cache = SackCache::default();
        cache.push(Block { start: 30, end: 40 });
        cache.push(Block { start: 10, end: 20 });
        cache.sort();
        let gaps = |start, end| {
            let mut gaps = Vec::new();
            cache.for_each_gap(start, end, |start, end| gaps.push((start, end)));
            gaps
        };
        assert_eq!(gaps(10, 20), []);
        assert_eq!(gaps(10, 21), [(20, 21)]);
        assert_eq!(gaps(5, 45), [(5, 10), (20, 30), (40, 45)]);
        assert_eq!(gaps(50, 60), [(50, 60)]);
    }
}

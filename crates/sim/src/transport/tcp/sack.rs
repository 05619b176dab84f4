//! New segments and duplicates in the SACK blocks of an acknowledgement (RFC 2018, RFC 2883).

use super::packet::{Ack, Block, MOST_SACK_BLOCKS};

/// The blocks of the last acknowledgement, whose segments need not be visited again.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SackCache {
    blocks: [(u64, u64); MOST_SACK_BLOCKS],
    count: usize,
}

impl SackCache {
    pub(super) fn push(&mut self, block: Block) {
        self.blocks[self.count] = (block.start, block.end);
        self.count += 1;
    }

    /// Sorts the blocks in ascending order, so that one pass finds new segments.
    pub(super) fn sort(&mut self) {
        self.blocks[..self.count].sort_unstable();
    }

    /// Calls `visit` on every run of segments that these blocks cover and `known` does not. (TCP-12)
    pub(super) fn for_each_beyond(&self, known: &Self, mut visit: impl FnMut(u64, u64)) {
        for &(start, end) in &self.blocks[..self.count] {
            known.for_each_gap(start, end, &mut visit);
        }
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

/// Returns the duplicates that an acknowledgement reports (D-SACK): a first block below the cumulative
/// acknowledgement or inside the second block. (TCP-13)
pub(super) fn reported_duplicate(ack: &Ack) -> Option<Block> {
    let mut blocks = ack.blocks();
    let first = blocks.next()?;
    let is_covered = blocks.next().is_some_and(|next| next.start <= first.start && first.end <= next.end);
    (first.start < first.end && (first.start < ack.next || is_covered)).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::super::packet::SackBlocks;
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

    /// TCP-13
    #[test]
    fn a_first_block_below_or_inside_the_next_is_a_duplicate() {
        let reported = |next, blocks: &[(u64, u64)]| {
            let mut sack = SackBlocks::default();
            blocks.iter().for_each(|&(start, end)| sack.push(next, Block { start, end }));
            let ack = Ack { next, sack, ecn_echo: false, ecn_capable: false, echo: 0 };
            reported_duplicate(&ack).map(|block| (block.start, block.end))
        };
        assert_eq!(reported(10, &[]), None);
        assert_eq!(reported(10, &[(9, 10)]), Some((9, 10)));
        assert_eq!(reported(10, &[(12, 13)]), None);
        assert_eq!(reported(10, &[(12, 13), (11, 14)]), Some((12, 13)));
        assert_eq!(reported(10, &[(12, 15), (11, 14)]), None);
    }
}

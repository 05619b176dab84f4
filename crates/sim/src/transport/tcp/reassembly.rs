//! Segments that arrived out of order: their runs, and the SACK blocks that report the runs (RFC
//! 2018).

use super::packet::{Block, MOST_SACK_BLOCKS};

/// Runs of segments above the next expected one, ascending and apart.
#[derive(Clone, Debug, Default)]
pub(super) struct Reassembly {
    runs: Vec<Block>,
}

impl Reassembly {
    pub(super) fn clear(&mut self) {
        self.runs.clear();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Adds a run. Returns the part of the run that was there before, if any.
    pub(super) fn insert(&mut self, new: Block) -> Option<Block> {
        // New segments mostly extend the last run.
        let after = self.runs.iter().rposition(|run| run.start <= new.end).map_or(0, |index| index + 1);
        let first =
            self.runs[..after].iter().rposition(|run| run.end < new.start).map_or(0, |index| index + 1);
        let touching = &self.runs[first..after];
        let overlap = |run: &Block| (run.start.max(new.start), run.end.min(new.end));
        let known = touching.iter().map(overlap).find(|(start, end)| start < end);
        let merged = touching.iter().fold(new, |merged, run| Block {
            start: merged.start.min(run.start),
            end: merged.end.max(run.end),
        });
        if first == after {
            self.runs.insert(first, merged);
        } else {
            self.runs[first] = merged;
            self.runs.drain(first + 1..after);
        }
        known.map(|(start, end)| Block { start, end })
    }

    /// Removes the runs that follow the segments before `next`, which arrived in order. Returns the
    /// next segment expected.
    pub(super) fn advance(&mut self, mut next: u64) -> u64 {
        let covered = self.runs.iter().take_while(|run| run.start <= next || run.end <= next).count();
        for run in self.runs.drain(..covered) {
            next = next.max(run.end);
        }
        next
    }
}

/// The SACK blocks to report, the most recently changed first (Linux `selective_acks`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SackList {
    blocks: [(u64, u64); MOST_SACK_BLOCKS],
    count: usize,
}

impl SackList {
    /// Whether no block is reported.
    #[cfg(feature = "fast")]
    pub(super) const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether a run that touches no block would push a block out.
    pub(super) fn overflows(&self, new: Block) -> bool {
        self.count == MOST_SACK_BLOCKS && !self.blocks.iter().any(|block| touches(*block, new))
    }

    /// Reports a run that arrived: it extends a block or becomes one, and moves to the front.
    /// (TCP-17)
    pub(super) fn report(&mut self, new: Block) {
        let found = self.blocks[..self.count].iter().position(|block| touches(*block, new));
        let index = match found {
            Some(index) => {
                let block = &mut self.blocks[index];
                *block = (block.0.min(new.start), block.1.max(new.end));
                index
            }
            None => {
                self.count = (self.count + 1).min(MOST_SACK_BLOCKS);
                self.blocks[self.count - 1] = (new.start, new.end);
                self.count - 1
            }
        };
        self.blocks[..=index].rotate_right(1);
        if found.is_some() {
            self.merge_into_first();
        }
    }

    /// Merges the blocks that the first block has grown to touch into it.
    fn merge_into_first(&mut self) {
        let mut index = 1;
        while index < self.count {
            let block = self.blocks[index];
            let first = self.blocks[0];
            if touches(first, Block { start: block.0, end: block.1 }) {
                self.blocks[0] = (first.0.min(block.0), first.1.max(block.1));
                self.blocks[index..self.count].rotate_left(1);
                self.count -= 1;
            } else {
                index += 1;
            }
        }
    }

    /// Removes the blocks of the segments before `next`, which arrived in order.
    pub(super) fn forget_before(&mut self, next: u64) {
        let mut kept = 0;
        for index in 0..self.count {
            if self.blocks[index].0 > next {
                self.blocks[kept] = self.blocks[index];
                kept += 1;
            }
        }
        self.count = kept;
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Block> + '_ {
        self.blocks[..self.count].iter().map(|&(start, end)| Block { start, end })
    }
}

/// Whether a run overlaps or adjoins a block.
const fn touches(block: (u64, u64), run: Block) -> bool {
    run.start <= block.1 && block.0 <= run.end
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const fn block(start: u64, end: u64) -> Block {
        Block { start, end }
    }

    #[test]
    fn runs_merge_and_report_what_they_knew() {
        let mut reassembly = Reassembly::default();
        assert_eq!(reassembly.insert(block(5, 6)), None);
        assert_eq!(reassembly.insert(block(8, 9)), None);
        assert_eq!(reassembly.insert(block(5, 6)), Some(block(5, 6)));
        assert_eq!(reassembly.insert(block(6, 8)), None);
        assert_eq!(reassembly.runs, [block(5, 9)]);
        assert_eq!(reassembly.advance(5), 9);
        assert!(reassembly.is_empty());
    }

    /// TCP-17: RFC 2018 section 4, the first block holds the segment that triggered the report.
    #[test]
    fn the_newest_block_comes_first_and_the_oldest_falls_out() {
        let mut list = SackList::default();
        for start in [10, 20, 30, 40, 50] {
            list.report(block(start, start + 1));
        }
        let starts: Vec<u64> = list.iter().map(|block| block.start).collect();
        assert_eq!(starts, [50, 40, 30, 20]);
        list.report(block(31, 40));
        assert_eq!(list.iter().collect::<Vec<_>>(), [block(30, 41), block(50, 51), block(20, 21)]);
        list.forget_before(45);
        assert_eq!(list.iter().collect::<Vec<_>>(), [block(50, 51)]);
    }

    proptest! {
        #[test]
        fn runs_hold_exactly_the_segments_inserted(inserts in prop::collection::vec((1u64..60, 1u64..6), 1..60)) {
            let mut reassembly = Reassembly::default();
            let mut model = std::collections::BTreeSet::new();
            for (start, length) in inserts {
                let known = reassembly.insert(block(start, start + length));
                let first_known = (start..start + length).find(|number| model.contains(number));
                prop_assert_eq!(known.map(|known| known.start), first_known);
                model.extend(start..start + length);
                let held: Vec<u64> = reassembly.runs.iter().flat_map(|run| run.start..run.end).collect();
                prop_assert_eq!(held, model.iter().copied().collect::<Vec<_>>());
                prop_assert!(reassembly.runs.windows(2).all(|pair| pair[0].end < pair[1].start));
            }
            let reach = (1..).find(|number| !model.contains(number)).unwrap();
            prop_assert_eq!(reassembly.advance(1), reach);
        }
    }
}

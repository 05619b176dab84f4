//! Explicit ACKs that leave one a round of their packet, while the register changes at equal distances.

use crate::fast::{Path as Fast, takes};
use crate::kernel::Train;
use crate::net::linkguardian::fast::wires::Acks;
use lossylink_core::engine::linkguardian::Position;
use lossylink_core::time::{Duration, Instant};

/// With so many changes to come at the least a look ahead is worth it.
const FEWEST_CHANGES: u32 = 3;

/// Explicit ACKs one behind another.
#[derive(Clone, Copy, Debug)]
pub(super) struct AckTrain {
    /// When they leave.
    pub(super) leave: Train,
    /// What they say.
    pub(super) acks: Acks,
    /// How many of the changes the last one knows, and what it says.
    pub(super) changes: u32,
    pub(super) leading: Position,
    /// How many of them say that.
    pub(super) times: u8,
}

impl AckTrain {
    /// Those that leave by `until`, `most` at the most, the first of them at `start` and one `every` round from then on. The register
    /// changes as `changes` says, to `position` first, and not otherwise by `until`. The newest change by `start` is one of these,
    /// of which no ACK tells yet. Each position is said twice unless the next one comes before. `None` if that makes no two ACKs one
    /// behind another.
    #[inline]
    pub(super) fn new(
        (start, until): (Instant, Instant),
        most: u64,
        every: Duration,
        changes: Train,
        position: Position,
    ) -> Option<Self> {
        let step = changes.spacing;
        if !takes(Fast::AckTrains) || changes.count < FEWEST_CHANGES || changes.first > start {
            return None;
        }
        let end = until.min((changes.last() + step).just_before());
        if start + every > end {
            return None;
        }
        let known = changes.come_by(start);
        let held = start - changes.nth(known - 1);
        let in_time = (end - start).as_ps() / every.as_ps() + 1;
        let mut count = in_time.min(most);
        if step > every * 2 {
            // The time for which a position has been held as it is first said grows less by what is left of its time after two rounds.
            // Once it is less than that, there is a third round, in which nothing is said.
            if held >= every {
                return None;
            }
            let shorter = held.as_ps() / (step - every * 2).as_ps();
            count = count.min(2 * (shorter + 1));
        }
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        if count < 2 {
            return None;
        }
        let leave = Train { spacing: every, count, ..Train::of_one(start) };
        let told = changes.come_by(leave.last());
        let is_second = leave.last() - changes.nth(told - 1) >= every;
        Some(Self {
            leave,
            acks: Acks { leading: position.plus(known - 1), held, every, step },
            changes: told,
            leading: position.plus(told - 1),
            times: 1 + u8::from(is_second),
        })
    }
}

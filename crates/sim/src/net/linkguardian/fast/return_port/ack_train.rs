//! Explicit ACKs form a train: one leaves each time that the packet comes round, while the register changes at equal distances.

use crate::fast::{Path as Fast, takes};
use crate::kernel::Train;
use crate::net::linkguardian::fast::wires::Acks;
use lossylink_core::engine::linkguardian::Position;
use lossylink_core::time::{Duration, Instant};

/// The least number of coming changes of the register for which a train is worth its arithmetic.
const FEWEST_CHANGES: u32 = 3;

/// A train of explicit ACKs.
#[derive(Clone, Copy, Debug)]
pub(super) struct AckTrain {
    /// The times at which the ACKs leave.
    pub(super) leave: Train,
    /// The positions that the ACKs carry.
    pub(super) acks: Acks,
    /// The number of changes up to the last ACK, and the position that this ACK carries.
    pub(super) changes: u32,
    pub(super) leading: Position,
    /// The number of ACKs that carry that position.
    pub(super) times: u8,
}

impl AckTrain {
    /// Builds the train of ACKs that leave by `until`, `most` at the most: the first at `start`, and one every `every`.
    ///
    /// The register takes `position` at the first of `changes`, one position more at each further change, and no other update by
    /// `until`. No ACK has carried the newest position by `start`. Each position is sent twice, unless the next one comes before.
    /// Returns `None` if fewer than two ACKs leave one behind another. Equals [`super::ReturnPort::send_ack`] of each.
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
            // A position lasts for `step`, and its two ACKs for two rounds. So from one position to the next, the age of a position
            // at its first ACK falls by `step - 2 * every`. Once the age is less than this fall, a third round follows the two, in
            // which no ACK leaves.
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

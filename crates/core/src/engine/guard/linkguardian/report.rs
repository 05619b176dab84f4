//! LinkGuardian's counters in the words of the report.

use super::super::report::{Counter, Group};
use super::receiving::ReceivingState;
use super::sending::SendingState;
use crate::engine::linkguardian::Position;

/// The sending end.
pub(super) fn sender(state: &SendingState) -> Group {
    let engine = &state.engine;
    let era = |position: Position| u64::from(position.era());
    let counters = alloc::vec![
        Counter::new("next_seq", "Number that the next frame takes.", u64::from(state.next.number())),
        Counter::new("next_seq_era", "Era of that number.", era(state.next)),
        Counter::new(
            "leading_ack",
            "Number up to which all has arrived or is known to be lost.",
            u64::from(state.leading_ack.number()),
        ),
        Counter::new("leading_ack_era", "Era of that number.", era(state.leading_ack)),
        Counter::new("holes", "Lost positions that have not been sent again yet.", u64::from(state.holes)),
        Counter::new("copies", "Copies of each retransmission.", u64::from(state.copies)),
        Counter::new("data", "Data frames numbered.", engine.data),
        Counter::new("dummies", "Dummies sent.", engine.dummies),
        Counter::new(
            "retransmitted",
            "Lost frames sent again, each in all its copies.",
            engine.retransmitted
        ),
        Counter::new("acks", "Acknowledgements taken in, piggy-backed and explicit.", engine.acks),
        Counter::new("notifications", "Loss notifications taken in.", engine.notifications),
        Counter::new(
            "beyond_cap",
            "Lost positions not asked for again, being beyond the cap.",
            engine.beyond_cap
        ),
        Counter::new("out_of_range", "Acknowledged positions that were never sent.", engine.out_of_range),
        Counter::new("buffer_bytes", "Bytes of copies kept.", state.held.0),
        Counter::new("buffer_max_bytes", "The most bytes of copies ever kept.", state.most_held.0),
        Counter::new("copies_evicted", "Copies given up to make room.", state.evicted),
    ];
    Group { name: "sender", counters }
}

/// The receiving end.
pub(super) fn receiver(state: &ReceivingState) -> Group {
    let engine = &state.engine;
    let counters = alloc::vec![
        Counter::new(
            "expected_seq",
            "Number that the next new frame should carry.",
            u64::from(state.expected.number()),
        ),
        Counter::new("expected_seq_era", "Era of that number.", u64::from(state.expected.era())),
        Counter::new(
            "ack",
            "Number to be handed on next, in order.",
            state.next.map(|next| u64::from(next.number())),
        ),
        Counter::new("ack_era", "Era of that number.", state.next.map(|next| u64::from(next.era()))),
        Counter::new(
            "leading_ack",
            "Number up to which all has arrived or been asked for.",
            u64::from(state.leading.number()),
        ),
        Counter::new("leading_ack_era", "Era of that number.", u64::from(state.leading.era())),
        Counter::new("ack_pending", "Whether an acknowledgement is due.", state.ack_pending),
        Counter::new("data", "Data frames that arrived for the first time.", engine.data),
        Counter::new("retransmissions", "Retransmitted copies that arrived.", engine.retransmissions),
        Counter::new("dummies", "Dummies that arrived.", engine.dummies),
        Counter::new("lost", "Positions found to be missing.", engine.lost),
        Counter::new("notifications", "Loss notifications made.", engine.notifications),
        Counter::new("forwarded", "Frames handed on, held ones included.", engine.forwarded),
        Counter::new(
            "duplicates",
            "Copies dropped because their position had been dealt with.",
            engine.duplicates
        ),
        Counter::new("stale", "Numbered frames behind the expected position.", engine.stale),
        Counter::new("given_up", "Positions given up after their wait.", state.given_up),
        Counter::new("buffer_bytes", "Bytes in the reorder buffer.", state.held.0),
        Counter::new("buffer_max_bytes", "The most bytes ever in the reorder buffer.", state.most_held.0),
        Counter::new(
            "buffer_overflowed",
            "Frames for which the reorder buffer had no room.",
            state.overflowed,
        ),
        Counter::new("pauses", "Pauses asked for.", state.pauses),
        Counter::new("resumes", "Resumes asked for.", state.resumes),
    ];
    Group { name: "receiver", counters }
}

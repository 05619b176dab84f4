//! The counters of a routed guard's protection, in the words of the report.

use super::sending::SendingCounters;
use super::{ReceiverCounters, Waits};
use crate::engine::report::Counter;
use crate::time::Instant;
use alloc::vec;
use alloc::vec::Vec;

/// The name of the group that has the counters of both ends.
pub(super) const GROUP: &str = "routed";

/// The state of both ends at one instant.
#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    pub(super) receiving: ReceiverCounters,
    pub(super) waits: Waits,
    pub(super) sending: SendingCounters,
    pub(super) kept: (u64, u64),
    pub(super) share: u64,
    pub(super) repairs_share: u64,
    pub(super) malformed: u64,
    pub(super) unread: u64,
    pub(super) mismarked: u64,
}

impl State {
    /// Returns the counters in the words of the report.
    pub(super) fn counters(&self) -> Vec<Counter> {
        let Self { receiving, sending, kept: (kept_frames, kept_bytes), .. } = *self;
        // At the end of time: the window without the reordering that is still remembered.
        let window_us = self.waits.window(Instant::NEVER).as_us_f64() as u64;
        let repair_us = self.waits.repair().as_us_f64() as u64;
        vec![
            Counter::new("data", "Frames of the LAN sent for the first time.", sending.data),
            Counter::new("data_bytes", "Bytes of those frames, sealed.", sending.data_bytes),
            Counter::new(
                "short",
                "Of them those without what headers of earlier frames have told.",
                sending.short,
            ),
            Counter::new("repeated", "Frames sent again, copies included.", sending.repeated),
            Counter::new("repeated_bytes", "Bytes of those frames, sealed.", sending.repeated_bytes),
            Counter::new("unpaid", "Frames not sent again, because the bound was reached.", sending.unpaid),
            Counter::new(
                "not_kept",
                "Frames not sent again, because they were kept no more.",
                sending.not_kept,
            ),
            Counter::new("repairs", "Repairs sent ahead.", sending.repairs),
            Counter::new("repair_bytes", "Bytes of those repairs, sealed.", sending.repair_bytes),
            Counter::level(
                "repairs_per_10000",
                "Repairs sent ahead of every 10,000 frames at present; 0 where repetitions serve better.",
                self.repairs_share,
            ),
            Counter::level(
                "bound_percent",
                "What repetitions and repairs may take of what is sent.",
                self.share / 100,
            ),
            Counter::level("kept_frames", "Frames kept until they have arrived.", kept_frames),
            Counter::level("kept_bytes", "Bytes of those frames.", kept_bytes),
            Counter::new("lost", "Frames that the path lost on the way here.", receiving.lost),
            Counter::new("recovered", "Of those, frames that came after all.", receiving.recovered),
            Counter::new("rebuilt", "Of those, frames rebuilt from repairs.", receiving.rebuilt),
            Counter::new("given_up", "Frames that did not come.", receiving.given_up),
            Counter::new(
                "duplicates",
                "Frames that had come before, or came too late.",
                receiving.duplicates,
            ),
            Counter::new("reordered", "Frames that were overtaken and not lost.", receiving.reordered),
            Counter::level("reordering_window_us", "How long a gap may be reordering.", window_us),
            Counter::level("repair_time_us", "After how long a lost frame is asked for again.", repair_us),
            Counter::new("malformed", "Genuine frames that make no sense.", self.malformed),
            Counter::new(
                "unread",
                "Frames without headers, the headers of which were not here either; asked for again.",
                self.unread,
            ),
            Counter::new("mismarked", "Frames with a mark that they do not take, dropped.", self.mismarked),
        ]
    }
}

//! A recirculation port: a queue in front of a line of its own, and a fixed way round.
//!
//! ```text
//!  enter --> [queue] == line ==> way round --> comes round
//! ```

use super::frames::Copied;
use super::timing::Timing;
use crate::kernel::Pipe;
use crate::net::frame::GAP_OCTETS;
use crate::net::{Cells, LineRate, Payload};
use lossylink_core::time::{Duration, Instant};
use std::collections::VecDeque;

/// Whether the depth of the queue still has the frame whose first bit leaves at this instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counts {
    /// The depth is without that frame. A frame that finds the line idle never waits.
    UntilItLeaves,
    /// The depth is with that frame.
    WhileItLeaves,
}

/// A frame of the queue.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    /// The time at which the first bit of the frame leaves.
    leaves: Instant,
    /// The buffer space that the frame holds until then.
    bytes: u64,
}

/// A recirculation port, with the frames that are on their way round.
#[derive(Clone, Debug)]
pub(super) struct Recirculation<P: Payload> {
    rate: LineRate,
    way_round: Duration,
    cells: Cells,
    limit_bytes: u64,
    counts: Counts,
    busy_until: Instant,
    queue: VecDeque<Waiting>,
    queue_bytes: u64,
    high_water_bytes: u64,
    dropped: u64,
    rounds: Pipe<Copied<P>>,
}

impl<P: Payload> Recirculation<P> {
    pub(super) fn new(
        timing: &Timing,
        way_round: Duration,
        cells: Cells,
        limit_bytes: u64,
        counts: Counts,
    ) -> Self {
        Self {
            rate: timing.recirculation,
            way_round,
            cells,
            limit_bytes,
            counts,
            busy_until: Instant::ZERO,
            queue: VecDeque::new(),
            queue_bytes: 0,
            high_water_bytes: 0,
            dropped: 0,
            rounds: Pipe::new(),
        }
    }

    /// Takes in a frame at `now`. Returns when its first bit leaves the queue; `None` if the queue has no room for the frame,
    /// which drops it (LG-34).
    pub(super) fn enter(&mut self, now: Instant, copy: Copied<P>) -> Option<Instant> {
        let leaves = self.busy_until.max(now);
        if leaves > now || self.counts == Counts::WhileItLeaves {
            let bytes = self.cells.space(copy.frame.octets - GAP_OCTETS);
            let depth = self.depth_bytes(now) + bytes;
            if depth > self.limit_bytes {
                self.dropped += 1;
                return None;
            }
            self.queue.push_back(Waiting { leaves, bytes });
            self.queue_bytes = depth;
            self.high_water_bytes = self.high_water_bytes.max(depth);
        }
        self.busy_until = leaves + self.rate.serialisation(copy.frame.octets);
        self.rounds.push(self.busy_until + self.way_round, copy);
        Some(leaves)
    }

    /// Returns when a frame next comes round.
    pub(super) fn poll_timeout(&self) -> Instant {
        self.rounds.poll_timeout()
    }

    /// Takes the frame that comes round next.
    pub(super) fn pop(&mut self) -> Option<Copied<P>> {
        self.rounds.pop().map(|(_, copy)| copy)
    }

    /// Returns how many frames are in the queue or on their way round.
    pub(super) fn len(&self) -> usize {
        self.rounds.len()
    }

    /// Returns the bytes that wait in the queue at `now`.
    pub(super) fn depth_bytes(&mut self, now: Instant) -> u64 {
        let counts = |waiting: &Waiting| match self.counts {
            Counts::UntilItLeaves => waiting.leaves > now,
            Counts::WhileItLeaves => waiting.leaves >= now,
        };
        while let Some(gone) = self.queue.front().filter(|waiting| !counts(waiting)) {
            self.queue_bytes -= gone.bytes;
            self.queue.pop_front();
        }
        self.queue_bytes
    }

    /// Returns the most bytes that ever waited.
    pub(super) const fn high_water_bytes(&self) -> u64 {
        self.high_water_bytes
    }

    /// Starts the high-water mark anew at `now`.
    pub(super) fn reset_high_water(&mut self, now: Instant) {
        self.high_water_bytes = self.depth_bytes(now);
    }

    /// Returns how many frames found no room.
    pub(super) const fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Drops every frame. The line stays busy for as long as it would have been.
    pub(super) fn clear(&mut self) {
        self.queue.clear();
        self.queue_bytes = 0;
        self.rounds.clear();
    }

    /// Drops every frame at `now`. The line stays busy with the frame in service alone. Returns the number of the frames.
    pub(super) fn drop_all(&mut self, now: Instant) -> u64 {
        self.depth_bytes(now);
        let next = self.queue.front().map_or(Instant::NEVER, |waiting| waiting.leaves);
        self.busy_until = self.busy_until.min(next);
        let dropped = self.rounds.len() as u64;
        self.clear();
        dropped
    }
}

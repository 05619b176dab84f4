//! The reorder buffer: frames that cannot be forwarded yet (LG-20).
//!
//! A switch keeps the frames in a recirculation loop, and asks about each as it comes round. A program keeps the frames in memory and
//! finds each by its position.

use super::frames::Copied;
use super::recirculation::{Counts, Recirculation};
use super::timing::Timing;
use crate::net::{Cells, Payload};
use lossylink_core::engine::linkguardian::Position;
use lossylink_core::time::Instant;
use std::collections::{HashMap, VecDeque};

/// The reorder buffer of a receiving switch.
#[derive(Clone, Debug)]
pub(super) enum RxBuffer<P: Payload> {
    Loop(RxLoop<P>),
    Memory(RxMemory<P>),
}

impl<P: Payload> RxBuffer<P> {
    pub(super) fn new(timing: &Timing, recirculates: bool, cells: Cells, limit_bytes: u64) -> Self {
        if recirculates {
            Self::Loop(RxLoop::new(timing, cells, limit_bytes))
        } else {
            Self::Memory(RxMemory::new(limit_bytes))
        }
    }

    /// Whether the buffer holds no frame.
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Loop(buffer) => buffer.port.len() == 0,
            Self::Memory(buffer) => buffer.held.is_empty(),
        }
    }

    /// Returns the bytes in the buffer at `now`.
    pub(super) fn depth_bytes(&mut self, now: Instant) -> u64 {
        match self {
            Self::Loop(buffer) => buffer.port.depth_bytes(now),
            Self::Memory(buffer) => buffer.bytes,
        }
    }

    /// Returns the most bytes that were ever in the buffer.
    pub(super) const fn high_water_bytes(&self) -> u64 {
        match self {
            Self::Loop(buffer) => buffer.port.high_water_bytes(),
            Self::Memory(buffer) => buffer.high_water_bytes,
        }
    }

    /// Starts the high-water mark anew at `now`.
    pub(super) fn reset_high_water(&mut self, now: Instant) {
        match self {
            Self::Loop(buffer) => buffer.port.reset_high_water(now),
            Self::Memory(buffer) => buffer.high_water_bytes = buffer.bytes,
        }
    }

    /// Returns how many frames were dropped because the buffer was full (LG-34).
    pub(super) const fn dropped(&self) -> u64 {
        match self {
            Self::Loop(buffer) => buffer.port.dropped(),
            Self::Memory(buffer) => buffer.dropped,
        }
    }

    /// Drops every frame at `now` (LG-30). Returns the number of the frames.
    pub(super) fn forget(&mut self, now: Instant) -> u64 {
        match self {
            Self::Loop(buffer) => {
                buffer.departures.clear();
                buffer.port.drop_all(now)
            }
            Self::Memory(buffer) => buffer.forget(),
        }
    }
}

/// A reorder buffer in a recirculation loop.
#[derive(Clone, Debug)]
pub(super) struct RxLoop<P: Payload> {
    port: Recirculation<P>,
    /// The times at which frames leave the queue. Backpressure looks at the depth then (LG-23).
    departures: VecDeque<Instant>,
}

impl<P: Payload> RxLoop<P> {
    fn new(timing: &Timing, cells: Cells, limit_bytes: u64) -> Self {
        let port =
            Recirculation::new(timing, timing.rx_loop_fixed, cells, limit_bytes, Counts::WhileItLeaves);
        Self { port, departures: VecDeque::new() }
    }

    /// Holds a frame for another round, or drops it when there is no room (LG-34).
    pub(super) fn hold(&mut self, now: Instant, held: Copied<P>) {
        // Without backpressure nobody asks for the departures.
        while self.departures.front().is_some_and(|&leaves| leaves < now) {
            self.departures.pop_front();
        }
        self.departures.extend(self.port.enter(now, held));
    }

    /// Returns when a frame next comes round.
    pub(super) fn poll_round(&self) -> Instant {
        self.port.poll_timeout()
    }

    /// Takes the frame that comes round next.
    pub(super) fn pop(&mut self) -> Option<Copied<P>> {
        self.port.pop()
    }

    /// Returns when a frame next leaves the queue.
    pub(super) fn poll_departure(&self) -> Instant {
        self.departures.front().copied().unwrap_or(Instant::NEVER)
    }

    /// A frame leaves the queue at `now`. Returns the depth of the queue up to then.
    pub(super) fn depart(&mut self, now: Instant) -> u64 {
        self.departures.pop_front();
        self.port.depth_bytes(now)
    }
}

/// A reorder buffer in random-access memory.
#[derive(Clone, Debug)]
pub(super) struct RxMemory<P> {
    held: HashMap<usize, Copied<P>>,
    limit_bytes: u64,
    bytes: u64,
    high_water_bytes: u64,
    dropped: u64,
}

impl<P: Payload> RxMemory<P> {
    fn new(limit_bytes: u64) -> Self {
        Self { held: HashMap::new(), limit_bytes, bytes: 0, high_water_bytes: 0, dropped: 0 }
    }

    /// Holds a frame until its turn comes, or drops it when there is no room (LG-34). A second copy of a held frame is not kept.
    pub(super) fn hold(&mut self, held: Copied<P>) {
        if self.held.contains_key(&held.position.index()) {
            return;
        }
        let bytes = self.bytes + u64::from(held.frame.frame_bytes_with_fcs());
        if bytes > self.limit_bytes {
            self.dropped += 1;
            return;
        }
        self.held.insert(held.position.index(), held);
        self.bytes = bytes;
        self.high_water_bytes = self.high_water_bytes.max(bytes);
    }

    /// Takes the frame at `position`, if it is held.
    pub(super) fn take(&mut self, position: Position) -> Option<Copied<P>> {
        let held = self.held.remove(&position.index())?;
        self.bytes -= u64::from(held.frame.frame_bytes_with_fcs());
        Some(held)
    }

    fn forget(&mut self) -> u64 {
        let forgotten = self.held.len() as u64;
        self.held.clear();
        self.bytes = 0;
        forgotten
    }
}

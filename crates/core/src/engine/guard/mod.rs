//! The byte-level guard: a protection engine between a LAN port and a link port, on whole frames.

pub mod ecn;
mod pool;
mod queue;

pub use pool::{Frame, FramePool};
pub use queue::{DropTail, QueueCounters, QueueLimits};

use crate::time::Instant;
use alloc::collections::VecDeque;

/// The two sides of a guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The protected network: original frames.
    Lan,
    /// The corrupting link: protected frames.
    Link,
}

/// What a guard is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GuardConfig {
    /// The queue of frames that wait for the link.
    pub queue: QueueLimits,
    /// The longest frame from the LAN, in bytes without FCS.
    pub longest_frame: usize,
    /// How many frames the guard may hold at once, queues and buffers together.
    pub frames: usize,
}

/// Events at a guard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GuardCounters {
    /// Frames taken from the LAN.
    pub from_lan: u64,
    /// Frames handed to the LAN.
    pub to_lan: u64,
    /// Frames taken from the link.
    pub from_link: u64,
    /// Frames handed to the link.
    pub to_link: u64,
    /// Frames dropped because they were too long or no frame of the pool was free.
    pub no_room: u64,
}

/// A guard. It holds frames but neither clock nor ports.
///
/// Polling order: after each `handle_frame` or `handle_timeout`, `poll_transmit` on both sides until
/// `None` (on the link side whenever the transmitter is free); every frame goes back by `recycle`.
#[derive(Debug)]
pub struct Guard {
    pool: FramePool,
    normal: DropTail,
    to_lan: VecDeque<Frame>,
    counters: GuardCounters,
}

impl Guard {
    /// A guard that holds nothing.
    pub fn new(config: GuardConfig) -> Self {
        Self {
            pool: FramePool::new(config.frames, config.longest_frame),
            normal: DropTail::new(config.queue),
            to_lan: VecDeque::new(),
            counters: GuardCounters::default(),
        }
    }

    /// A frame arrives on one side.
    pub fn handle_frame(&mut self, _now: Instant, side: Side, bytes: &[u8]) {
        let Some(frame) = self.pool.copy(bytes) else {
            self.counters.no_room += 1;
            return;
        };
        match side {
            Side::Lan => {
                self.counters.from_lan += 1;
                if let Err(frame) = self.normal.push(frame) {
                    self.pool.give_back(frame);
                }
            }
            Side::Link => {
                self.counters.from_link += 1;
                self.to_lan.push_back(frame);
            }
        }
    }

    /// The next frame for one side.
    pub fn poll_transmit(&mut self, _now: Instant, side: Side) -> Option<Frame> {
        match side {
            Side::Lan => self.to_lan.pop_front().inspect(|_| self.counters.to_lan += 1),
            Side::Link => self.normal.pop().inspect(|_| self.counters.to_link += 1),
        }
    }

    /// Takes back a frame that `poll_transmit` gave.
    pub fn recycle(&mut self, frame: Frame) {
        self.pool.give_back(frame);
    }

    /// When `handle_timeout` is due.
    pub fn poll_timeout(&self) -> Instant {
        Instant::NEVER
    }

    /// A deadline has come.
    pub fn handle_timeout(&mut self, _now: Instant) {}

    /// What has happened so far.
    pub fn counters(&self) -> GuardCounters {
        self.counters
    }

    /// What the queue toward the link has done.
    pub fn queue(&self) -> QueueCounters {
        self.normal.counters()
    }
}

//! Copies of sent frames, kept until they are acknowledged (LG-5, LG-6).
//!
//! A switch keeps the copies in a recirculation loop and looks at each as it passes. A program keeps the copies in memory and looks
//! at the oldest when an acknowledgement comes.
//!
//! ```text
//!  sent --- first check ---> look --[queue]== line ==-- way round --> look ...
//! ```

use super::frames::Copied;
use super::recirculation::{Counts, Recirculation};
use super::timing::Timing;
use crate::kernel::Pipe;
use crate::net::{Cells, Payload};
use lossylink_core::engine::linkguardian::{CopyFate, Sender};
use lossylink_core::time::{Duration, Instant};
use std::collections::VecDeque;

/// The Tx buffer of a sending switch.
#[derive(Clone, Debug)]
pub(super) enum TxBuffer<P: Payload> {
    Loop(TxLoop<P>),
    Memory(TxMemory<P>),
}

impl<P: Payload> TxBuffer<P> {
    pub(super) fn new(timing: &Timing, recirculates: bool, cells: Cells, limit_bytes: u64) -> Self {
        if recirculates {
            Self::Loop(TxLoop::new(timing, cells, limit_bytes))
        } else {
            Self::Memory(TxMemory::new(limit_bytes))
        }
    }

    /// Keeps the copy of a frame that left at `now`.
    pub(super) fn insert(&mut self, now: Instant, copy: Copied<P>, engine: &mut Sender) {
        match self {
            Self::Loop(buffer) => buffer.insert(now, copy),
            Self::Memory(buffer) => buffer.insert(copy, engine),
        }
    }

    /// Returns when the switch next looks at a copy by itself. A memory is looked at when an acknowledgement comes.
    pub(super) fn poll_look(&self) -> Instant {
        match self {
            Self::Loop(buffer) => buffer.poll_look(),
            Self::Memory(_) => Instant::NEVER,
        }
    }

    /// Looks at the copy whose turn has come at `now`, and returns the copy if it was lost.
    pub(super) fn look(&mut self, now: Instant, engine: &mut Sender) -> Option<Copied<P>> {
        match self {
            Self::Loop(buffer) => buffer.look(now, engine),
            Self::Memory(_) => None,
        }
    }

    /// An acknowledgement or a notification was taken in. Returns the next lost copy of a memory.
    pub(super) fn look_in_memory(&mut self, engine: &mut Sender) -> Option<Copied<P>> {
        match self {
            Self::Loop(_) => None,
            Self::Memory(buffer) => buffer.look(engine),
        }
    }

    /// Returns the bytes in the buffer at `now`.
    pub(super) fn depth_bytes(&mut self, now: Instant) -> u64 {
        match self {
            Self::Loop(buffer) => buffer.port.depth_bytes(now),
            Self::Memory(buffer) => buffer.bytes,
        }
    }

    /// Returns how many copies are kept.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Loop(buffer) => buffer.fresh.len() + buffer.port.len(),
            Self::Memory(buffer) => buffer.copies.len(),
        }
    }

    /// Returns the most bytes that were ever in the buffer.
    pub(super) const fn high_water_bytes(&self) -> u64 {
        match self {
            Self::Loop(buffer) => buffer.port.high_water_bytes(),
            Self::Memory(buffer) => buffer.high_water_bytes,
        }
    }

    /// Returns how many copies were not kept because the buffer was full (LG-34).
    pub(super) const fn dropped(&self) -> u64 {
        match self {
            Self::Loop(buffer) => buffer.port.dropped(),
            Self::Memory(buffer) => buffer.dropped,
        }
    }

    /// Frees every copy (LG-30).
    pub(super) fn clear(&mut self) {
        match self {
            Self::Loop(buffer) => {
                buffer.fresh.clear();
                buffer.port.clear();
            }
            Self::Memory(buffer) => {
                buffer.copies.clear();
                buffer.bytes = 0;
            }
        }
    }
}

/// Copies in a recirculation loop.
#[derive(Clone, Debug)]
pub(super) struct TxLoop<P: Payload> {
    first_check: Duration,
    /// Copies that wait for their first look.
    fresh: Pipe<Copied<P>>,
    port: Recirculation<P>,
}

impl<P: Payload> TxLoop<P> {
    fn new(timing: &Timing, cells: Cells, limit_bytes: u64) -> Self {
        Self {
            first_check: timing.copy_first_check,
            fresh: Pipe::new(),
            port: Recirculation::new(timing, timing.tx_loop_fixed, cells, limit_bytes, Counts::UntilItLeaves),
        }
    }

    fn insert(&mut self, now: Instant, copy: Copied<P>) {
        self.fresh.push(now + self.first_check, copy);
    }

    fn poll_look(&self) -> Instant {
        self.fresh.poll_timeout().min(self.port.poll_timeout())
    }

    /// Looks at a copy. An outstanding copy goes round again. On a tie a copy that has been round before goes first.
    fn look(&mut self, now: Instant, engine: &mut Sender) -> Option<Copied<P>> {
        let is_round = self.port.poll_timeout() <= self.fresh.poll_timeout();
        let copy = if is_round { self.port.pop() } else { self.fresh.pop().map(|(_, copy)| copy) }?;
        match engine.inspect_numbered(copy.number) {
            CopyFate::Hold => {
                if self.port.enter(now, copy).is_none() {
                    engine.note_evicted(copy.position);
                }
                None
            }
            CopyFate::Release => None,
            CopyFate::Retransmit => Some(copy),
        }
    }
}

/// Copies in random-access memory, oldest first.
#[derive(Clone, Debug)]
pub(super) struct TxMemory<P: Payload> {
    copies: VecDeque<Copied<P>>,
    limit_bytes: u64,
    bytes: u64,
    high_water_bytes: u64,
    dropped: u64,
}

impl<P: Payload> TxMemory<P> {
    pub(super) const fn new(limit_bytes: u64) -> Self {
        Self { copies: VecDeque::new(), limit_bytes, bytes: 0, high_water_bytes: 0, dropped: 0 }
    }

    fn insert(&mut self, copy: Copied<P>, engine: &mut Sender) {
        let bytes = self.bytes + u64::from(copy.frame.frame_bytes_with_fcs());
        if bytes > self.limit_bytes {
            self.dropped += 1;
            engine.note_evicted(copy.position);
            return;
        }
        self.copies.push_back(copy);
        self.bytes = bytes;
        self.high_water_bytes = self.high_water_bytes.max(bytes);
    }

    /// Frees acknowledged copies, oldest first, up to the first lost one, which it returns.
    fn look(&mut self, engine: &mut Sender) -> Option<Copied<P>> {
        while let Some(&copy) = self.copies.front() {
            let fate = engine.inspect_copy(copy.position);
            if fate == CopyFate::Hold {
                return None;
            }
            self.copies.pop_front();
            self.bytes -= u64::from(copy.frame.frame_bytes_with_fcs());
            if fate == CopyFate::Retransmit {
                return Some(copy);
            }
        }
        None
    }
}

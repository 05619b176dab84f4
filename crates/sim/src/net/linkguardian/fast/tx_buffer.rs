//! Copies of sent frames, kept until they are acknowledged (LG-5, LG-6).
//!
//! A switch keeps the copies in a recirculation loop and looks at each as it passes. A program keeps the copies in memory and looks
//! at the oldest when an acknowledgement comes. A round that changes nothing is no event. The loop makes up for such rounds in
//! order and at their times, when one of them could change something.

use super::frames::Copied;
use super::timing::Timing;
use super::tx_loop::TxLoop;
use super::wires::Acks;
use crate::kernel::{Ring, Train};
use crate::net::{Cells, Payload};
use lossylink_core::engine::linkguardian::{CopyFate, Sender};
use lossylink_core::time::Instant;

/// The Tx buffer of a sending switch.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "a link has one, and it is in the way of every frame")]
pub(super) enum TxBuffer<P: Payload> {
    Loop(TxLoop<P>),
    Memory(TxMemory<P>),
}

impl<P: Payload> TxBuffer<P> {
    pub(super) fn new(timing: &Timing, recirculates: bool, cells: Cells, limit_bytes: u64) -> Self {
        if recirculates {
            Self::Loop(TxLoop::new(timing, cells, limit_bytes))
        } else {
            Self::Memory(TxMemory {
                copies: Ring::new(),
                limit_bytes,
                bytes: 0,
                high_water_bytes: 0,
                dropped: 0,
            })
        }
    }

    /// Whether the copies are in a loop, in which an acknowledgement by itself frees none.
    pub(super) const fn is_loop(&self) -> bool {
        matches!(self, Self::Loop(_))
    }

    /// Keeps the copy of a frame that left at `now`.
    #[inline]
    pub(super) fn insert(&mut self, now: Instant, copy: &Copied<P>, engine: &mut Sender) {
        match self {
            Self::Loop(buffer) => buffer.insert(now, copy),
            Self::Memory(buffer) => buffer.insert(*copy, engine),
        }
    }

    /// Tells the engine which copies found no room since the last call (LG-34).
    #[inline]
    pub(super) fn tell_evicted(&mut self, engine: &mut Sender) {
        if let Self::Loop(buffer) = self {
            buffer.tell_evicted(engine);
        }
    }

    /// Returns when a copy of the loop is next looked at; never, for a memory, which is looked at when an acknowledgement comes.
    pub(super) fn next_look(&self) -> Instant {
        match self {
            Self::Loop(buffer) => buffer.next_look(),
            Self::Memory(_) => Instant::NEVER,
        }
    }

    /// Looks at the copies whose turn came before `until`, up to the first lost copy. Returns the lost copy and the time at which
    /// it was found.
    pub(super) fn find_lost(&mut self, until: Instant, engine: &mut Sender) -> Option<(Instant, Copied<P>)> {
        match self {
            Self::Loop(buffer) => buffer.find_lost(until, engine),
            Self::Memory(_) => None,
        }
    }

    /// Takes in acknowledgements, while no copy is asked for ([`TxLoop::free`]).
    #[inline]
    pub(super) fn free(&mut self, train: Train, before: u32, oldest: (u32, u32), acks: &Acks) {
        if let Self::Loop(buffer) = self {
            buffer.free(train, before, oldest, acks);
        }
    }

    /// An acknowledgement or a notification was taken in. Returns the next lost copy of a memory.
    pub(super) fn find_lost_at_once(&mut self, engine: &mut Sender) -> Option<Copied<P>> {
        match self {
            Self::Loop(_) => None,
            Self::Memory(buffer) => buffer.find_lost(engine),
        }
    }

    /// Returns the bytes in the buffer at `now`, after [`TxBuffer::find_lost`].
    pub(super) fn depth_bytes(&mut self, now: Instant) -> u64 {
        match self {
            Self::Loop(buffer) => buffer.depth_bytes(now),
            Self::Memory(buffer) => buffer.bytes,
        }
    }

    /// Returns how many copies are kept, after [`TxBuffer::find_lost`].
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Loop(buffer) => buffer.len(),
            Self::Memory(buffer) => buffer.copies.len(),
        }
    }

    pub(super) fn high_water_bytes(&self) -> u64 {
        match self {
            Self::Loop(buffer) => buffer.high_water_bytes(),
            Self::Memory(buffer) => buffer.high_water_bytes,
        }
    }

    /// Returns how many copies were not kept because the buffer was full (LG-34).
    pub(super) const fn dropped(&self) -> u64 {
        match self {
            Self::Loop(buffer) => buffer.dropped(),
            Self::Memory(buffer) => buffer.dropped,
        }
    }

    /// Frees every copy (LG-30).
    pub(super) fn clear(&mut self) {
        match self {
            Self::Loop(buffer) => buffer.clear(),
            Self::Memory(buffer) => {
                buffer.copies.clear();
                buffer.bytes = 0;
            }
        }
    }
}

/// Copies in random-access memory, oldest first.
#[derive(Clone, Debug)]
pub(super) struct TxMemory<P: Payload> {
    copies: Ring<Copied<P>>,
    limit_bytes: u64,
    bytes: u64,
    high_water_bytes: u64,
    dropped: u64,
}

impl<P: Payload> TxMemory<P> {
    fn insert(&mut self, copy: Copied<P>, engine: &mut Sender) {
        let bytes = self.bytes + u64::from(copy.frame.frame_bytes_with_fcs());
        if bytes > self.limit_bytes {
            self.dropped += 1;
            engine.note_evicted(copy.position);
            return;
        }
        self.copies.push(copy);
        self.bytes = bytes;
        self.high_water_bytes = self.high_water_bytes.max(self.bytes);
    }

    fn find_lost(&mut self, engine: &mut Sender) -> Option<Copied<P>> {
        while let Some(&copy) = self.copies.front() {
            let fate = engine.inspect_copy(copy.position);
            if fate == CopyFate::Hold {
                break;
            }
            self.copies.pop();
            self.bytes -= u64::from(copy.frame.frame_bytes_with_fcs());
            if fate == CopyFate::Retransmit {
                return Some(copy);
            }
        }
        None
    }
}

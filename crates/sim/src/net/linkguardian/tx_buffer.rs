//! Copies of sent frames, kept until they are acknowledged (LG-5, LG-6).
//!
//! A switch keeps them in a recirculation loop and looks at each as it passes; a program keeps
//! them in memory and looks at the oldest when an acknowledgement comes. Rounds of the loop that
//! change nothing are not events: they are caught up in one tight loop when something could have
//! changed, in the same order and at the same times.

use super::timing::Timing;
use crate::kernel::{Pipe, Ring};
use crate::net::Frame;
use lossylink_core::engine::linkguardian::{CopyFate, Position, Sender};
use lossylink_core::time::Instant;

/// A copy of a sent frame.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Copied<P> {
    pub(super) position: Position,
    pub(super) frame: Frame<P>,
}

/// The Tx buffer of a sending switch.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "one a link, and looked at for every frame")]
pub(super) enum TxBuffer<P: Copy + Default> {
    Loop(TxLoop<P>),
    Memory(TxMemory<P>),
}

impl<P: Copy + Default> TxBuffer<P> {
    pub(super) fn new(timing: &Timing, recirculates: bool, cell_bytes: u64) -> Self {
        if recirculates {
            Self::Loop(TxLoop::new(*timing, cell_bytes))
        } else {
            Self::Memory(TxMemory { copies: Ring::new(), bytes: 0, high_water_bytes: 0 })
        }
    }

    /// A frame left at `now`: keeps its copy.
    #[inline]
    pub(super) fn insert(&mut self, now: Instant, copy: Copied<P>) {
        match self {
            Self::Loop(buffer) => buffer.fresh.push(now + buffer.timing.copy_first_check, copy),
            Self::Memory(buffer) => buffer.insert(copy),
        }
    }

    /// When the next copy is looked at; never, for a memory, which looks when it is told to.
    pub(super) fn next_look(&self) -> Instant {
        match self {
            Self::Loop(buffer) => buffer.next_look(),
            Self::Memory(_) => Instant::NEVER,
        }
    }

    /// Looks at all copies whose turn came before `until`; `retransmit` gets the lost ones and
    /// the time at which they were found.
    #[inline]
    pub(super) fn catch_up(
        &mut self,
        until: Instant,
        engine: &mut Sender,
        retransmit: impl FnMut(Instant, Copied<P>),
    ) {
        match self {
            Self::Loop(buffer) => buffer.catch_up(until, engine, retransmit),
            Self::Memory(_) => {}
        }
    }

    /// An acknowledgement or notification was taken in at `now`: a memory looks at once.
    pub(super) fn acknowledged(
        &mut self,
        now: Instant,
        engine: &mut Sender,
        retransmit: impl FnMut(Instant, Copied<P>),
    ) {
        match self {
            Self::Loop(_) => {}
            Self::Memory(buffer) => buffer.release(now, engine, retransmit),
        }
    }

    /// Bytes in the buffer at `now`, after [`TxBuffer::catch_up`].
    pub(super) fn depth_bytes(&mut self, now: Instant) -> u64 {
        match self {
            Self::Loop(buffer) => buffer.depth_bytes(now),
            Self::Memory(buffer) => buffer.bytes,
        }
    }

    /// How many copies are kept, after [`TxBuffer::catch_up`].
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Loop(buffer) => buffer.fresh.len() + buffer.rounds.len(),
            Self::Memory(buffer) => buffer.copies.len(),
        }
    }

    pub(super) fn high_water_bytes(&self) -> u64 {
        match self {
            Self::Loop(buffer) => buffer.high_water_bytes,
            Self::Memory(buffer) => buffer.high_water_bytes,
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

/// One round of a copy through the loop.
#[derive(Clone, Copy, Debug, Default)]
struct Round<P> {
    /// When the copy leaves the loop's queue.
    start: Instant,
    /// When it is looked at again.
    look: Instant,
    copy: Copied<P>,
}

/// A recirculation port: a queue at its own rate and a fixed way round.
#[derive(Clone, Debug)]
pub(super) struct TxLoop<P: Copy + Default> {
    timing: Timing,
    cell_bytes: u64,
    /// Copies on their way to the first look.
    fresh: Pipe<Copied<P>>,
    /// Copies in the loop, in order; the last `queued` of them have not left the queue.
    rounds: Ring<Round<P>>,
    queued: usize,
    queued_bytes: u64,
    high_water_bytes: u64,
    busy_until: Instant,
}

impl<P: Copy + Default> TxLoop<P> {
    fn new(timing: Timing, cell_bytes: u64) -> Self {
        Self {
            timing,
            cell_bytes,
            fresh: Pipe::new(),
            rounds: Ring::new(),
            queued: 0,
            queued_bytes: 0,
            high_water_bytes: 0,
            busy_until: Instant::ZERO,
        }
    }

    #[inline]
    fn next_look(&self) -> Instant {
        self.fresh.due().min(self.next_round())
    }

    #[inline]
    fn next_round(&self) -> Instant {
        self.rounds.front().map_or(Instant::NEVER, |round| round.look)
    }

    #[inline]
    fn catch_up(
        &mut self,
        until: Instant,
        engine: &mut Sender,
        mut retransmit: impl FnMut(Instant, Copied<P>),
    ) {
        loop {
            let (fresh, round) = (self.fresh.due(), self.next_round());
            let look = fresh.min(round);
            if look >= until {
                return;
            }
            // On a tie the copy that has been round before goes first.
            let copy = if fresh < round { self.fresh.pop().map(|(_, copy)| copy) } else { self.pop_round() };
            let Some(copy) = copy else { return };
            match engine.inspect_copy(copy.position) {
                CopyFate::Hold => self.send_round(look, copy),
                CopyFate::Release => {}
                CopyFate::Retransmit => retransmit(look, copy),
            }
        }
    }

    /// Takes the copy that has come round; it left the queue long ago, if perhaps not its account.
    #[inline]
    fn pop_round(&mut self) -> Option<Copied<P>> {
        let round = self.rounds.pop()?;
        if self.queued > self.rounds.len() {
            self.queued -= 1;
            self.queued_bytes -= self.cells(&round.copy);
        }
        Some(round.copy)
    }

    #[inline]
    fn send_round(&mut self, now: Instant, copy: Copied<P>) {
        let start = now.max(self.busy_until);
        self.busy_until = start + self.timing.recirculation.serialisation(copy.frame.octets);
        let look = self.busy_until + self.timing.tx_loop_fixed;
        self.leave_queue(now);
        self.rounds.push(Round { start, look, copy });
        if start > now {
            self.queued += 1;
            self.queued_bytes += self.cells(&copy);
        } else {
            // An empty queue: the copy goes straight through.
            debug_assert_eq!(self.queued, 0);
        }
        self.high_water_bytes = self.high_water_bytes.max(self.queued_bytes);
    }

    /// Takes those out of the queue's account that have left it by `now`.
    #[inline]
    fn leave_queue(&mut self, now: Instant) {
        while self.queued > 0 {
            let Some(first) = self.rounds.get(self.rounds.len() - self.queued) else { return };
            if first.start > now {
                return;
            }
            self.queued_bytes -= self.cells(&first.copy);
            self.queued -= 1;
        }
    }

    #[inline]
    fn cells(&self, copy: &Copied<P>) -> u64 {
        u64::from(copy.frame.frame_bytes_with_fcs()).div_ceil(self.cell_bytes) * self.cell_bytes
    }

    fn depth_bytes(&mut self, now: Instant) -> u64 {
        self.leave_queue(now);
        self.queued_bytes
    }

    fn clear(&mut self) {
        self.fresh.clear();
        self.rounds.clear();
        (self.queued, self.queued_bytes) = (0, 0);
    }
}

/// Copies in random-access memory, oldest first.
#[derive(Clone, Debug)]
pub(super) struct TxMemory<P: Copy + Default> {
    copies: Ring<Copied<P>>,
    bytes: u64,
    high_water_bytes: u64,
}

impl<P: Copy + Default> TxMemory<P> {
    fn insert(&mut self, copy: Copied<P>) {
        self.copies.push(copy);
        self.bytes += u64::from(copy.frame.frame_bytes_with_fcs());
        self.high_water_bytes = self.high_water_bytes.max(self.bytes);
    }

    fn release(&mut self, now: Instant, engine: &mut Sender, mut retransmit: impl FnMut(Instant, Copied<P>)) {
        while let Some(&copy) = self.copies.front() {
            let fate = engine.inspect_copy(copy.position);
            if fate == CopyFate::Hold {
                return;
            }
            self.copies.pop();
            self.bytes -= u64::from(copy.frame.frame_bytes_with_fcs());
            if fate == CopyFate::Retransmit {
                retransmit(now, copy);
            }
        }
    }
}

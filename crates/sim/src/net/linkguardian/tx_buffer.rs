//! Copies of sent frames, kept until they are acknowledged (LG-5, LG-6).
//!
//! A switch keeps them in a recirculation loop and looks at each as it passes; a program keeps
//! them in memory and looks at the oldest when an acknowledgement comes. Rounds of the loop that
//! change nothing are not events: they are caught up in one tight loop when something could have
//! changed, in the same order and at the same times.

use super::timing::{HEADER_OCTETS, Timing};
use crate::kernel::{Pipe, Ring};
use crate::net::{Cells, Frame, LineRate};
use lossylink_core::engine::linkguardian::{CopyFate, Position, Sender};
use lossylink_core::time::{Duration, Instant};

/// A copy of a sent frame.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Copied<P> {
    pub(super) position: Position,
    /// How many data frames the sender had numbered before, modulo 2^32: tells a copy that was let
    /// go from a newer one with the same position (LG-33).
    pub(super) number: u32,
    /// With the protection's header.
    pub(super) frame: Frame<P>,
}

impl<P> Copied<P> {
    /// The frame as it came, without the protection's header.
    #[inline]
    pub(super) fn bare(self) -> Frame<P> {
        Frame { octets: self.frame.octets - HEADER_OCTETS, ..self.frame }
    }
}

/// The Tx buffer of a sending switch.
#[derive(Clone, Debug)]
pub(super) enum TxBuffer<P: Copy + Default> {
    Loop(TxLoop<P>),
    Memory(TxMemory<P>),
}

impl<P: Copy + Default> TxBuffer<P> {
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

    /// A frame left at `now`: keeps its copy.
    #[inline]
    pub(super) fn insert(&mut self, now: Instant, copy: &Copied<P>) {
        match self {
            Self::Loop(buffer) => buffer.fresh.push(now + buffer.first_check, *copy),
            Self::Memory(buffer) => buffer.insert(*copy),
        }
    }

    /// When the next copy is looked at; never, for a memory, which looks when it is told to.
    pub(super) fn next_look(&self) -> Instant {
        match self {
            Self::Loop(buffer) => buffer.next_look(),
            Self::Memory(_) => Instant::NEVER,
        }
    }

    /// Looks at the copies whose turn came before `until`, up to the first that was lost: returns
    /// it and when it was found.
    pub(super) fn find_lost(&mut self, until: Instant, engine: &mut Sender) -> Option<(Instant, Copied<P>)> {
        match self {
            Self::Loop(buffer) => buffer.find_lost(until, engine),
            Self::Memory(_) => None,
        }
    }

    /// An acknowledgement or notification was taken in: a memory looks at once.
    pub(super) fn find_lost_at_once(&mut self, engine: &mut Sender) -> Option<Copied<P>> {
        match self {
            Self::Loop(_) => None,
            Self::Memory(buffer) => buffer.find_lost(engine),
        }
    }

    /// Bytes in the buffer at `now`, after [`TxBuffer::find_lost`].
    pub(super) fn depth_bytes(&mut self, now: Instant) -> u64 {
        match self {
            Self::Loop(buffer) => buffer.depth_bytes(now),
            Self::Memory(buffer) => buffer.bytes,
        }
    }

    /// How many copies are kept, after [`TxBuffer::find_lost`].
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

    /// Copies that were not kept because the buffer was full (LG-34).
    pub(super) const fn dropped(&self) -> u64 {
        match self {
            Self::Loop(buffer) => buffer.dropped,
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

/// A recirculation port: a queue at its own rate and a fixed way round.
#[derive(Clone, Debug)]
pub(super) struct TxLoop<P: Copy + Default> {
    first_check: Duration,
    rate: LineRate,
    way_round: Duration,
    cells: Cells,
    /// Copies on their way to the first look.
    fresh: Pipe<Copied<P>>,
    /// Copies in the loop, by the time of the next look.
    rounds: Pipe<Copied<P>>,
    /// Space of the copies in the queue, by the time at which they leave it; some may have left it since.
    queued: Pipe<u64>,
    limit_bytes: u64,
    queued_bytes: u64,
    high_water_bytes: u64,
    dropped: u64,
    busy_until: Instant,
}

impl<P: Copy + Default> TxLoop<P> {
    fn new(timing: &Timing, cells: Cells, limit_bytes: u64) -> Self {
        Self {
            first_check: timing.copy_first_check,
            rate: timing.recirculation,
            way_round: timing.tx_loop_fixed,
            cells,
            fresh: Pipe::new(),
            rounds: Pipe::new(),
            queued: Pipe::new(),
            limit_bytes,
            queued_bytes: 0,
            high_water_bytes: 0,
            dropped: 0,
            busy_until: Instant::ZERO,
        }
    }

    #[inline]
    fn next_look(&self) -> Instant {
        self.fresh.poll_timeout().min(self.rounds.poll_timeout())
    }

    /// No acknowledgement comes in between: the frames that are outstanding now were so at every look. The others
    /// just leave the loop while nothing is asked for.
    #[inline]
    fn find_lost(&mut self, until: Instant, engine: &mut Sender) -> Option<(Instant, Copied<P>)> {
        let (oldest, is_asked) = (engine.oldest_outstanding(), engine.holes() > 0);
        while self.next_look() < until {
            // On a tie the copy that has been round before goes first.
            let is_fresh = self.fresh.poll_timeout() < self.rounds.poll_timeout();
            let (look, copy) = if is_fresh { self.fresh.pop()? } else { self.rounds.pop()? };
            if copy.number.wrapping_sub(oldest) as i32 >= 0 {
                self.send_round(look, &copy);
            } else if is_asked && is_lost(&copy, engine) {
                return Some((look, copy));
            }
        }
        None
    }

    #[inline]
    fn send_round(&mut self, now: Instant, copy: &Copied<P>) {
        let start = now.max(self.busy_until);
        if start > now {
            let space = self.cells.space(copy.frame.frame_bytes_with_fcs());
            if self.queued_bytes + space > self.high_water_bytes && !self.has_room(now, space) {
                self.dropped += 1;
                return;
            }
            self.queued.push(start, space);
            self.queued_bytes += space;
        }
        self.busy_until = start + self.rate.serialisation(copy.frame.octets);
        self.rounds.push(self.busy_until + self.way_round, *copy);
    }

    /// Whether the queue has room for `space` bytes more, which may fill it as never before: only then the account
    /// must be exact, and otherwise shows what has left it since.
    fn has_room(&mut self, now: Instant, space: u64) -> bool {
        self.leave_queue(now);
        let bytes = self.queued_bytes + space;
        let fits = bytes <= self.limit_bytes;
        if fits {
            self.high_water_bytes = self.high_water_bytes.max(bytes);
        }
        fits
    }

    /// Takes those out of the queue's account that have left it by `now`.
    #[inline]
    fn leave_queue(&mut self, now: Instant) {
        self.queued.drain_due(now, |_, space| self.queued_bytes -= space);
    }

    fn depth_bytes(&mut self, now: Instant) -> u64 {
        self.leave_queue(now);
        self.queued_bytes
    }

    fn clear(&mut self) {
        self.fresh.clear();
        self.rounds.clear();
        self.queued.clear();
        self.queued_bytes = 0;
    }
}

/// Whether an acknowledged copy is asked for: then it leaves to be sent again.
#[cold]
fn is_lost<P>(copy: &Copied<P>, engine: &mut Sender) -> bool {
    !engine.has_abandoned(copy.number) && engine.inspect_copy(copy.position) == CopyFate::Retransmit
}

/// Copies in random-access memory, oldest first.
#[derive(Clone, Debug)]
pub(super) struct TxMemory<P: Copy + Default> {
    copies: Ring<Copied<P>>,
    limit_bytes: u64,
    bytes: u64,
    high_water_bytes: u64,
    dropped: u64,
}

impl<P: Copy + Default> TxMemory<P> {
    fn insert(&mut self, copy: Copied<P>) {
        let bytes = self.bytes + u64::from(copy.frame.frame_bytes_with_fcs());
        if bytes > self.limit_bytes {
            self.dropped += 1;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::switch_profile;
    use crate::net::Ecn;
    use lossylink_core::units::BitRate;
    use proptest::prelude::*;

    proptest! {
        // LG-34
        #[test]
        fn what_has_left_the_loop_is_counted_when_it_matters(
            copies in prop::collection::vec((0u64..200, 60u32..1515, any::<bool>()), 1..300),
        ) {
            let rate = LineRate::new(BitRate::from_gbps(100));
            let timing = Timing::new(&switch_profile("tofino1"), rate, Duration::ZERO);
            let mut buffer = TxLoop::new(&timing, Cells::new(80), 12_000);
            let (mut queue, mut busy_until) = (Vec::new(), Instant::ZERO);
            let (mut now, mut most, mut dropped) = (Instant::ZERO, 0, 0);
            for (wait, bytes, asks) in copies {
                now += Duration::from_ns(wait);
                let frame = Frame::of_frame_bytes(bytes, Ecn::NotCapable, 0_u64);
                buffer.send_round(now, &Copied { frame, ..Copied::default() });
                queue.retain(|&(start, _)| start > now);
                let space = u64::from(frame.frame_bytes_with_fcs().div_ceil(80) * 80);
                let depth: u64 = queue.iter().map(|&(_, space)| space).sum();
                let start = now.max(busy_until);
                if start > now && depth + space > 12_000 {
                    dropped += 1;
                } else {
                    if start > now {
                        queue.push((start, space));
                        most = most.max(depth + space);
                    }
                    busy_until = start + rate.serialisation(frame.octets);
                }
                prop_assert_eq!((buffer.high_water_bytes, buffer.dropped), (most, dropped));
                if asks {
                    prop_assert_eq!(buffer.depth_bytes(now), queue.iter().map(|&(_, space)| space).sum::<u64>());
                }
            }
        }
    }
}

//! The model's decoder: counts unmarked packets, holds marked ones until their block ends (FEC-26, FEC-27).

use super::{BlockEnd, Tag};
use crate::net::coded::Arrival;
use crate::net::{Frame, LineRate};
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::BitRate;

/// A marked data packet in recirculation.
#[derive(Clone, Copy, Debug)]
struct Marked<P> {
    tag: Tag,
    frame: Frame<P>,
    /// The time at which the packet began to circulate. From its block's end on, the time at which the packet goes on.
    at: Instant,
}

/// The decoder of the model.
#[derive(Clone, Debug)]
pub(super) struct ModelDecoder<P> {
    block_end: BlockEnd,
    /// Rate of the recirculation port.
    rate: LineRate,
    /// A round of the recirculation loop without serialisation; zero when packets need not wait.
    round: Duration,
    block: u64,
    /// Whether the block that is received has ended, or no block was ever received.
    has_ended: bool,
    unmarked: u32,
    size: u8,
    ends_at: Instant,
    circulating: Vec<Marked<P>>,
    /// Packets on their last round.
    leaving: Vec<Marked<P>>,
    next_leave: Instant,
    bytes: u64,
    most_bytes: u64,
    recovered: u64,
    unrecovered: u64,
}

impl<P: Copy> ModelDecoder<P> {
    pub(super) fn new(block_end: BlockEnd, rate: BitRate, round: Duration) -> Self {
        Self {
            block_end,
            rate: LineRate::new(rate),
            round,
            block: 0,
            has_ended: true,
            unmarked: 0,
            size: 0,
            ends_at: Instant::NEVER,
            circulating: Vec::new(),
            leaving: Vec::new(),
            next_leave: Instant::NEVER,
            bytes: 0,
            most_bytes: 0,
            recovered: 0,
            unrecovered: 0,
        }
    }

    /// Returns how many marked data packets were let go, and how many were dropped.
    pub(super) const fn decided(&self) -> (u64, u64) {
        (self.recovered, self.unrecovered)
    }

    /// Returns how many marked packets belong to a block that has not ended.
    pub(super) fn circulating(&self) -> u64 {
        self.circulating.len() as u64
    }

    /// Returns the bytes in recirculation.
    pub(super) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the most bytes that were ever in recirculation.
    pub(super) const fn most_bytes(&self) -> u64 {
        self.most_bytes
    }

    /// Returns when a packet leaves the loop, or a block ends by its timer.
    #[inline]
    pub(super) fn poll_timeout(&self) -> Instant {
        self.next_leave.min(self.ends_at)
    }

    /// Handles a packet that arrives. Returns true when the packet goes on at once.
    #[inline]
    pub(super) fn handle_packet(&mut self, now: Instant, arrival: Arrival<P, Tag>) -> bool {
        let Arrival { tag, frame, is_intact } = arrival;
        let is_marked = !is_intact;
        let goes_on = tag.is_data() && !is_marked;
        if tag.block < self.block {
            self.unrecovered += u64::from(tag.is_data() && is_marked);
            return goes_on;
        }
        if tag.block > self.block || self.size == 0 {
            self.begin(now, tag);
        }
        if !tag.is_data() {
            self.size = tag.size;
        }
        if !is_marked {
            self.unmarked += 1;
        } else if tag.is_data() {
            self.bytes += u64::from(frame.frame_bytes_with_fcs());
            self.most_bytes = self.most_bytes.max(self.bytes);
            self.circulating.push(Marked { tag, frame, at: now });
        }
        if tag.is_last() && self.block_end.last_index {
            self.end(now);
        }
        goes_on
    }

    /// Ends the block if its time has come.
    #[inline]
    pub(super) fn handle_timeout(&mut self, now: Instant) {
        if self.ends_at <= now {
            self.end(now);
        }
    }

    /// Returns a packet whose last round is over, with the time at which it leaves.
    #[inline]
    pub(super) fn poll(&mut self, now: Instant) -> Option<(Instant, Tag, Frame<P>)> {
        if self.next_leave > now {
            return None;
        }
        let place = (0..self.leaving.len()).min_by_key(|&place| self.leaving[place].at)?;
        let Marked { tag, frame, at } = self.leaving.remove(place);
        self.next_leave = self.leaving.iter().map(|marked| marked.at).min().unwrap_or(Instant::NEVER);
        self.bytes -= u64::from(frame.frame_bytes_with_fcs());
        Some((at, tag, frame))
    }

    /// Begins a block with its first packet, which belongs to a newer block.
    #[inline]
    fn begin(&mut self, now: Instant, tag: Tag) {
        if self.block_end.newer_block && !self.has_ended {
            self.end(now);
        } else if !self.circulating.is_empty() {
            self.abandon();
        }
        self.block = tag.block;
        self.has_ended = false;
        self.unmarked = 0;
        self.size = tag.size;
        self.ends_at = self.block_end.timer.map_or(Instant::NEVER, |timer| now + timer);
    }

    /// Ends the block: k unmarked packets let the marked packets go, fewer drop them.
    fn end(&mut self, now: Instant) {
        self.ends_at = Instant::NEVER;
        if self.has_ended {
            return;
        }
        self.has_ended = true;
        if self.unmarked < u32::from(self.size) {
            self.abandon();
            return;
        }
        self.recovered += self.circulating.len() as u64;
        while let Some(marked) = self.circulating.pop() {
            let at = self.end_of_round(&marked, now);
            self.next_leave = self.next_leave.min(at);
            self.leaving.push(Marked { at, ..marked });
        }
        // Stable: packets that leave at one time keep their order.
        self.leaving.sort_by_key(|marked| (marked.at, marked.tag.block, marked.tag.index));
    }

    fn abandon(&mut self) {
        self.unrecovered += self.circulating.len() as u64;
        let bytes: u64 =
            self.circulating.drain(..).map(|marked| u64::from(marked.frame.frame_bytes_with_fcs())).sum();
        self.bytes -= bytes;
    }

    /// Returns when a packet next ends a round, from `now` on (FEC-27).
    fn end_of_round(&self, marked: &Marked<P>, now: Instant) -> Instant {
        if self.round == Duration::ZERO {
            return now;
        }
        let round = (self.round + self.rate.serialisation(marked.frame.octets)).as_ps();
        marked.at + Duration::from_ps((now - marked.at).as_ps().div_ceil(round) * round)
    }
}

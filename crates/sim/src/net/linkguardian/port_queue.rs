//! The queue of a recirculation port: when a frame that enters leaves, and how much waits.
//!
//! Frames of one size that leave one behind another are one entry of the account. What has left is taken out of the account
//! when its depth matters, which is when the queue may be fuller than ever before, and when somebody asks.

use super::timing::Timing;
use crate::kernel::Ring;
use crate::net::frame::GAP_OCTETS;
use crate::net::{Cells, LineRate};
use lossylink_core::time::{Duration, Instant};

/// When a frame stops to count as waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counts {
    /// When it begins to leave: one that leaves as it enters never waits.
    UntilItLeaves,
    /// Just after that: whoever looks as it begins to leave still counts it.
    WhileItLeaves,
}

/// Frames of one size that leave one behind another.
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    /// When the first stops to count, and when one behind the last would.
    first: Instant,
    end: Instant,
    octets: u32,
    serialisation: Duration,
    space: u64,
}

impl Run {
    /// None of them counts any more.
    const fn is_over(&self) -> bool {
        self.first.as_ps() == self.end.as_ps()
    }
}

/// A first-in first-out queue in front of a line.
#[derive(Clone, Debug)]
pub(super) struct PortQueue {
    rate: LineRate,
    cells: Cells,
    limit_bytes: u64,
    /// From when a frame begins to leave until it stops to count.
    lag: Duration,
    busy_until: Instant,
    /// Frames that count, some of which may have left since: the newest, and those before them.
    newest: Run,
    older: Ring<Run>,
    /// Their space.
    bytes: u64,
    high_water_bytes: u64,
    dropped: u64,
}

impl PortQueue {
    pub(super) fn new(timing: &Timing, cells: Cells, limit_bytes: u64, counts: Counts) -> Self {
        let lag = match counts {
            Counts::UntilItLeaves => Duration::ZERO,
            Counts::WhileItLeaves => Duration::from_ps(1),
        };
        Self {
            rate: timing.recirculation,
            cells,
            limit_bytes,
            lag,
            busy_until: Instant::ZERO,
            newest: Run::default(),
            older: Ring::new(),
            bytes: 0,
            high_water_bytes: 0,
            dropped: 0,
        }
    }

    /// A frame of `octets` enters at `now`: when it has left, `None` if there is no room for it (LG-34).
    #[inline(always)]
    pub(super) fn enter(&mut self, now: Instant, octets: u32) -> Option<Instant> {
        if self.busy_until <= now && self.lag == Duration::ZERO {
            self.busy_until = now + self.rate.serialisation(octets);
            return Some(self.busy_until);
        }
        let start = now.max(self.busy_until);
        let until = start + self.lag;
        if octets == self.newest.octets && until == self.newest.end {
            let space = self.newest.space;
            if self.bytes + space > self.high_water_bytes && !self.has_room(now, space) {
                self.dropped += 1;
                return None;
            }
            self.bytes += space;
            self.newest.end += self.newest.serialisation;
            self.busy_until = start + self.newest.serialisation;
            return Some(self.busy_until);
        }
        self.enter_apart(now, start, octets)
    }

    /// A frame that does not follow the one before it as that one does.
    #[inline(never)]
    fn enter_apart(&mut self, now: Instant, start: Instant, octets: u32) -> Option<Instant> {
        let (first, space) = (start + self.lag, self.cells.space(octets - GAP_OCTETS));
        let serialisation = self.rate.serialisation(octets);
        if self.bytes + space > self.high_water_bytes && !self.has_room(now, space) {
            self.dropped += 1;
            return None;
        }
        self.bytes += space;
        if !self.newest.is_over() {
            self.older.push(self.newest);
        }
        self.newest = Run { first, end: first + serialisation, octets, serialisation, space };
        self.busy_until = start + serialisation;
        Some(self.busy_until)
    }

    /// Whether there is room for `space` bytes more, which may fill the queue as never before: only then the account must be
    /// exact.
    #[inline]
    fn has_room(&mut self, now: Instant, space: u64) -> bool {
        self.settle(now);
        let bytes = self.bytes + space;
        let fits = bytes <= self.limit_bytes;
        if fits {
            self.high_water_bytes = self.high_water_bytes.max(bytes);
        }
        fits
    }

    /// Takes those out of the account that have stopped to count by `now`.
    #[inline]
    pub(super) fn settle(&mut self, now: Instant) {
        if !self.older.is_empty() && !self.settle_older(now) {
            return;
        }
        let Run { mut first, end, serialisation, space, .. } = self.newest;
        while first < end && first <= now {
            first += serialisation;
            self.bytes -= space;
        }
        self.newest.first = first;
    }

    /// Whether none is left of the older ones.
    #[cold]
    fn settle_older(&mut self, now: Instant) -> bool {
        while let Some(run) = self.older.front_mut() {
            while !run.is_over() && run.first <= now {
                run.first += run.serialisation;
                self.bytes -= run.space;
            }
            if !run.is_over() {
                return false;
            }
            self.older.skip_front();
        }
        true
    }

    /// When the first frame in the account stops to count; never, if there is none.
    #[inline]
    fn first(&self) -> Instant {
        match self.older.front() {
            Some(run) => run.first,
            None if self.newest.is_over() => Instant::NEVER,
            None => self.newest.first,
        }
    }

    /// When the next of the frames that count begins to leave, after [`PortQueue::settle`]; never, if none does.
    #[inline]
    pub(super) fn next_leave(&self) -> Instant {
        let first = self.first();
        if first.is_never() { first } else { Instant::from_ps(first.as_ps() - self.lag.as_ps()) }
    }

    /// When the line is free.
    #[inline]
    pub(super) const fn busy_until(&self) -> Instant {
        self.busy_until
    }

    /// Bytes in the account: no fewer than wait, and as many after [`PortQueue::settle`].
    #[inline]
    pub(super) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The space that a frame takes.
    #[inline]
    pub(super) fn space(&self, octets: u32) -> u64 {
        if octets == self.newest.octets { self.newest.space } else { self.cells.space(octets - GAP_OCTETS) }
    }

    pub(super) const fn high_water_bytes(&self) -> u64 {
        self.high_water_bytes
    }

    /// Starts the high-water mark anew at `now`.
    pub(super) fn reset_high_water(&mut self, now: Instant) {
        self.settle(now);
        self.high_water_bytes = self.bytes;
    }

    /// Frames that found no room.
    pub(super) const fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Forgets what waits.
    pub(super) fn clear(&mut self) {
        self.newest = Run::default();
        self.older.clear();
        self.bytes = 0;
    }

    /// The same at `now`, and with it the time that the line would have taken for it. The line stays busy with the frame in
    /// service.
    pub(super) fn forget(&mut self, now: Instant) {
        self.settle(now);
        self.busy_until = self.busy_until.min(self.next_leave());
        self.clear();
    }
}

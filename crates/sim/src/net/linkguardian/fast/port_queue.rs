//! The queue of a recirculation port: when a frame that enters leaves, and how much waits.
//!
//! Frames of one size that leave one behind another are one entry of the account. How many of them still wait follows from the
//! time, so that nothing is to be done when one leaves. Whether one more fills the queue as never before is a comparison of
//! times, too.

use super::timing::Timing;
use crate::kernel::{Ring, Train};
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

/// Frames that a queue has room for which is certain not to fill.
const SPARE_FRAMES: u64 = 2;

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
    /// How many of them count at `now`.
    #[inline]
    fn count_at(&self, now: Instant) -> u64 {
        let from = self.first.max(now + Duration::from_ps(1));
        if from >= self.end { 0 } else { (self.end - from).as_ps() / self.serialisation.as_ps() }
    }

    /// Those of them that count at `now`.
    #[inline]
    fn from(self, now: Instant) -> Self {
        Self { first: self.end - self.serialisation * self.count_at(now), ..self }
    }

    /// They leave later by `delay`.
    fn later(self, delay: Duration) -> Self {
        Self { first: self.first + delay, end: self.end + delay, ..self }
    }

    /// Their space.
    #[inline]
    fn bytes_at(&self, now: Instant) -> u64 {
        self.count_at(now) * self.space
    }
}

/// A depth of the queue, beside frames like the newest.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Level {
    bytes: u64,
    /// The time that as many of these frames take as fit in it.
    span: Duration,
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
    /// The space of the older ones, as far as they counted when somebody last asked.
    older_bytes: u64,
    /// The most that was ever in the queue.
    high_water: Level,
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
            older_bytes: 0,
            high_water: Level::default(),
            dropped: 0,
        }
    }

    /// Whether a frame of `octets` that enters at `now` follows the one before it as that one does.
    #[inline(always)]
    pub(super) fn goes_on(&self, now: Instant, octets: u32) -> bool {
        let Run { end, octets: newest, .. } = self.newest;
        octets == newest && now.max(self.busy_until) + self.lag == end && self.older.is_empty()
    }

    /// A frame of `octets` enters at `now`: when it has left, `None` if there is no room for it (LG-34).
    #[inline(always)]
    pub(super) fn enter(&mut self, now: Instant, octets: u32) -> Option<Instant> {
        if self.busy_until <= now && self.lag == Duration::ZERO {
            self.busy_until = now + self.rate.serialisation(octets);
            return Some(self.busy_until);
        }
        let left = self.enter_below(now, octets, self.high_water);
        if left.is_some() { left } else { self.enter_apart(now, octets) }
    }

    /// The same if the frame follows the one before it as that one does, and the queue then holds no more than `level`, which
    /// is no more than it ever held. Otherwise `None`, and nothing has happened.
    #[inline(always)]
    pub(super) fn enter_below(&mut self, now: Instant, octets: u32, level: Level) -> Option<Instant> {
        // As many as fit in the level would be there if the first of so many still counted.
        if !self.goes_on(now, octets) || self.newest.end > now + level.span {
            return None;
        }
        let start = now.max(self.busy_until);
        let newest = &mut self.newest;
        newest.end += newest.serialisation;
        self.busy_until = start + newest.serialisation;
        Some(self.busy_until)
    }

    /// The same of the first frames of a train of `octets` that enters, as many as do so without a break: when they have left.
    #[inline]
    pub(super) fn enter_train_below(&mut self, train: Train, octets: u32, level: Level) -> Option<Train> {
        if !self.goes_on(train.first, octets) || self.newest.end > train.first + level.span {
            return None;
        }
        let start = train.first.max(self.busy_until);
        let newest = &mut self.newest;
        let serialisation = newest.serialisation;
        let count = if train.count == 1 || train.spacing == serialisation {
            train.count
        } else if train.spacing > serialisation {
            // The line must not run idle before the next one comes.
            let ahead = (start - train.first).as_ps() / (train.spacing - serialisation).as_ps();
            train.count.min(u32::try_from(ahead + 1).unwrap_or(u32::MAX))
        } else {
            let room = train.first + level.span - newest.end;
            let fuller = room.as_ps() / (serialisation - train.spacing).as_ps();
            train.count.min(u32::try_from(fuller + 1).unwrap_or(u32::MAX))
        };
        newest.end += serialisation * u64::from(count);
        self.busy_until = start + serialisation * u64::from(count);
        Some(Train { first: start + serialisation, spacing: serialisation, count, ..train })
    }

    /// The same of those that find the line idle, if they are as large as the frame before them.
    #[inline]
    pub(super) fn enter_train_idle(&mut self, train: Train, octets: u32, level: Level) -> Option<Train> {
        let serialisation = self.newest.serialisation;
        let is_alike = octets == self.newest.octets && self.older.is_empty();
        if !is_alike || self.busy_until > train.first || level.span < serialisation {
            return None;
        }
        let train = if train.spacing >= serialisation { train } else { train.up_to(1) };
        // Of those that leave without a break the first begins the run; otherwise each is one by itself.
        let begins = if train.spacing > serialisation { train.last() } else { train.first };
        self.newest.first = begins + self.lag;
        self.newest.end = train.last() + self.lag + serialisation;
        self.busy_until = train.last() + serialisation;
        Some(train.from(train.first + serialisation))
    }

    /// The same of frames none of which waits, or up to as much as the queue ever held.
    #[inline]
    pub(super) fn enter_train(&mut self, train: Train, octets: u32) -> Option<Train> {
        if self.busy_until <= train.first && self.lag == Duration::ZERO {
            let serialisation = self.rate.serialisation(octets);
            let train = if train.spacing >= serialisation { train } else { train.up_to(1) };
            self.busy_until = train.last() + serialisation;
            return Some(train.from(train.first + serialisation));
        }
        self.enter_train_below(train, octets, self.high_water)
    }

    /// When a frame that enters at `now` begins to leave.
    #[inline]
    pub(super) fn next_start(&self, now: Instant) -> Instant {
        self.busy_until.max(now)
    }

    /// Frames passed that found the line free, the last of which has left at `until`.
    #[inline]
    pub(super) fn pass(&mut self, until: Instant) {
        self.busy_until = self.busy_until.max(until);
    }

    /// Whether it is at `now` what `before` was at `then`, but for the time: then all goes on as it did.
    pub(super) fn is_alike(&mut self, now: Instant, before: &mut Self, then: Instant) -> bool {
        let wait = self.next_start(now) - now;
        wait == before.next_start(then) - then
            && (self.high_water.bytes, self.dropped) == (before.high_water.bytes, before.dropped)
            && self.waiting(now) == before.waiting(then)
    }

    /// The runs that count at `now`: how long until they stop to, and their octets.
    fn waiting(&mut self, now: Instant) -> Vec<(Duration, Duration, u32)> {
        self.expire_older(now);
        let older = (0..self.older.len()).filter_map(|place| self.older.get(place).copied());
        let counting = older.chain([self.newest.from(now)]).filter(|run| run.first < run.end);
        counting.map(|run| (run.first - now, run.end - now, run.octets)).collect()
    }

    /// All that is in it at `now` leaves later by `delay`.
    pub(super) fn put_off(&mut self, now: Instant, delay: Duration) {
        self.expire_older(now);
        let is_counting = self.newest.count_at(now) > 0;
        for place in 0..self.older.len() {
            let Some(run) = self.older.from_back_mut(place) else { break };
            *run = run.later(delay);
        }
        if is_counting {
            self.newest = self.newest.later(delay);
        }
        self.busy_until += delay;
    }

    /// How long a frame takes on the line.
    #[inline]
    pub(super) fn serialisation(&self, octets: u32) -> Duration {
        self.rate.serialisation(octets)
    }

    /// A frame that does not follow the one before it, or may fill the queue as never before.
    #[inline(never)]
    fn enter_apart(&mut self, now: Instant, octets: u32) -> Option<Instant> {
        let space = self.cells.space(octets - GAP_OCTETS);
        let bytes = self.bytes_at(now) + space;
        if bytes > self.limit_bytes {
            self.dropped += 1;
            return None;
        }
        let (start, serialisation) = (now.max(self.busy_until), self.rate.serialisation(octets));
        let first = start + self.lag;
        if octets == self.newest.octets && first == self.newest.end {
            self.newest.end += serialisation;
        } else {
            let (newest, bytes) = (self.newest, self.newest.bytes_at(now));
            if bytes > 0 {
                self.older.push(newest.from(now));
                self.older_bytes += bytes;
            }
            self.newest = Run { first, end: first + serialisation, octets, serialisation, space };
        }
        self.busy_until = start + serialisation;
        self.high_water = self.level(bytes.max(self.high_water.bytes));
        Some(self.busy_until)
    }

    /// The size of the frames that it holds, if all are of one size, and so many that it stays below `bytes` with a few more of
    /// them.
    #[inline]
    pub(super) fn is_below(&self, now: Instant, bytes: u64) -> Option<u32> {
        let newest = &self.newest;
        let is_below = self.older.is_empty() && newest.bytes_at(now) + SPARE_FRAMES * newest.space < bytes;
        is_below.then_some(newest.octets)
    }

    /// The most that it ever held, or just less than `bytes` if that is less.
    #[inline]
    pub(super) fn level_below(&self, bytes: u64) -> Level {
        if self.high_water.bytes < bytes { self.high_water } else { self.level(bytes.saturating_sub(1)) }
    }

    /// A depth of `bytes`, beside the frames that are the newest now.
    #[inline]
    pub(super) fn level(&self, bytes: u64) -> Level {
        let frames = bytes.checked_div(self.newest.space).unwrap_or(0);
        Level { bytes, span: self.newest.serialisation * frames }
    }

    /// When the next of the frames that count at `now` begins to leave; never, if none does.
    pub(super) fn next_leave(&mut self, now: Instant) -> Instant {
        self.expire_older(now);
        let newest = self.newest.from(now);
        let next = self.older.front().copied().or((newest.first < newest.end).then_some(newest));
        next.map_or(Instant::NEVER, |run| run.first - self.lag)
    }

    /// When the first of the frames that count at `now` begins to leave beside which no more than `bytes` wait, itself included, if
    /// none enters meanwhile, or the last if there is none such. It may be one of those before if they are of several sizes.
    pub(super) fn next_leave_below(&mut self, now: Instant, bytes: u64) -> Instant {
        let next = self.next_leave(now);
        if next.is_never() || !self.older.is_empty() {
            return next;
        }
        let Run { serialisation, space, .. } = self.newest;
        next + serialisation * self.newest.count_at(now).saturating_sub((bytes / space).max(1))
    }

    /// Bytes that wait at `now`, which never goes back.
    #[inline]
    pub(super) fn bytes_at(&mut self, now: Instant) -> u64 {
        if !self.older.is_empty() {
            self.expire_older(now);
        }
        self.older_bytes + self.newest.bytes_at(now)
    }

    /// Lets go of the older ones that do not count any more at `now`.
    #[cold]
    fn expire_older(&mut self, now: Instant) {
        while let Some(run) = self.older.front_mut() {
            let left = run.from(now);
            self.older_bytes -= run.bytes_at(Instant::ZERO) - left.bytes_at(Instant::ZERO);
            *run = left;
            if left.first < left.end {
                return;
            }
            self.older.skip_front();
        }
    }

    pub(super) const fn high_water_bytes(&self) -> u64 {
        self.high_water.bytes
    }

    /// Starts the high-water mark anew at `now`.
    pub(super) fn reset_high_water(&mut self, now: Instant) {
        let bytes = self.bytes_at(now);
        self.high_water = self.level(bytes);
    }

    /// Frames that found no room.
    pub(super) const fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Forgets what waits.
    pub(super) fn clear(&mut self) {
        self.newest = Run::default();
        self.older.clear();
        self.older_bytes = 0;
        self.high_water = self.level(self.high_water.bytes);
    }

    /// The same at `now`, and with it the time that the line would have taken for it. The line stays busy with the frame in
    /// service.
    pub(super) fn forget(&mut self, now: Instant) {
        let next = self.next_leave(now);
        self.busy_until = self.busy_until.min(next);
        self.clear();
    }
}

#[cfg(test)]
mod tests;

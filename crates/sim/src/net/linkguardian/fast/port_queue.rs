//! The queue of a recirculation port: the times at which frames leave, and the bytes that wait.
//!
//! Frames of one size that leave one behind another are one run. The number of frames of a run that still wait follows from the
//! time, so a departure costs nothing. Whether one more frame raises the high-water mark is a comparison of times, too.

use super::timing::Timing;
use crate::kernel::{Ring, Train};
use crate::net::frame::GAP_OCTETS;
use crate::net::{Cells, LineRate};
use lossylink_core::time::{Duration, Instant};

/// The time at which a frame stops to count as waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counts {
    /// The time at which its first bit leaves. A frame that finds the line idle never waits.
    UntilItLeaves,
    /// The time just after its first bit has left. A look at that instant still counts the frame.
    WhileItLeaves,
}

/// The number of frames that a queue must still have room for, to be certain not to fill.
const SPARE_FRAMES: u64 = 2;

/// A run: frames of one size that leave one behind another.
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    /// The times at which the first frame stops to count, and at which a frame behind the last would.
    first: Instant,
    end: Instant,
    octets: u32,
    serialisation: Duration,
    space: u64,
}

impl Run {
    /// Returns how many frames of the run count at `now`.
    #[inline]
    fn count_at(&self, now: Instant) -> u64 {
        let from = self.first.max(now + Duration::from_ps(1));
        if from >= self.end { 0 } else { (self.end - from).as_ps() / self.serialisation.as_ps() }
    }

    /// Returns the frames of the run that count at `now`.
    #[inline]
    fn from(self, now: Instant) -> Self {
        Self { first: self.end - self.serialisation * self.count_at(now), ..self }
    }

    /// Returns the run put off by `delay`.
    fn later(self, delay: Duration) -> Self {
        Self { first: self.first + delay, end: self.end + delay, ..self }
    }

    /// Returns the buffer space of the frames that count at `now`.
    #[inline]
    fn bytes_at(&self, now: Instant) -> u64 {
        self.count_at(now) * self.space
    }
}

/// A depth of the queue, in bytes and in time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Level {
    bytes: u64,
    /// The serialisation time of the frames of the newest run that fit in `bytes`.
    span: Duration,
}

/// A first-in first-out queue in front of a line.
#[derive(Clone, Debug)]
pub(super) struct PortQueue {
    rate: LineRate,
    cells: Cells,
    limit_bytes: u64,
    /// The time from the first bit of a frame until the frame stops to count.
    lag: Duration,
    busy_until: Instant,
    /// The runs that count, some frames of which may have left: the newest run, and the runs before.
    newest: Run,
    older: Ring<Run>,
    /// The buffer space of the older runs, as of the last look.
    older_bytes: u64,
    /// The highest depth that the queue ever had.
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

    /// Whether a frame of `octets` that enters at `now` extends the newest run, and no older run counts.
    #[inline(always)]
    pub(super) fn goes_on(&self, now: Instant, octets: u32) -> bool {
        let Run { end, octets: newest, .. } = self.newest;
        octets == newest && now.max(self.busy_until) + self.lag == end && self.older.is_empty()
    }

    /// Takes in a frame of `octets` at `now`. Returns when the frame has left; `None` if the queue has no room for it (LG-34).
    /// Equals `Recirculation::enter` of the plain model, which returns when the frame begins to leave.
    #[inline(always)]
    pub(super) fn enter(&mut self, now: Instant, octets: u32) -> Option<Instant> {
        if self.busy_until <= now && self.lag == Duration::ZERO {
            self.busy_until = now + self.rate.serialisation(octets);
            return Some(self.busy_until);
        }
        let left = self.enter_below(now, octets, self.high_water);
        if left.is_some() { left } else { self.enter_apart(now, octets) }
    }

    /// Takes in a frame of `octets` at `now`, if the frame extends the newest run and the queue then holds at most `level`, which
    /// is no more than the high-water mark. Equals [`PortQueue::enter`]. Otherwise returns `None`, and nothing has happened.
    #[inline(always)]
    pub(super) fn enter_below(&mut self, now: Instant, octets: u32, level: Level) -> Option<Instant> {
        // The frame fits below the level exactly if the run ends at most the span of the level after `now`.
        if !self.goes_on(now, octets) || self.newest.end > now + level.span {
            return None;
        }
        let start = now.max(self.busy_until);
        let newest = &mut self.newest;
        newest.end += newest.serialisation;
        self.busy_until = start + newest.serialisation;
        Some(self.busy_until)
    }

    /// Takes in the first frames of a train of `octets` that extend the newest run below `level`. Returns when these frames have
    /// left. Equals [`PortQueue::enter_below`] of each.
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
            // The line must stay busy until the next frame comes.
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

    /// Takes in the first frames of a train that find the line idle, if they are as large as the frame before. Returns when these
    /// frames have left. Equals [`PortQueue::enter`] of each.
    #[inline]
    pub(super) fn enter_train_idle(&mut self, train: Train, octets: u32, level: Level) -> Option<Train> {
        let serialisation = self.newest.serialisation;
        let is_alike = octets == self.newest.octets && self.older.is_empty();
        if !is_alike || self.busy_until > train.first || level.span < serialisation {
            return None;
        }
        let train = if train.spacing >= serialisation { train } else { train.up_to(1) };
        // Frames that leave without a break are one run. Otherwise each frame is a run by itself.
        let begins = if train.spacing > serialisation { train.last() } else { train.first };
        self.newest.first = begins + self.lag;
        self.newest.end = train.last() + self.lag + serialisation;
        self.busy_until = train.last() + serialisation;
        Some(train.from(train.first + serialisation))
    }

    /// Takes in the first frames of a train that find the line free or stay below the high-water mark. Returns when these frames
    /// have left. Equals [`PortQueue::enter`] of each.
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

    /// Returns when a frame that enters at `now` begins to leave.
    #[inline]
    pub(super) fn next_start(&self, now: Instant) -> Instant {
        self.busy_until.max(now)
    }

    /// Notes that frames found the line free and left, the last of them at `until`.
    #[inline]
    pub(super) fn pass(&mut self, until: Instant) {
        self.busy_until = self.busy_until.max(until);
    }

    /// Whether the queue at `now` equals `before` at `then`, but for the time, so that both go on alike.
    pub(super) fn is_alike(&self, now: Instant, before: &Self, then: Instant) -> bool {
        let wait = self.next_start(now) - now;
        wait == before.next_start(then) - then
            && (self.high_water.bytes, self.dropped) == (before.high_water.bytes, before.dropped)
            && self.waiting(now) == before.waiting(then)
    }

    /// Returns the runs that count at `now`: the times until the first and the last frame stop to count, and the octets.
    fn waiting(&self, now: Instant) -> Vec<(Duration, Duration, u32)> {
        let older = (0..self.older.len()).filter_map(|place| self.older.get(place).copied());
        let runs = older.chain([self.newest]).map(|run| run.from(now));
        let counting = runs.filter(|run| run.first < run.end);
        counting.map(|run| (run.first - now, run.end - now, run.octets)).collect()
    }

    /// Puts off every frame in the queue by `delay`.
    pub(super) fn put_off(&mut self, delay: Duration) {
        for place in 0..self.older.len() {
            let Some(run) = self.older.from_back_mut(place) else { break };
            *run = run.later(delay);
        }
        self.newest = self.newest.later(delay);
        self.busy_until += delay;
    }

    /// Returns how long a frame takes on the line.
    #[inline]
    pub(super) fn serialisation(&self, octets: u32) -> Duration {
        self.rate.serialisation(octets)
    }

    /// Takes in a frame that begins a new run, or may raise the high-water mark.
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

    /// Returns the size of the frames in the queue, if all have one size and the depth stays below `bytes` with [`SPARE_FRAMES`]
    /// more of them.
    #[inline]
    pub(super) fn is_below(&self, now: Instant, bytes: u64) -> Option<u32> {
        let newest = &self.newest;
        let is_below = self.older.is_empty() && newest.bytes_at(now) + SPARE_FRAMES * newest.space < bytes;
        is_below.then_some(newest.octets)
    }

    /// Returns the high-water mark, or the depth just below `bytes` if that is less.
    #[inline]
    pub(super) fn level_below(&self, bytes: u64) -> Level {
        if self.high_water.bytes < bytes { self.high_water } else { self.level(bytes.saturating_sub(1)) }
    }

    /// Returns a depth of `bytes` for frames of the newest run.
    #[inline]
    pub(super) fn level(&self, bytes: u64) -> Level {
        let frames = bytes.checked_div(self.newest.space).unwrap_or(0);
        Level { bytes, span: self.newest.serialisation * frames }
    }

    /// Returns when the next of the frames that count at `now` begins to leave; never, if no frame counts.
    pub(super) fn next_leave(&mut self, now: Instant) -> Instant {
        self.expire_older(now);
        let newest = self.newest.from(now);
        let next = self.older.front().copied().or((newest.first < newest.end).then_some(newest));
        next.map_or(Instant::NEVER, |run| run.first - self.lag)
    }

    /// Returns the first departure at which at most `bytes` wait, the departing frame included, if no frame enters meanwhile.
    /// Without one, returns the last departure. With frames of several sizes the result may be earlier.
    pub(super) fn next_leave_below(&mut self, now: Instant, bytes: u64) -> Instant {
        let next = self.next_leave(now);
        if next.is_never() || !self.older.is_empty() {
            return next;
        }
        let Run { serialisation, space, .. } = self.newest;
        next + serialisation * self.newest.count_at(now).saturating_sub((bytes / space).max(1))
    }

    /// Returns the bytes that wait at `now`, which never goes back.
    #[inline]
    pub(super) fn bytes_at(&mut self, now: Instant) -> u64 {
        if !self.older.is_empty() {
            self.expire_older(now);
        }
        self.older_bytes + self.newest.bytes_at(now)
    }

    /// Removes the older frames that do not count at `now`.
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

    /// Returns how many frames found no room.
    pub(super) const fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Removes every frame that waits. The line stays busy as long as before.
    pub(super) fn clear(&mut self) {
        self.newest = Run::default();
        self.older.clear();
        self.older_bytes = 0;
        self.high_water = self.level(self.high_water.bytes);
    }

    /// Removes every frame that waits at `now`, and the time that these frames would have taken. The line stays busy with the frame
    /// in service.
    pub(super) fn forget(&mut self, now: Instant) {
        let next = self.next_leave(now);
        self.busy_until = self.busy_until.min(next);
        self.clear();
    }
}

#[cfg(test)]
mod tests;

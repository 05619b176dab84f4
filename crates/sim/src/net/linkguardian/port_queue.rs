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
        let start = now.max(self.busy_until);
        let newest = &mut self.newest;
        let goes_on = octets == newest.octets && start + self.lag == newest.end && self.older.is_empty();
        // As many as fit in the level would be there if the first of so many still counted.
        if !goes_on || newest.end > now + level.span {
            return None;
        }
        newest.end += newest.serialisation;
        self.busy_until = start + newest.serialisation;
        Some(self.busy_until)
    }

    /// The same of the first frames of a train of `octets` that enters, as many as do so without a break: when they have left.
    #[inline]
    pub(super) fn enter_train_below(&mut self, train: Train, octets: u32, level: Level) -> Option<Train> {
        let start = train.first.max(self.busy_until);
        let newest = &mut self.newest;
        let goes_on = octets == newest.octets && start + self.lag == newest.end && self.older.is_empty();
        if !goes_on || newest.end > train.first + level.span {
            return None;
        }
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

    /// A depth of `bytes`, beside the frames that are the newest now.
    #[inline]
    pub(super) fn level(&self, bytes: u64) -> Level {
        let frames = bytes.checked_div(self.newest.space).unwrap_or(0);
        Level { bytes, span: self.newest.serialisation * frames }
    }

    /// When the next of the frames that count at `now` begins to leave; never, if none does.
    pub(super) fn next_leave(&mut self, now: Instant) -> Instant {
        self.settle_older(now);
        let newest = self.newest.from(now);
        let next = self.older.front().copied().or((newest.first < newest.end).then_some(newest));
        next.map_or(Instant::NEVER, |run| run.first - self.lag)
    }

    /// Bytes that wait at `now`, which never goes back.
    #[inline]
    pub(super) fn bytes_at(&mut self, now: Instant) -> u64 {
        if !self.older.is_empty() {
            self.settle_older(now);
        }
        self.older_bytes + self.newest.bytes_at(now)
    }

    /// Lets go of the older ones that do not count any more at `now`.
    #[cold]
    fn settle_older(&mut self, now: Instant) {
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
mod tests {
    use super::*;
    use crate::config::switch_profile;
    use lossylink_core::units::BitRate;
    use proptest::prelude::*;

    const CELL_BYTES: u64 = 80;
    /// Room for seven of the largest of the usual frames, exactly.
    const LIMIT_BYTES: u64 = 11_200;

    /// The queue as a list: when each frame that was taken begins to leave, and its space.
    struct Model {
        timing: Timing,
        counts: Counts,
        frames: Vec<(Instant, u64)>,
        /// Octets of the newest frame.
        newest: Option<u32>,
        busy_until: Instant,
        high_water: u64,
        dropped: u64,
    }

    impl Model {
        fn waiting(&self, now: Instant) -> impl Iterator<Item = &(Instant, u64)> {
            let waits = move |&&(start, _): &&(Instant, u64)| match self.counts {
                Counts::UntilItLeaves => start > now,
                Counts::WhileItLeaves => start >= now,
            };
            self.frames.iter().filter(waits)
        }

        fn bytes_at(&self, now: Instant) -> u64 {
            self.waiting(now).map(|&(_, space)| space).sum()
        }

        fn next_leave(&self, now: Instant) -> Instant {
            self.waiting(now).map(|&(start, _)| start).next().unwrap_or(Instant::NEVER)
        }

        fn space(octets: u32) -> u64 {
            u64::from(octets - GAP_OCTETS).div_ceil(CELL_BYTES) * CELL_BYTES
        }

        /// What the queue would hold if a frame entered, which does not wait on an idle line.
        fn bytes_with(&self, now: Instant, octets: u32) -> u64 {
            let waits = self.busy_until > now || self.counts == Counts::WhileItLeaves;
            if waits { self.bytes_at(now) + Self::space(octets) } else { 0 }
        }

        fn enter(&mut self, now: Instant, octets: u32) -> Option<Instant> {
            let bytes = self.bytes_with(now, octets);
            if bytes > LIMIT_BYTES {
                self.dropped += 1;
                return None;
            }
            self.high_water = self.high_water.max(bytes);
            let start = now.max(self.busy_until);
            self.frames.push((start, Self::space(octets)));
            self.newest = Some(octets);
            self.busy_until = start + self.timing.recirculation.serialisation(octets);
            Some(self.busy_until)
        }

        fn forget(&mut self) {
            self.frames.clear();
            self.newest = None;
        }

        /// Whether the newest frame is of so many octets, and the line is busy with it up to now at the least.
        fn goes_on(&self, now: Instant, octets: u32) -> bool {
            self.busy_until >= now && self.newest == Some(octets)
        }
    }

    /// When the next thing happens: so long after the last, or so close to when the line is free.
    #[derive(Clone, Copy, Debug)]
    enum When {
        After(u64),
        Free(i8),
    }

    #[derive(Clone, Copy, Debug)]
    enum Step {
        Enter {
            octets: u32,
        },
        /// As many as a run of calls with one level, below which lie so many bytes more than wait now.
        Below {
            octets: u32,
            spare: u64,
            frames: usize,
        },
        ResetHighWater,
        Forget,
        Clear,
    }

    fn steps() -> impl Strategy<Value = Vec<(When, Step)>> {
        let when = prop_oneof![
            3 => Just(When::After(0)),
            4 => (0u64..150_000).prop_map(When::After),
            1 => (0u64..3_000_000).prop_map(When::After),
            3 => (-1i8..=1).prop_map(When::Free),
        ];
        let octets = || prop_oneof![6 => Just(1541_u32), 3 => Just(87), 1 => 84u32..1600];
        let spare = prop_oneof![(0u64..60).prop_map(|cells| cells * CELL_BYTES), 0u64..4000];
        let step = prop_oneof![
            12 => octets().prop_map(|octets| Step::Enter { octets }),
            6 => (octets(), spare, 1usize..6).prop_map(|(octets, spare, frames)| Step::Below { octets, spare, frames }),
            1 => Just(Step::ResetHighWater),
            1 => Just(Step::Forget),
            1 => Just(Step::Clear),
        ];
        prop::collection::vec((when, step), 1..200)
    }

    fn counts() -> impl Strategy<Value = Counts> {
        prop::sample::select(vec![Counts::UntilItLeaves, Counts::WhileItLeaves])
    }

    fn both(counts: Counts) -> (PortQueue, Model) {
        let rate = LineRate::new(BitRate::from_gbps(100));
        let timing = Timing::new(&switch_profile("tofino1"), rate, Duration::ZERO);
        let queue = PortQueue::new(&timing, Cells::new(CELL_BYTES), LIMIT_BYTES, counts);
        let (frames, busy_until) = (Vec::new(), Instant::ZERO);
        (queue, Model { timing, counts, frames, newest: None, busy_until, high_water: 0, dropped: 0 })
    }

    impl When {
        fn instant(self, now: Instant, busy_until: Instant) -> Instant {
            match self {
                Self::After(ps) => now + Duration::from_ps(ps),
                Self::Free(offset) => {
                    now.max(Instant::from_ps(busy_until.as_ps().saturating_add_signed(offset.into())))
                }
            }
        }
    }

    fn enter_below(
        queue: &mut PortQueue,
        model: &mut Model,
        now: Instant,
        octets: u32,
        level: Level,
    ) -> Result<bool, TestCaseError> {
        let before = format!("{queue:?}");
        let entered = queue.enter_below(now, octets, level);
        let Some(left) = entered else {
            prop_assert_eq!(before, format!("{queue:?}"), "nothing has happened");
            return Ok(false);
        };
        prop_assert!(model.goes_on(now, octets));
        prop_assert!(model.bytes_with(now, octets) <= level.bytes);
        prop_assert_eq!(Some(left), model.enter(now, octets));
        Ok(true)
    }

    fn step(queue: &mut PortQueue, model: &mut Model, now: Instant, step: Step) -> Result<(), TestCaseError> {
        match step {
            Step::Enter { octets } => prop_assert_eq!(queue.enter(now, octets), model.enter(now, octets)),
            Step::Below { octets, spare, frames } => {
                let level = queue.level((model.bytes_at(now) + spare).min(model.high_water));
                let mut at = now;
                for _ in 0..frames {
                    // One that finds the line idle is let in by `enter` alone, where it does not count.
                    let is_idle = model.counts == Counts::UntilItLeaves && model.busy_until <= at;
                    if is_idle || !enter_below(queue, model, at, octets, level)? {
                        break;
                    }
                    at += Duration::from_ps(1);
                }
            }
            Step::ResetHighWater => {
                queue.reset_high_water(now);
                model.high_water = model.bytes_at(now);
            }
            Step::Forget => {
                queue.forget(now);
                model.busy_until = model.busy_until.min(model.next_leave(now));
                model.forget();
            }
            Step::Clear => {
                queue.clear();
                model.forget();
            }
        }
        Ok(())
    }

    proptest! {
        // LG-34
        #[test]
        fn what_waits_follows_from_the_time(counts in counts(), steps in steps()) {
            let (mut queue, mut model) = both(counts);
            let mut now = Instant::ZERO;
            for (when, next) in steps {
                now = when.instant(now, model.busy_until);
                step(&mut queue, &mut model, now, next)?;
                // The calls of one step are a picosecond apart.
                now += Duration::from_ps(5);
                model.frames.retain(|&(start, _)| start >= now);
                prop_assert_eq!((queue.high_water_bytes(), queue.dropped()), (model.high_water, model.dropped));
                prop_assert_eq!(queue.busy_until, model.busy_until);
                let leaves = model.next_leave(now);
                let just_after = leaves.saturating_add(Duration::from_ps(1));
                for at in [now, leaves.just_before(), leaves, just_after] {
                    if at >= now && !at.is_never() {
                        // A look lets go of what has left by then.
                        prop_assert_eq!(queue.clone().bytes_at(at), model.bytes_at(at));
                        prop_assert_eq!(queue.clone().next_leave(at), model.next_leave(at));
                    }
                }
            }
        }

        // LG-34: a frame that goes on behind others is let in up to the level, and not beyond.
        #[test]
        fn equal_frames_fill_the_queue_up_to_the_level(
            counts in counts(),
            octets in 84u32..1600,
            before in 2usize..8,
            gone in 0u64..8,
            early in prop::bool::ANY,
        ) {
            let (mut queue, mut model) = both(counts);
            for _ in 0..before {
                prop_assert_eq!(queue.enter(Instant::ZERO, octets), model.enter(Instant::ZERO, octets));
            }
            let gone = model.timing.recirculation.serialisation(octets) * gone.min(before as u64 - 2);
            let now = Instant::ZERO + gone + Duration::from_ps(u64::from(early));
            let bytes = model.bytes_with(now, octets).min(model.high_water);
            prop_assert!(queue.clone().enter_below(now, octets, queue.level(bytes - 1)).is_none());
            let fits = model.bytes_with(now, octets) <= model.high_water;
            prop_assert_eq!(queue.clone().enter_below(now, octets, queue.level(bytes)).is_some(), fits);
            prop_assert_eq!(queue.enter(now, octets), model.enter(now, octets));
        }
    }
}

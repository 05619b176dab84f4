//! The queue of a recirculation port is compared with a list of its frames.

use super::*;
use crate::config::switch_profile;
use lossylink_core::units::BitRate;
use proptest::prelude::*;

const CELL_BYTES: u64 = 80;
/// The buffer has room for exactly seven frames of the largest usual size.
const LIMIT_BYTES: u64 = 11_200;

/// The model: when each frame that entered begins to leave, and its buffer space.
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

    /// Returns the first departure at which at most `bytes` wait, or the last departure.
    fn next_leave_below(&self, now: Instant, bytes: u64) -> Instant {
        let is_below = |&(start, _): &(Instant, u64)| self.bytes_at(start.max(now)) <= bytes;
        let last = self.waiting(now).last().map(|&(start, _)| start);
        self.waiting(now)
            .find(|&frame| is_below(frame))
            .map(|&(start, _)| start)
            .or(last)
            .unwrap_or(Instant::NEVER)
    }

    fn is_of_one_size(&self, now: Instant) -> bool {
        let mut spaces = self.waiting(now).map(|&(_, space)| space);
        spaces.next().is_none_or(|first| spaces.all(|space| space == first))
    }

    fn space(octets: u32) -> u64 {
        u64::from(octets - GAP_OCTETS).div_ceil(CELL_BYTES) * CELL_BYTES
    }

    /// Returns the depth if a frame entered. A frame that finds the line idle does not wait.
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

    /// Whether the newest frame has `octets`, and keeps the line busy at least up to `now`.
    fn goes_on(&self, now: Instant, octets: u32) -> bool {
        self.busy_until >= now && self.newest == Some(octets)
    }
}

/// The time of the next step: a time after the last step, or a time close to the end of the line's work.
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
    /// One level for several calls, which lies this many bytes above the depth.
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

/// Takes a step in the queue and in the model. Returns when the step is over.
fn step(
    queue: &mut PortQueue,
    model: &mut Model,
    now: Instant,
    step: Step,
) -> Result<Instant, TestCaseError> {
    match step {
        Step::Enter { octets } => prop_assert_eq!(queue.enter(now, octets), model.enter(now, octets)),
        Step::Below { octets, spare, frames } => {
            let level = queue.level((model.bytes_at(now) + spare).min(model.high_water));
            let mut at = now;
            for _ in 0..frames {
                // A frame that finds the line idle enters by `enter` alone, if it does not count then.
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
    // The calls of one step are a picosecond apart.
    let end = now + Duration::from_ps(5);
    model.frames.retain(|&(start, _)| start >= end);
    Ok(end)
}

proptest! {
    // LG-34
    #[test]
    fn what_waits_follows_from_the_time(counts in counts(), steps in steps()) {
        let (mut queue, mut model) = both(counts);
        let mut now = Instant::ZERO;
        for (when, next) in steps {
            now = when.instant(now, model.busy_until);
            now = step(&mut queue, &mut model, now, next)?;
            prop_assert_eq!((queue.high_water_bytes(), queue.dropped()), (model.high_water, model.dropped));
            prop_assert_eq!(queue.busy_until, model.busy_until);
            let leaves = model.next_leave(now);
            let just_after = leaves.saturating_add(Duration::from_ps(1));
            for at in [now, leaves.just_before(), leaves, just_after] {
                if at >= now && !at.is_never() {
                    // A look removes the frames that have left by then.
                    prop_assert_eq!(queue.clone().bytes_at(at), model.bytes_at(at));
                    prop_assert_eq!(queue.clone().next_leave(at), model.next_leave(at));
                }
            }
        }
    }

    // LG-23: more bytes wait at every earlier departure.
    #[test]
    fn the_first_that_leaves_beside_few_is_known(steps in steps(), bytes in 0u64..12_000) {
        let (mut queue, mut model) = both(Counts::WhileItLeaves);
        let mut now = Instant::ZERO;
        for (when, next) in steps {
            now = when.instant(now, model.busy_until);
            now = step(&mut queue, &mut model, now, next)?;
            let (found, expected) = (queue.clone().next_leave_below(now, bytes), model.next_leave_below(now, bytes));
            prop_assert!(found <= expected && model.waiting(now).any(|&(start, _)| start == found) != found.is_never());
            if queue.older.is_empty() && model.is_of_one_size(now) {
                prop_assert_eq!(found, expected);
            }
        }
    }

    // LG-34: a frame that extends a run enters up to the level, and not beyond.
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

//! The credit that pays for repetitions: a share of the bytes sent for the first time, and less where a queue stands
//! (RT-10).

use crate::time::{Duration, Instant};

/// The most bytes that may be saved, and those at the start: a burst of fifty full frames, and some to spare.
const MOST_BYTES: u64 = 128 << 10;
/// The most bytes that may be saved for times with a queue on the path: ten full frames.
const MOST_QUEUED_BYTES: u64 = 16 << 10;
/// The share that is earned while no queue stands, at least and at most, in ten-thousandths.
const LEAST_SHARE: u64 = 500;
const MOST_SHARE: u64 = 3000;
/// The share that is earned while a queue stands, at least and at most, in ten-thousandths.
const LEAST_QUEUED_SHARE: u64 = 10;
const MOST_QUEUED_SHARE: u64 = 500;
/// The number of frames that count as sent before the first, so that one loss among few is no high share.
const FEW: u64 = 100;
/// The longest time beyond a loop after which a growing queue shows: of four messages (G-5) one arrives.
const UNSEEN: Duration = Duration::from_ms(200);
/// The number of frames from which the loss is computed: counts are halved at each multiple.
const RECENT: u64 = 8192;
/// The number of runs of losses from which their length is computed: counts are halved there.
const RECENT_RUNS: u64 = 256;
/// Ten-thousandths in one.
const WHOLE: u64 = 10_000;
/// The time by which a loop may exceed five quarters of the lowest without a queue on the path: late wake-ups.
const SLACK: Duration = Duration::from_ms(2);
/// The slack of a loop, beside an eighth, on a path that is not full at times.
const LEAST_SLACK: Duration = Duration::from_ms(1);

/// The bytes that one sending end may repeat.
#[derive(Clone, Copy, Debug)]
pub struct Credit {
    /// Credit for times without a queue and with one, in ten-thousandths of a byte.
    saved: u64,
    saved_queued: u64,
    /// Frames sent, and lost, while no queue stood.
    sent: u64,
    lost: u64,
    /// Runs of losses, and losses in them, since the start.
    runs: u64,
    in_runs: u64,
    /// Frames whose losses may be those of a queue, because loops that would show the queue are still under way.
    fresh: Fresh,
    lowest_loop: Option<Duration>,
    has_queue: bool,
    has_room: bool,
}

/// Frames sent, lost, and runs of losses, since an instant.
#[derive(Clone, Copy, Debug, Default)]
struct Fresh {
    since: Instant,
    sent: u64,
    lost: u64,
    runs: u64,
}

impl Default for Credit {
    fn default() -> Self {
        Self {
            saved: MOST_BYTES * WHOLE,
            saved_queued: MOST_QUEUED_BYTES * WHOLE,
            sent: FEW,
            lost: 0,
            runs: 0,
            in_runs: 0,
            fresh: Fresh::default(),
            lowest_loop: None,
            has_queue: false,
            has_room: false,
        }
    }
}

impl Credit {
    /// Begins a new session, whose path may be another.
    pub fn start_over(&mut self) {
        (self.lowest_loop, self.has_queue, self.has_room) = (None, false, false);
        self.fresh = Fresh::default();
    }

    /// Earns credit for a frame of `bytes` bytes that was sent for the first time.
    pub fn earn(&mut self, bytes: u64) {
        self.fresh.sent += 1;
        let earned = bytes * self.share();
        if self.has_queue {
            self.saved_queued = (self.saved_queued + earned).min(MOST_QUEUED_BYTES * WHOLE);
        } else {
            self.saved = (self.saved + earned).min(MOST_BYTES * WHOLE);
        }
    }

    /// Takes note of `frames` lost frames, in `runs` runs.
    pub fn lose(&mut self, frames: u64, runs: u64) {
        self.fresh.lost += frames;
        self.fresh.runs += runs;
    }

    /// Adds the frames and losses of a time without a queue to those from which the loss of the path is computed.
    fn learn(&mut self) {
        self.sent += self.fresh.sent;
        self.lost = (self.lost + self.fresh.lost).min(self.sent);
        while self.sent >= RECENT {
            (self.sent, self.lost) = (self.sent / 2, self.lost / 2);
        }
        self.in_runs += self.fresh.lost;
        self.runs += self.fresh.runs;
        while self.runs >= RECENT_RUNS {
            (self.runs, self.in_runs) = (self.runs / 2, self.in_runs / 2);
        }
    }

    /// Returns the lost share without a queue, in ten-thousandths.
    pub fn lost_share(&self) -> u64 {
        self.lost * WHOLE / self.sent
    }

    /// Returns the mean length of a run of losses, rounded up; one if none was seen.
    pub fn burst(&self) -> u64 {
        self.in_runs.div_ceil(self.runs.max(1)).max(1)
    }

    /// Returns how many losses the mean length of a run is computed from.
    pub fn known(&self) -> u64 {
        self.in_runs
    }

    /// Whether the path shows no sign of being full, and more than half of the most credit is saved: repairs may be sent
    /// ahead.
    pub fn has_room(&self) -> bool {
        self.has_room && self.saved > MOST_BYTES * WHOLE / 2
    }

    /// Takes in the longest of the recent loops, as the guards measure it. Losses count once no queue has shown for a
    /// loop and four messages. Frames that a queue may have dropped tell nothing about the loss of the path.
    pub fn note_loop(&mut self, now: Instant, loop_time: Option<Duration>) {
        let Some(loop_time) = loop_time else { return };
        let lowest = self.lowest_loop.map_or(loop_time, |lowest| lowest.min(loop_time));
        self.lowest_loop = Some(lowest);
        self.has_queue = loop_time > lowest + lowest / 4 + SLACK;
        self.has_room = loop_time <= lowest + lowest / 8 + LEAST_SLACK;
        if self.has_queue || self.fresh.since + loop_time + UNSEEN <= now {
            if !self.has_queue {
                self.learn();
            }
            self.fresh = Fresh { since: now, ..Fresh::default() };
        }
    }

    /// Returns the share that is earned at present, in ten-thousandths: two and a half times the loss.
    pub fn share(&self) -> u64 {
        let wanted = self.lost * 5 * WHOLE / (2 * self.sent);
        match self.has_queue {
            true => wanted.clamp(LEAST_QUEUED_SHARE, MOST_QUEUED_SHARE),
            false => wanted.clamp(LEAST_SHARE, MOST_SHARE),
        }
    }

    /// Pays for `bytes` bytes. Returns whether the credit was enough.
    pub fn pay(&mut self, bytes: u64) -> bool {
        let saved = if self.has_queue { &mut self.saved_queued } else { &mut self.saved };
        let left = saved.checked_sub(bytes * WHOLE);
        *saved = left.unwrap_or(*saved);
        left.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_ms;

    /// Returns the bytes paid for a loss of one in `every` frames of a thousand bytes, one in a millisecond, in
    /// thousandths of the bytes sent, while the guards measure this loop.
    fn paid(credit: &mut Credit, loop_ms: u64, every: u64, frames: u64) -> u64 {
        let start = credit.fresh.since;
        let mut paid = 0;
        for number in 0..frames {
            credit.note_loop(start + MS(number), Some(MS(loop_ms)));
            credit.earn(1000);
            if number % every == 0 {
                credit.lose(1, 1);
                paid += u64::from(credit.pay(1000));
            }
        }
        paid * 1000 / frames
    }

    // RT-10
    #[test]
    fn without_a_queue_repetitions_take_what_the_loss_asks_for_and_never_more_than_three_tenths() {
        assert_eq!(paid(&mut Credit::default(), 20, 100, 100_000), 10, "all of them");
        assert_eq!(paid(&mut Credit::default(), 20, 10, 100_000), 100, "all of them");
        assert_eq!(paid(&mut Credit::default(), 20, 2, 1_000_000), 300);
        let mut clean = Credit::default();
        paid(&mut clean, 20, 10_000, 100_000);
        assert_eq!(clean.share(), LEAST_SHARE);
    }

    // RT-10
    #[test]
    fn with_a_queue_they_take_what_the_path_loses_without_one() {
        for (every, queued_share) in [(100_000, 10), (1000, 25), (100, 250), (20, 500)] {
            let mut credit = Credit::default();
            paid(&mut credit, 20, every, 200_000);
            credit.note_loop(credit.fresh.since, Some(MS(40)));
            let share = credit.share();
            assert!(share.abs_diff(queued_share) <= queued_share / 5, "one in {every}: {share}");
            let drops = paid(&mut credit, 40, 5, 1_000_000);
            assert_eq!(drops, share / 10, "what the queue drops is not taken for the path's loss");
            assert_eq!(credit.share(), share);
        }
    }

    // RT-10
    #[test]
    fn what_a_queue_drops_before_it_shows_is_not_taken_for_the_paths_loss() {
        let mut credit = Credit::default();
        paid(&mut credit, 20, 1000, 100_000);
        let share = credit.lost_share();
        for round in 0..100 {
            let start = credit.fresh.since;
            credit.note_loop(start, Some(MS(20)));
            (0..20).for_each(|_| credit.earn(1000));
            credit.lose(10, 10);
            credit.note_loop(start + MS(219), Some(MS(20)));
            assert_eq!(credit.lost_share(), share, "round {round}");
            credit.note_loop(start + MS(219), Some(MS(40)));
        }
        credit.note_loop(credit.fresh.since + MS(500), Some(MS(20)));
        assert_eq!(credit.lost_share(), share);
    }

    // RT-10
    #[test]
    fn a_queue_is_told_by_the_loop() {
        let mut credit = Credit::default();
        credit.note_loop(Instant::ZERO, Some(MS(20)));
        credit.note_loop(Instant::ZERO, Some(MS(27)));
        assert_eq!(credit.share(), LEAST_SHARE, "a quarter and 2 ms");
        credit.note_loop(Instant::ZERO, Some(Duration::from_us(27_001)));
        assert_eq!(credit.share(), LEAST_QUEUED_SHARE, "no loss is known");
    }

    // RT-10
    #[test]
    fn the_lowest_loop_is_that_of_the_session() {
        let mut credit = Credit::default();
        credit.note_loop(Instant::ZERO, Some(MS(5)));
        credit.note_loop(Instant::ZERO, Some(MS(50)));
        assert_eq!(credit.share(), LEAST_QUEUED_SHARE);
        credit.start_over();
        credit.note_loop(Instant::ZERO, Some(MS(50)));
        assert_eq!((credit.share(), credit.has_room()), (LEAST_SHARE, true), "another path");
    }

    // RT-10
    #[test]
    fn no_more_can_be_lost_than_was_sent() {
        let mut credit = Credit::default();
        (0..1000).for_each(|_| credit.lose(255, 1));
        credit.note_loop(Instant::ZERO + MS(1000), Some(MS(20)));
        assert_eq!(credit.lost_share(), WHOLE);
        paid(&mut credit, 20, 1 << 40, 50_000);
        assert_eq!(credit.share(), LEAST_SHARE, "an outage is forgotten");
    }

    // RT-10
    #[test]
    fn a_burst_of_fifty_full_frames_is_paid_at_once_and_savings_end() {
        let mut credit = Credit::default();
        assert!((0..50).all(|_| credit.pay(1500)));
        (0..1_000_000).for_each(|_| credit.earn(1500));
        let mut bytes = 0;
        while credit.pay(1) {
            bytes += 1;
        }
        assert_eq!(bytes, MOST_BYTES);
    }
}

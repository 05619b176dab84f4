//! The pace of repairs, which are sent ahead where they come sooner than a repetition would, and do no harm (RT-14). The
//! pace of repetitions (RT-16).

use super::super::Credit;
use crate::time::{Duration, Instant};

/// The number of losses that must have been seen, because fewer are no evidence.
const KNOWN: u64 = 8;
/// The share that repairs take, as a multiple of the loss, as far as the bound leaves it.
const PER_LOSS: u64 = 4;
/// The part of a round trip within which the repairs of a mean burst must leave.
const ROUND_PART: u64 = 2;
/// The fewest frames in a round trip from which the pace of repetitions is computed.
const LEAST_PER_ROUND: u64 = 16;
/// The round trip that is assumed before it is measured.
const UNMEASURED: Duration = Duration::from_ms(200);
/// Ten-thousandths in one.
const WHOLE: u64 = 10_000;

/// The pace of the repairs of one sending end.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pace {
    round_began: Instant,
    in_round: u64,
    /// Frames sent for the first time in the last whole round trip.
    per_round: u64,
    /// The part of the next repair that is due, in ten-thousandths.
    owed: u64,
    /// Frames since the last repair.
    uncovered: u64,
}

impl Pace {
    /// Begins a new session.
    pub fn start_over(&mut self) {
        (self.owed, self.uncovered) = (0, 0);
    }

    /// Takes note of a frame that was sent for the first time. Returns whether a repair is due.
    pub fn take(&mut self, now: Instant, loop_time: Option<Duration>, credit: &Credit) -> bool {
        let round = loop_time.unwrap_or(UNMEASURED);
        if now >= self.round_began + round {
            let is_next = now < self.round_began + round * 2;
            self.per_round = if is_next { self.in_round } else { 0 };
            (self.round_began, self.in_round) = (now, 0);
        }
        self.in_round += 1;
        self.uncovered += 1;
        let share = self.share(credit);
        self.owed = if share == 0 { 0 } else { self.owed + share };
        self.owed >= WHOLE
    }

    /// Whether an idle end sends one more repair, for frames that no repair covers yet.
    pub fn is_due_at_rest(&self, credit: &Credit) -> bool {
        self.uncovered > 0 && self.share(credit) > 0
    }

    /// Returns the time between two repetitions, which leave at twice the pace of the frames (RT-16).
    pub fn between_repetitions(&self, loop_time: Option<Duration>) -> Duration {
        let frames = self.per_round.max(self.in_round).max(LEAST_PER_ROUND);
        loop_time.unwrap_or(UNMEASURED) / (2 * frames)
    }

    /// Takes note of a repair that was sent, or could not be paid.
    pub fn sent(&mut self) {
        self.owed = self.owed.saturating_sub(WHOLE);
        self.uncovered = 0;
    }

    /// Returns the repairs per frame, in ten-thousandths; zero where repetitions serve better.
    pub fn share(&self, credit: &Credit) -> u64 {
        let lost = credit.lost_share();
        let share = (PER_LOSS * lost).min(credit.share().saturating_sub(lost));
        let serves = share > 0 && credit.burst() * WHOLE <= self.per_round / ROUND_PART * share;
        if serves && credit.known() >= KNOWN && credit.has_room() { share } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the repairs in a thousand frames of a sending end that sends a frame each `gap_us` and loses one in a
    /// hundred.
    fn repairs(gap_us: u64, loop_ms: u64, burst: u64) -> u64 {
        let (mut credit, mut pace, mut repairs) = (Credit::default(), Pace::default(), 0);
        for number in 0..20_000 {
            let now = Instant::ZERO + Duration::from_us(gap_us) * number;
            credit.note_loop(now, Some(Duration::from_ms(loop_ms)));
            credit.earn(1000);
            if number % (100 * burst) == 0 {
                credit.lose(burst, 1);
            }
            if pace.take(now, Some(Duration::from_ms(loop_ms)), &credit) {
                repairs += u64::from(number >= 10_000);
                pace.sent();
            }
        }
        repairs / 10
    }

    // RT-14
    #[test]
    fn repairs_are_sent_where_they_come_sooner_than_repetitions() {
        assert!((35..=40).contains(&repairs(100, 100, 1)), "a thousand frames in a round trip");
        assert_eq!(repairs(100, 2, 1), 0, "twenty");
        assert_eq!(repairs(20_000, 100, 1), 0, "a call");
        assert!((35..=40).contains(&repairs(100, 150, 20)), "bursts of twenty");
        assert_eq!(repairs(100, 50, 20), 0, "bursts of twenty in a shorter round trip");
    }

    // RT-14
    #[test]
    fn a_path_that_fills_gets_none() {
        let (mut credit, mut pace) = (Credit::default(), Pace::default());
        for number in 0..20_000u64 {
            let now = Instant::ZERO + Duration::from_us(100) * number;
            credit.note_loop(now, Some(Duration::from_ms(100)));
            credit.earn(1000);
            if number.is_multiple_of(100) {
                credit.lose(1, 1);
            }
            pace.take(now, Some(Duration::from_ms(100)), &credit);
        }
        assert!(pace.share(&credit) > 0 && pace.is_due_at_rest(&credit));
        credit.note_loop(Instant::ZERO, Some(Duration::from_ms(114)));
        assert_eq!(pace.share(&credit), 0);
    }
}

//! When a real-time thread must rest, so that the kernel never takes the processor away from it.
//!
//! A thread at a real-time priority that uses more than 95 % of a second (sched_rt_runtime_us) is stopped for
//! the remaining 50 ms: five thousand full frames at 1 Gb/s. This account lets the thread rest before that, a
//! little at a time.

use lossylink_core::time::Duration;

/// Time awake for each part of rest that is owed: with 12 parts awake, rest is 8 % of the time in all.
const AWAKE_PER_REST: u64 = 12;
/// The part of a sleep that falling asleep and waking up take (measured, a virtual machine): the kernel
/// counts that part as work, and a sleep shorter than this is no rest.
const OVERHEAD: Duration = Duration::from_us(15);
/// The length of one rest. Shorter rests were measured to cost more than they bring.
pub const REST: Duration = Duration::from_us(60);
/// Owed rest from which a rest is taken.
const DUE: Duration = REST;
/// The most rest that may be owed for the sake of a deadline: a fiftieth of the 50 ms.
const OVERDUE: Duration = Duration::from_ms(1);
/// The most rest that may be saved up: a third of the 50 ms that one second asks for.
const SAVED_AT_MOST: Duration = Duration::from_ms(15);

/// The account of rest: owed and saved, in picoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rest {
    owed_ps: u64,
    saved_ps: u64,
}

impl Rest {
    /// Counts `span`, for which the thread was awake.
    pub fn worked(&mut self, span: Duration) {
        let due = span.as_ps() / AWAKE_PER_REST;
        let from_savings = due.min(self.saved_ps);
        self.saved_ps -= from_savings;
        self.owed_ps += due - from_savings;
    }

    /// Counts `span`, for which the thread slept, for whatever reason.
    pub fn slept(&mut self, span: Duration) {
        let rested = span.saturating_sub(OVERHEAD).as_ps();
        let paid = rested.min(self.owed_ps);
        self.owed_ps -= paid;
        self.saved_ps = (self.saved_ps + rested - paid).min(SAVED_AT_MOST.as_ps());
    }

    /// Whether it is time to rest, with nothing to do for `gap`. A rest that is owed waits for a gap in which
    /// it fits, but not for ever.
    pub fn is_due(&self, gap: Duration) -> bool {
        let fits = gap >= REST + OVERHEAD;
        self.owed_ps >= if fits { DUE.as_ps() } else { OVERDUE.as_ps() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAP: Duration = Duration::from_ms(1);

    #[test]
    fn a_deadline_puts_a_rest_off_for_a_while() {
        let mut rest = Rest::default();
        rest.worked(REST * AWAKE_PER_REST);
        assert!(rest.is_due(REST + OVERHEAD));
        assert!(!rest.is_due(REST));
        rest.worked(OVERDUE * AWAKE_PER_REST);
        assert!(rest.is_due(Duration::ZERO));
    }

    #[test]
    fn a_busy_thread_rests_one_part_in_thirteen() {
        let mut rest = Rest::default();
        let (mut awake, mut asleep) = (Duration::ZERO, Duration::ZERO);
        while awake < Duration::from_secs(1) {
            rest.worked(Duration::from_us(10));
            awake += Duration::from_us(10);
            if rest.is_due(GAP) {
                rest.slept(REST + OVERHEAD);
                asleep += REST + OVERHEAD;
            }
        }
        let share = asleep.as_secs_f64() / (awake + asleep).as_secs_f64();
        assert!(share > 0.075 && share < 0.11, "{share}");
    }

    #[test]
    fn a_thread_that_sleeps_anyway_owes_nothing() {
        let mut rest = Rest::default();
        for _ in 0..1000 {
            rest.worked(Duration::from_us(100));
            rest.slept(Duration::from_us(100));
            assert!(!rest.is_due(GAP));
        }
    }

    #[test]
    fn short_sleeps_do_not_count() {
        let mut rest = Rest::default();
        rest.worked(REST * AWAKE_PER_REST);
        rest.slept(OVERHEAD);
        assert!(rest.is_due(GAP));
        rest.slept(OVERHEAD + Duration::from_ps(1));
        assert!(!rest.is_due(GAP));
    }

    #[test]
    fn savings_are_bounded() {
        let mut rest = Rest::default();
        rest.slept(Duration::from_secs(10));
        rest.worked(SAVED_AT_MOST * AWAKE_PER_REST);
        assert!(!rest.is_due(GAP));
        rest.worked(REST * AWAKE_PER_REST);
        assert!(rest.is_due(GAP));
    }
}

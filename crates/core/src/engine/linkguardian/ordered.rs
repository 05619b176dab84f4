//! The ordered side of the receiver: frames leave in sequence, or wait for a missing frame (LG-20..22).

use super::{Delivery, HoleSet, Position};
use crate::time::{Duration, Instant};

/// How long the ordered side waits for a frame before it gives up on it.
///
/// A timer packet passes every `period`. While the side waits, each timer packet counts down from `reload`, and the
/// timer packet that finds zero skips the frame: the `reload` + 1-th (LG-21).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckNoTimeout {
    /// Time between timer packets, which pass at its multiples.
    pub period: Duration,
    /// Value that the countdown starts from.
    pub reload: u32,
}

impl AckNoTimeout {
    /// Returns when a wait that began at `start` ends.
    fn expiry(self, start: Instant) -> Instant {
        let ticks_so_far = start.as_ps() / self.period.as_ps();
        Instant::from_ps((ticks_so_far + 1 + u64::from(self.reload)) * self.period.as_ps())
    }
}

/// Sequence state of the ordered side.
#[derive(Clone, Debug)]
pub struct Ordered {
    timeout: AckNoTimeout,
    /// The position to be forwarded next ("ack_no").
    next: Position,
    /// When the present wait began: the last forward or skip, or the loss that began it.
    waiting_since: Instant,
    skipped: u64,
    /// Positions lost on the link, and not yet forwarded or given up.
    lost: HoleSet,
    recovered: u64,
    /// Positions given up among the last 65,536, kept to recognise a frame that comes after all.
    given_up: HoleSet,
    late: u64,
}

impl Ordered {
    /// Returns an ordered side that expects position zero.
    pub fn new(timeout: AckNoTimeout) -> Self {
        assert!(timeout.period > Duration::ZERO, "a timer period must be positive");
        Self {
            timeout,
            next: Position::ZERO,
            waiting_since: Instant::ZERO,
            lost: HoleSet::new(),
            recovered: 0,
            skipped: 0,
            given_up: HoleSet::new(),
            late: 0,
        }
    }

    /// Returns the position to be forwarded next.
    pub const fn next(&self) -> Position {
        self.next
    }

    /// Returns how many positions were given up.
    pub const fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Returns how many positions came after they had been given up, and would have been delivered after a longer wait.
    pub const fn late(&self) -> u64 {
        self.late
    }

    /// Starts over at `position` (LG-30).
    pub fn synchronise(&mut self, now: Instant, position: Position) {
        self.next = position;
        self.waiting_since = now;
        self.lost.clear();
        self.given_up.clear();
    }

    /// Returns how many lost positions were forwarded after all.
    pub const fn recovered(&self) -> u64 {
        self.recovered
    }

    /// Takes note of `count` lost positions from `first` on. A wait begins if no position was missing before (LG-21).
    pub(super) fn note_lost(&mut self, now: Instant, first: Position, count: u32) {
        if self.next == first {
            self.waiting_since = now;
        }
        (0..count).for_each(|step| {
            self.lost.insert(first.plus(step));
        });
    }

    /// Counts `position`, which is forwarded, if the link had lost it.
    #[inline]
    fn count_recovered(&mut self, position: Position) {
        if !self.lost.is_empty() {
            self.recovered += u64::from(self.lost.remove(position));
        }
    }

    /// Decides about a frame, whether it arrives first, is a retransmission, or comes round from the reorder buffer
    /// (LG-20).
    #[inline]
    pub fn offer(&mut self, now: Instant, position: Position) -> Delivery {
        match position.steps_from(self.next) {
            0 => {
                self.count_recovered(position);
                self.pass(now);
                Delivery::Forward
            }
            1.. => Delivery::Hold,
            _ => Delivery::Duplicate,
        }
    }

    /// Decides about a frame that the side waited for, a retransmission or one from the reorder buffer. The frame may
    /// come too late (LG-21).
    pub(super) fn offer_awaited(&mut self, now: Instant, position: Position) -> Delivery {
        if !self.given_up.is_empty() && self.given_up.remove(position) {
            self.late += 1;
            return Delivery::Duplicate;
        }
        self.offer(now, position)
    }

    /// Forwards the frame at `position` if it is its turn and no given-up position may still come late. Returns whether
    /// the frame is forwarded.
    #[inline]
    pub(super) fn offer_in_turn(&mut self, now: Instant, position: Position) -> bool {
        let is_forwarded = position.steps_after(self.next) == 0 && self.given_up.is_empty();
        if is_forwarded {
            self.count_recovered(position);
            self.next = position.next();
            self.waiting_since = now;
        }
        is_forwarded
    }

    /// Whether no position is missing before `expected`, and none of the last 65,536 positions was given up.
    #[inline]
    pub(super) const fn is_in_sequence(&self, expected: Position) -> bool {
        self.next.index() == expected.index() && self.given_up.is_empty()
    }

    /// Returns the position to be forwarded next, if no given-up position may still come late, and if `count` more
    /// positions fit in the window with those before `expected` (LG-33).
    #[inline]
    pub(super) fn may_hold(&self, expected: Position, count: u32) -> Option<Position> {
        let fits = expected.steps_after(self.next) + count <= Position::WINDOW;
        (fits && self.given_up.is_empty()).then_some(self.next)
    }

    /// Takes note that all frames before `next` were forwarded, the last of them at `now`.
    #[inline]
    pub(super) fn pass_in_sequence(&mut self, now: Instant, next: Position) {
        if !self.lost.is_empty() {
            (0..next.steps_after(self.next)).for_each(|step| self.count_recovered(self.next.plus(step)));
        }
        self.next = next;
        self.waiting_since = now;
    }

    /// Moves on to the next position. A position given up half the space ago is forgotten, so that its mark cannot meet
    /// the next use of that position (LG-10).
    #[inline]
    fn pass(&mut self, now: Instant) {
        if !self.given_up.is_empty() {
            self.given_up.remove(self.next.plus(Position::COUNT as u32 / 2));
        }
        self.next = self.next.next();
        self.waiting_since = now;
    }

    /// Whether more positions wait than a window has, so that the oldest is to be given up at once (LG-33).
    #[inline]
    pub(super) const fn is_overrun(&self, expected: Position) -> bool {
        expected.steps_after(self.next) > Position::WINDOW
    }

    /// Returns when the wait ends, given the position that the receiver expects next from the link; never while no
    /// position is missing (LG-21).
    pub fn poll_timeout(&self, expected: Position) -> Instant {
        if self.next == expected { Instant::NEVER } else { self.timeout.expiry(self.waiting_since) }
    }

    /// Returns the countdown of the present wait at `now`: the timer packet that finds zero gives up. While no position
    /// is missing the countdown stands at its start (LG-21).
    pub fn time_remaining(&self, now: Instant, expected: Position) -> u32 {
        let AckNoTimeout { period, reload } = self.timeout;
        if self.next == expected {
            return reload;
        }
        let ticks = |at: Instant| at.as_ps() / period.as_ps();
        reload.saturating_sub((ticks(now) - ticks(self.waiting_since)) as u32)
    }

    /// Returns how many timer packets have passed by `now` (LG-21).
    pub fn timer_packets(&self, now: Instant) -> u64 {
        now.as_ps() / self.timeout.period.as_ps()
    }

    /// Gives up the missing position at `now` and waits anew for the next position. Returns the position that was given
    /// up. The era turns with the number, unlike in the published program (LG-22).
    pub fn skip(&mut self, now: Instant) -> Position {
        let given_up = self.next;
        self.pass(now);
        self.lost.remove(given_up);
        self.given_up.insert(given_up);
        self.skipped += 1;
        given_up
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ordered() -> Ordered {
        Ordered::new(AckNoTimeout { period: Duration::from_ns(100), reload: 70 })
    }

    // LG-20
    #[test]
    fn frames_leave_in_sequence() {
        let mut side = ordered();
        let at = |number| Position::new(number, false);
        assert_eq!(side.offer(Instant::ZERO, at(0)), Delivery::Forward);
        assert_eq!(side.offer(Instant::ZERO, at(2)), Delivery::Hold);
        assert_eq!(side.offer(Instant::ZERO, at(1)), Delivery::Forward);
        assert_eq!(side.offer(Instant::ZERO, at(1)), Delivery::Duplicate);
        assert_eq!(side.offer(Instant::ZERO, at(2)), Delivery::Forward);
    }

    // LG-21
    #[test]
    fn the_wait_ends_on_the_seventy_first_tick() {
        let mut side = ordered();
        let start = Instant::from_ps(250_000);
        side.note_lost(start, Position::ZERO, 1);
        let expected = Position::new(1, false);
        // Ticks at 300, 400, ...; the 71st after 250 ns passes at 7300 ns.
        assert_eq!(side.poll_timeout(expected), Instant::from_ps(7_300_000));
        assert_eq!(side.poll_timeout(Position::ZERO), Instant::NEVER);
    }

    // LG-21
    #[test]
    fn a_tick_at_the_start_of_the_wait_does_not_count() {
        let mut side = ordered();
        side.note_lost(Instant::from_ps(300_000), Position::ZERO, 1);
        assert_eq!(side.poll_timeout(Position::new(1, false)), Instant::from_ps(7_400_000));
    }

    // LG-21
    #[test]
    fn the_countdown_of_a_wait_ends_at_zero_and_stands_at_its_start_without_one() {
        let mut side = ordered();
        side.note_lost(Instant::from_ps(250_000), Position::ZERO, 1);
        let expected = Position::new(1, false);
        let at = |ns: u64| Instant::from_ps(ns * 1000);
        let counts = [250, 299, 300, 399, 400, 7_199, 7_200].map(|ns| side.time_remaining(at(ns), expected));
        assert_eq!(counts, [70, 70, 69, 69, 68, 1, 0]);
        assert_eq!(side.time_remaining(at(7_200), Position::ZERO), 70);
        assert_eq!([99, 100, 7_300].map(|ns| side.timer_packets(at(ns))), [0, 1, 73]);
    }

    // LG-21, LG-10
    #[test]
    fn a_frame_that_comes_too_late_is_counted_once() {
        let (mut side, lost) = (ordered(), Position::ZERO);
        side.skip(Instant::ZERO);
        for late in [1, 1] {
            assert_eq!(side.offer_awaited(Instant::ZERO, lost), Delivery::Duplicate);
            assert_eq!(side.late(), late);
        }
        side.skip(Instant::ZERO);
        (2..Position::COUNT as u32).for_each(|step| {
            side.offer(Instant::ZERO, lost.plus(step));
        });
        // Position 1 was given up a wrap ago: its second use is not a late frame.
        side.offer(Instant::ZERO, lost);
        assert_eq!(side.offer_awaited(Instant::ZERO, lost.next()), Delivery::Forward);
        assert_eq!(side.late(), 1);
    }

    // LG-22
    #[test]
    fn a_skip_crosses_the_wrap() {
        let mut side = ordered();
        side.synchronise(Instant::ZERO, Position::new(65535, false));
        assert_eq!(side.skip(Instant::ZERO), Position::new(65535, false));
        assert_eq!(side.next(), Position::new(0, true));
        assert_eq!(side.skipped(), 1);
    }
}

//! The receiving end: hands on frames that arrive, finds holes, and decides which numbers to ask for (RT-5 to RT-9,
//! RT-15).
//!
//! ```text
//!   settled |  base                              end
//!   ........|[hole][settled][settled][hole][settled]|
//!              found, asked, given up
//! ```

use super::{Waits, extended};
use crate::time::{Duration, Instant};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::mem;

/// The most numbers that may be open at once: beyond, the oldest holes are given up.
const MOST_OPEN: usize = 1 << 16;
/// The most rebuilt frames that are remembered.
const MOST_REBUILT: usize = 1024;
/// How often a hole is asked for.
pub(super) const MOST_REQUESTS: u8 = 5;

/// A number that was skipped, and whose frame has not arrived.
#[derive(Clone, Copy, Debug)]
struct Hole {
    number: u64,
    found: Instant,
    /// When the number counts as lost, or is asked for again, or is given up.
    due: Instant,
    asked: Instant,
    requests: u8,
}

/// A frame that was rebuilt from repairs. The original may be late and not lost.
#[derive(Clone, Copy, Debug)]
struct Rebuilt {
    number: u64,
    found: Instant,
    /// When the frame counts as lost.
    due: Instant,
    /// Whether the sending end knows of the loss: it was asked for the frame, or was told.
    is_told: bool,
}

/// Consecutive numbers to ask for. Frames with repetition zero were rebuilt, and are reported as lost all the same
/// (RT-15).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The first number.
    pub first: u64,
    /// How many numbers there are.
    pub length: u8,
    /// The repetition that is asked for.
    pub repetition: u8,
}

/// Events at the receiving end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiverCounters {
    /// Numbers that counted as lost.
    pub lost: u64,
    /// Lost numbers whose frames came after all.
    pub recovered: u64,
    /// Lost numbers whose frames were rebuilt from repairs.
    pub rebuilt: u64,
    /// Numbers that counted as lost and did not come.
    pub given_up: u64,
    /// Frames that had come before, or came too late.
    pub duplicates: u64,
    /// Frames that were overtaken within the reordering window.
    pub reordered: u64,
}

/// The receiving end of one session.
#[derive(Debug)]
pub struct Receiver {
    /// The number before which all numbers are settled.
    base: u64,
    /// Whether each number from `base` on is settled: handed on, or given up. Each of the others has a hole.
    settled: VecDeque<bool>,
    /// Base and settled numbers of the session before, whose frames may still come (G-6).
    former: (u64, VecDeque<bool>),
    holes: VecDeque<Hole>,
    /// The frames rebuilt lately, and of how many of them the sending end does not know.
    rebuilt: VecDeque<Rebuilt>,
    untold: usize,
    /// Numbers of rebuilt frames that the sending end is to be told of.
    telling: Vec<u64>,
    waits: Waits,
    /// A time no later than the first deadline of a hole, or of a rebuilt frame.
    due: Instant,
    counters: ReceiverCounters,
}

impl Default for Receiver {
    fn default() -> Self {
        Self {
            base: 0,
            settled: VecDeque::new(),
            former: (0, VecDeque::new()),
            holes: VecDeque::new(),
            rebuilt: VecDeque::new(),
            untold: 0,
            telling: Vec::new(),
            waits: Waits::default(),
            due: Instant::NEVER,
            counters: ReceiverCounters::default(),
        }
    }
}

impl Receiver {
    /// Returns the number before which all numbers are settled.
    pub fn base(&self) -> u64 {
        self.base
    }

    /// Returns the number behind the highest that is known of.
    pub fn end(&self) -> u64 {
        self.base + self.settled.len() as u64
    }

    /// Returns the counters of the receiving end.
    pub fn counters(&self) -> ReceiverCounters {
        self.counters
    }

    /// Returns the waits in force.
    pub fn waits(&self) -> &Waits {
        &self.waits
    }

    /// Takes in the loop that the guards have measured; `None` before the first measurement.
    pub fn note_loop(&mut self, loop_time: Option<Duration>) {
        self.waits.note_loop(loop_time);
    }

    /// Begins a new session: numbers from zero.
    pub fn start_over(&mut self) {
        self.counters.given_up += self.holes.iter().filter(|hole| hole.requests > 0).count() as u64;
        self.former.0 = self.base;
        mem::swap(&mut self.former.1, &mut self.settled);
        self.settled.clear();
        self.holes.clear();
        self.rebuilt.clear();
        self.untold = 0;
        self.waits.start_over();
        (self.base, self.due) = (0, Instant::NEVER);
    }

    /// Returns the number in the session before that ends in these bits.
    pub fn former(&self, bits: u32) -> u64 {
        let (base, settled) = &self.former;
        extended(bits, base + settled.len() as u64)
    }

    /// Whether a frame of the session before is handed on: if it was not in that session. A repeated datagram is known
    /// by its seal.
    pub fn handle_former(&mut self, number: u64) -> bool {
        let (base, settled) = &self.former;
        let is_settled =
            number.checked_sub(*base).is_none_or(|place| settled.get(place as usize) == Some(&true));
        self.counters.duplicates += u64::from(is_settled);
        !is_settled
    }

    /// Takes in a frame, sent for the first time or as a repetition. Returns whether it is handed on (RT-6).
    pub fn handle(&mut self, now: Instant, number: u64, repetition: u8) -> bool {
        self.know(now, number);
        if number == self.end() {
            self.make_room();
            self.settled.push_back(false);
        }
        let place = number.checked_sub(self.base).map(|place| place as usize);
        let Some(place) = place.filter(|place| !self.settled[*place]) else {
            self.counters.duplicates += 1;
            if repetition == 0 {
                self.came_late(now, number);
            }
            return false;
        };
        self.learn(now, number, repetition);
        self.settle(place);
        true
    }

    /// Takes note of a repair that was sent ahead.
    pub fn repair_came(&mut self, now: Instant) {
        self.waits.repair_came(now);
    }

    /// Takes in a frame that was rebuilt from repairs. Returns whether it is handed on (RT-6). A rebuilt frame that
    /// was not asked for counts as lost after the reordering window, if the original has not come by then.
    pub fn rebuild(&mut self, now: Instant, number: u64) -> bool {
        let Some(hole) = self.close(number) else { return false };
        let oldest = now.as_ps().saturating_sub(self.waits.round_trip().as_ps());
        let is_old = |rebuilt: &Rebuilt| rebuilt.is_told && rebuilt.found.as_ps() < oldest;
        while self.rebuilt.len() == MOST_REBUILT || self.rebuilt.front().is_some_and(is_old) {
            let forgotten = self.rebuilt.pop_front();
            self.untold -= usize::from(forgotten.is_some_and(|rebuilt| !rebuilt.is_told));
        }
        let is_told = hole.requests > 0;
        self.rebuilt.push_back(Rebuilt { number, found: hole.found, due: hole.due, is_told });
        if is_told {
            self.counters.recovered += 1;
            self.counters.rebuilt += 1;
        } else {
            self.untold += 1;
        }
        self.settle((number - self.base) as usize);
        true
    }

    /// Takes note of a frame that came after it had been handed on. If it was rebuilt before, its delay is taken for
    /// the reordering of the path.
    fn came_late(&mut self, now: Instant, number: u64) {
        let Some(place) = self.rebuilt.iter().rposition(|rebuilt| rebuilt.number == number) else { return };
        let Some(rebuilt) = self.rebuilt.remove(place) else { return };
        if !rebuilt.is_told {
            self.untold -= 1;
            self.counters.reordered += 1;
        }
        self.waits.overtaken(now, now - rebuilt.found); // RT-7
    }

    /// Reports rebuilt frames as lost whose originals have not come within the reordering window.
    fn tell_rebuilt(&mut self, now: Instant, tell: &mut impl FnMut(Wanted)) {
        let Self { rebuilt, untold, telling, counters, .. } = self;
        for rebuilt in rebuilt.iter_mut().filter(|rebuilt| !rebuilt.is_told && rebuilt.due <= now) {
            rebuilt.is_told = true;
            telling.push(rebuilt.number);
        }
        let told = telling.len();
        *untold -= told;
        counters.lost += told as u64;
        counters.recovered += told as u64;
        counters.rebuilt += told as u64;
        telling.sort_unstable();
        let mut run: Option<Wanted> = None;
        telling.drain(..).for_each(|number| Wanted::extend(&mut run, number, 0, tell));
        run.into_iter().for_each(tell);
    }

    /// Takes note that all numbers before `next` were sent: those that have not arrived become holes. If `next` is too
    /// far ahead, the oldest holes are given up.
    pub fn know(&mut self, now: Instant, next: u64) {
        if self.end() >= next {
            return;
        }
        let first = next.saturating_sub(MOST_OPEN as u64);
        if first > self.end() {
            // A leap: no earlier number stays open.
            self.counters.given_up += self.holes.len() as u64 + (first - self.end());
            self.holes.clear();
            self.settled.clear();
            self.base = first;
        }
        let due = now + self.waits.window(now) + self.waits.awaited(now);
        self.due = self.due.min(due);
        while self.end() < next {
            self.make_room();
            self.holes.push_back(Hole { number: self.end(), found: now, due, asked: now, requests: 0 });
            self.settled.push_back(false);
        }
    }

    /// Makes room for one more open number (RT-13).
    fn make_room(&mut self) {
        while self.settled.len() >= MOST_OPEN {
            self.give_up(self.base);
        }
    }

    /// Gives up these numbers, which the sending end will not repeat (RT-9).
    pub fn gone(&mut self, first: u64, length: u8) {
        for number in first..first + u64::from(length) {
            self.give_up(number);
        }
    }

    /// Returns when [`Receiver::handle_timeout`] is due, or a time somewhat before.
    pub fn poll_timeout(&self) -> Instant {
        self.due
    }

    /// Carries out the deadlines that have come. The numbers to be asked for go to `ask`.
    pub fn handle_timeout(&mut self, now: Instant, ask: &mut impl FnMut(Wanted)) {
        if self.due > now {
            return;
        }
        self.give_up_old(now);
        if self.untold > 0 {
            self.tell_rebuilt(now, ask);
        }
        let repair = self.waits.repair();
        let mut wanted: Option<Wanted> = None;
        for hole in self.holes.iter_mut().filter(|hole| hole.due <= now) {
            self.counters.lost += u64::from(hole.requests == 0);
            hole.requests += 1;
            (hole.asked, hole.due) = (now, now + repair);
            Wanted::extend(&mut wanted, hole.number, hole.requests, ask);
        }
        wanted.into_iter().for_each(ask);
        let untold = self.rebuilt.iter().filter(|rebuilt| !rebuilt.is_told).map(|rebuilt| rebuilt.due);
        self.due = self.holes.iter().map(|hole| hole.due).chain(untold).min().unwrap_or(Instant::NEVER);
    }

    /// Closes the hole of a number that has come. Its delay is taken for the reordering or the round trip of the path.
    fn learn(&mut self, now: Instant, number: u64, repetition: u8) {
        let Some(hole) = self.close(number) else { return };
        self.counters.recovered += u64::from(hole.requests > 0);
        if repetition == 0 {
            self.counters.reordered += u64::from(hole.requests == 0);
            self.waits.overtaken(now, now - hole.found); // RT-7
        } else if repetition == hole.requests {
            self.waits.answered(now - hole.asked); // RT-8
        }
    }

    /// Forgets the hole of a number.
    fn close(&mut self, number: u64) -> Option<Hole> {
        let place = self.holes.binary_search_by_key(&number, |hole| hole.number).ok()?;
        self.holes.remove(place)
    }

    /// Gives up a number that will not come.
    fn give_up(&mut self, number: u64) {
        if self.close(number).is_some() {
            self.counters.given_up += 1;
            self.settle((number - self.base) as usize);
        }
    }

    /// Gives up the numbers that were asked for often enough (RT-9).
    fn give_up_old(&mut self, now: Instant) {
        let Self { base, settled, holes, counters, .. } = self;
        holes.retain(|hole| {
            let is_over = hole.due <= now && hole.requests == MOST_REQUESTS;
            if is_over {
                counters.given_up += 1;
                settled[(hole.number - *base) as usize] = true;
            }
            !is_over
        });
        self.advance();
    }

    fn settle(&mut self, place: usize) {
        self.settled[place] = true;
        self.advance();
    }

    fn advance(&mut self) {
        while self.settled.front() == Some(&true) {
            self.settled.pop_front();
            self.base += 1;
        }
        if self.holes.is_empty() && self.untold == 0 {
            self.due = Instant::NEVER;
        }
    }
}

impl Wanted {
    /// Adds one more number to a run. A run that the number does not continue goes to `ask`.
    fn extend(run: &mut Option<Self>, number: u64, repetition: u8, ask: &mut impl FnMut(Self)) {
        match run {
            Some(run) if run.reaches(number) && run.repetition == repetition => run.length += 1,
            run => {
                run.take().into_iter().for_each(ask);
                *run = Some(Self { first: number, length: 1, repetition });
            }
        }
    }

    /// Whether `number` is the next of the run, and the run has room.
    fn reaches(&self, number: u64) -> bool {
        self.length < u8::MAX && self.first + u64::from(self.length) == number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Instant {
        Instant::ZERO + Duration::from_us(us)
    }

    fn receiver() -> Receiver {
        let mut receiver = Receiver::default();
        receiver.note_loop(Some(Duration::from_ms(16)));
        receiver
    }

    fn asked(receiver: &mut Receiver, now: Instant) -> Vec<(u64, u8, u8)> {
        let mut asked = Vec::new();
        receiver
            .handle_timeout(now, &mut |wanted| asked.push((wanted.first, wanted.length, wanted.repetition)));
        asked
    }

    // RT-7, RT-8, RT-9: the window of a loop of 16 ms is 1 ms; its repair time a quarter and 2 ms longer.
    #[test]
    fn a_hole_is_asked_for_after_the_window_and_again_until_it_is_given_up() {
        let mut receiver = receiver();
        assert!(receiver.handle(at(0), 0, 0) && receiver.handle(at(10), 4, 0));
        assert_eq!(receiver.poll_timeout(), at(1010));
        assert_eq!(asked(&mut receiver, at(1009)), []);
        assert_eq!(asked(&mut receiver, at(1010)), [(1, 3, 1)]);
        for round in 1..5 {
            let due = at(1010 + u64::from(round) * 22_000);
            assert_eq!(receiver.poll_timeout(), due);
            assert_eq!(asked(&mut receiver, due), [(1, 3, round + 1)]);
        }
        assert!(receiver.handle(at(90_000), 2, 5), "the last answer");
        assert_eq!(asked(&mut receiver, at(1010 + 5 * 22_000)), []);
        let counters = receiver.counters();
        assert_eq!((counters.lost, counters.recovered, counters.given_up, receiver.base()), (3, 1, 2, 5));
    }

    // RT-6
    #[test]
    fn a_number_is_handed_on_once() {
        let mut receiver = receiver();
        let came = [0, 2, 1, 1, 2, 0].map(|number| receiver.handle(at(5), number, 0));
        assert_eq!(came, [true, true, true, false, false, false]);
        assert_eq!((receiver.base(), receiver.end(), receiver.counters().duplicates), (3, 3, 3));
        assert_eq!((receiver.counters().reordered, receiver.poll_timeout()), (1, Instant::NEVER));
    }

    // RT-7, RT-15
    #[test]
    fn what_was_rebuilt_and_comes_late_was_not_lost() {
        let mut receiver = receiver();
        receiver.know(at(0), 4);
        assert!([3, 1, 2].into_iter().all(|number| receiver.rebuild(at(1), number)));
        assert!(!receiver.handle(at(900), 2, 0), "it is there");
        assert!(receiver.handle(at(900), 0, 0));
        assert_eq!(receiver.poll_timeout(), at(1000));
        assert_eq!(asked(&mut receiver, at(1000)), [(1, 1, 0), (3, 1, 0)]);
        assert_eq!((receiver.poll_timeout(), receiver.base()), (Instant::NEVER, 4));
        // The original comes later than the window, and the delay is learnt.
        assert!(!receiver.handle(at(2000), 1, 0));
        let counters = receiver.counters();
        assert_eq!((counters.lost, counters.rebuilt, counters.reordered), (2, 2, 2));
        assert_eq!(receiver.waits().window(at(2000)), Duration::from_us(2500));
        receiver.know(at(3000), 7);
        assert!([4, 5, 6].into_iter().all(|number| receiver.rebuild(at(3001), number)));
        assert_eq!(asked(&mut receiver, at(5500)), [(4, 3, 0)], "one run");
    }

    // RT-6, RT-15: a frame that was rebuilt, and whose original comes late when another session has begun.
    #[test]
    fn what_an_old_session_handed_on_is_not_handed_on_again() {
        let mut receiver = receiver();
        assert!(receiver.handle(at(0), 0, 0) && receiver.handle(at(0), 3, 0));
        assert!(receiver.rebuild(at(1), 2));
        receiver.start_over();
        assert_eq!(
            [0, 1, 2, 3, 4].map(|number| receiver.handle_former(number)),
            [false, true, false, false, true]
        );
        assert_eq!(receiver.counters().duplicates, 3);
        receiver.start_over();
        assert!(receiver.handle_former(0), "nothing came in that session");
    }

    // RT-9
    #[test]
    fn what_is_gone_is_given_up_at_once() {
        let mut receiver = receiver();
        receiver.know(at(0), 3);
        receiver.gone(0, 2);
        assert_eq!((receiver.base(), receiver.counters().given_up), (2, 2));
        assert!(!receiver.handle(at(9), 1, 1), "it comes too late");
        assert!(receiver.handle(at(9), 2, 0));
        assert_eq!((receiver.base(), receiver.poll_timeout()), (3, Instant::NEVER));
    }

    // RT-6, RT-15
    #[test]
    fn what_is_rebuilt_is_handed_on_once_and_not_asked_for() {
        let mut receiver = receiver();
        receiver.know(at(0), 3);
        assert!(receiver.rebuild(at(1), 1));
        assert_eq!(asked(&mut receiver, at(1000)), [(1, 1, 0), (0, 1, 1), (2, 1, 1)], "it counts as lost");
        assert_eq!([0, 0, 9].map(|number| receiver.rebuild(at(1000), number)), [true, false, false]);
        assert!(!receiver.handle(at(1001), 0, 1) && !receiver.handle(at(1001), 1, 0));
        let counters = receiver.counters();
        assert_eq!((counters.lost, counters.recovered, counters.rebuilt), (3, 2, 2));
        assert_eq!(receiver.base(), 2);
    }

    // RT-13
    #[test]
    fn frames_that_come_behind_an_old_hole_do_not_go_beyond_the_bound() {
        let mut receiver = receiver();
        receiver.know(at(0), 1);
        for number in 1..=MOST_OPEN as u64 + 9 {
            assert!(receiver.handle(at(1), number, 0));
            assert!(receiver.end() - receiver.base() <= MOST_OPEN as u64, "{number}");
        }
        assert_eq!((receiver.base(), receiver.counters().given_up), (MOST_OPEN as u64 + 10, 1));
    }

    // RT-13: the cost of a frame does not depend on its number.
    #[test]
    fn a_leap_of_numbers_costs_no_more_than_what_stays_open() {
        let mut receiver = receiver();
        assert!(receiver.handle(at(0), 1, 0));
        receiver.know(at(0), 1 << 60);
        assert_eq!((receiver.end(), receiver.base()), (1 << 60, (1 << 60) - MOST_OPEN as u64));
        assert_eq!(receiver.counters().given_up, (1 << 60) - MOST_OPEN as u64 - 1);
        assert!(receiver.handle(at(1), 1 << 60, 0) && !receiver.handle(at(1), 5, 0));
    }

    // RT-13
    #[test]
    fn a_peer_that_is_far_ahead_loses_its_oldest() {
        let mut receiver = receiver();
        receiver.know(at(0), MOST_OPEN as u64 + 5);
        assert_eq!((receiver.base(), receiver.counters().given_up), (5, 5));
        assert_eq!(receiver.end(), MOST_OPEN as u64 + 5);
    }
}

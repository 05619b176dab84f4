//! The lines of a host's interface, and the order in which its ends use a line: a packet at a time, round robin (RDMA-24).
//!
//! An interface that forms packets as they leave (RDMA-19) asks the ends behind it for a packet whenever its line is free.
//! An end that has a packet while the line is busy waits in the order in which it came. Once it has sent, it waits behind
//! all others.
//!
//! ```text
//!  ends that have something --> [ 3 | 0 | 7 ] --the first, when the line is free--> line
//!                                       ^---------- again, if it has more ----------'
//! ```
//!
//! All conversations of a host share one line. Where each conversation has a host of its own, each has a line. An interface
//! that queues packets instead, as TCP's, has no line here: its queue is a hop of the path.

use crate::kernel::Ring;
use crate::net::LineRate;
use crate::transport::Departure;
use crate::world::deadlines::Deadlines;
use lossylink_core::time::{Duration, Instant};

/// One line, and the conversations that wait for it.
#[derive(Clone, Debug)]
struct Line {
    free_at: Instant,
    waiting: Ring<u32>,
}

impl Line {
    const fn new() -> Self {
        Self { free_at: Instant::ZERO, waiting: Ring::new() }
    }

    /// Returns when the line is free for the first conversation that waits; [`Instant::NEVER`] if none waits.
    #[inline]
    const fn due(&self) -> Instant {
        if self.waiting.is_empty() { Instant::NEVER } else { self.free_at }
    }
}

/// The lines of the interfaces at one end of the path.
#[derive(Clone, Debug)]
pub(super) struct Lines {
    /// The rate of each line; `None` where packets do not wait for a line.
    rate: Option<LineRate>,
    is_shared: bool,
    lines: Vec<Line>,
    /// Whether each conversation waits for its line.
    waits: Vec<bool>,
    /// The times at which the lines are free for a conversation that waits, line by line.
    turns: Deadlines,
}

impl Lines {
    /// Returns the lines of `count` conversations: one that they share, or one each. Without a rate there is no line.
    pub(super) fn new(rate: Option<LineRate>, is_shared: bool, count: usize) -> Self {
        let mut lines =
            Self { rate, is_shared, lines: Vec::new(), waits: Vec::new(), turns: Deadlines::new(1) };
        lines.grow(count);
        lines
    }

    /// Makes room for `count` conversations.
    pub(super) fn grow(&mut self, count: usize) {
        if self.rate.is_none() {
            return;
        }
        let lines = if self.is_shared { 1 } else { count };
        self.lines.resize_with(lines.max(self.lines.len()), Line::new);
        self.turns.grow(self.lines.len());
        self.waits.resize(count.max(self.waits.len()), false);
    }

    /// Returns when a line is free for a conversation that waits; [`Instant::NEVER`] if none waits.
    #[inline]
    pub(super) fn poll_timeout(&self) -> Instant {
        self.turns.next()
    }

    /// Returns the conversation whose turn comes first.
    #[inline]
    pub(super) fn owner(&self) -> usize {
        self.lines[self.turns.owner()].waiting.front().map_or(0, |&index| index as usize)
    }

    /// Asks the end of a conversation for its next packet. Returns the packet, and whether it was formed for the line. An
    /// end that gives no packet waits for its turn, or has nothing to send.
    #[inline]
    pub(super) fn ask<P>(
        &mut self,
        index: usize,
        now: Instant,
        poll: impl FnOnce(bool) -> Departure<P>,
    ) -> Option<(P, bool)> {
        match poll(self.is_turn_of(index, now)) {
            Departure::AtOnce(packet) => return Some((packet, false)),
            Departure::Formed(packet) => return Some((packet, true)),
            Departure::AwaitsLine => self.join(index),
            Departure::Nothing => self.pass(index),
        }
        None
    }

    /// Whether the conversation may have a packet formed at `now`: its line is free, and no other conversation waits before
    /// it.
    #[inline]
    fn is_turn_of(&self, index: usize, now: Instant) -> bool {
        if self.rate.is_none() {
            return true;
        }
        let line = &self.lines[self.line_of(index)];
        line.free_at <= now && line.waiting.front().is_none_or(|&first| first as usize == index)
    }

    /// Returns until when only this conversation has packets formed: the turn of another conversation comes right after.
    /// Returns the distant future if no other conversation waits.
    #[inline]
    #[cfg(feature = "fast")]
    pub(super) fn next_of_others(&self, index: usize) -> Instant {
        if self.rate.is_none() {
            return Instant::NEVER;
        }
        let own = self.line_of(index);
        let others = self.lines[own].waiting.len() - usize::from(self.waits[index]);
        if others > 0 { Instant::ZERO } else { self.turns.next_of_others(own) }
    }

    /// Returns how long a frame occupies a line; zero where packets do not wait for a line.
    #[inline]
    pub(super) fn serialisation(&self, octets: impl FnOnce() -> u32) -> Duration {
        self.rate.map_or(Duration::ZERO, |rate| rate.serialisation(octets()))
    }

    /// Lets a conversation that has a packet wait for its turn.
    #[inline]
    fn join(&mut self, index: usize) {
        if !std::mem::replace(&mut self.waits[index], true) {
            let own = self.line_of(index);
            self.lines[own].waiting.push(index as u32);
            self.turns.set(own, self.lines[own].due());
        }
    }

    /// Ends the turn of a conversation that has nothing to send, if it waits first: the next conversation is first then.
    #[inline]
    fn pass(&mut self, index: usize) {
        if self.rate.is_some() && self.waits[index] {
            let own = self.line_of(index);
            self.end_turn(own, index);
            self.turns.set(own, self.lines[own].due());
        }
    }

    /// Notes that a packet of the conversation left at `now` and occupies the line for `takes`: in its turn if the packet
    /// was formed for the line, else through the queue of the interface. Packets that are formed next come behind it.
    #[inline]
    pub(super) fn note_sent(&mut self, index: usize, now: Instant, takes: Duration, is_formed: bool) {
        if self.rate.is_none() {
            return;
        }
        let own = self.line_of(index);
        if is_formed {
            self.end_turn(own, index);
        }
        let line = &mut self.lines[own];
        line.free_at = line.free_at.max(now) + takes;
        self.turns.set(own, line.due());
    }

    /// Removes the conversation from those that wait, if it is the first of them.
    #[inline]
    fn end_turn(&mut self, own: usize, index: usize) {
        let waiting = &mut self.lines[own].waiting;
        if waiting.front().is_some_and(|&first| first as usize == index) {
            waiting.skip_front();
            self.waits[index] = false;
        }
    }

    #[inline]
    const fn line_of(&self, index: usize) -> usize {
        if self.is_shared { 0 } else { index }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lossylink_core::units::BitRate;

    fn at(ns: u64) -> Instant {
        Instant::ZERO + Duration::from_ns(ns)
    }

    const TAKES: Duration = Duration::from_ns(100);

    fn lines(is_shared: bool) -> Lines {
        Lines::new(Some(LineRate::new(BitRate::from_gbps(10))), is_shared, 3)
    }

    /// Sends one packet of the conversation whose turn it is, which has more.
    fn send_next(lines: &mut Lines) -> (Instant, usize) {
        let (now, index) = (lines.poll_timeout(), lines.owner());
        assert!(lines.is_turn_of(index, now));
        lines.note_sent(index, now, TAKES, true);
        lines.join(index);
        (now, index)
    }

    // RDMA-24
    #[test]
    fn those_that_wait_take_turns() {
        let mut lines = lines(true);
        assert!(lines.is_turn_of(2, at(5)) && lines.poll_timeout().is_never());
        lines.note_sent(2, at(5), TAKES, true);
        for index in [2, 0, 1, 0] {
            assert!(!lines.is_turn_of(index, at(50)), "the line is busy");
            lines.join(index);
        }
        let sent: Vec<_> = (0..5).map(|_| send_next(&mut lines)).collect();
        assert_eq!(sent, [(at(105), 2), (at(205), 0), (at(305), 1), (at(405), 2), (at(505), 0)]);
    }

    // RDMA-24
    #[test]
    fn one_that_has_nothing_passes_its_turn_on() {
        let mut lines = lines(true);
        lines.note_sent(0, at(0), TAKES, true);
        (0..3).for_each(|index| lines.join(index));
        lines.pass(1);
        assert_eq!(lines.owner(), 0, "whoever is not the first keeps its place");
        lines.pass(0);
        assert_eq!((lines.poll_timeout(), lines.owner()), (at(100), 1));
        lines.pass(1);
        assert!(lines.is_turn_of(2, at(100)) && !lines.is_turn_of(0, at(100)));
        lines.pass(2);
        assert!(lines.poll_timeout().is_never() && lines.is_turn_of(0, at(100)));
    }

    // RDMA-19
    #[test]
    fn what_is_queued_does_not_wait_and_holds_the_next_back() {
        let mut lines = lines(true);
        lines.note_sent(0, at(0), TAKES, true);
        lines.join(0);
        // 86 octets at 10 Gb/s.
        let takes = lines.serialisation(|| 86);
        lines.note_sent(1, at(20), takes, false);
        assert_eq!(lines.poll_timeout(), at(100) + Duration::from_ps(68_800));
    }

    #[cfg(feature = "fast")]
    #[test]
    fn hosts_of_their_own_do_not_wait_for_each_other() {
        let mut lines = lines(false);
        (0..3).for_each(|index| lines.note_sent(index, at(index as u64), TAKES, true));
        (0..3).for_each(|index| lines.join(index));
        assert_eq!(lines.next_of_others(0), at(101));
        let sent: Vec<_> = (0..3).map(|_| send_next(&mut lines)).collect();
        assert_eq!(sent, [(at(100), 0), (at(101), 1), (at(102), 2)]);
    }

    #[cfg(feature = "fast")]
    #[test]
    fn a_train_lasts_as_long_as_nobody_else_waits() {
        let mut lines = lines(true);
        lines.note_sent(0, at(0), TAKES, true);
        lines.join(0);
        assert!(lines.next_of_others(0).is_never());
        lines.join(1);
        assert_eq!(lines.next_of_others(0), Instant::ZERO);
    }

    #[test]
    fn an_interface_that_queues_has_no_line() {
        let mut lines = Lines::new(None, true, 2);
        lines.note_sent(0, at(0), TAKES, true);
        lines.pass(1);
        assert!(lines.is_turn_of(0, at(0)) && lines.poll_timeout().is_never());
        assert_eq!(lines.serialisation(|| 1538), Duration::ZERO);
    }
}

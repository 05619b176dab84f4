//! The link and the two hosts take turns, as in a conservative parallel simulation: each place goes on as far as no event at
//! another can concern it ([`Places`](super::places::Places)). So every place sees the events that it would see step by step, in the same order.

use super::places::Next;
use crate::fast::{Path as Fast, takes};
use crate::net::ProtectedLink;
use crate::world::Protocol;
use crate::world::network::{Addressed, Conversation, Network};
use lossylink_core::time::{Duration, Instant};

/// The longest simulated time of a turn, so that a run that is stopped ends soon: much longer than any leg, and much shorter
/// than the time in which hosts wait for each other.
const LONGEST_TURN: Duration = Duration::from_ms(1);

impl<T: Protocol, L: ProtectedLink<Addressed<T::Packet>>> Network<T, L> {
    /// Runs up to and including `end`, and lets `act` act on a conversation after each event of its near end. Returns false and
    /// does nothing where the network goes event by event. Equals [`Network::run_acting`].
    pub(in crate::world::network) fn run_in_turns(
        &mut self,
        end: Instant,
        act: &mut impl FnMut(Instant, usize, &mut Conversation<T>) -> bool,
    ) -> bool {
        if self.goes_by_steps() {
            return false;
        }
        self.go_ahead(end);
        let mut next = self.next_of_each();
        while next.poll_timeout() <= end && !next.poll_timeout().is_never() && !self.is_stopped() {
            (next, _) = self.take_turns(next, end.min(next.poll_timeout().saturating_add(LONGEST_TURN)), act);
        }
        let now = if self.is_stopped() { self.now } else { self.now.max(end) };
        self.stay_behind(now);
        true
    }

    /// Runs while `goes_on` holds for a conversation, up to and including `end`, and sets the clock to the latest event. Returns
    /// false and does nothing where the network goes event by event.
    pub(in crate::world::network) fn run_in_turns_while(
        &mut self,
        index: usize,
        goes_on: &impl Fn(&Conversation<T>) -> bool,
        end: Instant,
    ) -> bool {
        if self.goes_by_steps() {
            return false;
        }
        self.go_ahead(end);
        let (mut next, mut latest) = (self.next_of_each(), self.now);
        while goes_on(&self.conversations[index])
            && next.poll_timeout() <= end
            && !next.poll_timeout().is_never()
            && !self.is_stopped()
        {
            let at;
            (next, at) = self.take_turns(
                next,
                end.min(next.poll_timeout().saturating_add(LONGEST_TURN)),
                &mut |_, _, _| false,
            );
            latest = latest.max(at);
        }
        self.stay_behind(latest);
        true
    }

    /// Whether the network goes event by event. Whoever looks at the hops sees all places at once, and then the clock must not
    /// go back.
    pub(super) fn goes_by_steps(&self) -> bool {
        self.tap.is_open() || !self.fast.skips || !takes(Fast::Places)
    }

    /// Gives each place its turn, up to and including `end`. Returns the next event of each place, and when the last event
    /// happened.
    #[inline]
    fn take_turns(
        &mut self,
        mut next: Next,
        end: Instant,
        act: &mut impl FnMut(Instant, usize, &mut Conversation<T>) -> bool,
    ) -> (Next, Instant) {
        if let Some(forward) = self.link.poll_apart()
            && let Some(latest) = self.take_turns_apart(forward, next, end, act)
        {
            return (self.next_of_each(), latest);
        }
        let mut latest = Instant::ZERO;
        let only_hosts_answer = self.fast.ahead.is_some();
        let until = self.fast.places.link_until(&next).min(end);
        if next.link() <= until {
            latest = self.link.run(until, &mut self.at_link, &mut self.back_at_link);
            self.collect_trains();
            next = self.next_of_each();
        }
        let until = self.fast.places.far_until(&next, only_hosts_answer).min(end);
        if next.far <= until {
            self.run_far(until);
            latest = latest.max(self.now);
            next = self.next_of_each();
        }
        let until = self.fast.places.near_until(&next, only_hosts_answer).min(end);
        if next.near <= until {
            self.run_near(until, act);
            latest = latest.max(self.now);
            next = self.next_of_each();
        }
        (next, latest)
    }

    #[inline]
    fn next_of_each(&self) -> Next {
        let link = self.link.poll_timeout();
        Next {
            near: self.next_at_near(),
            far: self.next_at_far(),
            forward: link.min(self.at_link.poll_timeout()),
            back: link.min(self.back_at_link.poll_timeout()),
            near_holds: self.at_near.holds_others(),
            far_holds: self.at_far.holds_others(),
        }
    }

    pub(super) fn run_far(&mut self, until: Instant) {
        loop {
            let (packet, timer) = (self.at_far.poll_timeout(), self.far_timers.next());
            let line = self.far_lines.poll_timeout();
            let at = packet.min(timer).min(line);
            if at > until {
                return;
            }
            self.now = at;
            if packet > at {
                if timer > at { self.handle_far_line() } else { self.handle_far_timer() }
            } else if !self.take_train_at_far(until) {
                self.handle_at_far();
            }
        }
    }

    pub(super) fn run_near(
        &mut self,
        until: Instant,
        act: &mut impl FnMut(Instant, usize, &mut Conversation<T>) -> bool,
    ) {
        if let Some(ahead) = &mut self.fast.ahead {
            ahead.begin_turn(until);
        }
        self.fast.near_turn_ends = until;
        loop {
            let (packet, timer) = (self.at_near.poll_timeout(), self.near_timers.next());
            let line = self.near_lines.poll_timeout();
            let at = packet.min(timer).min(line);
            if at > until {
                self.fast.near_turn_ends = Instant::ZERO;
                return;
            }
            self.now = at;
            if packet > at {
                if timer > at { self.handle_near_line() } else { self.handle_near_timer() }
            } else if !self.take_train_at_near(until) {
                self.handle_at_near();
            }
            self.let_act(at, act);
        }
    }
}

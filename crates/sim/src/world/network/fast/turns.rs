//! Lets the link and the two hosts run ahead of each other as far as none can notice.
//!
//! What one place does reaches another no sooner than the leg between them takes. So each may run
//! that far beyond the next event of the others, as in a conservative parallel simulation: every
//! place sees the same events in the same order as step by step, with far fewer changes of place.

use crate::fast::{Path as Fast, takes};
use crate::kernel::ahead::just_short_of;
use crate::net::ProtectedLink;
use crate::world::network::{Addressed, Conversation, Network};
use crate::world::{Path, Protocol};
use lossylink_core::time::{Duration, Instant};

/// Simulated time that a place goes at the most before somebody may stop the run: much longer than any leg, and much shorter than
/// the time in which hosts wait for each other.
const LONGEST_STRIDE: Duration = Duration::from_ms(1);

/// The least time between two places.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leads {
    pub(super) near_to_link: Duration,
    pub(super) link_to_far: Duration,
    pub(super) far_to_link: Duration,
    pub(super) link_to_near: Duration,
    /// What a host takes at the least to handle a packet that finds it idle.
    pub(super) wake_up: Duration,
    /// Whether nothing but the far host answers the near one, and the other way round: the link adds no frame.
    only_hosts_answer: bool,
}

impl Leads {
    pub(super) fn of(path: &Path) -> Self {
        Self {
            near_to_link: path.to_link.least_time(),
            link_to_far: path.to_far.least_time(),
            far_to_link: path.back_to_link.least_time(),
            link_to_near: path.to_near.least_time(),
            wake_up: Duration::ZERO,
            only_hosts_answer: false,
        }
    }

    /// The same between hosts that take so long at the least to handle a packet that finds them idle.
    pub(super) const fn set_wake_up(&mut self, wake_up: Duration) {
        self.wake_up = wake_up;
    }

    /// The same over a link that never answers a host itself, or one that may.
    pub(super) const fn set_only_hosts_answer(&mut self, only_hosts_answer: bool) {
        self.only_hosts_answer = only_hosts_answer;
    }

    /// The least time from what the near host does to what comes of it there.
    pub(super) fn near_to_near(&self) -> Duration {
        let beyond =
            if self.only_hosts_answer { self.link_to_far + self.far_to_link } else { Duration::ZERO };
        self.near_to_link + beyond + self.link_to_near
    }

    /// The least time from what the far host does to what comes of it there.
    pub(super) fn far_to_far(&self) -> Duration {
        let beyond =
            if self.only_hosts_answer { self.link_to_near + self.near_to_link } else { Duration::ZERO };
        self.far_to_link + beyond + self.link_to_far
    }
}

/// When each place does something next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Next {
    pub(super) near: Instant,
    link: Instant,
    pub(super) far: Instant,
}

impl Next {
    fn poll_timeout(&self) -> Instant {
        self.near.min(self.link).min(self.far)
    }

    /// How far any place may go in one turn, so that whoever wants the run to stop is heard.
    fn furthest(&self) -> Instant {
        self.poll_timeout().saturating_add(LONGEST_STRIDE)
    }

    /// How far the link may run: no host's packet reaches it sooner, nor an answer to what it will
    /// do. A packet that finds a host idle is handled when the host is awake. At the near or the far host that `holds` packets any
    /// other is handled no sooner than these. On a tie the link goes before the hosts.
    fn link_until(&self, leads: &Leads, (near_holds, far_holds): (bool, bool)) -> Instant {
        let near = self.near.max(just_short_of(self.near, leads.near_to_link));
        let far = self.far.max(just_short_of(self.far, leads.far_to_link));
        let answer = |holds: bool, way: Duration| {
            if holds { Instant::NEVER } else { self.link.max(just_short_of(self.link, way + leads.wake_up)) }
        };
        near.min(far)
            .min(answer(far_holds, leads.link_to_far + leads.far_to_link))
            .min(answer(near_holds, leads.link_to_near + leads.near_to_link))
    }

    /// How far the far host may run, which goes after the link and before the near host.
    fn far_until(&self, leads: &Leads) -> Instant {
        let link = just_short_of(self.link, leads.link_to_far);
        let near = self.near.max(just_short_of(self.near, leads.near_to_link + leads.link_to_far));
        let answer = self.far.max(just_short_of(self.far, leads.far_to_far()));
        link.min(near).min(answer)
    }

    /// How far the near host may run, which goes last.
    fn near_until(&self, leads: &Leads) -> Instant {
        let link = just_short_of(self.link, leads.link_to_near);
        let far = just_short_of(self.far, leads.far_to_link + leads.link_to_near);
        let answer = self.near.max(just_short_of(self.near, leads.near_to_near()));
        link.min(far).min(answer)
    }
}

impl<T: Protocol, L: ProtectedLink<Addressed<T::Packet>>> Network<T, L> {
    /// Runs up to and including `end`, and lets `act` act on a conversation whenever its near end was handed something; false,
    /// and nothing has happened, where all goes event by event. Equals [`Network::run_acting`].
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
            (next, _) = self.take_turns(next, end.min(next.furthest()), act);
        }
        let now = if self.is_stopped() { self.now } else { self.now.max(end) };
        self.stay_behind(now);
        true
    }

    /// Runs while `goes_on` says so of a conversation, up to and including `end`, and sets the clock to the latest event; false,
    /// and nothing has happened, where all goes event by event.
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
            (next, at) = self.take_turns(next, end.min(next.furthest()), &mut |_, _, _| false);
            latest = latest.max(at);
        }
        self.stay_behind(latest);
        true
    }

    /// Whoever looks at the hops sees all places at once: then the clock must not go back.
    pub(super) fn goes_by_steps(&self) -> bool {
        self.tap.is_open() || !self.fast.skips || !takes(Fast::Places)
    }

    /// Gives each place its turn, up to and including `end`; returns what comes then, and when the last happened.
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
        let holds = (self.at_near.holds_others(), self.at_far.holds_others());
        let until = next.link_until(&self.fast.leads, holds).min(end);
        if next.link <= until {
            latest = self.link.run(until, &mut self.at_link, &mut self.back_at_link);
            self.collect_trains();
            next = self.next_of_each();
        }
        let until = next.far_until(&self.fast.leads).min(end);
        if next.far <= until {
            self.run_far(until);
            latest = latest.max(self.now);
            next = self.next_of_each();
        }
        let until = next.near_until(&self.fast.leads).min(end);
        if next.near <= until {
            self.run_near(until, act);
            latest = latest.max(self.now);
            next = self.next_of_each();
        }
        (next, latest)
    }

    #[inline]
    fn next_of_each(&self) -> Next {
        Next {
            near: self.next_at_near(),
            link: self
                .link
                .poll_timeout()
                .min(self.at_link.poll_timeout())
                .min(self.back_at_link.poll_timeout()),
            far: self.next_at_far(),
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

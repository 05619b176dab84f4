//! The course of a flow that loses nothing between hosts that wake up once for all that the other sends: a sum.
//!
//! Such a flow is a chain of turns. A host is handed at one instant all that the other sent in its turn, and sends what
//! comes of it. How long frames are under way is the same in every flow. So only what the hosts draw is new.
//!
//! ```text
//!  near  open ---.                .- sends -.                   .- end
//!                 \ flight       / wake-up   \ flight          / wake-up
//!  far             '- wake-up - sends         '- wake-up - sends
//! ```
//!
//! [`Network::rehearse`] finds the course by a flow over an unprotected link, whose hosts wake up a little more quickly than
//! they can. All that a host is sent in a turn comes within that time, and so within any other wake-up. A flow whose packets come in any other way has no
//! course. Whether the ends do the same after other wake-ups is for the caller to know.

use super::outside::End;
use super::{Addressed, Conversation, Network, Source};
use crate::net::{Calm, ProtectedLink};
use crate::world::host::BURST_PACKETS;
use crate::world::path::Leg;
use crate::world::{Path, Protocol, Reception};
use lossylink_core::rng::Stream;
use lossylink_core::time::{Duration, Instant};

/// Part of the quickest wake-up by which a protected link may spread further what is sent in a turn.
const SLACK: u64 = 32;

/// A host is handed all that the other sent in the turn before.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Turn {
    host: End,
    /// From the turn before to the arrival of the first packet.
    flight: Duration,
    /// Whether the interface takes it for a burst.
    is_burst: bool,
    /// What the other sent: when it came to the link, from the turn before on, and its octets.
    sent: Vec<(Duration, u32)>,
    /// What the first of it takes from the link to the host.
    beyond: Duration,
}

/// The turns of a flow that loses nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Course {
    turns: Vec<Turn>,
    /// Turns before the flow counts, that of its opening included.
    uncounted: usize,
    /// What a link may add to the time of a frame, beyond what it takes unprotected.
    slack: Duration,
}

/// How long a flow took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// From its opening to its end.
    pub whole: Duration,
    /// As it is counted.
    pub counted: Duration,
}

impl Course {
    /// How long the flow takes between hosts that receive like this and draw from these streams, the near one's first,
    /// over an unprotected link.
    pub fn taken(&self, reception: &Reception, draws: (Stream, Stream)) -> Taken {
        let flight = |turn: &Turn, _| Some(turn.flight);
        self.walk(Instant::ZERO, reception, draws, flight).expect("each flight is known")
    }

    /// The same over a link at rest, if the flow begins at `start`; `None` if the link carries it in another way.
    pub fn taken_over(
        &self,
        link: &mut Calm,
        start: Instant,
        reception: &Reception,
        draws: (Stream, Stream),
    ) -> Option<Taken> {
        self.walk(start, reception, draws, |turn, at| {
            let (mut left, mut busy_until) = (None, at);
            for &(after, octets) in &turn.sent {
                let entry = at + after;
                let leaves = match turn.host {
                    End::Far => link.forward(entry, octets),
                    End::Near => link.back(entry, octets)?,
                };
                if leaves > link.unprotected(entry, &mut busy_until, octets) + self.slack {
                    return None;
                }
                left = left.or(Some(leaves));
            }
            Some(left? + turn.beyond - at)
        })
    }

    #[inline]
    fn walk(
        &self,
        start: Instant,
        reception: &Reception,
        (mut near, mut far): (Stream, Stream),
        mut flight: impl FnMut(&Turn, Instant) -> Option<Duration>,
    ) -> Option<Taken> {
        let (mut whole, mut uncounted) = (Duration::ZERO, Duration::ZERO);
        for (index, turn) in self.turns.iter().enumerate() {
            let draws = if turn.host == End::Near { &mut near } else { &mut far };
            whole += flight(turn, start + whole)? + reception.draw_wake_up(draws, turn.is_burst);
            if index + 1 == self.uncounted {
                uncounted = whole;
            }
        }
        Some(Taken { whole, counted: whole - uncounted })
    }
}

impl<T: Protocol, L: ProtectedLink<Addressed<T::Packet>>> Network<T, L> {
    /// Opens the only conversation of a network in which nothing has happened, and lets it run to its end between hosts
    /// that receive like `reception`, and wake up as quickly as they can. The link loses nothing. `count` says how long
    /// the flow took, as it is counted. `None` if it was no chain of turns.
    pub fn rehearse(
        &mut self,
        reception: &Reception,
        open: impl FnOnce(Instant, &mut Conversation<T>),
        count: impl FnOnce(&mut Conversation<T>) -> Option<Duration>,
    ) -> Option<Course> {
        let slack = reception.least_wake_up() / SLACK;
        let wake_up = reception.least_wake_up() - slack;
        self.set_reception(&reception.waking_at_once_in(wake_up)?);
        self.at_near.count_packets();
        self.at_far.count_packets();
        self.skips = false;
        let mut instants = vec![self.now];
        let (mut host, mut at) = (End::Near, self.now);
        let (mut turns, mut sent) = (Vec::new(), Vec::new());
        self.act(0, open);
        loop {
            let (next, source) = self.next();
            let handles = match source {
                _ if next.is_never() => break,
                Source::AtNear => Some(End::Near),
                Source::AtFar => Some(End::Far),
                // The near host has more to send a little later.
                Source::NearTimer if host == End::Near && next <= at + wake_up => None,
                Source::NearTimer | Source::FarTimer => return None,
                Source::AtLink | Source::BackAtLink => {
                    let way = if source == Source::AtLink { &self.at_link } else { &self.back_at_link };
                    let octets = way.front().map_or(0, |(_, frame)| frame.octets);
                    sent.push((next - at, octets));
                    None
                }
                Source::Link => None,
            };
            // The near host is handed one packet a turn: what it does then does not depend on when others came.
            let goes_on = (handles, host, next) == (Some(End::Far), End::Far, at);
            if let Some(handles) = handles.filter(|_| !goes_on) {
                let is_turn = handles != host && !self.has_under_way(host);
                let packets = self.packets_at(handles).filter(|_| is_turn)?;
                let leg = if handles == End::Far { &self.path.to_far } else { &self.path.to_near };
                let beyond = leg.time_of(sent.first()?.1);
                turns.push(Turn {
                    host: handles,
                    flight: next - at - wake_up,
                    is_burst: packets >= BURST_PACKETS,
                    sent: std::mem::take(&mut sent),
                    beyond,
                });
                instants.push(next);
                (host, at) = (handles, next);
            }
            self.step(next);
        }
        if !turns.iter().all(|turn| self.has_room_for(turn)) {
            return None;
        }
        let counted = count(&mut self.conversations[0])?;
        let uncounted = instants.iter().position(|&instant| instant + counted == at)?;
        (host == End::Near).then_some(Course { turns, uncounted, slack })
    }

    /// Whether no queue drops or marks what is sent in a turn, even if all of it comes at once.
    fn has_room_for(&self, turn: &Turn) -> bool {
        let Path { to_link, to_far, back_to_link, to_near } = &self.path;
        let octets = || turn.sent.iter().map(|&(_, octets)| octets);
        let legs = if turn.host == End::Far { [to_link, to_far] } else { [back_to_link, to_near] };
        let fits = |leg: &Leg| leg.has_room_for(octets().sum());
        legs.into_iter().all(fits) && self.link.queue().holds_unmarked(octets())
    }

    /// Whether something is on its way to a host.
    fn has_under_way(&self, host: End) -> bool {
        let (arrivals, at_link) = match host {
            End::Near => (&self.at_near, &self.back_at_link),
            End::Far => (&self.at_far, &self.at_link),
        };
        !(arrivals.poll_timeout().is_never() && at_link.is_empty() && self.link.poll_timeout().is_never())
    }

    fn packets_at(&self, host: End) -> Option<u32> {
        match host {
            End::Near => self.at_near.packets(),
            End::Far => self.at_far.packets(),
        }
    }
}

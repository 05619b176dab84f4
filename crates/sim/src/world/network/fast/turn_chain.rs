//! The completion time of a flow without losses, as a sum, between hosts that wake up once for all packets of the other's turn.
//!
//! A flow without losses is a chain of turns. In its turn a host is handed at one instant all packets that the other host sent in
//! the turn before, and sends its answers. The times of frames under way are equal in all such flows. So only the latencies that
//! the hosts draw are new.
//!
//! ```text
//!  near  open ---.                .- sends -.                   .- end
//!                 \ flight       / wake-up   \ flight          / wake-up
//!  far             '- wake-up - sends         '- wake-up - sends
//! ```
//!
//! [`Network::rehearse`] finds the turns by a flow over an unprotected link, between hosts that always take the same time to
//! wake up. Another flow follows this chain if all packets of a turn reach their host before that host is awake, too. Whether the
//! ends do the same after other wake-ups is for the caller to know.

use crate::net::{Direction, IdleLink, LineRates, ProtectedLink};
use crate::world::host::BURST_PACKETS;
use crate::world::network::{Addressed, Conversation, End, Network, Source};
use crate::world::path::Leg;
use crate::world::{Path, Protocol, Reception};
use lossylink_core::rng::Stream;
use lossylink_core::time::{Duration, Instant};

/// The most that a protected link may add to the time of a frame over an unprotected link. Chosen, not measured: LinkGuardian
/// adds the time of a control frame or two, and each frame is held to this bound. A larger bound asks for longer wake-ups.
const SLACK: Duration = Duration::from_ns(500);

/// A turn of a host, which is handed all packets that the other host sent in the turn before.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Turn {
    host: End,
    /// The time from the turn before to the arrival of the first packet.
    flight: Duration,
    /// The times from the first packet to the packet that makes a burst of them for the interface, if there are enough packets,
    /// and to the last packet.
    burst_after: Option<Duration>,
    last_after: Duration,
    /// The frames of the other host: the time from the turn before until each came to the link, and its octets.
    sent: Vec<(Duration, u32)>,
    /// The time of the first frame from the link to the host.
    beyond: Duration,
}

impl Turn {
    /// Returns the time from the arrival of the first packet until all packets are handled, which come up to `slack` later than
    /// in the rehearsal; `None` if they are not handled together.
    #[inline]
    fn draw(&self, reception: &Reception, draws: &mut Stream, slack: Duration) -> Option<Duration> {
        let wake_up = reception.draw_wake_up(draws);
        let awake_after = match self.burst_after {
            Some(after) if after + slack > wake_up => return None,
            Some(_) => wake_up + reception.draw_moderation(draws),
            None => wake_up,
        };
        (self.last_after + slack <= awake_after).then_some(awake_after)
    }
}

/// The turns of a flow without losses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnChain {
    turns: Vec<Turn>,
    /// Number of turns before the counted part of the flow, that of its opening included.
    uncounted: usize,
}

/// The completion time of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// The time from the opening of the flow to its end.
    pub whole: Duration,
    /// The part of that time that is counted.
    pub counted: Duration,
}

impl TurnChain {
    /// Returns the completion time of the flow over an unprotected link, between hosts that receive as `reception` says and draw
    /// from `draws`, the near host's stream first; `None` if the flow follows another chain.
    pub fn taken(&self, reception: &Reception, draws: (Stream, Stream)) -> Option<Taken> {
        self.walk(Instant::ZERO, reception, draws, Duration::ZERO, |turn, _| Some(turn.flight))
    }

    /// Returns the completion time of the flow over an idle link, if the flow begins at `start`; `None` if it takes another
    /// chain.
    pub fn taken_over(
        &self,
        link: &mut IdleLink,
        start: Instant,
        reception: &Reception,
        draws: (Stream, Stream),
    ) -> Option<Taken> {
        self.walk(start, reception, draws, SLACK, |turn, at| {
            let (mut left, mut busy_until) = (None, at);
            for &(after, octets) in &turn.sent {
                let entry = at + after;
                let (direction, leaves) = match turn.host {
                    End::Far => (Direction::Forward, link.forward(entry, octets)),
                    End::Near => (Direction::Backward, link.back(entry, octets)?),
                };
                if leaves > link.unprotected(direction, entry, &mut busy_until, octets) + SLACK {
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
        slack: Duration,
        mut flight: impl FnMut(&Turn, Instant) -> Option<Duration>,
    ) -> Option<Taken> {
        let (mut whole, mut uncounted) = (Duration::ZERO, Duration::ZERO);
        for (index, turn) in self.turns.iter().enumerate() {
            let draws = if turn.host == End::Near { &mut near } else { &mut far };
            whole += flight(turn, start + whole)? + turn.draw(reception, draws, slack)?;
            if index + 1 == self.uncounted {
                uncounted = whole;
            }
        }
        Some(Taken { whole, counted: whole - uncounted })
    }
}

impl<T: Protocol, L: ProtectedLink<Addressed<T::Packet>>> Network<T, L> {
    /// Opens the only conversation of a network in which nothing has happened, and runs the flow to its end. The hosts receive
    /// like `reception`, but always wake up in `wake_up`. The link has these rates and loses nothing. `count` returns the counted
    /// part of the completion time. Returns `None` if the flow was no chain of turns.
    pub fn rehearse(
        &mut self,
        (reception, wake_up): (&Reception, Duration),
        rates: LineRates,
        open: impl FnOnce(Instant, &mut Conversation<T>),
        count: impl FnOnce(&mut Conversation<T>) -> Option<Duration>,
    ) -> Option<TurnChain> {
        self.set_reception(&reception.waking_at_once_in(wake_up)?);
        self.at_near.count_packets();
        self.at_far.count_packets();
        self.fast.skips = false;
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
                Source::NearTimer | Source::NearLine if host == End::Near && next <= at + wake_up => None,
                Source::NearTimer | Source::FarTimer | Source::NearLine | Source::FarLine => return None,
                Source::AtLink | Source::BackAtLink => {
                    let way = if source == Source::AtLink { &self.at_link } else { &self.back_at_link };
                    let octets = way.front().map_or(0, |(_, frame)| frame.octets);
                    sent.push((next - at, octets));
                    None
                }
                Source::Link => None,
            };
            // The near host is handed one packet a turn: its answer then does not depend on when other packets came.
            let goes_on = (handles, host, next) == (Some(End::Far), End::Far, at);
            if let Some(handles) = handles.filter(|_| !goes_on) {
                let is_turn = handles != host && !self.has_under_way(host);
                let packets = self.packets_at(handles).filter(|_| is_turn)?;
                let sent = std::mem::take(&mut sent);
                turns.push(self.turn(handles, packets, next - at - wake_up, rates, sent)?);
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
        (host == End::Near).then_some(TurnChain { turns, uncounted })
    }

    /// Whether no queue drops or marks the frames of a turn, even if all of them come at once.
    fn has_room_for(&self, turn: &Turn) -> bool {
        let Path { to_link, to_far, back_to_link, to_near } = &self.path;
        let octets = || turn.sent.iter().map(|&(_, octets)| octets);
        let legs = if turn.host == End::Far { [to_link, to_far] } else { [back_to_link, to_near] };
        let fits = |leg: &Leg| leg.has_room_for(octets().sum());
        legs.into_iter().all(fits) && self.link.queue().holds_unmarked(octets())
    }

    /// Whether a packet may be on its way to a host.
    fn has_under_way(&self, host: End) -> bool {
        let (arrivals, at_link) = match host {
            End::Near => (&self.at_near, &self.back_at_link),
            End::Far => (&self.at_far, &self.at_link),
        };
        !(arrivals.poll_timeout().is_never() && at_link.is_empty() && self.link.poll_timeout().is_never())
    }

    /// Returns the turn of a host that is handed `packets` packets of the frames `sent` over a link of these rates; `flight` is
    /// the time of the first packet.
    fn turn(
        &self,
        host: End,
        packets: u32,
        flight: Duration,
        rates: LineRates,
        sent: Vec<(Duration, u32)>,
    ) -> Option<Turn> {
        let (leg, rate) = match host {
            End::Far => (&self.path.to_far, rates.forward),
            End::Near => (&self.path.to_near, rates.back),
        };
        let arrivals = leg.behind(rate, &sent)?;
        let (&first, &last) = arrivals.first().zip(arrivals.last())?;
        let burst = arrivals.get(BURST_PACKETS as usize - 1);
        let is_all = arrivals.len() == packets as usize;
        is_all.then(|| Turn {
            host,
            flight,
            burst_after: burst.map(|&at| at - first),
            last_after: last - first,
            beyond: leg.time_of(sent[0].1),
            sent,
        })
    }

    fn packets_at(&self, host: End) -> Option<u32> {
        match host {
            End::Near => self.at_near.packets(),
            End::Far => self.at_far.packets(),
        }
    }
}

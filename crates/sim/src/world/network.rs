//! Two hosts, the hops between them, and a link that may be protected.
//!
//! The sources of events, in the order in which ties break: the link, frames that reach it from
//! either side, packets that are handled at the far and the near host, their timers. Hops whose
//! queues decide nothing have no events: a frame's arrival is known when it sets out.

use super::deadlines::Deadlines;
use super::path::Leg;
use super::{Endpoint, Host, Path, Protocol};
use crate::kernel::Pipe;
use crate::net::tap::{Content, LegName};
use crate::net::{Frame, NoTap, ProtectedLink, Sight, Tap};
use lossylink_core::time::{Duration, Instant};

/// A packet with the conversation that it belongs to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Addressed<P> {
    /// Index of the conversation.
    pub conversation: u32,
    /// The packet.
    pub packet: P,
    /// When the first bit of it left its host.
    pub sent_at: Instant,
}

/// The two ends of one conversation.
#[derive(Clone, Debug)]
pub struct Conversation<T: Protocol> {
    /// The end that sends the data.
    pub near: T::Near,
    /// The end that receives it.
    pub far: T::Far,
}

/// What can happen next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    Link,
    AtLink,
    BackAtLink,
    AtFar,
    AtNear,
    FarTimer,
    NearTimer,
}

/// Two hosts with their conversations, connected over `L`.
pub struct Network<T: Protocol, L, O = NoTap> {
    protocol: T,
    /// The link under test.
    pub link: L,
    path: Path,
    near_host: Host,
    far_host: Host,
    conversations: Vec<Conversation<T>>,
    now: Instant,
    at_link: Pipe<Frame<Addressed<T::Packet>>>,
    back_at_link: Pipe<Frame<Addressed<T::Packet>>>,
    at_far: Pipe<Frame<Addressed<T::Packet>>>,
    at_near: Pipe<Frame<Addressed<T::Packet>>>,
    near_timers: Deadlines,
    far_timers: Deadlines,
    tap: O,
}

impl<T: Protocol, L: ProtectedLink<Addressed<T::Packet>>> Network<T, L> {
    /// A network at time zero.
    pub fn new(protocol: T, link: L, path: Path, conversations: Vec<Conversation<T>>) -> Self {
        Self::tapped(protocol, link, path, conversations, NoTap)
    }
}

impl<T: Protocol, L: ProtectedLink<Addressed<T::Packet>>, O: Tap<Addressed<T::Packet>>> Network<T, L, O> {
    /// The same with a tap on the hops of the path; that of the link is the link's own.
    pub fn tapped(protocol: T, link: L, path: Path, conversations: Vec<Conversation<T>>, tap: O) -> Self {
        let count = conversations.len();
        Self {
            protocol,
            link,
            path,
            near_host: Host::default(),
            far_host: Host::default(),
            conversations,
            now: Instant::ZERO,
            at_link: Pipe::new(),
            back_at_link: Pipe::new(),
            at_far: Pipe::new(),
            at_near: Pipe::new(),
            near_timers: Deadlines::new(count),
            far_timers: Deadlines::new(count),
            tap,
        }
    }

    /// The present.
    pub const fn now(&self) -> Instant {
        self.now
    }

    /// The tap.
    pub const fn tap(&self) -> &O {
        &self.tap
    }

    /// The protocol's settings.
    pub const fn protocol(&self) -> &T {
        &self.protocol
    }

    /// A conversation.
    pub fn conversation(&self, index: usize) -> &Conversation<T> {
        &self.conversations[index]
    }

    /// All conversations.
    pub fn conversations(&self) -> &[Conversation<T>] {
        &self.conversations
    }

    /// Frames dropped in the hops around the link.
    pub fn hop_drops(&self) -> u64 {
        let path = &self.path;
        path.to_link.dropped() + path.to_far.dropped() + path.back_to_link.dropped() + path.to_near.dropped()
    }

    /// Changes what the hosts add to every wake-up from now on.
    pub fn set_latency(&mut self, latency: Duration) {
        self.near_host.set_latency(latency);
        self.far_host.set_latency(latency);
    }

    /// Lets the owner act on the ends of a conversation (open it, post an operation), then sends
    /// what they have to send.
    pub fn act(&mut self, index: usize, action: impl FnOnce(Instant, &mut Conversation<T>)) {
        action(self.now, &mut self.conversations[index]);
        self.flush_near(index);
        self.flush_far(index);
    }

    /// Moves the clock forward to `at`, before which nothing may be due.
    pub fn wait_until(&mut self, at: Instant) {
        debug_assert!(self.next().0 >= at, "something happens before {at}");
        self.now = self.now.max(at);
    }

    /// When something happens next.
    pub fn next_event(&self) -> Instant {
        self.next().0
    }

    /// Does what happens next, unless it lies after `end`; whether something happened.
    #[inline]
    pub fn step(&mut self, end: Instant) -> bool {
        let (at, source) = self.next();
        if at > end || at.is_never() {
            return false;
        }
        self.now = at;
        match source {
            Source::Link => {
                self.link.advance(at);
                self.collect();
            }
            Source::AtLink => self.enter_link(),
            Source::BackAtLink => self.enter_link_back(),
            Source::AtFar => self.handle_at_far(),
            Source::AtNear => self.handle_at_near(),
            Source::FarTimer => {
                let index = self.far_timers.owner();
                self.conversations[index].far.handle_timeout(at);
                self.flush_far(index);
            }
            Source::NearTimer => {
                let index = self.near_timers.owner();
                self.conversations[index].near.handle_timeout(at);
                self.flush_near(index);
            }
        }
        true
    }

    /// Runs up to and including `end`.
    pub fn run_until(&mut self, end: Instant) {
        while self.step(end) {}
        self.now = self.now.max(end);
    }

    #[inline]
    fn next(&self) -> (Instant, Source) {
        let mut next = (self.link.deadline(), Source::Link);
        let others = [
            (self.at_link.due(), Source::AtLink),
            (self.back_at_link.due(), Source::BackAtLink),
            (self.at_far.due(), Source::AtFar),
            (self.at_near.due(), Source::AtNear),
            (self.far_timers.next(), Source::FarTimer),
            (self.near_timers.next(), Source::NearTimer),
        ];
        for other in others {
            if other.0 < next.0 {
                next = other;
            }
        }
        next
    }

    fn enter_link(&mut self) {
        if let Some((at, frame)) = self.at_link.pop() {
            self.link.offer(at, frame);
            self.collect();
        }
    }

    fn enter_link_back(&mut self) {
        if let Some((at, frame)) = self.back_at_link.pop() {
            self.link.offer_back(at, frame);
            self.collect();
        }
    }

    #[inline]
    fn handle_at_far(&mut self) {
        let Some((at, frame)) = self.at_far.pop() else { return };
        let index = frame.payload.conversation as usize;
        let marked = frame.ecn == crate::net::Ecn::Experienced;
        self.conversations[index].far.handle_packet(at, &frame.payload.packet, marked);
        self.flush_far(index);
    }

    #[inline]
    fn handle_at_near(&mut self) {
        let Some((at, frame)) = self.at_near.pop() else { return };
        let index = frame.payload.conversation as usize;
        let marked = frame.ecn == crate::net::Ecn::Experienced;
        self.conversations[index].near.handle_packet(at, &frame.payload.packet, marked);
        self.flush_near(index);
    }

    /// Sends what the near end of a conversation has to send.
    #[inline]
    fn flush_near(&mut self, index: usize) {
        while let Some(packet) = self.conversations[index].near.poll_transmit(self.now) {
            let (protocol, path, at_link) = (&self.protocol, &mut self.path, &mut self.at_link);
            let (now, link, tap) = (self.now, &mut self.link, &self.tap);
            protocol.cut(packet, &mut |packet| {
                let frame = address(protocol, index, packet, now);
                if path.to_link.is_instant() {
                    link.offer(now, frame);
                } else if let Some(at) = cross(tap, LegName::ToLink, &mut path.to_link, (now, now), &frame) {
                    at_link.push(at, frame);
                }
            });
        }
        self.near_timers.set(index, self.conversations[index].near.poll_timeout());
        self.collect();
    }

    /// Sends what the far end of a conversation has to send.
    #[inline]
    fn flush_far(&mut self, index: usize) {
        while let Some(packet) = self.conversations[index].far.poll_transmit(self.now) {
            let frame = address(&self.protocol, index, packet, self.now);
            if self.path.back_to_link.is_instant() {
                self.link.offer_back(self.now, frame);
                continue;
            }
            let (now, leg) = (self.now, &mut self.path.back_to_link);
            if let Some(at) = cross(&self.tap, LegName::BackToLink, leg, (now, now), &frame) {
                self.back_at_link.push(at, frame);
            }
        }
        self.far_timers.set(index, self.conversations[index].far.poll_timeout());
        self.collect();
    }

    /// Takes what has left the link on toward the hosts.
    #[inline]
    fn collect(&mut self) {
        while let Some((at, frame)) = self.link.delivered().pop() {
            let leg = &mut self.path.to_far;
            if let Some(at) = cross(&self.tap, LegName::ToFar, leg, (self.now, at), &frame) {
                self.at_far.push(self.far_host.handled_at(at), frame);
            }
        }
        while let Some((at, frame)) = self.link.returned().pop() {
            let leg = &mut self.path.to_near;
            if let Some(at) = cross(&self.tap, LegName::ToNear, leg, (self.now, at), &frame) {
                self.at_near.push(self.near_host.handled_at(at), frame);
            }
        }
    }
}

/// Sends a frame that enters at `entry` across a leg, before the eyes of the tap if it is there.
#[inline]
fn cross<P: Copy>(
    tap: &impl Tap<P>,
    name: LegName,
    leg: &mut Leg,
    (now, entry): (Instant, Instant),
    frame: &Frame<P>,
) -> Option<Instant> {
    let Some(hop) = tap.watched_hop(name) else { return leg.cross(entry, frame) };
    leg.cross_watched(entry, frame, hop, |at| {
        let content = Content::Bare(*frame);
        tap.see_on_hop(now, Sight { at, direction: name.direction(), arrives: true, content });
    })
}

#[inline]
fn address<T: Protocol>(
    protocol: &T,
    index: usize,
    packet: T::Packet,
    sent_at: Instant,
) -> Frame<Addressed<T::Packet>> {
    let frame = protocol.frame(packet);
    let payload = Addressed { conversation: index as u32, packet: frame.payload, sent_at };
    Frame { octets: frame.octets, ecn: frame.ecn, payload }
}

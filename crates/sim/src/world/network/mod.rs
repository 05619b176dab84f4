//! Two hosts, the hops between them, and a link that may be protected.
//!
//! The sources of events, in the order in which ties break: the link, frames that reach the link from either
//! side, packets that are handled at the far and at the near host, timers and interface of the far host, timers
//! and interface of the near host. Hops whose queues decide nothing have no events: the arrival of a frame is
//! known when the frame sets out.

mod arrivals;
#[cfg_attr(not(feature = "fast"), path = "event_by_event.rs")]
mod fast;
mod lines;
mod outside;
mod overtaking;
mod running;
mod sending;
mod silence;

use super::deadlines::Deadlines;
use super::path::{Leg, LostBehind};
use super::reception::Reception;
use super::{Endpoint, Path, Protocol};
use crate::Stop;
use crate::kernel::{Train, Trains};
use crate::measure::Delays;
use crate::net::tap::LegName;
use crate::net::{Ecn, Frame, Payload, ProtectedLink, Tap};
#[cfg(feature = "fast")]
pub use fast::{Taken, TurnChain};
pub use outside::End;

use arrivals::Arrivals;
use lines::Lines;
use lossylink_core::rng::Stream;
use lossylink_core::time::{Duration, Instant};
use sending::cross;

/// A packet with the conversation that it belongs to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Addressed<P> {
    /// Index of the conversation.
    pub conversation: u32,
    /// Number of connections that had used that index before.
    pub generation: u32,
    /// The packet.
    pub packet: P,
    /// Time at which the packet reached the link on its way forward, if times are measured; otherwise the start
    /// of the run.
    pub entered_at: Instant,
    /// Time from the entry of the packet to that of the next packet of its train.
    pub pace: Duration,
}

impl<P> Addressed<P> {
    /// Notes in the packet when its train reached the link.
    fn enter(&mut self, train: Train) {
        (self.entered_at, self.pace) = (train.first, train.spacing);
    }

    /// Hands to `note` the time across the link of each packet of a train, which has left the link at the times
    /// of `train`.
    fn leave(&mut self, train: Train, mut note: impl FnMut(Duration)) {
        let entered = train.from(self.entered_at).at_pace(self.pace);
        (0..train.count).for_each(|index| note(train.nth(index) - entered.nth(index)));
        (self.entered_at, self.pace) = (Instant::ZERO, Duration::ZERO);
    }
}

impl<P: Payload> Payload for Addressed<P> {
    #[inline]
    fn distance(&self, next: &Self, count: u32) -> Option<u32> {
        let follows = self.conversation == next.conversation
            && self.generation == next.generation
            && self.pace == next.pace
            && self.entered_at + self.pace * u64::from(count) == next.entered_at;
        if follows { self.packet.distance(&next.packet, count) } else { None }
    }

    #[inline]
    fn follow(&mut self, count: u32, step: u32) {
        self.entered_at += self.pace * u64::from(count);
        self.packet.follow(count, step);
    }
}

/// The two ends of one conversation.
#[derive(Clone, Debug)]
pub struct Conversation<T: Protocol> {
    /// The end that sends the data.
    pub near: T::Near,
    /// The end that receives the data.
    pub far: T::Far,
}

/// The sources of events, in the order in which ties break.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    Link,
    AtLink,
    BackAtLink,
    AtFar,
    AtNear,
    FarTimer,
    FarLine,
    NearTimer,
    NearLine,
}

/// Two hosts with their conversations, connected over `L`.
pub struct Network<T: Protocol, L> {
    protocol: T,
    /// The link under test.
    pub link: L,
    path: Path,
    /// The state of the fast half.
    fast: fast::State,
    conversations: Vec<Conversation<T>>,
    generations: Vec<u32>,
    /// The conversation whose near end had the latest event.
    touched: usize,
    now: Instant,
    at_link: Trains<Frame<Addressed<T::Packet>>>,
    back_at_link: Trains<Frame<Addressed<T::Packet>>>,
    at_far: Arrivals<T::Packet>,
    at_near: Arrivals<T::Packet>,
    near_timers: Deadlines,
    far_timers: Deadlines,
    near_lines: Lines,
    far_lines: Lines,
    /// Times of packets across the link on the way forward, if they are measured.
    latency: Option<Delays>,
    tap: Tap<Addressed<T::Packet>>,
    stop: Stop,
}

impl<T: Protocol, L: ProtectedLink<Addressed<T::Packet>>> Network<T, L> {
    /// Returns a network at time zero.
    pub fn new(protocol: T, link: L, path: Path, conversations: Vec<Conversation<T>>) -> Self {
        let count = conversations.len();
        let lines = Lines::new(protocol.line(), path.shares_interfaces(), count);
        let arrivals = |leg: &Leg| {
            let mut arrivals = Arrivals::new();
            if !leg.keeps_order() {
                arrivals.let_overtake();
            }
            arrivals
        };
        let (at_far, at_near) = (arrivals(&path.to_far), arrivals(&path.to_near));
        Self {
            protocol,
            link,
            fast: fast::State::of(&path),
            path,
            conversations,
            generations: vec![0; count],
            touched: 0,
            now: Instant::ZERO,
            at_link: Trains::new(),
            back_at_link: Trains::new(),
            at_far,
            at_near,
            near_timers: Deadlines::new(count),
            far_timers: Deadlines::new(count),
            near_lines: lines.clone(),
            far_lines: lines,
            latency: None,
            tap: Tap::default(),
            stop: Stop::default(),
        }
    }

    /// Lets `tap` look at the hops of the path. The link has a tap of its own.
    #[must_use]
    pub fn tapped(self, tap: Tap<Addressed<T::Packet>>) -> Self {
        Self { tap, ..self }
    }

    /// Lets `stop` end a run where it is.
    #[must_use]
    pub fn stopping(self, stop: &Stop) -> Self {
        Self { stop: stop.clone(), ..self }
    }

    /// Whether the run was stopped before everything happened that its owner let happen.
    #[inline]
    pub fn is_stopped(&self) -> bool {
        self.stop.is_asked()
    }

    /// Returns the present time.
    pub const fn now(&self) -> Instant {
        self.now
    }

    /// Measures from now on how long each packet takes from the entry of the link to its exit.
    pub fn measure_latency(&mut self) {
        self.latency = Some(Delays::default());
    }

    /// Returns the times of packets across the link, if they are measured.
    pub const fn latency(&self) -> Option<&Delays> {
        self.latency.as_ref()
    }

    /// Returns the tap on the hops.
    pub const fn tap(&self) -> &Tap<Addressed<T::Packet>> {
        &self.tap
    }

    /// Returns the settings of the protocol.
    pub const fn protocol(&self) -> &T {
        &self.protocol
    }

    /// Returns a conversation.
    pub fn conversation(&self, index: usize) -> &Conversation<T> {
        &self.conversations[index]
    }

    /// Returns all conversations.
    pub fn conversations(&self) -> &[Conversation<T>] {
        &self.conversations
    }

    /// Adds a conversation and returns its index.
    pub fn add(&mut self, conversation: Conversation<T>) -> usize {
        self.conversations.push(conversation);
        self.generations.push(0);
        self.near_timers.grow(self.conversations.len());
        self.far_timers.grow(self.conversations.len());
        self.near_lines.grow(self.conversations.len());
        self.far_lines.grow(self.conversations.len());
        self.at_near.grow(self.conversations.len());
        self.at_far.grow(self.conversations.len());
        self.conversations.len() - 1
    }

    /// Makes room for a new connection in the place of one that has ended. Packets of the old connection that
    /// are still under way will find no end.
    pub fn renew(&mut self, index: usize) {
        self.generations[index] = self.generations[index].wrapping_add(1);
        self.at_near.renew(index);
        self.at_far.renew(index);
    }

    /// Returns the conversation whose near end had the latest event.
    pub const fn touched(&self) -> usize {
        self.touched
    }

    /// Returns the most octets that ever stood in the interface of the near host; 0 where each conversation has
    /// an interface of its own.
    pub fn interface_bytes_max(&self) -> u64 {
        self.path.to_link.high_water_bytes()
    }

    /// Returns how many frames were dropped in the hops around the link.
    pub fn hop_drops(&self) -> u64 {
        let path = &self.path;
        path.to_link.dropped() + path.to_far.dropped() + path.back_to_link.dropped() + path.to_near.dropped()
    }

    /// Returns how many frames the hops behind the link corrupted.
    pub fn lost_behind(&self) -> LostBehind {
        self.path.lost_behind()
    }

    /// Sets how both hosts receive from now on. No packet may wait at them.
    pub fn set_reception(&mut self, reception: &Reception) {
        let count = self.conversations.len();
        self.fast.set_reception(reception);
        self.at_near.set_reception(reception, count);
        self.at_far.set_reception(reception, count);
    }

    /// Sets the streams from which the hosts draw their latencies from now on.
    pub fn set_draws(&mut self, near: Stream, far: Stream) {
        self.at_near.set_draws(near);
        self.at_far.set_draws(far);
    }

    /// Lets the owner act on the ends of a conversation (open it, post an operation), then sends the packets
    /// that the ends have to send.
    pub fn act(&mut self, index: usize, action: impl FnOnce(Instant, &mut Conversation<T>)) {
        action(self.now, &mut self.conversations[index]);
        self.flush_near(index);
        self.flush_far(index);
    }

    /// Lets the owner take results that an end keeps for it; no packet is sent.
    pub fn take<R>(&mut self, index: usize, take: impl FnOnce(&mut Conversation<T>) -> R) -> R {
        take(&mut self.conversations[index])
    }

    /// Moves the clock forward to `at`, before which no event may be due.
    pub fn wait_until(&mut self, at: Instant) {
        debug_assert!(self.next().0 >= at, "something happens before {at}");
        self.now = self.now.max(at);
    }

    /// Returns the time of the next event.
    pub fn poll_timeout(&self) -> Instant {
        self.next().0
    }

    /// Handles the next event, unless it lies after `end`. Returns whether there was an event.
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
            Source::AtLink => {
                let Self { link, at_link, .. } = self;
                at_link.take(|at, frame| link.offer(at, *frame));
                self.collect();
            }
            Source::BackAtLink => {
                let Self { link, back_at_link, .. } = self;
                back_at_link.take(|at, frame| link.offer_back(at, *frame));
                self.collect();
            }
            Source::AtFar => self.handle_at_far(),
            Source::AtNear => self.handle_at_near(),
            Source::FarTimer => self.handle_far_timer(),
            Source::FarLine => self.handle_far_line(),
            Source::NearTimer => self.handle_near_timer(),
            Source::NearLine => self.handle_near_line(),
        }
        true
    }

    #[inline]
    fn next(&self) -> (Instant, Source) {
        let mut next = (self.link.poll_timeout(), Source::Link);
        let others = [
            (self.at_link.poll_timeout(), Source::AtLink),
            (self.back_at_link.poll_timeout(), Source::BackAtLink),
            (self.at_far.poll_timeout(), Source::AtFar),
            (self.at_near.poll_timeout(), Source::AtNear),
            (self.far_timers.next(), Source::FarTimer),
            (self.far_lines.poll_timeout(), Source::FarLine),
            (self.near_timers.next(), Source::NearTimer),
            (self.near_lines.poll_timeout(), Source::NearLine),
        ];
        for other in others {
            if other.0 < next.0 {
                next = other;
            }
        }
        next
    }

    #[inline]
    fn handle_at_far(&mut self) {
        if self.at_far.let_in(&self.protocol) {
            return;
        }
        let (conversations, generations) = (&mut self.conversations, &self.generations);
        let handled = self.at_far.take(|at, frame| {
            let index = frame.payload.conversation as usize;
            let is_current = frame.payload.generation == generations[index];
            is_current.then(|| {
                let marked = frame.ecn == Ecn::Experienced;
                conversations[index].far.handle_packet(at, &frame.payload.packet, marked);
                index
            })
        });
        if let Some(index) = handled.flatten() {
            self.flush_far(index);
        }
    }

    #[inline]
    fn handle_at_near(&mut self) {
        if self.at_near.let_in(&self.protocol) {
            return;
        }
        let (conversations, generations) = (&mut self.conversations, &self.generations);
        let handled = self.at_near.take(|at, frame| {
            let index = frame.payload.conversation as usize;
            let is_current = frame.payload.generation == generations[index];
            is_current.then(|| {
                let marked = frame.ecn == Ecn::Experienced;
                conversations[index].near.handle_packet(at, &frame.payload.packet, marked);
                index
            })
        });
        if let Some(index) = handled.flatten() {
            self.touched = index;
            self.flush_near(index);
        }
    }

    fn handle_far_timer(&mut self) {
        let index = self.far_timers.owner();
        self.conversations[index].far.handle_timeout(self.now);
        self.flush_far(index);
    }

    /// Sends packets of the conversation that is next at the line of the far host, which is free.
    fn handle_far_line(&mut self) {
        self.flush_far(self.far_lines.owner());
    }

    /// Sends packets of the conversation that is next at the line of the near host, which is free.
    fn handle_near_line(&mut self) {
        let index = self.near_lines.owner();
        self.touched = index;
        self.flush_near(index);
    }

    fn handle_near_timer(&mut self) {
        let index = self.near_timers.owner();
        self.touched = index;
        if !self.send_paced(index) {
            self.conversations[index].near.handle_timeout(self.now);
            self.flush_near(index);
        }
    }

    /// Sends the frames that have left the link on toward the hosts.
    #[inline]
    fn collect(&mut self) {
        let now = self.now;
        let Self { link, path, protocol, at_far, at_near, latency, tap, .. } = self;
        link.delivered().take_all(|at, frame| {
            let mut frame = *frame;
            if let Some(latency) = latency {
                frame.payload.leave(Train::of_one(at), |took| latency.add(took));
            }
            if let Some(at) = cross(tap, LegName::ToFar, &mut path.to_far, (now, at), &frame) {
                at_far.arrive(protocol, at, &frame);
            }
        });
        link.returned().take_all(|at, frame| {
            if let Some(at) = cross(tap, LegName::ToNear, &mut path.to_near, (now, at), frame) {
                at_near.arrive(protocol, at, frame);
            }
        });
    }
}

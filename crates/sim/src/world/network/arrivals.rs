//! What has reached a host: on the way up through the core of its conversation.
//!
//! Hosts that take no time, and hosts with one conversation, need one core: what waits for it is in
//! the order of its arrival. Otherwise each conversation has one, and the earliest goes first; of
//! equal ones that of the first conversation.

use super::{Addressed, Deadlines};
use crate::net::{Frame, Train};
use crate::world::Protocol;
use crate::world::host::{Core, Reception};
use lossylink_core::rng::{Stream, Streams};
use lossylink_core::time::Instant;

type Arrived<P> = Frame<Addressed<P>>;

/// What waits at one host.
#[derive(Clone, Debug)]
pub(super) struct Arrivals<P: Copy + Default> {
    /// When the transport has the next packet.
    due: Instant,
    /// The core of the first conversation, or of all if the host takes no time.
    core: Core<Arrived<P>>,
    /// The cores of the others, if they have their own.
    others: Option<Box<Others<P>>>,
    /// Whether nothing matters but the wake-up, on one core.
    is_simple: bool,
    reception: Reception,
    draws: Stream,
}

/// The cores of a host with several.
#[derive(Clone, Debug)]
struct Others<P: Copy + Default> {
    cores: Vec<Core<Arrived<P>>>,
    deadlines: Deadlines,
}

impl<P: Copy + Default> Arrivals<P> {
    /// A host that takes no time.
    pub(super) fn new() -> Self {
        Self {
            due: Instant::NEVER,
            core: Core::default(),
            others: None,
            is_simple: true,
            reception: Reception::default(),
            draws: Streams::new(0).stream("no draws"),
        }
    }

    /// From now on the host receives like this, with `count` conversations; nothing may wait.
    pub(super) fn set_reception(&mut self, reception: &Reception, count: usize) {
        debug_assert!(self.poll_timeout().is_never(), "packets wait for a host that changes");
        let draws = self.draws.clone();
        *self =
            Self { reception: reception.clone(), is_simple: reception.only_wakes(), draws, ..Self::new() };
        self.grow(count);
    }

    /// Latencies come from `draws` from now on.
    pub(super) fn set_draws(&mut self, draws: Stream) {
        self.draws = draws;
    }

    /// Makes room for `count` conversations.
    pub(super) fn grow(&mut self, count: usize) {
        if self.reception.is_free() || count <= 1 {
            return;
        }
        self.is_simple = false;
        let others =
            self.others.get_or_insert_with(|| Box::new(Others::beside(std::mem::take(&mut self.core))));
        others.grow(count);
    }

    /// When the transport has the next packet.
    #[inline]
    pub(super) fn poll_timeout(&self) -> Instant {
        self.due
    }

    /// Hands the next packet, whenever it is due, to `take` and removes it.
    #[inline]
    pub(super) fn take<R>(&mut self, take: impl FnOnce(Instant, &Arrived<P>) -> R) -> Option<R> {
        let core = match &mut self.others {
            None => &mut self.core,
            Some(others) => others.next(),
        };
        let taken = core.take(take);
        self.due = core.poll_timeout();
        if let Some(others) = &mut self.others {
            self.due = others.update(others.deadlines.owner());
        }
        taken
    }

    /// A packet arrives at the host. Arrivals come in order.
    #[inline]
    pub(super) fn arrive(&mut self, protocol: &impl Protocol<Packet = P>, at: Instant, frame: &Arrived<P>) {
        if self.is_simple {
            self.core.arrive_simply(at, frame, &self.reception, &mut self.draws);
            self.due = self.core.poll_timeout();
        } else {
            self.wait(protocol, at, frame);
        }
    }

    /// A train of packets arrives at the host, `frame` and those that follow it.
    #[inline]
    pub(super) fn arrive_in_train<T: Protocol<Packet = P>>(
        &mut self,
        protocol: &T,
        train: Train,
        frame: &mut Arrived<P>,
    ) {
        let index = frame.payload.conversation as usize;
        let follow = |frame: &mut Arrived<P>, count| protocol.follow(&mut frame.payload.packet, count);
        let merge = |held: &mut Arrived<P>, next: &Arrived<P>, count| merge(protocol, held, next, count);
        let core = match &mut self.others {
            None => &mut self.core,
            Some(others) => &mut others.cores[index],
        };
        core.arrive_in_train(train, frame, &self.reception, &mut self.draws, merge, follow);
        self.due = core.poll_timeout();
        if let Some(others) = &mut self.others {
            self.due = others.update(index);
        }
    }

    /// A packet arrives at a host that does more than to wake up, or has several cores.
    #[inline(never)]
    fn wait(&mut self, protocol: &impl Protocol<Packet = P>, at: Instant, frame: &Arrived<P>) {
        let index = frame.payload.conversation as usize;
        let core = match &mut self.others {
            None => &mut self.core,
            Some(others) => &mut others.cores[index],
        };
        let merge = |held: &mut Arrived<P>, next: &Arrived<P>| merge(protocol, held, next, 1) == 1;
        core.arrive(at, frame, &self.reception, &mut self.draws, merge);
        self.due = core.poll_timeout();
        if let Some(others) = &mut self.others {
            self.due = others.update(index);
        }
    }
}

impl<P: Copy + Default> Others<P> {
    fn beside(first: Core<Arrived<P>>) -> Self {
        let mut others = Self { cores: vec![first], deadlines: Deadlines::new(1) };
        others.update(0);
        others
    }

    fn grow(&mut self, count: usize) {
        self.cores.resize_with(count.max(self.cores.len()), Core::default);
        self.deadlines.grow(count);
    }

    /// The core whose packet is the next.
    fn next(&mut self) -> &mut Core<Arrived<P>> {
        &mut self.cores[self.deadlines.owner()]
    }

    /// A core has another next packet; returns when the earliest of all is due.
    fn update(&mut self, index: usize) -> Instant {
        self.deadlines.set(index, self.cores[index].poll_timeout());
        self.deadlines.next()
    }
}

/// Adds up to `count` packets, `next` and those that follow it, to the one before them, if all are of one flow with the
/// same congestion mark and the protocol can; returns how many. (HOST-5)
fn merge<T: Protocol>(
    protocol: &T,
    held: &mut Arrived<T::Packet>,
    next: &Arrived<T::Packet>,
    count: u32,
) -> u32 {
    let flow = |frame: &Arrived<T::Packet>| (frame.payload.conversation, frame.payload.generation, frame.ecn);
    let is_one_flow = flow(held) == flow(next);
    if is_one_flow { protocol.merge(&mut held.payload.packet, &next.payload.packet, count) } else { 0 }
}

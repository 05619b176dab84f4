//! Packets that have reached a host, on their way up through the core of their conversation.
//!
//! A host that takes no time needs no core. A host with one conversation needs one core, at which packets wait in the
//! order of their arrival. On another host each conversation has a core, and the earliest packet goes first; of equal
//! ones that of the first conversation.
//!
//! Where frames overtake each other on their way, a frame comes to its core when it has arrived, and no sooner.

#[cfg(feature = "fast")]
mod fast;

use super::overtaking::Overtaking;
use super::{Addressed, Deadlines};
use crate::kernel::Trains;
use crate::net::{Frame, Payload};
use crate::world::Protocol;
use crate::world::Reception;
use crate::world::host::Core;
use lossylink_core::rng::{Stream, Streams};
use lossylink_core::time::Instant;

type Arrived<P> = Frame<Addressed<P>>;

/// The packets that wait at one host.
#[derive(Clone, Debug)]
pub(super) struct Arrivals<P: Payload> {
    /// The time at which the transport gets the next packet, or at which a frame under way arrives.
    due: Instant,
    /// Frames that have not arrived yet, if frames may overtake each other.
    under_way: Option<Box<Overtaking<Arrived<P>>>>,
    cores: Cores<P>,
    /// Whether the host has one core, and no latency but its wake-up.
    is_simple: bool,
    reception: Reception,
    draws: Stream,
}

/// The cores of a host.
#[derive(Clone, Debug)]
enum Cores<P: Payload> {
    /// A host that takes no time: packets are handled the instant they arrive.
    None(Trains<Arrived<P>>),
    /// The core of the only conversation.
    One(Core<Arrived<P>>),
    /// A core for each conversation.
    Several(Box<Several<P>>),
}

/// The cores of a host with several conversations.
#[derive(Clone, Debug)]
struct Several<P: Payload> {
    cores: Vec<Core<Arrived<P>>>,
    deadlines: Deadlines,
}

impl<P: Payload> Arrivals<P> {
    /// Returns a host that takes no time.
    pub(super) fn new() -> Self {
        Self {
            due: Instant::NEVER,
            under_way: None,
            cores: Cores::None(Trains::new()),
            is_simple: false,
            reception: Reception::default(),
            draws: Streams::new(0).stream("no draws"),
        }
    }

    /// Sets how the host receives from now on, with `count` conversations. No packet may wait.
    pub(super) fn set_reception(&mut self, reception: &Reception, count: usize) {
        debug_assert!(self.poll_timeout().is_never(), "packets wait for a host that changes");
        let (draws, reception) = (self.draws.clone(), reception.clone());
        let cores =
            if reception.is_free() { Cores::None(Trains::new()) } else { Cores::One(Core::default()) };
        let (is_simple, under_way) = (reception.only_wakes(), self.under_way.take());
        *self = Self { due: Instant::NEVER, under_way, cores, is_simple, reception, draws };
        self.grow(count);
    }

    /// Lets frames overtake each other on their way to the host from now on.
    pub(super) fn let_overtake(&mut self) {
        self.under_way = Some(Box::default());
    }

    /// Draws latencies from `draws` from now on.
    pub(super) fn set_draws(&mut self, draws: Stream) {
        self.draws = draws;
    }

    /// Makes room for `count` conversations.
    pub(super) fn grow(&mut self, count: usize) {
        if let Cores::One(core) = &mut self.cores
            && count > 1
        {
            self.is_simple = false;
            self.cores = Cores::Several(Box::new(Several::beside(std::mem::take(core))));
        }
        if let Cores::Several(several) = &mut self.cores {
            several.grow(count);
        }
    }

    /// Begins a new connection in a conversation.
    pub(super) fn renew(&mut self, index: usize) {
        match &mut self.cores {
            Cores::None(_) => {}
            Cores::One(core) => core.renew(),
            Cores::Several(several) => several.cores[index].renew(),
        }
    }

    /// Returns when the transport gets the next packet, or when [`Arrivals::let_in`] has a frame to let in.
    #[inline]
    pub(super) fn poll_timeout(&self) -> Instant {
        self.due
    }

    /// Hands the next packet, whenever it is due, to `take` and removes the packet.
    #[inline]
    pub(super) fn take<R>(&mut self, take: impl FnOnce(Instant, &Arrived<P>) -> R) -> Option<R> {
        match &mut self.cores {
            Cores::None(trains) => {
                let (train, frame) = trains.front()?;
                let taken = take(train.first, frame);
                self.skip(1);
                Some(taken)
            }
            Cores::One(core) => {
                let taken = core.take(take);
                self.due = core.poll_timeout();
                self.look_at_way();
                taken
            }
            Cores::Several(several) => {
                let taken = several.next().take(take);
                self.due = several.update(several.deadlines.owner());
                self.look_at_way();
                taken
            }
        }
    }

    /// Lets in the frame that arrives next, if no packet is due before; false if there is no such frame.
    #[inline]
    pub(super) fn let_in(&mut self, protocol: &impl Protocol<Packet = P>) -> bool {
        self.under_way.is_some() && self.let_in_next(protocol)
    }

    #[inline(never)]
    fn let_in_next(&mut self, protocol: &impl Protocol<Packet = P>) -> bool {
        let Some(way) = self.under_way.as_mut().filter(|way| way.poll_timeout() <= self.due) else {
            return false;
        };
        let Some((at, frame)) = way.pop() else { return false };
        self.wait(protocol, at, &frame);
        true
    }

    /// Moves the due time forward to the arrival of the next frame under way, if that is earlier.
    #[inline]
    fn look_at_way(&mut self) {
        if let Some(way) = &self.under_way {
            self.due = self.due.min(way.poll_timeout());
        }
    }

    /// Removes the next `count` packets of the train that comes next.
    #[inline]
    pub(super) fn skip(&mut self, count: u32) {
        if let Cores::None(trains) = &mut self.cores {
            trains.skip(count);
            self.due = trains.poll_timeout();
            self.look_at_way();
        }
    }

    /// Takes in a packet that arrives at the host. Arrivals come in order, unless packets may overtake each other.
    #[inline]
    pub(super) fn arrive(&mut self, protocol: &impl Protocol<Packet = P>, at: Instant, frame: &Arrived<P>) {
        if let Some(way) = &mut self.under_way {
            way.push(at, *frame);
            self.due = self.due.min(at);
            return;
        }
        match &mut self.cores {
            Cores::One(core) if self.is_simple => {
                core.arrive_simply(at, frame, &self.reception, &mut self.draws);
                self.due = core.poll_timeout();
            }
            _ => self.wait(protocol, at, frame),
        }
    }

    /// Takes in a packet at a host that does not just wake up, or has several cores or none.
    #[inline(never)]
    fn wait(&mut self, protocol: &impl Protocol<Packet = P>, at: Instant, frame: &Arrived<P>) {
        let index = frame.payload.conversation as usize;
        let core = match &mut self.cores {
            Cores::None(trains) => {
                trains.push(at, frame);
                self.due = trains.poll_timeout();
                return self.look_at_way();
            }
            Cores::One(core) => core,
            Cores::Several(several) => &mut several.cores[index],
        };
        let merge = |held: &mut Arrived<P>, next: &Arrived<P>| merge(protocol, held, next, 1) == 1;
        core.arrive(at, frame, &self.reception, &mut self.draws, merge);
        self.due = core.poll_timeout();
        self.update(index);
        self.look_at_way();
    }

    /// Notes that another packet is next at the core of a conversation.
    #[inline]
    fn update(&mut self, index: usize) {
        if let Cores::Several(several) = &mut self.cores {
            self.due = several.update(index);
        }
    }
}

impl<P: Payload> Several<P> {
    fn beside(first: Core<Arrived<P>>) -> Self {
        let mut others = Self { cores: vec![first], deadlines: Deadlines::new(1) };
        others.update(0);
        others
    }

    fn grow(&mut self, count: usize) {
        self.cores.resize_with(count.max(self.cores.len()), Core::default);
        self.deadlines.grow(count);
    }

    /// Returns the core of the earliest packet.
    fn next(&mut self) -> &mut Core<Arrived<P>> {
        &mut self.cores[self.deadlines.owner()]
    }

    /// Notes that another packet is next at a core. Returns when the earliest packet of all cores is due.
    fn update(&mut self, index: usize) -> Instant {
        self.deadlines.set(index, self.cores[index].poll_timeout());
        self.deadlines.next()
    }
}

/// Adds up to `count` packets, `next` and the packets that follow it, to the packet before them, if all are of one flow
/// with equal congestion marks and the protocol can merge them. Returns how many were added. (HOST-5)
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

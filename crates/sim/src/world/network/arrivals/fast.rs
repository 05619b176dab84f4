//! Trains that arrive at a host, and what a host is sure of.

use super::{Arrivals, Arrived, Cores, merge};
use crate::kernel::{Member, Train};
use crate::net::Payload;
use crate::world::Protocol;

impl<P: Payload> Arrivals<P> {
    /// Whether a packet waits than which each that comes is handled no sooner: so it is on the only core.
    #[inline]
    pub(in crate::world::network) const fn holds_others(&self) -> bool {
        matches!(&self.cores, Cores::One(core) if !core.poll_timeout().is_never())
    }

    /// From now on packets are counted, even where only the wake-up matters.
    pub(in crate::world::network) const fn count_packets(&mut self) {
        self.is_simple = false;
    }

    /// How many packets have come to the only core since the last of them that found it idle; `None` if there is none.
    pub(in crate::world::network) const fn packets(&self) -> Option<u32> {
        match &self.cores {
            Cores::One(core) => Some(core.packets()),
            _ => None,
        }
    }

    /// The packets that come next, if they are a train of several and no core handles them, and the first of them.
    #[inline]
    pub(in crate::world::network) fn train(&self) -> Option<(Train, &Arrived<P>)> {
        match &self.cores {
            Cores::None(trains) => trains.front().filter(|(train, _)| train.count > 1),
            _ => None,
        }
    }

    /// A train of packets arrives at the host, `frame` and those that follow it.
    #[inline]
    pub(in crate::world::network) fn arrive_in_train<T: Protocol<Packet = P>>(
        &mut self,
        protocol: &T,
        train: Train,
        frame: &mut Arrived<P>,
    ) {
        debug_assert!(self.under_way.is_none(), "frames that overtake each other are no train");
        let index = frame.payload.conversation as usize;
        let core = match &mut self.cores {
            Cores::None(trains) => {
                trains.push_train(train, frame);
                self.due = trains.poll_timeout();
                return;
            }
            Cores::One(core) => core,
            Cores::Several(several) => &mut several.cores[index],
        };
        let follow = |frame: &mut Arrived<P>, count| frame.follow(count, 1);
        let merge = |held: &mut Arrived<P>, next: &Arrived<P>, count| merge(protocol, held, next, count);
        core.arrive_in_train(train, frame, &self.reception, &mut self.draws, merge, follow);
        self.due = core.poll_timeout();
        self.update(index);
    }
}

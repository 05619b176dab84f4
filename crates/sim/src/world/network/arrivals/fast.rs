//! Trains of packets that arrive at a host, and answers about the packets that wait there.

use super::{Arrivals, Arrived, Cores, merge};
use crate::kernel::{Member, Train};
use crate::net::Payload;
use crate::world::Protocol;

impl<P: Payload> Arrivals<P> {
    /// Whether a packet waits on the only core, so that no later packet is handled sooner.
    #[inline]
    pub(in crate::world::network) const fn holds_others(&self) -> bool {
        matches!(&self.cores, Cores::One(core) if !core.poll_timeout().is_never())
    }

    /// Counts packets from now on, even where only the wake-up matters.
    pub(in crate::world::network) const fn count_packets(&mut self) {
        self.is_simple = false;
    }

    /// Returns how many packets have come from the last packet on that found the only core idle; `None` without an
    /// only core.
    pub(in crate::world::network) const fn packets(&self) -> Option<u32> {
        match &self.cores {
            Cores::One(core) => Some(core.packets()),
            _ => None,
        }
    }

    /// Returns the train of packets that come next, and its first packet, if the train has several packets and no core
    /// handles them.
    #[inline]
    pub(in crate::world::network) fn train(&self) -> Option<(Train, &Arrived<P>)> {
        match &self.cores {
            Cores::None(trains) => trains.front().filter(|(train, _)| train.count > 1),
            _ => None,
        }
    }

    /// Takes in a train of packets at the host: `frame` and the frames that follow it.
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

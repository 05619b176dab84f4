//! Packets leave their hosts in trains, and cross a link that decides at once in the same turn. Equals
//! [`Network::flush_near`] and [`Network::flush_far`].

use super::way::Way;
use crate::fast::{Path as Fast, takes};
use crate::kernel::Train;
use crate::net::ProtectedLink;
use crate::world::network::sending::address;
use crate::world::network::{Addressed, Network};
use crate::world::{Endpoint, Protocol};
use lossylink_core::time::Instant;

impl<T: Protocol, L: ProtectedLink<Addressed<T::Packet>>> Network<T, L> {
    /// Sends the packets that the near end of a conversation has to send, and moves the clock on to the departure of the last
    /// packet. Returns false and does nothing where the network goes event by event.
    #[inline]
    pub(in crate::world::network) fn flush_near_in_trains(&mut self, index: usize) -> bool {
        if self.goes_by_steps() {
            return false;
        }
        let Self { protocol, path, link, at_link, at_far, at_near, near_timers, near_lines, fast, .. } = self;
        let (latency, now) = (&mut self.latency, &mut self.now);
        let (near, owner) = (&mut self.conversations[index].near, (index as u32, self.generations[index]));
        let is_alone = self.generations.len() == 1;
        // The next event of another conversation limits how far packets go ahead.
        let others = (fast.ahead.is_some() && !is_alone).then(|| near_timers.next_of_others(index));
        while let Some((packet, is_formed)) =
            near_lines.ask(index, *now, |is_free| near.poll_at_line(*now, is_free))
        {
            let occupied = near_lines.serialisation(|| protocol.frame(packet).octets);
            let answer = at_near.poll_timeout();
            let horizon = match &fast.ahead {
                Some(ahead) => {
                    let next = others.map_or(Instant::NEVER, |at| at.min(near_lines.next_of_others(index)));
                    ahead.horizon(answer.min(next))
                }
                None if is_alone => answer.just_before().min(fast.near_turn_ends),
                None => Instant::ZERO,
            };
            let train = if takes(Fast::Trains) {
                near.repeat(&packet, *now, occupied, horizon)
            } else {
                Train::of_one(*now)
            };
            let looks = (fast.ahead.as_mut(), latency.as_mut());
            let mut way = Way::forward(protocol, path, link, at_link, at_far, looks);
            protocol.cut(packet, &mut |packet| {
                way.send(&train, &mut address(protocol, owner, packet));
            });
            *now = train.last();
            near_lines.note_sent(index, *now, occupied, is_formed);
        }
        near_timers.set(index, near.poll_timeout());
        true
    }

    /// Sends a packet by itself from the near end whose timer is due, where frames go ahead of the link. Returns false and
    /// does nothing if the timer might cause more than one packet.
    #[inline]
    pub(in crate::world::network) fn send_paced(&mut self, index: usize) -> bool {
        let Self { protocol, path, link, at_link, at_far, at_near, near_timers, fast, latency, now, .. } =
            self;
        let (near, owner) = (&mut self.conversations[index].near, (index as u32, self.generations[index]));
        let Some(ahead) = &mut fast.ahead else { return false };
        let horizon = ahead.horizon(at_near.poll_timeout().min(near_timers.next_of_others(index)));
        let Some(packet) = near.send_paced(*now, horizon) else { return false };
        let looks = (Some(ahead), latency.as_mut());
        let mut way = Way::forward(protocol, path, link, at_link, at_far, looks);
        way.send(&Train::of_one(*now), &mut address(protocol, owner, packet));
        near_timers.set(index, near.poll_timeout());
        true
    }

    /// Sends the packets that the far end of a conversation has to send. Returns false and does nothing where frames do not
    /// go ahead of the link.
    #[inline]
    pub(in crate::world::network) fn flush_far_ahead(&mut self, index: usize) -> bool {
        let Self { protocol, path, link, back_at_link, at_near, far_timers, far_lines, fast, now, .. } = self;
        let (far, owner) = (&mut self.conversations[index].far, (index as u32, self.generations[index]));
        let Some(ahead) = &mut fast.ahead else { return false };
        while let Some((packet, is_formed)) =
            far_lines.ask(index, *now, |is_free| far.poll_at_line(*now, is_free))
        {
            let mut frame = address(protocol, owner, packet);
            far_lines.note_sent(index, *now, far_lines.serialisation(|| frame.octets), is_formed);
            let mut way = Way::backward(protocol, path, link, back_at_link, at_near, Some(ahead));
            way.send(&Train::of_one(*now), &mut frame);
        }
        far_timers.set(index, far.poll_timeout());
        true
    }
}

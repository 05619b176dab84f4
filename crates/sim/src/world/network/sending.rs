//! Packets that the two ends of a conversation have to send leave their hosts.

use super::{Addressed, Network};
use crate::kernel::Train;
use crate::net::tap::{Content, LegName};
use crate::net::{Frame, ProtectedLink, Sight, Tap};
use crate::world::path::Leg;
use crate::world::{Endpoint, Protocol};
use lossylink_core::time::{Duration, Instant};

impl<T: Protocol, L: ProtectedLink<Addressed<T::Packet>>> Network<T, L> {
    /// Sends the packets that the near end of a conversation has to send now.
    #[inline]
    pub(super) fn flush_near(&mut self, index: usize) {
        if self.flush_near_in_trains(index) {
            return;
        }
        let now = self.now;
        let Self { protocol, path, at_link, near_timers, near_lines, latency, tap, .. } = self;
        let (near, owner) = (&mut self.conversations[index].near, (index as u32, self.generations[index]));
        while let Some((packet, is_formed)) =
            near_lines.ask(index, now, |is_free| near.poll_at_line(now, is_free))
        {
            let takes = near_lines.serialisation(|| protocol.frame(packet).octets);
            protocol.cut(packet, &mut |packet| {
                let mut frame = address(protocol, owner, packet);
                if let Some(at) = cross(tap, LegName::ToLink, &mut path.to_link, (now, now), &frame) {
                    if latency.is_some() {
                        frame.payload.enter(Train::of_one(at));
                    }
                    at_link.push(at, &frame);
                }
            });
            near_lines.note_sent(index, now, takes, is_formed);
        }
        near_timers.set(index, near.poll_timeout());
    }

    /// Sends the packets that the far end of a conversation has to send now.
    #[inline]
    pub(super) fn flush_far(&mut self, index: usize) {
        if self.flush_far_ahead(index) {
            return;
        }
        let now = self.now;
        let Self { protocol, path, back_at_link, far_timers, far_lines, tap, .. } = self;
        let (far, owner) = (&mut self.conversations[index].far, (index as u32, self.generations[index]));
        while let Some((packet, is_formed)) =
            far_lines.ask(index, now, |is_free| far.poll_at_line(now, is_free))
        {
            let frame = address(protocol, owner, packet);
            far_lines.note_sent(index, now, far_lines.serialisation(|| frame.octets), is_formed);
            if let Some(at) = cross(tap, LegName::BackToLink, &mut path.back_to_link, (now, now), &frame) {
                back_at_link.push(at, &frame);
            }
        }
        far_timers.set(index, far.poll_timeout());
    }
}

/// Sends a frame across a leg that it enters at `entry`. An open tap sees the frame.
#[inline]
pub(super) fn cross<P: Copy>(
    tap: &Tap<P>,
    name: LegName,
    leg: &mut Leg,
    (now, entry): (Instant, Instant),
    frame: &Frame<P>,
) -> Option<Instant> {
    if tap.is_open() { cross_watched(tap, name, leg, (now, entry), frame) } else { leg.cross(entry, frame) }
}

/// Sends a frame across a leg before the eyes of the tap. Not inlined, out of the way of the frames
/// that nobody looks at.
#[cold]
#[inline(never)]
fn cross_watched<P: Copy>(
    tap: &Tap<P>,
    name: LegName,
    leg: &mut Leg,
    (now, entry): (Instant, Instant),
    frame: &Frame<P>,
) -> Option<Instant> {
    let Some((watch, hop)) = tap.on_leg(name) else { return leg.cross(entry, frame) };
    leg.cross_watched(entry, frame, hop, |at| {
        let content = Content::Bare(*frame);
        watch.see_on_hop(now, Sight { at, direction: name.direction(), arrives: true, content });
    })
}

/// Returns the frame that carries a packet of `owner`: the index of a conversation, and its
/// generation.
#[inline]
pub(super) fn address<T: Protocol>(
    protocol: &T,
    (conversation, generation): (u32, u32),
    packet: T::Packet,
) -> Frame<Addressed<T::Packet>> {
    let frame = protocol.frame(packet);
    let payload = Addressed {
        conversation,
        generation,
        packet: frame.payload,
        entered_at: Instant::ZERO,
        pace: Duration::ZERO,
    };
    Frame { octets: frame.octets, ecn: frame.ecn, payload }
}

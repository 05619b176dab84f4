//! What the two ends of a conversation have to send leaves: step by step, or ahead of the link's turn.

use super::way::Way;
use super::{Addressed, Network};
use crate::kernel::Train;
use crate::net::tap::{Content, LegName};
use crate::net::{Frame, ProtectedLink, Sight, Tap};
use crate::world::path::Leg;
use crate::world::{Endpoint, Protocol};
use lossylink_core::time::{Duration, Instant};

impl<T: Protocol, L: ProtectedLink<Addressed<T::Packet>>> Network<T, L> {
    /// Sends what the near end of a conversation has to send. Where frames go ahead, the present moves on to when the
    /// last of it leaves.
    #[inline]
    pub(super) fn flush_near(&mut self, index: usize) {
        let goes_by_steps = self.goes_by_steps();
        let Self {
            protocol,
            path,
            link,
            at_link,
            at_far,
            at_near,
            near_timers,
            near_lines,
            ahead,
            latency,
            tap,
            now,
            ..
        } = self;
        let (near, owner) = (&mut self.conversations[index].near, (index as u32, self.generations[index]));
        let is_alone = self.generations.len() == 1;
        let turn_ends = self.near_turn_ends;
        // What the others do is the horizon of what goes ahead.
        let others = (ahead.is_some() && !is_alone).then(|| near_timers.next_of_others(index));
        while let Some((packet, is_formed)) =
            near_lines.ask(index, *now, |is_free| near.poll_at_line(*now, is_free))
        {
            let takes = near_lines.serialisation(|| protocol.frame(packet).octets);
            let Some(ahead) = ahead else {
                let train = if goes_by_steps {
                    Train::of_one(*now)
                } else {
                    let answer = at_near.poll_timeout().just_before();
                    let horizon = if is_alone { answer.min(turn_ends) } else { Instant::ZERO };
                    near.repeat(&packet, *now, takes, horizon)
                };
                protocol.cut(packet, &mut |packet| {
                    let mut frame = address(protocol, owner, packet);
                    if train.count > 1 {
                        Way::forward(protocol, path, link, at_link, at_far, (None, latency.as_mut()))
                            .send(&train, &mut frame);
                    } else if let Some(at) =
                        cross(tap, LegName::ToLink, &mut path.to_link, (*now, *now), &frame)
                    {
                        if latency.is_some() {
                            frame.payload.enter(Train::of_one(at));
                        }
                        at_link.push(at, &frame);
                    }
                });
                *now = train.last();
                near_lines.note_sent(index, *now, takes, is_formed);
                continue;
            };
            let next = others.map_or(Instant::NEVER, |at| at.min(near_lines.next_of_others(index)));
            let horizon = ahead.horizon(at_near.poll_timeout().min(next));
            let train = near.repeat(&packet, *now, takes, horizon);
            let looks = (Some(ahead), latency.as_mut());
            let mut way = Way::forward(protocol, path, link, at_link, at_far, looks);
            protocol.cut(packet, &mut |packet| {
                way.send(&train, &mut address(protocol, owner, packet));
            });
            *now = train.last();
            near_lines.note_sent(index, *now, takes, is_formed);
        }
        near_timers.set(index, near.poll_timeout());
    }

    /// Where frames go ahead, the near end whose timer is due sends a packet by itself; false, and nothing has happened, if
    /// more might come of the timer.
    #[inline]
    pub(super) fn send_paced(&mut self, index: usize) -> bool {
        let Self { protocol, path, link, at_link, at_far, at_near, near_timers, ahead, latency, now, .. } =
            self;
        let (near, owner) = (&mut self.conversations[index].near, (index as u32, self.generations[index]));
        let Some(ahead) = ahead else { return false };
        let horizon = ahead.horizon(at_near.poll_timeout().min(near_timers.next_of_others(index)));
        let Some(packet) = near.send_paced(*now, horizon) else { return false };
        let looks = (Some(ahead), latency.as_mut());
        let mut way = Way::forward(protocol, path, link, at_link, at_far, looks);
        way.send(&Train::of_one(*now), &mut address(protocol, owner, packet));
        near_timers.set(index, near.poll_timeout());
        true
    }

    /// Sends what the far end of a conversation has to send.
    #[inline]
    pub(super) fn flush_far(&mut self, index: usize) {
        let Self { protocol, path, link, back_at_link, at_near, far_lines, ahead, tap, now, .. } = self;
        let (far, owner) = (&mut self.conversations[index].far, (index as u32, self.generations[index]));
        while let Some((packet, is_formed)) =
            far_lines.ask(index, *now, |is_free| far.poll_at_line(*now, is_free))
        {
            let mut frame = address(protocol, owner, packet);
            far_lines.note_sent(index, *now, far_lines.serialisation(|| frame.octets), is_formed);
            let Some(ahead) = ahead else {
                let leg = &mut path.back_to_link;
                if let Some(at) = cross(tap, LegName::BackToLink, leg, (*now, *now), &frame) {
                    back_at_link.push(at, &frame);
                }
                continue;
            };
            let mut way = Way::backward(protocol, path, link, back_at_link, at_near, Some(ahead));
            way.send(&Train::of_one(*now), &mut frame);
        }
        self.far_timers.set(index, far.poll_timeout());
    }
}

/// Sends a frame that enters at `entry` across a leg, before the eyes of the tap if it is there.
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

/// Out of the way of the frames that nobody looks at.
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

/// The frame that carries a packet of `owner`: the index of a conversation, and its generation.
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

//! The recirculation loop in which a switch keeps copies of sent frames (LG-5, LG-6).
//!
//! ```text
//!  sent --- first_check ---> look --[queue]== port ==-- way_round --> look ...
//! ```
//!
//! A copy is kept where it was put when its frame was sent. What goes round is its number. A look at a copy that changes
//! nothing is no event: looks are caught up with in one loop, in their order and at their times, when something could
//! have changed.

use super::port_queue::{Counts, PortQueue};
use super::timing::Timing;
use super::tx_buffer::Copied;
use crate::kernel::{Member, Pipe, Train, Trains};
use crate::net::{Cells, Payload};
use lossylink_core::engine::linkguardian::{CopyFate, Sender};
use lossylink_core::time::{Duration, Instant};

/// Trains of copies that are kept before those that nobody needs any more are looked for.
const INITIAL_TRAINS: usize = 16;

/// So many copies of one train are too many to let the first of them lie.
const LONGEST_TRAIN: u32 = 1 << 16;

/// A copy in the loop: how many frames had been numbered before it, and its octets on the wire.
#[derive(Clone, Copy, Debug, Default)]
struct Ticket {
    number: u32,
    octets: u32,
}

impl Ticket {
    const fn of<P>(copy: &Copied<P>) -> Self {
        Self { number: copy.number, octets: copy.frame.octets }
    }
}

impl Member for Ticket {
    #[inline]
    fn distance(&self, next: &Self, count: u32) -> Option<u32> {
        let follows = next.number == self.number.wrapping_add(count) && next.octets == self.octets;
        follows.then_some(count)
    }

    #[inline]
    fn follow(&mut self, count: u32, step: u32) {
        self.number = self.number.wrapping_add(count * step);
    }
}

/// A recirculation port: a queue at its own rate and a fixed way round.
#[derive(Clone, Debug)]
pub(super) struct TxLoop<P: Payload> {
    first_check: Duration,
    queue: PortQueue,
    way_round: Duration,
    /// The copies in the loop, in the order of their numbers, and some before them.
    copies: Trains<Copied<P>>,
    /// With so many trains of copies, those that nobody needs any more are let go.
    most_trains: usize,
    /// Copies that wait for their first look.
    fresh: Trains<Ticket>,
    /// The others in the loop, by the time of the next look.
    rounds: Pipe<Ticket>,
}

impl<P: Payload> TxLoop<P> {
    pub(super) fn new(timing: &Timing, cells: Cells, limit_bytes: u64) -> Self {
        Self {
            first_check: timing.copy_first_check,
            queue: PortQueue::new(timing, cells, limit_bytes, Counts::UntilItLeaves),
            way_round: timing.tx_loop_fixed,
            copies: Trains::new(),
            most_trains: INITIAL_TRAINS,
            fresh: Trains::new(),
            rounds: Pipe::new(),
        }
    }

    /// A frame left at `now`, the one numbered after the last: keeps its copy.
    #[inline]
    pub(super) fn insert(&mut self, now: Instant, copy: &Copied<P>) {
        if self.copies.trains() >= self.most_trains {
            self.let_go();
        }
        let look = now + self.first_check;
        self.copies.push_apart(look, *copy);
        self.fresh.push_apart(look, Ticket::of(copy));
    }

    /// The same of a train of frames, `copy` first, which left when it says.
    #[inline]
    pub(super) fn insert_train(&mut self, left: Train, copy: &Copied<P>) {
        let longest = self.copies.front().map_or(0, |(train, _)| train.count);
        if self.copies.trains() >= self.most_trains || longest >= LONGEST_TRAIN {
            self.let_go();
        }
        let looks = left.from(left.first + self.first_check);
        self.copies.push_if_many(looks, copy);
        self.fresh.push_if_many(Train { step: 1, ..looks }, &Ticket::of(copy));
    }

    /// Lets go of copies that are not in the loop any more, before the first that is.
    #[cold]
    fn let_go(&mut self) {
        let fresh = self.fresh.front().map(|(_, ticket)| ticket.number);
        let in_loop = self.rounds.iter().map(|ticket| ticket.number).chain(fresh);
        let oldest = in_loop.reduce(|one, other| if is_outstanding(one, other) { other } else { one });
        let before = oldest.map_or(self.copies.trains(), |oldest| {
            // That in which the oldest is has its first no later.
            self.copies.partition_point(|copy| is_outstanding(oldest, copy.number)).saturating_sub(1)
        });
        self.copies.skip_trains(before);
        if let (Some(oldest), Some((_, first))) = (oldest, self.copies.front())
            && oldest != first.number
        {
            self.copies.skip(oldest.wrapping_sub(first.number));
        }
        self.most_trains = INITIAL_TRAINS.max(2 * self.copies.trains());
    }

    /// The copy with this number, which is in the loop.
    #[cold]
    fn copy(&self, number: u32) -> Copied<P> {
        let place = self.copies.partition_point(|copy| is_outstanding(number, copy.number));
        let train = place.checked_sub(1).and_then(|place| self.copies.get(place));
        let (train, mut copy) = train.copied().unwrap_or_default();
        if number != copy.number {
            copy.follow(number.wrapping_sub(copy.number), train.step);
        }
        copy
    }

    #[inline]
    pub(super) fn next_look(&self) -> Instant {
        self.fresh.poll_timeout().min(self.rounds.poll_timeout())
    }

    /// Looks at the copies whose turn came before `until`, up to the first that was lost: returns it and when it was found.
    ///
    /// No acknowledgement comes in between: the frames that are outstanding now were so at every look. The others
    /// just leave the loop while nothing is asked for.
    #[inline]
    pub(super) fn find_lost(&mut self, until: Instant, engine: &mut Sender) -> Option<(Instant, Copied<P>)> {
        let (oldest, is_asked) = (engine.oldest_outstanding(), engine.holes() > 0);
        if !is_asked {
            self.look_at_all(until.just_before(), oldest, &[]);
            return None;
        }
        loop {
            // On a tie the copy that has been round before goes first.
            let round = self.rounds.poll_timeout();
            let look = self.next_look();
            if look >= until {
                return None;
            }
            let ticket = if look < round { self.fresh.pop() } else { self.rounds.pop() };
            let (_, ticket) = ticket?;
            if is_outstanding(ticket.number, oldest) {
                self.send_round(look, ticket);
            } else if is_lost(ticket.number, engine) {
                return Some((look, self.copy(ticket.number)));
            }
        }
    }

    /// Looks at the copies whose turn came before the last of the changes, none of which asks for a copy: those from number
    /// `oldest` on are outstanding, and from the time of each change on those from its number on.
    #[inline]
    pub(super) fn free(&mut self, oldest: u32, changes: &[(Instant, u32)]) {
        if let Some((until, _)) = changes.last() {
            self.look_at_all(until.just_before(), oldest, changes);
        }
    }

    /// Looks at the copies whose turn comes by `last`: those from number `oldest` on go round, the others leave the loop. From the
    /// time of each change on, its number is the oldest.
    #[inline]
    fn look_at_all(&mut self, last: Instant, mut oldest: u32, changes: &[(Instant, u32)]) {
        let Self { rounds, queue, way_round, fresh, .. } = self;
        let mut changes = changes.iter().copied();
        let mut change = changes.next().unwrap_or((Instant::NEVER, 0));
        rounds.turn(fresh, last, |look, ticket| {
            while look >= change.0 {
                oldest = change.1;
                change = changes.next().unwrap_or((Instant::NEVER, 0));
            }
            let goes_round = is_outstanding(ticket.number, oldest);
            let left = if goes_round { queue.enter(look, ticket.octets) } else { None };
            left.map(|left| left + *way_round)
        });
    }

    #[inline]
    fn send_round(&mut self, now: Instant, ticket: Ticket) {
        if let Some(left) = self.queue.enter(now, ticket.octets) {
            self.rounds.push(left + self.way_round, ticket);
        }
    }

    /// Bytes in the queue at `now`, after [`TxLoop::find_lost`].
    pub(super) fn depth_bytes(&mut self, now: Instant) -> u64 {
        self.queue.bytes_at(now)
    }

    /// How many copies are kept, after [`TxLoop::find_lost`].
    pub(super) fn len(&self) -> usize {
        self.fresh.len() + self.rounds.len()
    }

    pub(super) const fn high_water_bytes(&self) -> u64 {
        self.queue.high_water_bytes()
    }

    /// Copies that were not kept because the queue was full (LG-34).
    pub(super) const fn dropped(&self) -> u64 {
        self.queue.dropped()
    }

    /// Frees every copy (LG-30).
    pub(super) fn clear(&mut self) {
        self.copies.clear();
        self.fresh.clear();
        self.rounds.clear();
        self.queue.clear();
    }
}

/// Whether the frame of this number is outstanding, `oldest` being the first that is.
#[inline]
const fn is_outstanding(number: u32, oldest: u32) -> bool {
    number.wrapping_sub(oldest) as i32 >= 0
}

/// Whether an acknowledged copy is asked for: then it leaves to be sent again.
#[cold]
fn is_lost(number: u32, engine: &mut Sender) -> bool {
    !engine.has_abandoned(number) && engine.inspect_copy(engine.position_of(number)) == CopyFate::Retransmit
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::switch_profile;
    use crate::net::{Ecn, Frame, LineRate};
    use lossylink_core::engine::linkguardian::{Notification, SenderConfig};
    use lossylink_core::units::BitRate;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// The next look at a copy: when, whether behind those that have been round, in turn; its number and octets.
    type Look = (Instant, bool, usize, u32, u32);

    /// The loop as a list, looked at one by one.
    struct Model {
        first_check: Duration,
        way_round: Duration,
        queue: PortQueue,
        looks: BTreeSet<Look>,
        entries: usize,
        copies: Vec<Copied<u64>>,
    }

    impl Model {
        fn insert(&mut self, now: Instant, copy: Copied<u64>) {
            self.entries += 1;
            let look = (now + self.first_check, true, self.entries, copy.number, copy.frame.octets);
            self.looks.insert(look);
            self.copies.push(copy);
        }

        fn next_look(&self) -> Instant {
            self.looks.first().map_or(Instant::NEVER, |&(look, ..)| look)
        }

        /// Looks at all copies whose turn came before `until`: those that were lost, and when they were found.
        fn find_lost(&mut self, until: Instant, engine: &mut Sender) -> Vec<(Instant, u32)> {
            let mut lost = Vec::new();
            while self.next_look() < until {
                let Some((look, _, _, number, octets)) = self.looks.pop_first() else { break };
                if is_outstanding(number, engine.oldest_outstanding()) {
                    if let Some(left) = self.queue.enter(look, octets) {
                        self.entries += 1;
                        self.looks.insert((left + self.way_round, false, self.entries, number, octets));
                    }
                } else if is_lost(number, engine) {
                    lost.push((look, number));
                }
            }
            lost
        }
    }

    proptest! {
        // LG-34
        #[test]
        fn what_has_left_the_loop_is_counted_when_it_matters(
            copies in prop::collection::vec((0u64..200, 60u32..1515, any::<bool>()), 1..300),
        ) {
            let rate = LineRate::new(BitRate::from_gbps(100));
            let timing = Timing::new(&switch_profile("tofino1"), rate, Duration::ZERO);
            let mut buffer = TxLoop::<u64>::new(&timing, Cells::new(80), 12_000);
            let (mut queue, mut busy_until) = (Vec::new(), Instant::ZERO);
            let (mut now, mut most, mut dropped) = (Instant::ZERO, 0, 0);
            for (wait, bytes, asks) in copies {
                now += Duration::from_ns(wait);
                let frame = Frame::of_frame_bytes(bytes, Ecn::NotCapable, 0_u64);
                buffer.send_round(now, Ticket { number: 0, octets: frame.octets });
                queue.retain(|&(start, _)| start > now);
                let space = u64::from(frame.frame_bytes_with_fcs().div_ceil(80) * 80);
                let depth: u64 = queue.iter().map(|&(_, space)| space).sum();
                let start = now.max(busy_until);
                if start > now && depth + space > 12_000 {
                    dropped += 1;
                } else {
                    if start > now {
                        queue.push((start, space));
                        most = most.max(depth + space);
                    }
                    busy_until = start + rate.serialisation(frame.octets);
                }
                prop_assert_eq!((buffer.high_water_bytes(), buffer.dropped()), (most, dropped));
                if asks {
                    prop_assert_eq!(buffer.depth_bytes(now), queue.iter().map(|&(_, space)| space).sum::<u64>());
                }
            }
        }

        // LG-5, LG-6: no acknowledgement comes between two turns.
        #[test]
        fn copies_that_are_looked_at_late_are_looked_at_in_time(
            turns in prop::collection::vec(
                (0u64..150, 87u32..1542, 0u32..100, 0u64..4_000, 0u32..60, 0u8..20, any::<bool>()),
                1..40,
            ),
            limit_bytes in prop_oneof![Just(12_000_u64), Just(8_000_000)],
        ) {
            let rate = LineRate::new(BitRate::from_gbps(100));
            let timing = Timing::new(&switch_profile("tofino1"), rate, Duration::ZERO);
            let mut late = TxLoop::<u64>::new(&timing, Cells::new(80), limit_bytes);
            let mut in_time = Model {
                first_check: timing.copy_first_check,
                way_round: timing.tx_loop_fixed,
                queue: PortQueue::new(&timing, Cells::new(80), limit_bytes, Counts::UntilItLeaves),
                looks: BTreeSet::new(),
                entries: 0,
                copies: Vec::new(),
            };
            let config = SenderConfig { copies: 1, dummies: 0, hole_cap: None };
            let mut engines = [(); 2].map(|()| Sender::new(config));
            let mut now = Instant::ZERO;
            for (apart, octets, count, wait, acked, lost, together) in turns {
                let (number, first) = (engines[0].counters().data as u32, engines[0].next());
                let apart = rate.serialisation(octets) + Duration::from_ns(apart);
                let copy = |step: u32| Copied {
                    position: first.plus(step),
                    number: number.wrapping_add(step),
                    frame: Frame { octets, ..Frame::default() },
                };
                if count > 0 {
                    let train = Train { spacing: apart, count, step: 0, ..Train::of_one(now) };
                    if together { late.insert_train(train, &copy(0)) } else { (0..count).for_each(|step| late.insert(train.nth(step), &copy(step))) }
                }
                (0..count).for_each(|step| in_time.insert(now + apart * u64::from(step), copy(step)));
                now += apart * u64::from(count) + Duration::from_ns(wait);
                for engine in &mut engines {
                    (0..count).for_each(|_| _ = engine.stamp());
                    if lost == 0 && acked > 0 && engine.outstanding() > acked {
                        let leading = engine.leading_ack().plus(acked);
                        engine.handle_notification(&Notification { leading, first_lost: leading, hole_size: 1 });
                    } else {
                        engine.handle_ack(engine.leading_ack().plus(acked.min(engine.outstanding())));
                    }
                }
                let [one, other] = &mut engines;
                let found = std::iter::from_fn(|| late.find_lost(now, one)).map(|(at, copy)| (at, copy.number));
                prop_assert_eq!(found.collect::<Vec<_>>(), in_time.find_lost(now, other));
                prop_assert_eq!((late.len(), late.next_look()), (in_time.looks.len(), in_time.next_look()));
                prop_assert_eq!(late.depth_bytes(now), in_time.queue.bytes_at(now));
                prop_assert_eq!(late.high_water_bytes(), in_time.queue.high_water_bytes());
                prop_assert_eq!(late.dropped(), in_time.queue.dropped());
                prop_assert_eq!(one.holes(), other.holes());
            }
        }
    }
}

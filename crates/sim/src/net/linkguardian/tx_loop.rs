//! The recirculation loop in which a switch keeps copies of sent frames (LG-5, LG-6).
//!
//! ```text
//!  sent --- first_check ---> look --[queue]== port ==-- way_round --> look ...
//! ```
//!
//! A copy lies where it was put when its frame was sent. What goes round is its number. A look at a copy that changes
//! nothing is no event: looks are caught up with in one loop, in their order and at their times, when something could
//! have changed.

use super::port_queue::{Counts, PortQueue};
use super::timing::Timing;
use super::tx_buffer::Copied;
use crate::kernel::{Pipe, Turn};
use crate::net::{Cells, Payload};
use lossylink_core::engine::linkguardian::{CopyFate, Sender};
use lossylink_core::time::{Duration, Instant};

/// Places for copies before there are more of them; a power of two.
const INITIAL_PLACES: usize = 64;

/// A copy in the loop: how many frames had been numbered before it, and its octets on the wire.
#[derive(Clone, Copy, Debug, Default)]
struct Ticket {
    number: u32,
    octets: u32,
}

/// A recirculation port: a queue at its own rate and a fixed way round.
#[derive(Clone, Debug)]
pub(super) struct TxLoop<P: Payload> {
    first_check: Duration,
    queue: PortQueue,
    way_round: Duration,
    /// Copies by their number, each with the time of its first look.
    places: Vec<(Instant, Copied<P>)>,
    /// No copy before this number is in the loop.
    oldest: u32,
    /// The first copy that waits for its first look, and the one after the newest.
    fresh: u32,
    end: u32,
    /// When the first look at a copy is next.
    fresh_due: Instant,
    /// Copies in the loop, by the time of the next look.
    rounds: Pipe<Ticket>,
}

impl<P: Payload> TxLoop<P> {
    pub(super) fn new(timing: &Timing, cells: Cells, limit_bytes: u64) -> Self {
        Self {
            first_check: timing.copy_first_check,
            queue: PortQueue::new(timing, cells, limit_bytes, Counts::UntilItLeaves),
            way_round: timing.tx_loop_fixed,
            places: vec![(Instant::NEVER, Copied::default()); INITIAL_PLACES],
            oldest: 0,
            fresh: 0,
            end: 0,
            fresh_due: Instant::NEVER,
            rounds: Pipe::new(),
        }
    }

    /// A frame left at `now`, the one numbered after the last: keeps its copy.
    #[inline]
    pub(super) fn insert(&mut self, now: Instant, copy: &Copied<P>) {
        if copy.number.wrapping_sub(self.oldest) as usize >= self.places.len() {
            self.make_room(copy.number);
        }
        let look = now + self.first_check;
        if self.fresh == self.end {
            (self.fresh, self.fresh_due) = (copy.number, look);
        }
        self.end = copy.number.wrapping_add(1);
        let place = self.place(copy.number);
        self.places[place] = (look, *copy);
    }

    /// Places for copies of frames that leave one behind another, the first of them numbered `number`: `most` at the most, one at
    /// least, as many as lie behind each other in memory. They are in the loop after [`TxLoop::extend_by`].
    #[inline]
    pub(super) fn room(&mut self, number: u32, most: usize) -> &mut [(Instant, Copied<P>)] {
        if number.wrapping_sub(self.oldest) as usize >= self.places.len() {
            self.make_room(number);
        }
        let free = self.places.len() - number.wrapping_sub(self.oldest) as usize;
        let from = self.place(number);
        let to = self.places.len().min(from + most.min(free));
        &mut self.places[from..to]
    }

    /// The first `count` places of [`TxLoop::room`] have copies, each with when its frame left; hands them on like that.
    #[inline]
    pub(super) fn extend_by(
        &mut self,
        number: u32,
        count: usize,
    ) -> impl ExactSizeIterator<Item = (Instant, &Copied<P>)> {
        let from = self.place(number);
        let first_check = self.first_check;
        if count > 0 {
            if self.fresh == self.end {
                (self.fresh, self.fresh_due) = (number, self.places[from].0 + first_check);
            }
            self.end = number.wrapping_add(count as u32);
        }
        self.places[from..from + count].iter_mut().map(move |(at, copy)| {
            let left = *at;
            *at = left + first_check;
            (left, &*copy)
        })
    }

    #[inline]
    fn place(&self, number: u32) -> usize {
        number as usize & (self.places.len() - 1)
    }

    /// Finds out which is the oldest copy in the loop before the one of `number`; doubles the places if there is still none.
    #[cold]
    fn make_room(&mut self, number: u32) {
        let age = |of: u32| number.wrapping_sub(of);
        let fresh = if self.fresh == self.end { 0 } else { age(self.fresh) };
        let most = self.rounds.iter().map(|ticket| age(ticket.number)).fold(fresh, u32::max);
        self.oldest = number.wrapping_sub(most);
        if most as usize >= self.places.len() {
            let places = vec![(Instant::NEVER, Copied::default()); 2 * self.places.len()];
            let old = std::mem::replace(&mut self.places, places);
            for age in 1..=most {
                let number = number.wrapping_sub(age);
                let place = self.place(number);
                self.places[place] = old[number as usize & (old.len() - 1)];
            }
        }
    }

    #[inline]
    pub(super) fn next_look(&self) -> Instant {
        self.fresh_due.min(self.rounds.poll_timeout())
    }

    /// Looks at the copies whose turn came before `until`, up to the first that was lost: returns it and when it was found.
    ///
    /// No acknowledgement comes in between: the frames that are outstanding now were so at every look. The others
    /// just leave the loop while nothing is asked for.
    #[inline]
    pub(super) fn find_lost(&mut self, until: Instant, engine: &mut Sender) -> Option<(Instant, Copied<P>)> {
        let (oldest, is_asked) = (engine.oldest_outstanding(), engine.holes() > 0);
        if !is_asked {
            self.look_at_all(until, oldest);
            return None;
        }
        loop {
            // On a tie the copy that has been round before goes first.
            let round = self.rounds.poll_timeout();
            let look = self.fresh_due.min(round);
            if look >= until {
                return None;
            }
            let ticket = if look < round { self.look_first() } else { self.look_again() };
            if is_outstanding(ticket.number, oldest) {
                self.send_round(look, ticket);
            } else {
                let copy = self.places[self.place(ticket.number)].1;
                if is_lost(&copy, engine) {
                    return Some((look, copy));
                }
            }
        }
    }

    /// Looks at the copies whose turn came before `until`: those from number `oldest` on go round, the others leave the loop.
    #[inline]
    fn look_at_all(&mut self, until: Instant, oldest: u32) {
        let last = until.just_before();
        while self.next_look() <= last {
            let Self { rounds, queue, way_round, fresh_due, .. } = self;
            let (way_round, first) = (*way_round, last.min(*fresh_due));
            rounds.turn(|look, ticket| {
                if is_outstanding(ticket.number, oldest) {
                    // On a tie the copy that has been round before goes first.
                    if look > first {
                        return Turn::Stay;
                    }
                    let left = queue.enter(look, ticket.octets);
                    left.map_or(Turn::Leave, |left| Turn::Again((left + way_round, *ticket)))
                } else if look > last {
                    Turn::Stay
                } else {
                    // That it leaves before others have their first look makes no difference.
                    Turn::Leave
                }
            });
            self.look_at_fresh(last, oldest);
        }
    }

    /// The same of the copies whose first look comes by `last`, before any that has been round comes again.
    #[inline]
    fn look_at_fresh(&mut self, last: Instant, oldest: u32) {
        while self.fresh_due <= last && self.fresh_due < self.rounds.poll_timeout() {
            let from = self.place(self.fresh);
            let fresh = self.end.wrapping_sub(self.fresh) as usize;
            let to = self.places.len().min(from + fresh);
            let mut number = self.fresh;
            for (look, copy) in &self.places[from..to] {
                if *look > last || *look >= self.rounds.poll_timeout() {
                    break;
                }
                let octets = copy.frame.octets;
                if is_outstanding(number, oldest)
                    && let Some(left) = self.queue.enter(*look, octets)
                {
                    self.rounds.push(left + self.way_round, Ticket { number, octets });
                }
                number = number.wrapping_add(1);
            }
            self.fresh = number;
            let place = self.place(number);
            self.fresh_due = if number == self.end { Instant::NEVER } else { self.places[place].0 };
        }
    }

    /// The copy whose first look has come.
    #[inline]
    fn look_first(&mut self) -> Ticket {
        let number = self.fresh;
        let octets = self.places[self.place(number)].1.frame.octets;
        self.fresh = number.wrapping_add(1);
        let is_last = self.fresh == self.end;
        self.fresh_due = if is_last { Instant::NEVER } else { self.places[self.place(self.fresh)].0 };
        Ticket { number, octets }
    }

    /// The copy that has come round, of which there is one.
    #[inline]
    fn look_again(&mut self) -> Ticket {
        self.rounds.take(|_, ticket| *ticket).unwrap_or_default()
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
        self.end.wrapping_sub(self.fresh) as usize + self.rounds.len()
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
        (self.fresh, self.fresh_due) = (self.end, Instant::NEVER);
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
fn is_lost<P>(copy: &Copied<P>, engine: &mut Sender) -> bool {
    !engine.has_abandoned(copy.number) && engine.inspect_copy(copy.position) == CopyFate::Retransmit
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

    /// Keeps these copies, each of a frame that left at its time.
    fn insert_many(buffer: &mut TxLoop<u64>, copies: &[(Instant, Copied<u64>)]) {
        let mut rest = copies;
        while let Some((_, first)) = rest.first() {
            let number = first.number;
            let places = buffer.room(number, rest.len());
            let (now, later) = rest.split_at(places.len());
            places.copy_from_slice(now);
            let kept: Vec<_> =
                buffer.extend_by(number, now.len()).map(|(left, copy)| (left, copy.number)).collect();
            assert!(kept.into_iter().eq(now.iter().map(|(left, copy)| (*left, copy.number))));
            rest = later;
        }
    }

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
                } else if is_lost(&self.copies[number as usize], engine) {
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
                (0u64..150, 87u32..1542, 0u32..100, 0u64..4_000, 0u32..60, 0u8..20),
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
            for (apart, octets, count, wait, acked, lost) in turns {
                let (number, first) = (engines[0].counters().data as u32, engines[0].next());
                let apart = rate.serialisation(octets) + Duration::from_ns(apart);
                let copy = |step: u32| Copied {
                    position: first.plus(step),
                    number: number.wrapping_add(step),
                    frame: Frame { octets, ..Frame::default() },
                };
                let copies: Vec<_> =
                    (0..count).map(|step| (now + apart * u64::from(step), copy(step))).collect();
                insert_many(&mut late, &copies);
                copies.into_iter().for_each(|(left, copy)| in_time.insert(left, copy));
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

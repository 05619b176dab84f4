//! The hops between the hosts and the link, in both directions.
//!
//! These hops do not mark (ECN). All hops but the hosts' interfaces drop frames for which a switch has no room. No
//! queue grows in most of them: a line brings frames no faster than the next line of the same rate takes them
//! away. The exception is the port behind the link, where a switch may release its reorder buffer at once.
//!
//! ```text
//!  h4 -- sw8 -- sw4 -- sw2 == link == sw6 -- sw10 -- h8      (LinkGuardian's artifact)
//!     three hops           ------          two hops
//! ```

#[cfg(feature = "fast")]
mod fast;

use crate::net::frame::GAP_OCTETS;
use crate::net::{Ecn, Frame, Hop, LineRate};
use lossylink_core::loss::LossProcess;
use lossylink_core::time::{Duration, Instant};

mod jitter;
mod lost_behind;

pub use jitter::Jitter;
pub use lost_behind::LostBehind;

/// Number of hops from a host to the link on the artifact's path.
const HOPS_BEFORE: u32 = 3;
/// Number of hops from the link to the other host.
const HOPS_AFTER: u32 = 2;
/// The size of the queue of a host's own interface, which is the host's memory.
const UNLIMITED_BYTES: u64 = u64::MAX >> 16;

/// A sequence of hops, which takes no time if it is empty. The first hop may corrupt frames, which take its line and go no
/// further. Behind the last hop frames may take longer by jitter.
#[derive(Clone, Debug, Default)]
pub struct Leg {
    hops: Vec<Hop>,
    delay: Duration,
    chances: Option<Box<Chances>>,
}

/// The losses and the jitter of frames on a leg.
#[derive(Clone, Debug, Default)]
struct Chances {
    losses: Option<Losing>,
    jitter: Option<Jitter>,
}

impl Chances {
    /// Whether a frame of `octets` is corrupted that enters the leg at `now`.
    fn take(&mut self, now: Instant, octets: u32) -> bool {
        self.losses.as_mut().is_some_and(|losses| losses.takes(now, octets))
    }

    /// Returns when a frame leaves the leg that would leave at `at` without jitter.
    fn put_off(&mut self, at: Instant) -> Instant {
        self.jitter.as_mut().map_or(at, |jitter| jitter.leave(at))
    }
}

/// The loss process of a leg, and the number of frames that it has corrupted.
#[derive(Clone, Debug)]
struct Losing {
    process: LossProcess,
    lost: u64,
}

impl Losing {
    /// Whether a frame of `octets` is corrupted that enters the leg at `now`.
    fn takes(&mut self, now: Instant, octets: u32) -> bool {
        let takes = self.process.is_lost_at(now, octets - GAP_OCTETS);
        self.lost += u64::from(takes);
        takes
    }
}

impl Leg {
    /// Returns a leg that only delays frames.
    pub const fn delay(delay: Duration) -> Self {
        Self { hops: Vec::new(), delay, chances: None }
    }

    /// Returns the leg, whose first hop corrupts frames by `process` from now on.
    #[must_use]
    pub fn losing(self, process: LossProcess) -> Self {
        if process.is_clean() {
            return self;
        }
        let losses = Some(Losing { process, lost: 0 });
        self.with(|chances| chances.losses = losses)
    }

    /// Returns the leg, behind whose last hop frames take longer by `jitter` from now on.
    #[must_use]
    pub fn jittering(self, jitter: Jitter) -> Self {
        if jitter.is_none() {
            return self;
        }
        self.with(|chances| chances.jitter = Some(jitter))
    }

    /// Returns the leg with its losses and jitter changed by `change`.
    fn with(mut self, change: impl FnOnce(&mut Chances)) -> Self {
        change(self.chances.get_or_insert_default());
        self
    }

    /// Whether frames leave in the order in which they enter.
    pub fn keeps_order(&self) -> bool {
        let jitter = self.chances.as_ref().and_then(|chances| chances.jitter.as_ref());
        jitter.is_none_or(Jitter::keeps_order)
    }

    /// Returns the least time of any frame across the leg.
    pub fn least_time(&self) -> Duration {
        self.hops.iter().fold(self.delay, |time, hop| time + hop.delay())
    }

    /// Returns the time across the leg of a frame of `octets` that finds all queues empty.
    pub fn time_of(&self, octets: u32) -> Duration {
        self.hops.iter().fold(self.delay, |time, hop| time + hop.time_of(octets))
    }

    /// Returns when frames leave the leg behind a line of this rate. `frames` has for each frame the time when it comes to the
    /// line, and its octets. All queues are empty at first. The result lacks times that are equal for all frames. Returns `None`
    /// if a queue is too small.
    pub fn behind(&self, rate: LineRate, frames: &[(Duration, u32)]) -> Option<Vec<Instant>> {
        let (mut leg, mut line) = (self.at_rest(), Hop::new(rate, Duration::ZERO, UNLIMITED_BYTES));
        let come_out = frames.iter().map(|&(after, octets)| {
            let frame = Frame { octets, ecn: Ecn::NotCapable, payload: () };
            leg.cross(line.pass(Instant::ZERO + after, &frame)?, &frame)
        });
        come_out.collect()
    }

    /// Returns the leg before any frame has crossed it, without losses and jitter.
    fn at_rest(&self) -> Self {
        Self { hops: self.hops.iter().map(Hop::at_rest).collect(), delay: self.delay, chances: None }
    }

    /// Whether every queue has room for this number of octets.
    pub fn has_room_for(&self, octets: u32) -> bool {
        self.hops.iter().all(|hop| hop.has_room_for(octets))
    }

    /// Returns when a frame that enters at `now` leaves the leg; `None` if a queue was full, or the frame was corrupted.
    #[inline]
    pub fn cross<P>(&mut self, now: Instant, frame: &Frame<P>) -> Option<Instant> {
        if self.chances.is_some() {
            return self.cross_by_chance(now, frame);
        }
        let mut at = now + self.delay;
        for hop in &mut self.hops {
            at = hop.pass(at, frame)?;
        }
        Some(at)
    }

    /// Returns when a frame that enters a leg with losses or jitter at `now` leaves it; `None` if a queue was full, or the frame
    /// was corrupted.
    #[inline(never)]
    fn cross_by_chance<P>(&mut self, now: Instant, frame: &Frame<P>) -> Option<Instant> {
        self.cross_watched(now, frame, usize::MAX, |_| {})
    }

    /// Returns when a frame that enters at `now` leaves the leg. Tells `watch` when the first bit leaves onto the hop with index
    /// `watched`.
    pub fn cross_watched<P>(
        &mut self,
        now: Instant,
        frame: &Frame<P>,
        watched: usize,
        watch: impl FnOnce(Instant),
    ) -> Option<Instant> {
        let mut watch = Some(watch);
        let (mut at, Self { hops, chances, .. }) = (now + self.delay, self);
        let mut takes = || chances.as_mut().is_some_and(|chances| chances.take(now, frame.octets));
        if hops.is_empty() && takes() {
            return None;
        }
        for (index, hop) in hops.iter_mut().enumerate() {
            let (start, arrival) = hop.pass_from(at, frame)?;
            if let Some(watch) = watch.take_if(|_| index == watched) {
                watch(start);
            }
            if index == 0 && takes() {
                return None;
            }
            at = arrival;
        }
        Some(chances.as_mut().map_or(at, |chances| chances.put_off(at)))
    }

    /// Returns how many frames were corrupted; `None` on a leg that corrupts none.
    fn lost(&self) -> Option<u64> {
        let losses = self.chances.as_ref().and_then(|chances| chances.losses.as_ref());
        losses.map(|losses| losses.lost)
    }

    /// Returns the most octets that ever stood in the queue of the first hop; 0 without a hop.
    pub fn high_water_bytes(&self) -> u64 {
        self.hops.first().map_or(0, Hop::high_water_bytes)
    }

    /// Returns how many frames were dropped because a queue was full.
    pub fn dropped(&self) -> u64 {
        self.hops.iter().map(Hop::dropped).sum()
    }
}

/// The sizes of the queues of switch ports on a path, in bytes that have not been serialised yet.
#[derive(Clone, Copy, Debug)]
pub struct Rooms {
    /// The size of any port's queue but that of the port behind the link.
    pub queue_bytes: u64,
    /// The size of the queue of the port behind the link.
    pub receiver_queue_bytes: u64,
}

/// The four legs of a path.
#[derive(Clone, Debug, Default)]
pub struct Path {
    /// The leg from the sending host to the link.
    pub to_link: Leg,
    /// The leg from the link to the receiving host.
    pub to_far: Leg,
    /// The leg from the receiving host back to the link.
    pub back_to_link: Leg,
    /// The leg from the link back to the sending host.
    pub to_near: Leg,
}

impl Path {
    /// Whether all conversations share one interface at either end; otherwise each is between two hosts of its own.
    pub const fn shares_interfaces(&self) -> bool {
        !self.to_link.hops.is_empty()
    }

    /// Returns the least time from any host to the link.
    pub fn least_to_link(&self) -> Duration {
        self.to_link.least_time().min(self.back_to_link.least_time())
    }

    /// Returns the least time from the link to any host.
    pub fn least_to_hosts(&self) -> Duration {
        self.to_far.least_time().min(self.to_near.least_time())
    }

    /// Returns the artifact's path: store-and-forward hops at the link's rate, whose fixed delays make up `one_way` together with
    /// the `link_delay` of the protected link. The queue of a switch's port has the size that `rooms` says.
    pub fn artifact(
        rate: LineRate,
        nic_rate: LineRate,
        one_way: Duration,
        link_delay: Duration,
        rooms: Rooms,
    ) -> Self {
        let Rooms { queue_bytes, receiver_queue_bytes } = rooms;
        let hops = HOPS_BEFORE + HOPS_AFTER;
        let delay = one_way.saturating_sub(link_delay) / u64::from(hops);
        // The first hop, and the number of switch ports that make up the rest of the leg.
        let leg = |(first_rate, first_bytes): (LineRate, u64), count: u32| {
            let first = Hop::new(first_rate, delay, first_bytes);
            let others = (1..count).map(|_| Hop::new(rate, delay, queue_bytes));
            Leg { hops: std::iter::once(first).chain(others).collect(), ..Leg::default() }
        };
        Self {
            to_link: leg((nic_rate, UNLIMITED_BYTES), HOPS_BEFORE),
            to_far: leg((rate, receiver_queue_bytes), HOPS_AFTER),
            back_to_link: leg((rate, UNLIMITED_BYTES), HOPS_AFTER),
            to_near: leg((rate, queue_bytes), HOPS_BEFORE),
        }
    }

    /// Returns how many frames the hops behind the link corrupted.
    pub fn lost_behind(&self) -> LostBehind {
        LostBehind { forward: self.to_far.lost(), back: self.to_near.lost() }
    }

    /// Returns the path whose hops behind the link corrupt frames: toward the receiving host by `forward`, toward the sending
    /// host by `back`.
    #[must_use]
    pub fn losing(self, (forward, back): (LossProcess, LossProcess)) -> Self {
        Self { to_far: self.to_far.losing(forward), to_near: self.to_near.losing(back), ..self }
    }

    /// Returns the path behind whose link frames take longer by jitter: toward the receiving host by `forward`, toward the
    /// sending host by `back`.
    #[must_use]
    pub fn jittering(self, (forward, back): (Jitter, Jitter)) -> Self {
        Self { to_far: self.to_far.jittering(forward), to_near: self.to_near.jittering(back), ..self }
    }

    /// Returns a path of the link and its `rtt` alone, of which the link itself takes `link_delay` each way. The path lies behind
    /// the sending host's interface, if that has a rate of its own. Returns `None` if the link takes more than `rtt`.
    pub fn direct(rtt: Duration, link_delay: Duration, interface: Option<LineRate>) -> Option<Self> {
        let half = rtt / 2;
        let rest = Duration::from_ps(half.as_ps().checked_sub(link_delay.as_ps())?);
        let hop = |rate| Hop::new(rate, Duration::ZERO, UNLIMITED_BYTES);
        let to_link = Leg { hops: interface.map(hop).into_iter().collect(), ..Leg::default() };
        Some(Self { to_link, to_far: Leg::delay(rest), to_near: Leg::delay(rest), ..Self::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(feature = "fast")]
    use crate::kernel::Train;
    use crate::net::Ecn;
    use lossylink_core::units::BitRate;
    use proptest::prelude::*;

    /// The sizes of Tofino's profile.
    const ROOMS: Rooms = Rooms { queue_bytes: 560_000, receiver_queue_bytes: 120_000 };

    proptest! {
        /// Whatever the hosts send, no port of a switch behind an interface that is no faster ever holds more than two full
        /// frames: the frame that it sends, and the frame that came meanwhile. So no limit that has room for two frames is felt,
        /// and no marking at a threshold above it.
        #[test]
        fn ports_behind_an_interface_hold_two_frames_at_most(
            nic_gbps in 1u64..=100,
            frames in prop::collection::vec((0u64..400, 60u32..=1514), 1..300),
        ) {
            let rate = LineRate::new(BitRate::from_gbps(100));
            let nic = LineRate::new(BitRate::from_gbps(nic_gbps));
            let tight = Rooms { queue_bytes: 2 * 1538, receiver_queue_bytes: 2 * 1538 };
            let (one_way, link) = (Duration::from_ns(14_900), Duration::from_ns(659));
            let mut path = Path::artifact(rate, nic, one_way, link, tight);
            let mut roomy = Path::artifact(rate, nic, one_way, link, ROOMS);
            let mut now = Instant::ZERO;
            for (gap_ns, bytes) in frames {
                now += Duration::from_ns(gap_ns);
                let frame = Frame::of_frame_bytes(bytes, Ecn::NotCapable, ());
                let forward = path.to_link.cross(now, &frame);
                prop_assert_eq!(forward, roomy.to_link.cross(now, &frame));
                prop_assert!(forward.is_some());
                let back = path.back_to_link.cross(now, &frame);
                prop_assert!(back.is_some());
                // Over a link of an equal rate without protection: a frame that leaves one line enters the next.
                let over = |at: Option<Instant>| at.unwrap() + link;
                prop_assert!(path.to_far.cross(over(forward), &frame).is_some());
                prop_assert!(path.to_near.cross(over(back), &frame).is_some());
            }
        }
    }

    /// The numbers of trains that stayed one train, and of those that did not.
    #[derive(Debug, Default)]
    #[cfg(feature = "fast")]
    struct Seen {
        whole: usize,
        apart: usize,
    }

    #[cfg(feature = "fast")]
    /// Sends trains as trains, at these gaps, over a leg, and their frames one by one over an equal leg.
    fn trains_beside_frames(first_gbps: u64, trains: &[(u64, u64, u32, u32)]) -> Seen {
        let rate = |gbps| LineRate::new(BitRate::from_gbps(gbps));
        let (one_way, link) = (Duration::from_ns(14_900), Duration::from_ns(659));
        let tight = Rooms { queue_bytes: 20 * 1538, receiver_queue_bytes: 9 * 1538 };
        let mut apart = Path::artifact(rate(100), rate(first_gbps), one_way, link, tight).to_link;
        let (mut together, mut now, mut seen) = (apart.clone(), Instant::ZERO, Seen::default());
        for &(gap_ns, spacing_ns, count, bytes) in trains {
            now += Duration::from_ns(gap_ns);
            let frame = Frame::of_frame_bytes(bytes, Ecn::NotCapable, ());
            let train = Train { first: now, spacing: Duration::from_ns(spacing_ns), count, step: 1 };
            now = train.last();
            let each: Vec<_> = (0..count).map(|index| apart.cross(train.nth(index), &frame)).collect();
            match together.cross_train(train, frame.octets) {
                Some(out) => {
                    let whole: Vec<_> = (0..count).map(|index| Some(out.nth(index))).collect();
                    assert_eq!(whole, each, "{train:?}");
                    seen.whole += 1;
                }
                None => {
                    let again: Vec<_> =
                        (0..count).map(|index| together.cross(train.nth(index), &frame)).collect();
                    assert_eq!(again, each, "{train:?}: a train that does not stay one does nothing");
                    seen.apart += 1;
                }
            }
            assert_eq!(together.dropped(), apart.dropped());
            assert_eq!(together.high_water_bytes(), apart.high_water_bytes());
        }
        seen
    }

    proptest! {
        #[cfg(feature = "fast")]
        #[test]
        fn a_train_crosses_as_its_frames_do(
            first_gbps in prop_oneof![Just(25u64), Just(100), Just(400)],
            trains in prop::collection::vec((0u64..900, 0u64..700, 1u32..25, 60u32..=1514), 1..60),
        ) {
            trains_beside_frames(first_gbps, &trains);
        }
    }

    /// The canary of the property above: some trains stay one, others do not.
    #[cfg(feature = "fast")]
    #[test]
    fn trains_stay_one_at_once_or_at_a_pace_and_not_where_they_catch_up_with_a_backlog() {
        let (at_once, paced) = ((5_000, 0, 10, 1514), (5_000, 927, 10, 1514));
        let (behind, beyond) = ((100, 130, 4, 1514), (100, 300, 8, 1514));
        let seen = trains_beside_frames(100, &[at_once, paced, (5_000, 0, 8, 1514), behind, beyond]);
        assert_eq!((seen.whole, seen.apart), (4, 1), "{seen:?}");
        let full = trains_beside_frames(400, &[(0, 0, 40, 1514)]);
        assert_eq!((full.whole, full.apart), (0, 1), "a switch has room for 20 of them, {full:?}");
    }

    /// The canary of the statement above: an interface that is faster than the ports would fill them.
    #[test]
    fn a_faster_interface_fills_the_port_behind_it() {
        let (rate, nic) = (BitRate::from_gbps(10), BitRate::from_gbps(100));
        let (rate, nic) = (LineRate::new(rate), LineRate::new(nic));
        let one_way = Duration::from_ns(14_900);
        let mut path = Path::artifact(rate, nic, one_way, Duration::from_ns(659), ROOMS);
        let frame = Frame::of_frame_bytes(1514, Ecn::NotCapable, ());
        let lost = (0..1_000).filter(|_| path.to_link.cross(Instant::ZERO, &frame).is_none()).count();
        assert_eq!(path.to_link.dropped(), lost as u64);
        assert!(lost > 500, "{lost}");
    }

    #[test]
    fn the_artifact_path_adds_up_to_its_one_way_delay() {
        let rate = LineRate::new(BitRate::from_gbps(100));
        let link = Duration::from_ns(659);
        let mut path = Path::artifact(rate, rate, Duration::from_ns(14_900), link, ROOMS);
        let frame = Frame::of_frame_bytes(1514, Ecn::NotCapable, ());
        let at_link = path.to_link.cross(Instant::ZERO, &frame).unwrap();
        let at_host = path.to_far.cross(at_link + link, &frame).unwrap();
        let serialisations = rate.serialisation(frame.octets) * 5;
        let total = at_host - Instant::ZERO;
        assert!(total.saturating_sub(serialisations + Duration::from_ns(14_900)) < Duration::from_ns(1));
        assert!((serialisations + Duration::from_ns(14_900)).saturating_sub(total) < Duration::from_ns(1));
    }

    #[test]
    fn a_watched_hop_tells_when_a_frame_leaves() {
        let rate = LineRate::new(BitRate::from_gbps(100));
        let path = Path::artifact(rate, rate, Duration::from_ns(14_900), Duration::from_ns(659), ROOMS);
        let frame = Frame::of_frame_bytes(1514, Ecn::NotCapable, ());
        let (mut plain, mut watched) = (path.to_link.clone(), path.to_link);
        let mut departures = Vec::new();
        for _ in 0..2 {
            let arrival = plain.cross(Instant::ZERO, &frame);
            assert_eq!(watched.cross_watched(Instant::ZERO, &frame, 1, |at| departures.push(at)), arrival);
        }
        // The first hop serialises for 123.04 ns and delays (14900 - 659) / 5 ns.
        let first = Instant::from_ps(123_040 + 2_848_200);
        assert_eq!(departures, [first, first + Duration::from_ps(123_040)]);
    }

    #[test]
    fn a_direct_path_cannot_be_shorter_than_its_link() {
        assert!(Path::direct(Duration::from_us(1), Duration::from_ns(501), None).is_none());
        let path = Path::direct(Duration::from_us(30), Duration::from_ns(500), None).unwrap();
        assert_eq!(path.to_link.least_time(), Duration::ZERO);
        assert_eq!(path.to_far.least_time(), Duration::from_ns(14_500));
    }

    #[test]
    fn an_interface_spaces_what_leaves_a_host() {
        let slow = LineRate::new(BitRate::from_bps(4_500_000_000));
        let mut path = Path::direct(Duration::from_us(30), Duration::from_ns(500), Some(slow)).unwrap();
        let frame = Frame::of_frame_bytes(1514, Ecn::NotCapable, ());
        let mut cross = || path.to_link.cross(Instant::ZERO, &frame).unwrap();
        let first = slow.serialisation(1538);
        assert_eq!((cross(), cross()), (Instant::ZERO + first, Instant::ZERO + first + first));
    }
}

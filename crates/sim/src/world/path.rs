//! The hops between the hosts and the link, in both directions.
//!
//! ```text
//!  h4 -- sw8 -- sw4 -- sw2 == link == sw6 -- sw10 -- h8      (LinkGuardian's artifact)
//!     three hops           ------          two hops
//! ```

use crate::net::{Frame, Hop, LineRate};
use lossylink_core::time::{Duration, Instant};

/// Hops from a host to the link on the artifact's path.
const HOPS_BEFORE: u32 = 3;
/// Hops from the link to the other host.
const HOPS_AFTER: u32 = 2;
/// A queue that never fills.
const UNLIMITED_BYTES: u64 = u64::MAX >> 16;

/// A sequence of hops; an empty one takes no time.
#[derive(Clone, Debug, Default)]
pub struct Leg {
    hops: Vec<Hop>,
    delay: Duration,
}

impl Leg {
    /// A leg that only delays.
    pub const fn delay(delay: Duration) -> Self {
        Self { hops: Vec::new(), delay }
    }

    /// How long any frame takes at least.
    pub fn least_time(&self) -> Duration {
        self.hops.iter().fold(self.delay, |time, hop| time + hop.delay())
    }

    /// When a frame that enters at `now` comes out; `None` if a queue was full.
    #[inline]
    pub fn cross<P>(&mut self, now: Instant, frame: &Frame<P>) -> Option<Instant> {
        let mut at = now + self.delay;
        for hop in &mut self.hops {
            at = hop.pass(at, frame)?;
        }
        Some(at)
    }

    /// The same; `watch` is told when the first bit leaves onto the hop with index `watched`.
    pub fn cross_watched<P>(
        &mut self,
        now: Instant,
        frame: &Frame<P>,
        watched: usize,
        watch: impl FnOnce(Instant),
    ) -> Option<Instant> {
        let mut watch = Some(watch);
        let entered = now + self.delay;
        self.hops.iter_mut().enumerate().try_fold(entered, |at, (index, hop)| {
            let (start, arrival) = hop.pass_from(at, frame)?;
            if let Some(watch) = watch.take_if(|_| index == watched) {
                watch(start);
            }
            Some(arrival)
        })
    }

    /// Frames dropped because a queue was full.
    pub fn dropped(&self) -> u64 {
        self.hops.iter().map(Hop::dropped).sum()
    }
}

/// The four legs of a path.
#[derive(Clone, Debug, Default)]
pub struct Path {
    /// From the sending host to the link.
    pub to_link: Leg,
    /// From the link to the receiving host.
    pub to_far: Leg,
    /// From the receiving host back to the link.
    pub back_to_link: Leg,
    /// From the link back to the sending host.
    pub to_near: Leg,
}

impl Path {
    /// The artifact's path: store-and-forward hops at the link's rate, whose fixed delays make up
    /// `one_way` together with the `link_delay` of the protected link. The port behind the link
    /// holds `receiver_queue_bytes`.
    pub fn artifact(
        rate: LineRate,
        nic_rate: LineRate,
        one_way: Duration,
        link_delay: Duration,
        receiver_queue_bytes: u64,
    ) -> Self {
        let hops = HOPS_BEFORE + HOPS_AFTER;
        let delay = one_way.saturating_sub(link_delay) / u64::from(hops);
        let hop = |rate, limit| Hop::new(rate, delay, limit);
        let before = || {
            let interface = std::iter::once(hop(nic_rate, UNLIMITED_BYTES));
            let switches = (1..HOPS_BEFORE).map(|_| hop(rate, UNLIMITED_BYTES));
            Leg { hops: interface.chain(switches).collect(), delay: Duration::ZERO }
        };
        let after = |count: u32| {
            let limits = std::iter::once(receiver_queue_bytes).chain(std::iter::repeat(UNLIMITED_BYTES));
            Leg {
                hops: limits.take(count as usize).map(|limit| hop(rate, limit)).collect(),
                ..Leg::default()
            }
        };
        let back = Leg {
            hops: (0..HOPS_AFTER).map(|_| hop(rate, UNLIMITED_BYTES)).collect(),
            delay: Duration::ZERO,
        };
        let to_near = Leg {
            hops: (0..HOPS_BEFORE).map(|_| hop(rate, UNLIMITED_BYTES)).collect(),
            delay: Duration::ZERO,
        };
        Self { to_link: before(), to_far: after(HOPS_AFTER), back_to_link: back, to_near }
    }

    /// A path that is nothing but the link and its `rtt`, of which the link itself takes
    /// `link_delay` each way, behind the sending host's interface if that has a rate of its own.
    /// `None` if the link takes more than there is.
    pub fn direct(rtt: Duration, link_delay: Duration, interface: Option<LineRate>) -> Option<Self> {
        let half = rtt / 2;
        let rest = Duration::from_ps(half.as_ps().checked_sub(link_delay.as_ps())?);
        let hop = |rate| Hop::new(rate, Duration::ZERO, UNLIMITED_BYTES);
        let to_link = Leg { hops: interface.map(hop).into_iter().collect(), delay: Duration::ZERO };
        Some(Self { to_link, to_far: Leg::delay(rest), to_near: Leg::delay(rest), ..Self::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::Ecn;
    use lossylink_core::units::BitRate;

    #[test]
    fn the_artifact_path_adds_up_to_its_one_way_delay() {
        let rate = LineRate::new(BitRate::from_gbps(100));
        let link = Duration::from_ns(659);
        let mut path = Path::artifact(rate, rate, Duration::from_ns(14_900), link, 120_000);
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
        let path = Path::artifact(rate, rate, Duration::from_ns(14_900), Duration::from_ns(659), 120_000);
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

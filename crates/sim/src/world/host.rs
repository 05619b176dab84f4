//! The latency that a host adds between its network interface and its transport. (`docs/protocols/hosts.md`)
//!
//! ```text
//!  arrival    interrupt                         the transport has it
//!  ---|----------|------------|------------|------------|---->
//!     | wake-up  | put off    | segment 1  | segment 2  |
//!     |          | (a burst)  |            |            |
//!     `- packets that arrive up to the end are handled with it -'
//! ```
//!
//! Each flow has a core of its own, as receive-side scaling with enough queues gives it. Left out: the time that flows on
//! one core cost each other, the budget of a poll, and the way of a packet out of the host, which only the stack's rate
//! slows ([`Pacing`](crate::transport::tcp), TCP-61).

#[cfg(feature = "fast")]
mod fast;

use super::reception::Reception;
use crate::kernel::Pipe;
use lossylink_core::rng::Stream;
use lossylink_core::time::{Duration, Instant};

/// The number of packets in a wake-up from which on they are a burst. Two packets are none: the end of a handshake is
/// followed by the first data.
pub(super) const BURST_PACKETS: u32 = 3;

/// The core that handles the packets that a host receives. Each packet waits until it is due, when the transport gets it.
#[derive(Clone, Debug)]
pub struct Core<F: Copy + Default> {
    waiting: Pipe<F>,
    /// The time at which the connection began to use the core, without a long pause since; never before the first use.
    in_use_since: Instant,
    /// The end of the current or the last wake-up.
    awake_at: Instant,
    /// The times at which the core begins with the newest segment, and at which it is done with that segment.
    begins_at: Instant,
    done_at: Instant,
    /// Packets of this wake-up, and the segments that they make.
    packets: u32,
    segments: u32,
}

impl<F: Copy + Default> Default for Core<F> {
    fn default() -> Self {
        let (awake_at, begins_at, done_at) = (Instant::ZERO, Instant::ZERO, Instant::ZERO);
        let in_use_since = Instant::NEVER;
        Self { waiting: Pipe::new(), in_use_since, awake_at, begins_at, done_at, packets: 0, segments: 0 }
    }
}

impl<F: Copy + Default> Core<F> {
    /// Returns when the transport gets the next packet.
    #[inline]
    pub const fn poll_timeout(&self) -> Instant {
        self.waiting.poll_timeout()
    }

    /// Hands the next packet, whenever it is due, to `take` and removes it.
    #[inline]
    pub fn take<R>(&mut self, take: impl FnOnce(Instant, &F) -> R) -> Option<R> {
        self.waiting.take(take)
    }

    /// Gives the core to a new connection.
    pub(super) const fn renew(&mut self) {
        self.in_use_since = Instant::NEVER;
    }

    /// Returns the number of packets from the last packet on that found the core idle.
    #[cfg(feature = "fast")]
    pub(super) const fn packets(&self) -> u32 {
        self.packets
    }

    /// Takes in a packet at a host that only wakes up. Arrivals come in order. (HOST-1)
    #[inline]
    pub fn arrive_simply(&mut self, at: Instant, packet: &F, host: &Reception, draws: &mut Stream) {
        if at > self.done_at {
            self.done_at = at + host.draw_wake_up(draws);
        }
        self.waiting.push(self.done_at, *packet);
    }

    /// Takes in a packet; `merge` adds the packet to the one before it, if it can. Arrivals come in order.
    pub fn arrive(
        &mut self,
        at: Instant,
        packet: &F,
        host: &Reception,
        draws: &mut Stream,
        merge: impl FnOnce(&mut F, &F) -> bool,
    ) {
        if at > self.done_at {
            self.wake_up(at, host, draws);
        } else {
            self.packets += 1;
            if self.packets == BURST_PACKETS && at <= self.awake_at {
                self.put_off(self.moderation(at, host, draws));
            }
            if host.merges()
                && at <= self.begins_at
                && self.waiting.last_mut().is_some_and(|held| merge(held, packet))
            {
                return; // HOST-4
            }
            self.begins_at = self.done_at;
        }
        self.segments += 1;
        self.done_at = self.begins_at + host.segment(); // HOST-3
        self.waiting.push(self.done_at, *packet);
    }

    /// Begins a wake-up for a packet that finds the core idle. (HOST-1)
    fn wake_up(&mut self, at: Instant, host: &Reception, draws: &mut Stream) {
        if self.in_use_since.is_never() || at - self.done_at > host.sustained_after() {
            self.in_use_since = at;
        }
        self.awake_at = at + host.draw_wake_up(draws);
        self.begins_at = self.awake_at;
        (self.packets, self.segments) = (1, 0);
    }

    /// Returns by how much the interface puts off a burst that it finds at `at`. (HOST-2, HOST-9)
    fn moderation(&self, at: Instant, host: &Reception, draws: &mut Stream) -> Duration {
        let used_for = at.saturating_since(self.in_use_since);
        host.sustained_moderation(used_for).unwrap_or_else(|| host.draw_moderation(draws))
    }

    /// Puts off the packets of a burst by `delay`: the burst came before the core was awake, and the interface moderates.
    /// (HOST-2)
    fn put_off(&mut self, delay: Duration) {
        self.awake_at += delay;
        self.begins_at += delay;
        self.done_at += delay;
        self.waiting.put_off(self.segments as usize, delay);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::LatencyTable;
    #[cfg(feature = "fast")]
    use crate::kernel::Train;
    use lossylink_core::rng::Streams;
    use proptest::prelude::*;

    /// A packet in these tests: its number, and the number of packets that follow it in the same segment.
    type Numbered = (u64, u64);

    fn us(us: u64) -> Instant {
        Instant::ZERO + Duration::from_us(us)
    }

    fn always(us: f64) -> LatencyTable {
        vec![(0.0, us * 1e3), (1.0, us * 1e3)]
    }

    fn host(wake_up_us: f64, moderation_us: f64, segment_us: u64, merges: bool) -> Reception {
        Reception::new(&always(wake_up_us), &always(moderation_us), Duration::from_us(segment_us), merges)
    }

    /// Sends equal packets to a host that only wakes up, and to a host that does no more but could.
    #[test]
    fn the_short_way_of_a_simple_host_leads_to_the_same_times() {
        let simple = Reception::new(&vec![(0.0, 1e3), (1.0, 9e3)], &always(0.0), Duration::ZERO, false);
        assert!(simple.only_wakes() && !host(5.0, 1.0, 0, false).only_wakes());
        let arrivals: Vec<_> =
            (0..200).map(|number| (10 + 3 * number + number * number % 7, number)).collect();
        let mut core = Core::default();
        let mut draws = Streams::new(1).stream("host");
        for &(at, number) in &arrivals {
            core.arrive_simply(us(at), &(number, 0), &simple, &mut draws);
        }
        let take = |at: Instant, &(first, more): &Numbered| (at.as_ps() / 1_000_000, first, more + 1);
        let simply: Vec<_> = std::iter::from_fn(|| core.take(take)).collect();
        assert_eq!(simply, handled(&simple, &arrivals));
    }

    /// Returns for each segment: the time when the transport gets it, us, the number of its first packet, and its packets.
    fn handled(host: &Reception, arrivals: &[(u64, u64)]) -> Vec<(u64, u64, u64)> {
        let mut core = Core::default();
        let mut draws = Streams::new(1).stream("host");
        for &(at, number) in arrivals {
            core.arrive(us(at), &(number, 0), host, &mut draws, |held: &mut Numbered, next| {
                let follows = held.0 + held.1 + 1 == next.0;
                held.1 += u64::from(follows);
                follows
            });
        }
        let take = |at: Instant, &(first, more): &Numbered| (at.as_ps() / 1_000_000, first, more + 1);
        std::iter::from_fn(|| core.take(take)).collect()
    }

    #[cfg(feature = "fast")]
    /// Takes in trains of packets, and returns the segments as [`handled`] does. Each train has its first arrival in us, the
    /// distance of its packets in us, and their number.
    fn handled_in_trains(
        host: &Reception,
        trains: &[(u64, u64, u32)],
        together: bool,
    ) -> Vec<(u64, u64, u64)> {
        let (mut core, mut number) = (Core::default(), 0);
        let mut draws = Streams::new(1).stream("host");
        let merge = |held: &mut Numbered, next: &Numbered, count: u32| {
            // No more than seven packets fit one segment.
            let fits =
                if held.0 + held.1 + 1 == next.0 { u64::from(count).min(6 - held.1.min(6)) } else { 0 };
            held.1 += fits;
            fits as u32
        };
        for &(at, spacing, count) in trains {
            let train = Train { first: us(at), spacing: Duration::from_us(spacing), count, step: 1 };
            // A gap before each train.
            number += 1;
            if together {
                let follow = |packet: &mut Numbered, count| packet.0 += u64::from(count);
                core.arrive_in_train(train, &mut (number, 0), host, &mut draws, merge, follow);
            } else {
                for index in 0..count {
                    let packet = (number + u64::from(index), 0);
                    core.arrive(train.nth(index), &packet, host, &mut draws, |held, next| {
                        merge(held, next, 1) == 1
                    });
                }
            }
            number += u64::from(count);
        }
        let take = |at: Instant, &(first, more): &Numbered| (at.as_ps(), first, more + 1);
        std::iter::from_fn(|| core.take(take)).collect()
    }

    proptest! {
        #[cfg(feature = "fast")]
        #[test]
        fn trains_are_handled_as_their_packets_are(
            (wake_up, moderation, segment, merges) in (0u64..20, 0u64..20, 0u64..3, any::<bool>()),
            sustained in prop::option::of((1u64..200, 0u64..40)),
            gaps in prop::collection::vec((0u64..40, 0u64..4, 1u32..20), 1..30),
        ) {
            let up_to = |us: u64| vec![(0.0, 0.0), (1.0, us as f64 * 1e3)];
            let mut host = Reception::new(&up_to(wake_up), &up_to(moderation), Duration::from_us(segment), merges);
            if let Some((after, moderation)) = sustained {
                host = host.sustaining(Duration::from_us(after), Duration::from_us(moderation));
            }
            let mut at = 0;
            let trains: Vec<_> = gaps
                .into_iter()
                .map(|(gap, spacing, count)| {
                    let begin = at + gap;
                    at = begin + spacing * u64::from(count - 1);
                    (begin, spacing, count)
                })
                .collect();
            prop_assert_eq!(handled_in_trains(&host, &trains, true), handled_in_trains(&host, &trains, false));
        }
    }

    // HOST-1
    #[test]
    fn packets_that_arrive_during_a_wake_up_are_handled_with_it() {
        let arrivals = [(10, 0), (12, 1), (15, 2), (16, 3)];
        let handled = handled(&host(5.0, 0.0, 0, false), &arrivals);
        assert_eq!(handled, [(15, 0, 1), (15, 1, 1), (15, 2, 1), (21, 3, 1)]);
    }

    // HOST-2
    #[test]
    fn a_burst_is_put_off_once_and_fewer_packets_are_not() {
        let host = host(5.0, 7.0, 0, false);
        assert_eq!(handled(&host, &[(10, 0)]), [(15, 0, 1)]);
        assert_eq!(handled(&host, &[(10, 0), (15, 1), (16, 2)]), [(15, 0, 1), (15, 1, 1), (21, 2, 1)]);
        let burst = handled(&host, &[(10, 0), (12, 1), (15, 2), (22, 3), (23, 4)]);
        assert_eq!(burst, [(22, 0, 1), (22, 1, 1), (22, 2, 1), (22, 3, 1), (28, 4, 1)]);
    }

    // HOST-2, HOST-3, HOST-4: all that wait are put off, merged or not.
    #[test]
    fn a_burst_is_put_off_as_a_whole() {
        let arrivals = [(10, 0), (11, 5), (12, 6), (13, 7)];
        assert_eq!(handled(&host(5.0, 7.0, 2, true), &arrivals), [(24, 0, 1), (26, 5, 3)]);
        assert_eq!(handled(&host(5.0, 7.0, 2, false), &arrivals[..3]), [(24, 0, 1), (26, 5, 1), (28, 6, 1)]);
    }

    // HOST-9
    #[test]
    fn a_flow_that_keeps_its_core_in_use_is_put_off_by_the_highest() {
        let host = host(5.0, 7.0, 0, true).sustaining(Duration::from_us(100), Duration::from_us(20));
        let burst = |at| [(at, 0), (at, 1), (at, 2)];
        let handled_at = |starts: &[u64]| -> Vec<u64> {
            let arrivals: Vec<_> = starts.iter().flat_map(|&at| burst(at)).collect();
            handled(&host, &arrivals).into_iter().map(|(at, ..)| at).collect()
        };
        assert_eq!(handled_at(&[10, 60, 109, 150]), [22, 72, 121, 175], "from 100 us of use on");
        assert_eq!(handled_at(&[10, 110]), [22, 135], "at 100 us");
        assert_eq!(handled_at(&[10, 122, 200]), [22, 147, 225], "100 us without work are no pause");
        assert_eq!(handled_at(&[10, 123, 200]), [22, 135, 212], "101 us are one");
    }

    // HOST-9
    #[test]
    fn a_new_connection_begins_with_the_moderation_of_a_short_flow() {
        let host = host(5.0, 7.0, 0, true).sustaining(Duration::from_us(100), Duration::from_us(20));
        let (mut core, mut draws) = (Core::<Numbered>::default(), Streams::new(1).stream("host"));
        let mut handled_at = |core: &mut Core<Numbered>, at: u64| {
            (0..3).for_each(|number| core.arrive(us(at), &(number, 0), &host, &mut draws, |_, _| true));
            core.take(|at, _| at.as_ps() / 1_000_000)
        };
        let first = [10, 60, 110].map(|at| handled_at(&mut core, at));
        assert_eq!(first, [Some(22), Some(72), Some(135)]);
        core.renew();
        assert_eq!([160, 210, 260].map(|at| handled_at(&mut core, at)), [Some(172), Some(222), Some(285)]);
    }

    // HOST-3
    #[test]
    fn a_core_works_on_one_segment_after_another() {
        let host = host(5.0, 0.0, 2, false);
        let handled = handled(&host, &[(10, 0), (10, 1), (18, 2), (21, 3), (24, 4)]);
        let expected = [(17, 0, 1), (19, 1, 1), (21, 2, 1), (23, 3, 1), (31, 4, 1)];
        assert_eq!(handled, expected, "one at 21 finds the core at work, one at 24 asleep");
    }

    // HOST-2: a packet that comes when the core is at work meets no moderation.
    #[test]
    fn a_core_at_work_is_not_put_off() {
        let host = host(5.0, 7.0, 2, false);
        let handled = handled(&host, &[(10, 0), (15, 1), (16, 2)]);
        assert_eq!(handled, [(17, 0, 1), (19, 1, 1), (21, 2, 1)]);
    }

    // HOST-4
    #[test]
    fn packets_merge_until_the_core_begins_with_them() {
        let merging = host(5.0, 0.0, 2, true);
        let arrivals = [(10, 0), (11, 1), (15, 2), (16, 3), (17, 4), (18, 5)];
        assert_eq!(handled(&merging, &arrivals), [(17, 0, 3), (19, 3, 2), (21, 5, 1)]);
        let apart = handled(&host(5.0, 0.0, 2, false), &arrivals);
        assert_eq!(apart.iter().map(|&(at, ..)| at).collect::<Vec<_>>(), [17, 19, 21, 23, 25, 27]);
    }

    // HOST-4
    #[test]
    fn what_does_not_follow_ends_a_merge() {
        let merging = host(5.0, 0.0, 0, true);
        let arrivals = [(10, 0), (10, 1), (11, 3), (12, 4), (13, 2), (14, 5)];
        assert_eq!(handled(&merging, &arrivals), [(15, 0, 2), (15, 3, 2), (15, 2, 1), (15, 5, 1)]);
    }

    #[test]
    fn each_wake_up_draws_its_own_latency() {
        let spread = Reception::new(&vec![(0.0, 1e3), (1.0, 9e3)], &always(0.0), Duration::ZERO, false);
        let handled = handled(&spread, &[(100, 0), (200, 1), (300, 2)]);
        let latencies: Vec<_> = handled.iter().map(|&(at, number, _)| at - 100 * (number + 1)).collect();
        assert!(latencies.iter().all(|latency| (1..9).contains(latency)), "{latencies:?}");
        assert!(latencies.windows(2).any(|pair| pair[0] != pair[1]), "{latencies:?}");
    }

    #[test]
    fn only_a_host_that_takes_no_time_and_merges_nothing_is_free() {
        assert!(Reception::default().is_free());
        assert!(host(0.0, 5.0, 0, false).is_free(), "nothing waits, so nothing is moderated");
        for host in [host(0.0, 0.0, 0, true), host(0.0, 0.0, 1, false), host(1.0, 0.0, 0, false)] {
            assert!(!host.is_free(), "{host:?}");
        }
    }
}

//! A sender that sends segments in one call, many or one that waited, sends what a sender polled for each packet sends, and ends
//! in an equal state.

use crate::tcp_sender::{ack, us};
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::BitRate;
use lossylink_sim::transport::tcp::{Config, CongestionControl, Packet, Sender};
use proptest::prelude::*;

/// A sender and the segments that it has sent, each with its time.
struct Driven {
    sender: Sender,
    sent: Vec<(Instant, u64)>,
    /// Whether the sender may send many segments in one call, and how many it sent in this way.
    repeats: bool,
    repeated: u32,
    /// The number of segments that were sent by themselves when their turn had come.
    paced: u32,
}

impl Driven {
    fn new(config: &Config, bytes: Option<u64>, repeats: bool) -> Self {
        let mut sender = Sender::new(config, bytes, Duration::from_us(300));
        sender.open(us(0));
        let mut driven = Self { sender, sent: Vec::new(), repeats, repeated: 0, paced: 0 };
        driven.poll(us(0), us(0));
        driven
    }

    /// Polls at `now`. No packet is handed to the sender before `next`.
    fn poll(&mut self, mut now: Instant, next: Instant) {
        while let Some(packet) = self.sender.poll_transmit(now) {
            let Packet::Data(data) = packet else { continue };
            self.sent.push((now, data.first));
            if self.repeats {
                let (count, spacing) = self.sender.repeat(&packet, next.max(now));
                for place in 1..=count {
                    now += spacing;
                    self.sent.push((now, data.first + u64::from(place)));
                }
                self.repeated += count;
            }
        }
    }

    /// Lets timers fire up to and including `end`.
    fn run_until(&mut self, end: Instant) {
        while self.sender.poll_timeout() <= end {
            let at = self.sender.poll_timeout();
            // The sender always acts as if other senders had their turns in between.
            let is_among_others = self.repeats;
            let alone = if is_among_others { self.sender.send_paced(at, at) } else { None };
            if let Some(Packet::Data(data)) = alone {
                self.sent.push((at, data.first));
                self.paced += 1;
                continue;
            }
            self.sender.handle_timeout(at);
            self.poll(at, if is_among_others { at } else { end });
        }
    }

    fn hear(&mut self, at: Instant, next: Instant, packet: &Packet) {
        self.sender.handle_packet(at, packet);
        self.poll(at, next);
    }

    fn next(&self) -> u64 {
        self.sent.iter().map(|&(_, first)| first + 1).max().unwrap_or(0)
    }
}

/// A report of the receiver: the time since the last report, the number of further segments received, and whether a segment is
/// missing.
type Told = (u64, u64, bool);

fn drive(config: &Config, bytes: Option<u64>, told: &[Told], repeats: bool) -> Driven {
    let mut driven = Driven::new(config, bytes, repeats);
    let (mut at, mut acknowledged) = (60, 0u64);
    driven.run_until(us(at));
    let first = told.first().map_or(at, |&(after, ..)| at + after);
    driven.hear(us(at), us(first) - Duration::from_ps(1), &Packet::SynAck);
    for (index, &(after, more, misses)) in told.iter().enumerate() {
        at += after;
        // The timers run up to right before the packet comes.
        driven.run_until(us(at) - Duration::from_ps(1));
        let next = told.get(index + 1).map_or(at, |&(after, ..)| at + after);
        acknowledged = (acknowledged + more).min(driven.next());
        let beyond = driven.next().saturating_sub(acknowledged);
        let blocks =
            if misses && beyond > 1 { vec![(acknowledged + 1, acknowledged + beyond)] } else { vec![] };
        driven.hear(us(at), us(next) - Duration::from_ps(1), &ack(acknowledged, &blocks));
    }
    driven
}

fn any_config() -> impl Strategy<Value = Config> {
    let algorithms =
        [CongestionControl::Reno, CongestionControl::Cubic, CongestionControl::Dctcp, CongestionControl::Bbr];
    // At the second rate a full segment takes a microsecond, so that acknowledgements come when a segment leaves.
    let rate = prop_oneof![(1u64..30).prop_map(BitRate::from_gbps), Just(BitRate::from_bps(11_680_000_000))];
    let stack = prop::option::of(rate);
    (prop::sample::select(algorithms.to_vec()), stack, any::<bool>(), 1u64..4).prop_map(
        |(congestion_control, stack_rate, timestamps, tick_ms)| Config {
            congestion_control,
            stack_rate,
            timestamps,
            tick: Duration::from_ms(tick_ms),
            ..Config::default()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// TCP-20, TCP-61
    #[test]
    fn repeating_is_polling(
        config in any_config(),
        bytes in prop::option::of(1u64..300_000),
        told in prop::collection::vec((2u64..3_000, 0u64..30, prop::bool::weighted(0.1)), 1..40),
    ) {
        let (repeating, polling) = (drive(&config, bytes, &told, true), drive(&config, bytes, &told, false));
        prop_assert_eq!(&repeating.sent, &polling.sent);
        prop_assert_eq!(format!("{:?}", repeating.sender), format!("{:?}", polling.sender));
    }
}

/// The canary of the property: segments are repeated, at once without a stack rate and at the pace of the stack with one.
#[test]
fn a_window_leaves_in_one_call() {
    for (stack_rate, distance) in [(None, 0), (Some(BitRate::from_gbps(12)), 973_333)] {
        let config = Config { congestion_control: CongestionControl::Reno, stack_rate, ..Config::default() };
        let driven = drive(&config, None, &[(40, 10, false), (100, 0, false)], true);
        assert_eq!(driven.repeated, 9 + 19, "{stack_rate:?}");
        let gap = driven.sent[1].0 - driven.sent[0].0;
        assert_eq!(gap, Duration::from_ps(distance));
    }
}

/// The canary for segments that wait for the stack among those of other senders.
#[test]
fn segments_leave_by_themselves_when_others_come_between() {
    let stack_rate = Some(BitRate::from_gbps(12));
    let config = Config { congestion_control: CongestionControl::Reno, stack_rate, ..Config::default() };
    let driven = drive(&config, None, &[(3, 1, false); 20], true);
    assert!(driven.paced > 5, "{}", driven.paced);
}

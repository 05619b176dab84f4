//! TCP-57: over any path that loses, repeats, delays and marks packets, every byte arrives once and in
//! order, and the flow completes.

use lossylink_core::probability::Probability;
use lossylink_core::rng::{RngCore, Stream, Streams, uniform};
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::BitRate;
use lossylink_sim::transport::tcp::{Config, CongestionControl, Packet, Receiver, Sender};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// The most packets that one event may cause; more is a loop.
const MOST_PACKETS_AN_EVENT: usize = 100_000;
/// The time at which the network heals: no packet is lost, repeated or marked any more.
const HEALED: Instant = Instant::from_ps(60_000_000_000_000);
/// The time after the healing within which the flow must complete. A timeout may have backed off to two minutes. And BBR may have
/// taken the losses for those of a policer (BBR-10): BBR then keeps for 48 rounds to a rate of at least one segment in 2^24
/// microseconds, at which two segments, the longest round, last 34 s.
const PATIENCE: Duration = Duration::from_secs(300 + 48 * 34);

/// A hostile network.
#[derive(Clone, Debug)]
struct Hostile {
    loss: f64,
    repetition: f64,
    marking: f64,
    delay: Duration,
    /// The most that is added to the delay, uniformly from zero: packets are reordered if it exceeds
    /// their spacing.
    jitter: Duration,
    seed: u64,
}

#[derive(Clone, Copy, Debug)]
enum To {
    Sender,
    Receiver,
}

struct Network {
    hostile: Hostile,
    rng: Stream,
    /// Packets under way, by arrival and by order of transmission.
    arrivals: BTreeMap<(Instant, u64), (To, Packet, bool)>,
    sent: u64,
}

impl Network {
    fn new(hostile: Hostile) -> Self {
        Self {
            rng: Streams::new(hostile.seed).stream("network"),
            hostile,
            arrivals: BTreeMap::new(),
            sent: 0,
        }
    }

    fn happens(&mut self, now: Instant, ratio: f64) -> bool {
        now < HEALED && Probability::new(ratio).expect("a ratio").draw(&mut self.rng)
    }

    fn send(&mut self, now: Instant, to: To, packet: Packet) {
        let copies = 1 + usize::from(self.happens(now, self.hostile.repetition));
        for _ in 0..copies {
            if self.happens(now, self.hostile.loss) {
                continue;
            }
            let marked = packet.is_ecn_capable() && self.happens(now, self.hostile.marking);
            let jitter = uniform(&mut self.rng) * self.hostile.jitter.as_ps() as f64;
            let at = now + self.hostile.delay + Duration::from_ps(jitter as u64);
            self.arrivals.insert((at, self.sent), (to, packet, marked));
            self.sent += 1;
        }
    }
}

fn run(config: &Config, hostile: &Hostile, flow_bytes: u64) -> Result<(), TestCaseError> {
    let mut network = Network::new(hostile.clone());
    let phase = Duration::from_ps(network.rng.next_u64() % config.tick.as_ps());
    let mut sender = Sender::new(config, Some(flow_bytes), phase);
    let mut receiver = Receiver::new(config, Duration::ZERO);
    let mut now = Instant::ZERO;
    let limit = HEALED + PATIENCE;
    sender.open(now);
    let mut delivered = 0;
    loop {
        for count in 0.. {
            let Some(packet) = sender.poll_transmit(now) else { break };
            prop_assert!(count < MOST_PACKETS_AN_EVENT, "the sender never stops");
            network.send(now, To::Receiver, packet);
        }
        while let Some(packet) = receiver.poll_transmit(now) {
            network.send(now, To::Sender, packet);
        }
        let bytes = receiver.bytes_in_order();
        prop_assert!(bytes >= delivered && bytes <= flow_bytes, "{} bytes of {}", bytes, flow_bytes);
        delivered = bytes;
        prop_assert!(sender.bytes_acknowledged() <= delivered, "acknowledged what never arrived");
        if sender.completed_at().is_some() {
            break;
        }
        let arrival = network.arrivals.first_key_value().map_or(Instant::NEVER, |(&(at, _), _)| at);
        let timer = sender.poll_timeout().min(receiver.poll_timeout());
        now = now.max(arrival.min(timer));
        prop_assert!(now <= limit, "{:?} of {} bytes by {}: {:?}", delivered, flow_bytes, now, sender);
        if arrival <= timer {
            let (_, (to, packet, marked)) = network.arrivals.pop_first().expect("it arrives");
            match to {
                To::Sender => sender.handle_packet(now, &packet),
                To::Receiver => receiver.handle_packet(now, &packet, marked),
            }
        } else if sender.poll_timeout() <= now {
            sender.handle_timeout(now);
        } else {
            receiver.handle_timeout(now);
        }
    }
    prop_assert_eq!(delivered, flow_bytes);
    prop_assert_eq!(sender.bytes_acknowledged(), flow_bytes);
    Ok(())
}

fn configs() -> impl Strategy<Value = Config> {
    let algorithms = prop::sample::select(CongestionControl::ALL.to_vec());
    let sizes = (prop::sample::select(vec![536u32, 1460, 4312]), any::<bool>(), 1u32..17);
    let receivers = (1u32..3, any::<bool>(), any::<bool>(), 20_000u64..4_000_000);
    let timers = (prop::sample::select(vec![1u64, 4, 10]), prop::sample::select(vec![1u64, 200]));
    let stacks = prop::sample::select(vec![None, Some(10_000_000), Some(42_000_000_000)]);
    (algorithms, sizes, receivers, timers, stacks).prop_map(|(algorithm, sizes, receivers, timers, stack)| {
        Config {
            congestion_control: algorithm,
            mss_bytes: sizes.0,
            mtu_bytes: 9_000,
            timestamps: sizes.1,
            max_burst_segments: sizes.2,
            delayed_ack_segments: receivers.0,
            sack_compression: receivers.1,
            ecn: receivers.2,
            receive_window_bytes: receivers.3,
            tick: Duration::from_ms(timers.0),
            rto_min: Duration::from_ms(timers.1),
            stack_rate: stack.map(BitRate::from_bps),
            ..Config::default()
        }
    })
}

fn networks() -> impl Strategy<Value = Hostile> {
    let ratios = (0.0..0.3, 0.0..0.2, prop::sample::select(vec![0.0, 0.05, 0.5]));
    let delays = (1u64..20_000, prop::sample::select(vec![0.0, 0.01, 0.3, 3.0]));
    (ratios, delays, any::<u64>()).prop_map(|((loss, repetition, marking), (delay_us, jitter), seed)| {
        Hostile {
            loss,
            repetition,
            marking,
            delay: Duration::from_us(delay_us),
            jitter: Duration::from_us((delay_us as f64 * jitter) as u64),
            seed,
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_byte_arrives_once_in_order_and_the_flow_completes(
        config in configs(),
        hostile in networks(),
        flow_bytes in prop_oneof![1u64..5_000, 10_000u64..600_000],
    ) {
        run(&config, &hostile, flow_bytes)?;
    }
}

/// BBR takes these losses for those of a policer of 94 bytes per second, and completes five minutes after the network has healed.
#[test]
fn a_flow_that_is_held_to_the_rate_of_a_policer_completes() {
    let config = Config {
        congestion_control: CongestionControl::Bbr,
        mss_bytes: 536,
        mtu_bytes: 9_000,
        max_burst_segments: 5,
        delayed_ack_segments: 1,
        sack_compression: false,
        ecn: true,
        receive_window_bytes: 20_000,
        tick: Duration::from_ms(10),
        rto_min: Duration::from_ms(200),
        stack_rate: None,
        ..Config::default()
    };
    let hostile = Hostile {
        loss: 0.281_710_033_080_738_8,
        repetition: 0.073_408_256_899_034_99,
        marking: 0.05,
        delay: Duration::from_us(7_374),
        jitter: Duration::from_us(73),
        seed: 2_341_800_900_781_182_582,
    };
    run(&config, &hostile, 131_857).unwrap();
}

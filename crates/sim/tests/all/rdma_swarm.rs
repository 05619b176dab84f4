//! Random RDMA traffic over paths that lose, delay, reorder and duplicate: every byte arrives once
//! and in order, and operations end in the order of posting.

use lossylink_core::probability::Probability;
use lossylink_core::rng::{RngCore, Stream, Streams};
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::BitRate;
use lossylink_sim::transport::rdma::{
    Completion, Config, Dcqcn, Mtu, Operation, Packet, Recovery, Requester, Responder, Status,
};
use proptest::prelude::*;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// The number of events that none of these worlds needs: beyond lies a livelock.
const MOST_EVENTS: u64 = 1_000_000;
/// The time between two packets of one end.
const SPACING: Duration = Duration::from_ns(100);
/// The shortest delay between the two ends.
const DELAY: Duration = Duration::from_us(2);

/// The chances of loss, duplication, reordering and marking on a path.
#[derive(Clone, Copy, Debug)]
struct Path {
    loss: f64,
    duplication: f64,
    reordering: f64,
    marking: f64,
}

/// A model of the requests that the responder should have executed, apart from the code under test.
struct Oracle {
    recovery: Recovery,
    mtu: u64,
    /// The next position to be executed, and the number of bytes executed so far.
    prefix: u64,
    bytes: u64,
    /// The requests that arrived early: position to (span, payload).
    early: BTreeMap<u64, (u64, u64)>,
}

impl Oracle {
    fn new(config: &Config) -> Self {
        let prefix = (1 << 24) + u64::from(config.first_psn);
        Self { recovery: config.recovery, mtu: config.mtu.bytes(), prefix, bytes: 0, early: BTreeMap::new() }
    }

    fn note_arrival(&mut self, packet: &Packet) {
        let (position, span, payload) = match packet {
            Packet::Request(request) => (request.psn.near(self.prefix), 1, u64::from(request.payload)),
            Packet::ReadRequest(read) => {
                (read.psn.near(self.prefix), u64::from(read.bytes).div_ceil(self.mtu).max(1), 0)
            }
            _ => return,
        };
        if position <= self.prefix || self.recovery != Recovery::GoBackN {
            self.early.entry(position).or_insert((span, payload));
        }
        while let Some((position, (span, payload))) = self.early.pop_first() {
            if position > self.prefix {
                self.early.insert(position, (span, payload));
                break;
            }
            if position + span > self.prefix {
                self.prefix = position + span;
                self.bytes += payload;
            }
        }
    }
}

/// Two ends and a network that reorders packets.
struct World {
    config: Config,
    requester: Requester,
    responder: Responder,
    oracle: Oracle,
    path: Path,
    rng: Stream,
    events: BinaryHeap<Reverse<(Instant, u64)>>,
    cargo: BTreeMap<u64, Event>,
    count: u64,
    /// The time at which each end next polls, and the time from which on its line is free.
    wake_at: [Instant; 2],
    free_at: [Instant; 2],
    /// The time before which the requester said that it could not fail.
    lives_until: Instant,
}

#[derive(Clone, Copy, Debug)]
enum Event {
    Request(Packet, bool),
    Answer(Packet, bool),
    Wake(usize),
}

/// The indices of the two ends.
const REQUESTER: usize = 0;
const RESPONDER: usize = 1;

impl World {
    fn new(config: Config, path: Path, seed: u64) -> Self {
        Self {
            config,
            requester: Requester::new(&config),
            responder: Responder::new(&config),
            oracle: Oracle::new(&config),
            path,
            rng: Streams::new(seed).stream("path"),
            events: BinaryHeap::new(),
            cargo: BTreeMap::new(),
            count: 0,
            wake_at: [Instant::NEVER; 2],
            free_at: [Instant::ZERO; 2],
            lives_until: Instant::ZERO,
        }
    }

    fn schedule(&mut self, at: Instant, event: Event) {
        self.count += 1;
        self.events.push(Reverse((at, self.count)));
        self.cargo.insert(self.count, event);
    }

    fn happens(&mut self, p: f64) -> bool {
        Probability::new(p).expect("a ratio").draw(&mut self.rng)
    }

    /// Puts a packet on its way: none, one or two copies, some of them late.
    fn carry(&mut self, now: Instant, packet: Packet, event: fn(Packet, bool) -> Event) {
        let copies = 1 + u32::from(self.happens(self.path.duplication));
        for _ in 0..copies {
            if self.happens(self.path.loss) {
                continue;
            }
            let mut at = now + DELAY;
            if self.happens(self.path.reordering) {
                at += Duration::from_ps(self.rng.next_u64() % (3 * DELAY.as_ps()));
            }
            let is_marked = packet.is_data() && self.happens(self.path.marking);
            self.schedule(at, event(packet, is_marked));
        }
    }

    /// Lets an end send if its line is free, and schedules its next poll.
    fn serve(&mut self, now: Instant, end: usize) {
        let mut again = self.free_at[end];
        if again <= now {
            let packet = match end {
                REQUESTER => self.requester.poll_transmit(now),
                _ => self.responder.poll_transmit(now),
            };
            again = Instant::NEVER;
            if let Some(packet) = packet {
                self.carry(now, packet, if end == REQUESTER { Event::Request } else { Event::Answer });
                again = now + SPACING;
                self.free_at[end] = again;
            }
        }
        let timeout = match end {
            REQUESTER => self.requester.poll_timeout(),
            _ => self.responder.poll_timeout(),
        };
        self.wake(now, end, again.min(timeout));
    }

    /// Wakes an end at `at`, unless the end will be woken earlier.
    fn wake(&mut self, now: Instant, end: usize, at: Instant) {
        let is_pending = self.wake_at[end] > now && self.wake_at[end] <= at;
        if !at.is_never() && !is_pending {
            self.wake_at[end] = at;
            self.schedule(at, Event::Wake(end));
        }
    }

    fn handle(&mut self, now: Instant, event: Event) {
        match event {
            Event::Request(packet, is_marked) => {
                self.oracle.note_arrival(&packet);
                self.responder.handle_packet(now, &packet, is_marked);
                assert_eq!(self.responder.bytes_in_order(), self.oracle.bytes, "after {packet:?}");
                self.serve(now, RESPONDER);
            }
            Event::Answer(packet, is_marked) => {
                self.requester.handle_packet(now, &packet, is_marked);
                self.serve(now, REQUESTER);
            }
            Event::Wake(end) if self.wake_at[end] == now => {
                self.wake_at[end] = Instant::NEVER;
                if end == REQUESTER {
                    self.requester.handle_timeout(now);
                }
                self.serve(now, end);
            }
            Event::Wake(_) => {}
        }
    }

    /// Checks that the requester fails no sooner than it said, and asks again how long it lives at the least.
    fn hold_to_its_word(&mut self, now: Instant) {
        let has_failed = self.requester.has_failed();
        assert!(!has_failed || self.lives_until <= now, "{:?} failed at {now}", self.config);
        let halves = (1..16).map(|halves| self.config.timeout * halves / 2);
        let lives = halves.take_while(|&span| !self.requester.may_fail_within(span)).last();
        self.lives_until = self.lives_until.max(lives.map_or(now, |span| now + span));
    }

    /// Runs all operations to their end. No operation may complete before its bytes are there.
    fn run(&mut self, operations: &[Operation]) -> Vec<Completion> {
        for &operation in operations {
            self.requester.post(Instant::ZERO, operation);
        }
        self.serve(Instant::ZERO, REQUESTER);
        let (mut completions, mut promised) = (Vec::new(), 0);
        while completions.len() < operations.len() {
            assert!(self.count < MOST_EVENTS, "no end in sight: {:?}", self.config);
            let Reverse((now, key)) = self.events.pop().expect("work is left and nothing is due");
            let event = self.cargo.remove(&key).expect("every event has its cargo");
            self.handle(now, event);
            self.hold_to_its_word(now);
            while let Some(completion) = self.requester.poll_completion() {
                if completion.status == Status::Success && !matches!(completion.operation, Operation::Read(_))
                {
                    promised += completion.operation.bytes();
                }
                assert!(self.responder.bytes_in_order() >= promised, "{completion:?} came too early");
                completions.push(completion);
            }
        }
        completions
    }
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let bytes = prop_oneof![0u64..3_000, 0u64..60_000];
    let operation = (0..3u8, bytes).prop_map(|(kind, bytes)| match kind {
        0 => Operation::Write(bytes),
        1 => Operation::Send(bytes),
        _ => Operation::Read(bytes),
    });
    prop::collection::vec(operation, 1..12)
}

fn path() -> impl Strategy<Value = Path> {
    let bad = || prop_oneof![Just(0.0), 0.0..0.2f64];
    (bad(), bad(), bad(), bad()).prop_map(|(loss, duplication, reordering, marking)| Path {
        loss,
        duplication,
        reordering,
        marking,
    })
}

fn config(retry_count: u32) -> impl Strategy<Value = Config> {
    let recovery = prop_oneof![
        Just(Recovery::GoBackN),
        Just(Recovery::SelectiveRepeat { window_packets: 64 }),
        Just(Recovery::SELECTIVE_REPEAT),
    ];
    let mtu = prop::sample::select(Mtu::ALL_BYTES.to_vec());
    let first_psn = prop_oneof![Just(0u32), 0xff_ff00u32..0x100_0000];
    (recovery, mtu, first_psn, 1u32..300, 1u32..4, any::<bool>()).prop_map(
        move |(recovery, mtu, first_psn, ack_interval, outstanding_reads, has_dcqcn)| Config {
            recovery,
            mtu: Mtu::new(u32::from(mtu)).expect("it is listed"),
            timeout: Duration::from_us(50),
            retry_count,
            ack_interval,
            outstanding_reads,
            first_psn,
            dcqcn: has_dcqcn.then(|| Dcqcn::on(BitRate::from_gbps(100))),
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    // RDMA-6, RDMA-9, RDMA-15
    #[test]
    fn every_byte_arrives_once_and_in_order(
        config in config(u32::MAX), path in path(), operations in operations(), seed in any::<u64>()
    ) {
        let mut world = World::new(config, path, seed);
        let completions = world.run(&operations);
        for (index, completion) in completions.iter().enumerate() {
            prop_assert_eq!(completion.index, index as u64);
            prop_assert_eq!(completion.operation, operations[index]);
            prop_assert_eq!(completion.status, Status::Success);
        }
        let total = |is_read: bool| -> u64 {
            let chosen = |operation: &&Operation| matches!(operation, Operation::Read(_)) == is_read;
            operations.iter().filter(chosen).map(|operation| operation.bytes()).sum()
        };
        prop_assert_eq!(world.responder.bytes_in_order(), total(false));
        prop_assert_eq!(world.requester.statistics().bytes_read, total(true));
        prop_assert!(world.requester.poll_timeout().is_never());
    }

    // RDMA-14, RDMA-15: with few retries operations may fail, but each ends once and in its turn, and none sooner than was said.
    #[test]
    fn failures_are_reported_in_order(
        config in (0u32..8).prop_flat_map(config), operations in operations(), seed in any::<u64>()
    ) {
        let path = Path { loss: 0.5, duplication: 0.1, reordering: 0.1, marking: 0.0 };
        let completions = World::new(config, path, seed).run(&operations);
        let first_failure = completions.iter().position(|done| done.status != Status::Success);
        for (index, completion) in completions.iter().enumerate() {
            let expected = match first_failure {
                Some(first) if index == first => Status::RetryExceeded,
                Some(first) if index > first => Status::Flushed,
                _ => Status::Success,
            };
            prop_assert_eq!((completion.index, completion.status), (index as u64, expected));
        }
    }
}

/// The canary: a packet that arrives behind the oracle's back is noticed.
#[test]
#[should_panic(expected = "after")]
fn a_forged_packet_is_noticed() {
    let clean = Path { loss: 0.0, duplication: 0.0, reordering: 0.0, marking: 0.0 };
    let mut world = World::new(Config::default(), clean, 1);
    let mut other = Requester::new(&Config::default());
    other.post(Instant::ZERO, Operation::Write(10));
    let forged = other.poll_transmit(Instant::ZERO).expect("a write has a packet");
    world.responder.handle_packet(Instant::ZERO, &forged, false);
    world.run(&[Operation::Write(3_000)]);
}

/// A requester that goes back asks for several READs in a row: the second request takes no answer from the first (RDMA-9). DCQCN
/// slows the responses down, so they queue, and the timer fires while they do.
#[test]
fn several_reads_are_answered_again_in_their_order() {
    for recovery in [Recovery::GoBackN, Recovery::SELECTIVE_REPEAT] {
        let mtu = Mtu::new(256).expect("it is listed");
        let dcqcn = Some(Dcqcn::on(BitRate::from_gbps(100)));
        let config = Config {
            mtu,
            recovery,
            timeout: Duration::from_us(50),
            retry_count: u32::MAX,
            dcqcn,
            ..Config::default()
        };
        let path = Path { loss: 0.02, duplication: 0.1, reordering: 0.0, marking: 0.2 };
        for seed in 0..20 {
            World::new(config, path, seed).run(&[Operation::Read(30_000); 6]);
        }
    }
}

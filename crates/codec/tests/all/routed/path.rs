//! Two closed guards, a path of datagrams between them, and a clock. The path delays, loses, reorders, repeats, narrows
//! and marks.

use lossylink_codec::Gf256;
use lossylink_core::engine::report::Reading;
use lossylink_core::guard::routed::RoutedLine;
use lossylink_core::guard::{Frame, Guard, GuardConfig, Peer, QueueLimits, Secret, Side};
use lossylink_core::loss::{LossModel, LossProcess};
use lossylink_core::protection::Protection;
use lossylink_core::rng::{RngCore, Stream, Streams};
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::{BitRate, Bytes};
use lossylink_core::wire::routed::unsent;
use std::collections::BTreeMap;

/// The place of the EtherType in a frame.
const LOCAL: usize = 12;
/// Octets of IPv4 and UDP.
const HEADERS: usize = 28;

/// The treatment of datagrams in one direction of the path.
pub struct Way {
    pub delay: Duration,
    /// The most that a datagram takes longer, at random, so that datagrams overtake each other.
    pub jitter: Duration,
    /// One in `late` datagrams takes longer; zero is each datagram.
    pub late: u32,
    pub loss: LossProcess,
    /// One in `twice` datagrams comes twice; zero is none.
    pub twice: u32,
    /// The length of the longest IP packet.
    pub mtu: usize,
    /// Whether the path marks every datagram whose ECN field permits a mark.
    pub marks: bool,
    pub is_cut: bool,
    rate: BitRate,
    free_from: Instant,
    /// The number of datagrams that were put on the path, and their octets with headers.
    pub sent: u64,
    pub octets: u64,
    /// The bytes of the repairs among those datagrams, as a guard counts them.
    pub repair_bytes: u64,
}

/// A guard, a path and a guard.
pub struct Path {
    pub guards: [Guard; 2],
    pub ways: [Way; 2],
    pub now: Instant,
    /// The frames that each end handed to its LAN, with their times.
    pub delivered: [Vec<(Instant, Frame)>; 2],
    /// The datagrams under way, by arrival: the end to which each goes, and its bytes and mark.
    flying: BTreeMap<(Instant, u64), (usize, Frame)>,
    count: u64,
    rng: Stream,
    streams: Streams,
    restarts: u64,
}

pub fn config() -> GuardConfig {
    let queue = QueueLimits { capacity: Bytes(560_000), mark_from: None };
    let secret = Secret::new(b"sixteen bytes or more");
    GuardConfig { queue, longest_frame: 1514, frames: 40_000, secret }
}

fn guard(protection: Protection, stream: Stream) -> Guard {
    Guard::closed(config(), Box::new(RoutedLine::new(Box::new(Gf256))), protection, stream)
}

impl Path {
    /// Returns two guards that have not heard of each other, `delay` apart.
    pub fn new(seed: u64, protections: [Protection; 2], delay: Duration) -> Self {
        let streams = Streams::new(seed);
        let way = |name: &str| Way {
            delay,
            jitter: Duration::ZERO,
            late: 0,
            loss: LossProcess::new(&LossModel::None, streams.stream(name)),
            twice: 0,
            mtu: 1600,
            marks: false,
            is_cut: false,
            rate: BitRate::from_bps(200_000_000),
            free_from: Instant::ZERO,
            sent: 0,
            octets: 0,
            repair_bytes: 0,
        };
        let [near, far] = protections;
        Self {
            guards: [guard(near, streams.stream("near")), guard(far, streams.stream("far"))],
            ways: [way("forward"), way("reverse")],
            now: Instant::ZERO,
            delivered: [Vec::new(), Vec::new()],
            flying: BTreeMap::new(),
            count: 0,
            rng: streams.stream("path"),
            streams,
            restarts: 0,
        }
    }

    /// Returns two guards that repair and have agreed.
    pub fn agreed(seed: u64, delay: Duration) -> Self {
        let mut path = Self::new(seed, [Protection::Routed, Protection::Routed], delay);
        path.run_for(delay * 8 + Duration::from_secs(1));
        assert!(path.is_agreed(), "two guards on a clean path agree");
        path
    }

    pub fn is_agreed(&self) -> bool {
        self.guards.iter().all(|guard| guard.session().unwrap().peer == Peer::Agreed)
    }

    pub fn lose(&mut self, models: [&LossModel; 2]) {
        for (way, model) in self.ways.iter_mut().zip(models) {
            self.restarts += 1;
            way.loss = LossProcess::new(model, self.streams.trial(self.restarts).stream("loss"));
        }
    }

    pub fn restart(&mut self, end: usize) {
        self.restarts += 1;
        let stream = self.streams.trial(self.restarts).stream("restarted");
        self.guards[end] = guard(Protection::Routed, stream);
    }

    pub fn count(&self, end: usize, name: &str) -> u64 {
        read(&self.guards[end], "routed", name)
    }

    pub fn own(&self, end: usize, name: &str) -> u64 {
        read(&self.guards[end], "", name)
    }

    /// Sends a frame of the host at `end`.
    pub fn send(&mut self, end: usize, bytes: &[u8]) {
        self.guards[end].handle_frame(self.now, Side::Lan, bytes);
        self.drive(end);
    }

    /// Delivers a datagram of any sender to `end`.
    pub fn inject(&mut self, end: usize, frame: &[u8]) {
        self.guards[end].handle_frame(self.now, Side::Link, frame);
        self.drive(end);
    }

    pub fn run_for(&mut self, span: Duration) {
        let until = self.now + span;
        loop {
            let [near, far] = [0, 1].map(|end| self.guards[end].poll_timeout().max(self.now));
            let arrival = self.flying.first_key_value().map_or(Instant::NEVER, |((at, _), _)| *at);
            let next = near.min(far).min(arrival);
            if next > until {
                break;
            }
            self.now = next;
            if arrival == next {
                let (_, (end, frame)) = self.flying.pop_first().unwrap();
                self.guards[end].handle_frame(self.now, Side::Link, &frame);
                self.drive(end);
            }
            for end in [0, 1] {
                if self.guards[end].poll_timeout() <= self.now {
                    self.guards[end].handle_timeout(self.now);
                    self.drive(end);
                    assert!(self.guards[end].poll_timeout() > self.now, "a timer that was served is not due");
                }
            }
        }
        self.now = until;
    }

    fn drive(&mut self, end: usize) {
        while let Some(frame) = self.guards[end].poll_transmit(self.now, Side::Lan) {
            self.delivered[end].push((self.now, frame.clone()));
            self.guards[end].recycle(frame);
        }
        while let Some(frame) = self.guards[end].poll_transmit(self.now, Side::Link) {
            assert!(matches!(frame[LOCAL..LOCAL + 2], [0x88, 0xb5 | 0xb6]), "only guards' frames leave");
            self.fly(1 - end, &frame);
            self.guards[end].recycle(frame);
        }
    }

    /// Sends a datagram on its way to `end`.
    fn fly(&mut self, end: usize, frame: &[u8]) {
        let Self { ways, rng, flying, count, now, .. } = self;
        let way = &mut ways[1 - end];
        let octets = frame.len() - unsent(frame) + HEADERS;
        way.sent += 1;
        way.octets += octets as u64;
        way.free_from = way.free_from.max(*now) + Bytes(octets as u64) / way.rate;
        let is_message = frame[LOCAL + 1] == 0xb5;
        if !is_message && frame[LOCAL + 2] == 5 {
            way.repair_bytes += frame.len() as u64;
        }
        let mut frame = [&[0; LOCAL], &frame[LOCAL..]].concat();
        if !is_message {
            frame[0] = if way.marks { 3 } else { frame[0] };
        }
        if way.loss.is_lost(octets as u32) || way.is_cut || octets > way.mtu {
            return;
        }
        let copies = if way.twice > 0 && rng.next_u32().is_multiple_of(way.twice) { 2 } else { 1 };
        for _ in 0..copies {
            let is_late = way.late == 0 || rng.next_u32().is_multiple_of(way.late);
            let most = if is_late { way.jitter.as_ps() } else { 0 };
            let later = Duration::from_ps(rng.next_u64() % (most + 1));
            *count += 1;
            flying.insert((way.free_from + way.delay + later, *count), (end, frame.clone()));
        }
    }
}

fn read(guard: &Guard, group: &str, name: &str) -> u64 {
    let groups = guard.report();
    let group = groups.iter().find(|found| found.name == group).expect(group);
    let counter = group.counters.iter().find(|found| found.name == name).expect(name);
    match counter.reading {
        Reading::Number(number) => number,
        other => panic!("{name} is no number: {other:?}"),
    }
}

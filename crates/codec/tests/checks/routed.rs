//! Checks of two routed guards under any behaviour of a path: no frame is delivered twice or altered, the frames that a
//! guard holds stay within its pool, and once the path is healed no guard holds a frame (RT-6, RT-13).
//!
//! The input is a script. Each step is a byte for the event and a byte for the end, the duration, the number, or the
//! datagram that the event concerns.

use lossylink_codec::Gf256;
use lossylink_core::engine::report::Reading;
use lossylink_core::guard::routed::RoutedLine;
use lossylink_core::guard::{Frame, Guard, GuardConfig, QueueLimits, Secret, Side};
use lossylink_core::protection::Protection;
use lossylink_core::rng::Streams;
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::Bytes;
use lossylink_core::wire::checksum::Checksum;
use std::collections::{BTreeSet, VecDeque};

/// The number of frames that a guard may hold: small, so that scripts reach the bound.
const FRAMES: usize = 1000;
/// The number of datagrams of the past that may come again, and the most datagrams under way.
const REMEMBERED: usize = 32;
const FLIGHT: usize = 300;
/// The time that a datagram takes if the script does not say otherwise.
const DELAY: Duration = Duration::from_ms(6);
const LONGEST: usize = 300;
/// The place of the number in a frame: the sequence number of TCP.
const NUMBER: usize = 38;
const GAP: Duration = Duration::from_us(100);

struct Bench {
    guards: [Guard; 2],
    /// The datagrams on their way away from each end, with the times at which they left.
    flying: [VecDeque<(Instant, Frame)>; 2],
    past: VecDeque<Frame>,
    delivered: [BTreeSet<u32>; 2],
    sent: u32,
    changes: u64,
    now: Instant,
}

/// Drives two routed guards by the script.
pub fn guards(script: &[u8]) {
    let mut bench = Bench::repairing();
    for step in script.chunks_exact(2) {
        bench.step(step[0], step[1]);
        bench.check();
    }
    bench.heal();
}

/// Returns the frame with this number: a packet of a TUN, a short one of these, or a frame of a LAN. Frames of some flows
/// may travel with short headers (RT-17), and a flow may end for another that takes the place of its model.
fn frame(number: u32) -> Frame {
    let length = [44, 60, 200, 299, 42, 300, 150][number as usize % 7];
    let mut frame = vec![number as u8 & 1; length];
    let address = if number % 7 < 5 { 0 } else { 2 };
    frame[..12].fill(address);
    frame[12..16].copy_from_slice(&[0x08, 0x00, 0x45, 0x02]);
    if length >= 150 {
        frame[16..24].copy_from_slice(&[0, length as u8 - 14, 0, 0, 0, 0, 64, 6]);
        frame[16] = u8::from(length - 14 > 255);
        frame[34..38].copy_from_slice(&(number / 1500 + number % 3).to_be_bytes());
        if number % 5 < 4 {
            frame[24..26].fill(0);
            let checksum = Checksum::new().cover(&frame[14..34]).finish();
            frame[24..26].copy_from_slice(&checksum.to_be_bytes());
        }
    }
    frame[NUMBER..NUMBER + 4].copy_from_slice(&number.to_be_bytes());
    frame
}

impl Bench {
    /// Returns a pair that has agreed and sends repairs ahead.
    fn repairing() -> Self {
        let guards = ["near", "far"].map(|name| {
            let queue = QueueLimits { capacity: Bytes(20_000), mark_from: None };
            let secret = Secret::new(b"sixteen bytes or more");
            let config = GuardConfig { queue, longest_frame: LONGEST, frames: FRAMES, secret };
            let line = Box::new(RoutedLine::new(Box::new(Gf256)));
            Guard::closed(config, line, Protection::Routed, Streams::new(1).stream(name))
        });
        let mut bench = Self {
            guards,
            flying: [VecDeque::new(), VecDeque::new()],
            past: VecDeque::new(),
            delivered: [BTreeSet::new(), BTreeSet::new()],
            sent: 0,
            changes: 0,
            now: Instant::ZERO,
        };
        bench.heal();
        for step in 0..1000u32 {
            bench.send(0);
            bench.pass(GAP);
            bench.arrive_due();
            if step.is_multiple_of(30) {
                bench.flying[0].pop_back();
            }
            if step == 500 {
                // No queue shows, so the losses are those of the path (RT-10).
                bench.rest(150);
            }
        }
        assert!(bench.count(0, "repairs") > 10 && bench.count(1, "rebuilt") > 2, "repairs are under way");
        assert!(bench.count(0, "short") > 50, "headers are short");
        bench
    }

    fn step(&mut self, what: u8, which: u8) {
        let (end, many) = (usize::from(which & 1), usize::from(which >> 1));
        match what % 12 {
            0 => self.send(end),
            1 => (0..many).for_each(|_| {
                self.send(end);
                self.pass(GAP);
            }),
            2 => self.pass(GAP * u64::from(which) * u64::from(which)),
            3 => self.arrive(end, 0),
            4 => self.arrive(end, many),
            5 => drop(self.flying[end].remove(many)),
            6 | 7 => {
                if let Some(datagram) = self.past.get(many % REMEMBERED).cloned() {
                    self.reach(end, &datagram);
                }
            }
            8 => self.spoil(end, many),
            9 => self.stream(end, many),
            10 => self.arrive_all(end),
            _ if many < 8 => {
                self.changes += 1;
                let rng = Streams::new(self.changes).stream("again");
                self.guards[end].protect(self.now, Protection::Routed, 0.0, rng);
                self.pull(end);
            }
            _ => self.arrive_all(1 - end),
        }
    }

    /// Sends `many` frames from `end` and delivers the datagrams when they are due. One datagram is lost for each seven
    /// frames.
    fn stream(&mut self, end: usize, many: usize) {
        for step in 0..many {
            self.send(end);
            self.pass(GAP);
            if step % 7 == many % 7 {
                self.flying[end].pop_front();
            }
            self.arrive_due();
        }
    }

    fn send(&mut self, end: usize) {
        let frame = frame(self.sent);
        self.sent += 1;
        self.guards[end].handle_frame(self.now, Side::Lan, &frame);
        self.pull(end);
    }

    fn pass(&mut self, span: Duration) {
        let until = self.now + span;
        loop {
            let due = [0, 1].map(|end: usize| self.guards[end].poll_timeout());
            let end = usize::from(due[1] < due[0]);
            if due[end] > until {
                break;
            }
            self.now = self.now.max(due[end]);
            self.guards[end].handle_timeout(self.now);
            self.pull(end);
            assert!(self.guards[end].poll_timeout() > self.now, "a timer that was served is not due");
        }
        self.now = until;
    }

    /// Delivers a datagram on its way away from `end`.
    fn arrive(&mut self, end: usize, place: usize) {
        if let Some((_, datagram)) = self.flying[end].remove(place) {
            self.reach(1 - end, &datagram);
        }
    }

    /// Delivers the datagrams whose time has come.
    fn arrive_due(&mut self) {
        for end in [0, 1] {
            while self.flying[end].front().is_some_and(|(since, _)| *since + DELAY <= self.now) {
                self.arrive(end, 0);
            }
        }
    }

    fn arrive_all(&mut self, end: usize) {
        (0..self.flying[end].len()).for_each(|_| self.arrive(end, 0));
    }

    /// Delivers the oldest datagram cut, or with a bit flipped.
    fn spoil(&mut self, end: usize, place: usize) {
        let Some((_, mut datagram)) = self.flying[end].pop_front() else { return };
        match place.is_multiple_of(2) {
            true => datagram.truncate(datagram.len() - 1 - place % (datagram.len() - 12)),
            false => datagram[12 + place % 40] ^= 1 << (place % 8),
        }
        self.reach(1 - end, &datagram);
    }

    fn reach(&mut self, end: usize, datagram: &[u8]) {
        self.guards[end].handle_frame(self.now, Side::Link, datagram);
        self.pull(end);
    }

    fn pull(&mut self, end: usize) {
        while let Some(frame) = self.guards[end].poll_transmit(self.now, Side::Link) {
            self.flying[end].push_back((self.now, frame.clone()));
            self.past.push_front(frame.clone());
            self.past.truncate(REMEMBERED);
            if self.flying[end].len() > FLIGHT {
                self.flying[end].pop_front();
            }
            self.guards[end].recycle(frame);
        }
        while let Some(came) = self.guards[end].poll_transmit(self.now, Side::Lan) {
            let number = u32::from_be_bytes(came[NUMBER..NUMBER + 4].try_into().expect("four bytes"));
            assert!(number < self.sent, "a frame that nobody sent");
            let mut sent = frame(number);
            // The shortest datagram travels with its padding.
            sent.resize(sent.len().max(if sent[0] == 0 { 44 } else { 30 }), 0);
            assert!(came == sent, "frame {number} came otherwise than it was sent");
            assert!(self.delivered[end].insert(number), "frame {number} was delivered twice");
            self.guards[end].recycle(came);
        }
    }

    fn count(&self, end: usize, name: &str) -> u64 {
        let groups = self.guards[end].report();
        let counter = groups.iter().flat_map(|group| &group.counters).find(|counter| counter.name == name);
        match counter.expect(name).reading {
            Reading::Number(number) => number,
            _ => 0,
        }
    }

    fn check(&self) {
        for guard in &self.guards {
            assert!(guard.frames_held() <= FRAMES);
        }
    }

    /// Lets `steps` steps of 2 ms pass in which no host sends.
    fn rest(&mut self, steps: usize) {
        for _ in 0..steps {
            self.pass(Duration::from_ms(2));
            self.arrive_due();
        }
    }

    /// Heals the path: all datagrams arrive, and soon no guard holds a frame.
    fn heal(&mut self) {
        self.rest(1000);
        for guard in &self.guards {
            assert_eq!(guard.frames_held(), 0, "a guard holds frames of which the other has all");
        }
    }
}

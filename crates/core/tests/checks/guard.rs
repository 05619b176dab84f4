//! Checks of a pair of guards under any behaviour of the link, and under frames that nobody sent: no
//! frame is delivered twice or altered, and the frames that a guard holds stay within its pool.
//!
//! The input is a script. Each step is a byte for the event and a byte for the end, the duration, or
//! the frame of the past that the event concerns.

use lossylink_core::guard::{Guard, GuardConfig, LineProtocol, LinkGuardianLine, QueueLimits, Side};
use lossylink_core::protection::{LinkGuardian, Mode, Protection};
use lossylink_core::rng::Streams;
use lossylink_core::time::{Duration, Instant};
use lossylink_core::units::Bytes;
use std::collections::{BTreeSet, VecDeque};

/// The number of frames that a guard may hold: small, so that scripts reach the bound.
const FRAMES: usize = 40;
/// The number of frames of the past that may come again.
const REMEMBERED: usize = 64;
/// The number of frames on the way in one direction; beyond this number, the oldest is lost.
const FLIGHT: usize = 64;
/// The length of the longest frame from a LAN.
const LONGEST: usize = 300;
/// The place of the number in a frame of the LAN, behind addresses and EtherType.
const NUMBER: usize = 14;
/// The EtherType of hellos.
const HELLO: [u8; 2] = [0x88, 0xb5];
/// An EtherType that a guard does not know.
const PLAIN: [u8; 2] = [0x08, 0x00];

/// Two guards, the frames on the way between them, the frames of the past, and the numbers of delivered
/// frames.
struct Bench {
    guards: [Guard; 2],
    /// EtherTypes by which a guard knows frames of guards.
    ethertypes: [[u8; 2]; 2],
    flying: [VecDeque<Vec<u8>>; 2],
    past: Vec<Vec<u8>>,
    delivered: [BTreeSet<u32>; 2],
    sent: u32,
    /// The number of sessions when the script began.
    settled: u64,
    now: Instant,
}

/// Drives two guards with LinkGuardian by the script in `bytes`.
pub fn receive_path(bytes: &[u8]) {
    let Some((choice, script)) = bytes.split_first() else { return };
    let mode = match choice & 1 {
        0 => Mode::Ordered { backpressure: true },
        _ => Mode::NonBlocking { deduplicate: true },
    };
    let control_copies = Some(1 + u32::from(choice >> 1) % 3);
    let options = LinkGuardian { copies: Some(2), dummies: Some(3), holes: None, control_copies, mode };
    receive_path_of(|| Box::new(LinkGuardianLine::new()), &Protection::LinkGuardian(options), script);
}

/// Drives two guards with this line protocol by the script in `bytes`.
pub fn receive_path_of(line: fn() -> Box<dyn LineProtocol>, protection: &Protection, script: &[u8]) {
    let mut bench = Bench::agreed(line, protection);
    let mut steps = script.iter().copied();
    while let (Some(what), Some(which)) = (steps.next(), steps.next()) {
        bench.step(what, which, &mut steps);
        bench.check();
    }
}

impl Bench {
    /// Returns a pair of guards that have found each other on a clean link.
    fn agreed(line: fn() -> Box<dyn LineProtocol>, protection: &Protection) -> Self {
        let queue = QueueLimits { capacity: Bytes(8 * LONGEST as u64), mark_from: None };
        let config = GuardConfig { queue, longest_frame: LONGEST, frames: FRAMES, secret: None };
        let streams = Streams::new(1);
        let guards = ["near", "far"].map(|name| {
            Guard::new(config.clone(), vec![line()], protection.clone(), 0.0, streams.stream(name))
        });
        let mut bench = Self {
            guards,
            ethertypes: [line().ethertypes()[0].0.to_be_bytes(), HELLO],
            flying: [VecDeque::new(), VecDeque::new()],
            past: Vec::new(),
            delivered: [BTreeSet::new(), BTreeSet::new()],
            sent: 0,
            settled: 0,
            now: Instant::ZERO,
        };
        for _ in 0..4 {
            bench.pass(Duration::from_ms(50));
            for end in [0, 1, 0, 1] {
                (0..FLIGHT).for_each(|_| bench.arrive(end));
            }
        }
        bench.settled = bench.sessions();
        bench
    }

    fn step(&mut self, what: u8, which: u8, more: &mut impl Iterator<Item = u8>) {
        let end = usize::from(which & 1);
        match what % 8 {
            0 | 1 => self.send(end, usize::from(which)),
            2 => self.pass(Duration::from_us(u64::from(which) * u64::from(which))),
            3 => self.arrive(end),
            4 => drop(self.flying[end].pop_front()),
            5 => self.repeat(end, usize::from(which), None),
            6 => self.repeat(end, usize::from(which), more.next()),
            _ => self.invent(end, which, more),
        }
    }

    /// Sends a frame of a host, which carries its number.
    fn send(&mut self, end: usize, length: usize) {
        let mut frame = vec![0; (NUMBER + 4 + length).min(LONGEST)];
        frame[12..14].copy_from_slice(&[0x08, 0x00]);
        frame[NUMBER..NUMBER + 4].copy_from_slice(&self.sent.to_be_bytes());
        self.sent += 1;
        self.guards[end].handle_frame(self.now, Side::Lan, &frame);
        self.pull(end);
    }

    /// Lets time go on by `span`, with the deadlines in their order.
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
        }
        self.now = until;
    }

    /// Delivers the oldest frame on its way away from `end`.
    fn arrive(&mut self, end: usize) {
        if let Some(frame) = self.flying[end].pop_front() {
            self.reach(1 - end, &frame);
        }
    }

    /// Delivers a frame of the past again, at either end, unchanged or with one bit flipped.
    fn repeat(&mut self, end: usize, which: usize, flipped: Option<u8>) {
        let Some(frame) = self.past.get(which % self.past.len().max(1)) else { return };
        // Frames of an earlier session pass without a number, so repeating them repeats their contents
        // (G-6). A plain frame that is repeated is a host's doing. A link does neither.
        if frame[12..14] == PLAIN || self.sessions() != self.settled {
            return;
        }
        let mut frame = frame.clone();
        if let Some(place) = flipped {
            // The flipped bit is in the addresses, the first header or the tag. The FCS guards the
            // contents: a real link would not deliver such a frame.
            let place = match place % 19 {
                place @ 0..12 => usize::from(place),
                place @ 12..15 => usize::from(place) + 2,
                place => frame.len() - 19 + usize::from(place),
            };
            frame[place] ^= 1 << (which % 8);
        }
        self.reach(end, &frame);
    }

    fn sessions(&self) -> u64 {
        self.guards.iter().map(|guard| guard.counters().sessions).sum()
    }

    /// Delivers bytes that nobody sent.
    fn invent(&mut self, end: usize, which: u8, more: &mut impl Iterator<Item = u8>) {
        let mut frame = vec![0; 12];
        frame.extend_from_slice(&self.ethertypes[usize::from(which >> 1) % 2]);
        frame.extend(more.take(usize::from(which)));
        frame.truncate(usize::from(which).max(frame.len() / 2));
        self.reach(end, &frame);
    }

    fn reach(&mut self, end: usize, frame: &[u8]) {
        self.guards[end].handle_frame(self.now, Side::Link, frame);
        self.pull(end);
    }

    /// Takes all frames that a guard has to send.
    fn pull(&mut self, end: usize) {
        while let Some(frame) = self.guards[end].poll_transmit(self.now, Side::Link) {
            self.flying[end].push_back(frame.clone());
            if self.flying[end].len() > FLIGHT {
                self.flying[end].pop_front();
            }
            self.past.insert(0, frame.clone());
            self.past.truncate(REMEMBERED);
            self.guards[end].recycle(frame);
        }
        while let Some(frame) = self.guards[end].poll_transmit(self.now, Side::Lan) {
            if let Some(number) = frame.get(NUMBER..NUMBER + 4) {
                let number = u32::from_be_bytes([number[0], number[1], number[2], number[3]]);
                assert!(number < self.sent, "a frame that nobody sent");
                // A frame that a link repeats is known again within its session only.
                let is_new = self.delivered[end].insert(number);
                assert!(is_new || self.sessions() != self.settled, "frame {number} was delivered twice");
            }
            self.guards[end].recycle(frame);
        }
    }

    fn check(&self) {
        for guard in &self.guards {
            assert!(guard.frames_held() <= FRAMES, "{} frames held", guard.frames_held());
        }
    }
}

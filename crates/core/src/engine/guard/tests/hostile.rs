//! What somebody can do who reads the link, knows the format, and puts frames of his own on it (G-20..G-22).

use super::super::hello::{ETHERTYPE, Hello, Kind};
use super::super::seal::MessageSeal;
use super::super::*;
use crate::protection::LinkGuardian;
use crate::rng::Streams;
use crate::units::Bytes;

/// One-way time between the guards.
const FLIGHT: Duration = Duration::from_us(100);
/// Time between two frames of a host.
const SPACING: Duration = Duration::from_us(50);

/// Two guards on a clean link, and whoever listens.
struct Wire {
    guards: [Guard; 2],
    flying: Vec<(Instant, usize, Frame)>,
    now: Instant,
    heard: Vec<(usize, Frame)>,
    delivered: Vec<u32>,
    sent: u32,
}

impl Wire {
    fn agreed() -> Self {
        let queue = QueueLimits { capacity: Bytes(500_000), mark_from: None };
        let config = GuardConfig { queue, longest_frame: 1514, frames: 40_000, secret: None };
        let streams = Streams::new(5);
        let guards = ["near", "far"].map(|name| {
            let protection = Protection::LinkGuardian(LinkGuardian::ORDERED);
            let lines: Vec<Box<dyn LineProtocol>> = vec![Box::new(LinkGuardianLine::new())];
            Guard::new(config.clone(), lines, protection, 1e-3, streams.stream(name))
        });
        let mut wire = Self {
            guards,
            flying: Vec::new(),
            now: Instant::ZERO,
            heard: Vec::new(),
            delivered: Vec::new(),
            sent: 0,
        };
        wire.run(Duration::from_ms(120));
        assert!(wire.is_agreed());
        wire
    }

    fn is_agreed(&self) -> bool {
        self.guards.iter().all(|guard| guard.session().is_some_and(|session| session.peer == Peer::Agreed))
    }

    fn run(&mut self, span: Duration) {
        let until = self.now + span;
        loop {
            let due = self.guards.each_ref().map(|guard| guard.poll_timeout().max(self.now));
            let landing = self.flying.first().map_or(Instant::NEVER, |(at, ..)| *at);
            self.now = due[0].min(due[1]).min(landing).min(until);
            if landing <= self.now {
                let (_, end, frame) = self.flying.remove(0);
                self.guards[end].handle_frame(self.now, Side::Link, &frame);
            } else if self.now == until {
                return;
            } else {
                self.guards[usize::from(due[1] < due[0])].handle_timeout(self.now);
            }
            self.drive();
        }
    }

    fn drive(&mut self) {
        for end in [0, 1] {
            while let Some(frame) = self.guards[end].poll_transmit(self.now, Side::Link) {
                self.heard.push((1 - end, frame.clone()));
                self.flying.push((self.now + FLIGHT, 1 - end, frame.clone()));
                self.guards[end].recycle(frame);
            }
            while let Some(frame) = self.guards[end].poll_transmit(self.now, Side::Lan) {
                if end == 1 {
                    self.delivered.push(u32::from_be_bytes([frame[14], frame[15], frame[16], frame[17]]));
                }
                self.guards[end].recycle(frame);
            }
        }
    }

    /// The near host sends for so long; how many of its frames arrived.
    fn stream(&mut self, span: Duration) -> usize {
        let before = self.delivered.len();
        for _ in 0..span / SPACING {
            let mut frame = vec![0x5a; 200];
            frame[12..14].copy_from_slice(&[0x08, 0x00]);
            frame[14..18].copy_from_slice(&self.sent.to_be_bytes());
            self.sent += 1;
            self.guards[0].handle_frame(self.now, Side::Lan, &frame);
            self.drive();
            self.run(SPACING);
        }
        self.run(Duration::from_ms(5));
        self.delivered.len() - before
    }

    /// The newest message toward an end that was heard on the link.
    fn newest(&self, end: usize) -> Hello {
        let toward = self.heard.iter().rev().filter(|(to, _)| *to == end);
        let mut hellos = toward.filter(|(_, frame)| envelope::ethertype(frame) == Some(ETHERTYPE));
        Hello::read(&hellos.next().expect("a hello was heard").1, &MessageSeal::new(None))
            .expect("it is a hello")
    }

    /// A message that was made from the newest one comes out of the link at an end.
    fn forge(&mut self, end: usize, change: impl FnOnce(&mut Hello)) {
        let mut hello = self.newest(end);
        hello.number = hello.number.wrapping_add(1);
        change(&mut hello);
        let mut frame = Frame::new();
        hello.write(&mut frame, &MessageSeal::new(None));
        self.guards[end].handle_frame(self.now, Side::Link, &frame);
        self.drive();
    }

    /// After whatever was done: both agree, and a second's frames all arrive, once and in order.
    fn assert_healed(&mut self, what: &str) {
        self.stream(Duration::from_ms(1500));
        assert!(self.is_agreed(), "{what}: no agreement");
        let (first, before) = (self.sent, self.delivered.len());
        self.stream(Duration::from_ms(1000));
        let expected: Vec<u32> = (first..self.sent).collect();
        assert_eq!(self.delivered[before..], expected, "{what}: frames are missing");
        let mut once = self.delivered.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), self.delivered.len(), "{what}: a frame arrived twice");
    }
}

// G-20
#[test]
fn messages_that_come_again_change_nothing() {
    let mut wire = Wire::agreed();
    wire.stream(Duration::from_ms(300));
    let sessions = wire.guards.each_ref().map(|guard| guard.counters().sessions);
    let recorded: Vec<_> = wire
        .heard
        .iter()
        .filter(|(_, frame)| envelope::ethertype(frame) == Some(ETHERTYPE))
        .cloned()
        .collect();
    assert!(recorded.len() > 20);
    for (end, frame) in recorded.iter().chain(recorded.iter().rev()) {
        for end in [*end, 1 - *end] {
            wire.guards[end].handle_frame(wire.now, Side::Link, frame);
        }
        assert_eq!(wire.stream(Duration::from_ms(1)), 20);
    }
    assert_eq!(wire.guards.each_ref().map(|guard| guard.counters().sessions), sessions);
    for guard in &wire.guards {
        let loop_time = guard.session().and_then(|session| session.loop_time);
        assert_eq!(loop_time, Some(FLIGHT + FLIGHT), "an old answer is no measurement");
    }
}

// G-22: numbers of a copied message that lead nowhere. The receiving end then waits for frames that never come, and
// takes those that come for old ones.
#[test]
fn a_forged_place_ends_in_a_new_session() {
    for jump in [100u16, 20_000, 32_000, 40_000, 65_000] {
        for end in [0, 1] {
            let mut wire = Wire::agreed();
            wire.stream(Duration::from_ms(100));
            wire.forge(end, |hello| {
                for octets in [&mut hello.sent, &mut hello.received] {
                    let number = u16::from_be_bytes([octets[1], octets[2]]).wrapping_add(jump);
                    octets[1..].copy_from_slice(&number.to_be_bytes());
                }
            });
            wire.assert_healed(&alloc::format!("{jump} at {end}"));
        }
    }
}

// G-20, G-21
#[test]
fn other_forged_messages_end_in_agreement() {
    type Change = fn(&mut Hello);
    let changes: [(&str, Change); 9] = [
        ("a stranger", |hello| hello.identity ^= 1),
        ("another session", |hello| hello.session += 1),
        ("the last session", |hello| hello.session = u32::MAX),
        ("no session", |hello| hello.session = 0),
        ("another protection", |hello| hello.protection = Protection::None),
        ("a number far ahead", |hello| hello.number = hello.number.wrapping_add(u32::MAX / 2 - 2)),
        ("another nonce", |hello| hello.nonce ^= 1),
        ("a pause", |hello| hello.kind = Kind::Pause),
        ("a reply", |hello| hello.kind = Kind::Reply),
    ];
    for (what, change) in changes {
        for end in [0, 1] {
            let mut wire = Wire::agreed();
            wire.stream(Duration::from_ms(100));
            wire.forge(end, change);
            wire.assert_healed(what);
        }
    }
}

// G-20: pauses that are made up by somebody who hears nothing are not obeyed.
#[test]
fn invented_pauses_are_not_obeyed() {
    let mut wire = Wire::agreed();
    for nonce in 0..1000 {
        wire.forge(0, |hello| {
            hello.kind = Kind::Pause;
            hello.echo = nonce;
        });
    }
    assert_eq!(wire.guards[0].counters().pauses_obeyed, 0);
    assert_eq!(wire.stream(Duration::from_ms(10)), 200);
}
